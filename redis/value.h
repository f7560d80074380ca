/* value.h - what a key of the server holds: a filter, one that is being loaded, or the bytes of
 * one that this build cannot use. */
#ifndef VALUE_H
#define VALUE_H
#include "redisapi.h"
#include <deja.h>

/* What to do with bytes that make no filter here.  A client gets an error.  RESTORE keeps bytes
 * that another build can use.  While the server loads its data, or follows a primary that has
 * accepted them, it keeps all bytes: refusing them would lose them, or stop the server. */
enum keep {
    KEEP_NONE,
    KEEP_SOUND,
    KEEP_ALL
};

/* What the bytes of a value are, as stored in RDB files: append only. */
enum {
    VALUE_WITH_KEY = 1,
    VALUE_PARTIAL = 2,
    VALUE_FLAGS = VALUE_WITH_KEY | VALUE_PARTIAL
};

/* A filter that this build cannot use: its bytes, unchanged, and the reason. */
struct opaque {
    char *bytes;
    size_t len, room;
    uint64_t flags; /* as they came, also those of a newer version */
    char why[sizeof((deja_error *)0)->text];
};

struct value { /* exactly one of the first three is set */
    deja_filter *filter;
    deja_import *load;
    struct opaque *opaque;
    enum keep keep;            /* if the load fails */
    int with_key;              /* the key below came with the bytes */
    uint32_t kind;             /* deja_kind of the filter */
    const deja_url_rules *url; /* the form of its items; value_rules() */
    uint64_t loaded;           /* bytes that the load has taken */
    uint64_t expected;         /* as the sender claims: no room is taken for more, or before */
    uint8_t key[DEJA_KEY_LEN]; /* of a filter that keeps it apart */
    deja_allocator alloc;
    size_t bytes; /* that the filter has from the allocator, with what it rounds up */
};

/* One thing for the whole server: the data type, and what it is told by CONFIG SET. */
extern RedisModuleType *value_type;
extern struct settings {
    long long filter_max_bytes;
    long long bf_capacity;
    long long bf_expansion;
    double bf_error;
} settings;

/* The rules that its items follow, in the version that it was made with; NULL: it has no profile,
 * or the rules are not this library's. */
const deja_url_rules *value_rules(struct value *v);

struct totals {
    unsigned long long filters, bytes, opaque;
};
struct totals value_totals(void);

#define VALUE_PIECE ((size_t)16 << 20) /* bytes of a filter that are handled at once */
#define VALUE_PAGE  4096u              /* the header of a .deja file */

struct value *value_new(void);
void value_free(void *value);

/* Allocations from here on are for the command of ctx, and bounded by filter-max-bytes and
 * maxmemory; NULL: for a load, whose bytes are there already. */
void value_asking(RedisModuleCtx *ctx);

/* Would a filter of so many bytes be refused to the command that asks? */
int value_too_large(uint64_t bytes);

enum found {
    FOUND,
    ABSENT,
    REFUSED
};
/* The value under a name.  REFUSED: another type, and the client has been told. */
enum found value_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                      struct value **v);
/* The same for commands that need a filter: true, or the client has been told. */
int value_filter(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                 struct value **v);
/* The same for commands that need only its bytes, so that an opaque value will do. */
int value_with_bytes(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleKey **key,
                     struct value **v);
/* What to do with bytes that the command of ctx brings. */
enum keep value_keep(RedisModuleCtx *ctx);

/* A filter in memory, with its key random unless options have one; err says why not. */
struct value *value_make(deja_options *opt, deja_error *err);
struct value *value_copy(const struct value *from, deja_error *err);
/* A filter of these bytes; key may be NULL. */
struct value *value_import(const void *data, size_t len, const void *key, enum keep keep,
                           deja_error *err);

/* A load of bytes in pieces: begin, write, and with the last one finish.  len is how many there
 * will be, if that is beyond doubt; or 0.  value_load_more writes, and finishes a load that is
 * complete.  A load that fails and is to be kept succeeds as an opaque value. */
struct value *value_load_begin(uint64_t len, const void *key, enum keep keep, deja_error *err);
int value_load_write(struct value *v, const void *data, size_t len, deja_error *err);
int value_load_finish(struct value *v, deja_error *err);
int value_load_more(struct value *v, const void *data, size_t len, deja_error *err);
/* Whether all bytes that the header announces have arrived. */
int value_load_complete(const struct value *v);
/* Fails a load for a reason that is not in its bytes: the status, or DEJA_OK if it is kept. */
int value_load_unusable(struct value *v, int status, const char *why, deja_error *err);
/* Begin and end of a load whose flags came with it. */
struct value *value_load_flagged(uint64_t flags, const void *key, enum keep keep, deja_error *err);
int value_load_end(struct value *v, uint64_t flags, deja_error *err);
/* The same for all bytes at once; whatever they are, they are kept. */
struct value *value_import_flagged(const void *data, size_t len, const void *key, uint64_t flags,
                                   deja_error *err);

/* Bytes that it has, complete or not, and some of them. */
uint64_t value_len(const struct value *v);
size_t value_read(const struct value *v, uint64_t at, void *out, size_t len);
/* Whether the first VALUE_PAGE bytes of a filter pass the checks of a load; err says why not. */
int value_check(const struct value *v, const char *page, deja_error *err);

deja_stats value_stats(const struct value *v);
/* Bytes of the server's memory that it takes. */
size_t value_memory(const struct value *v);
int value_key_apart(const struct value *v);

/* Replaces every byte but printable ASCII by '?': others could break a line of the protocol or of
 * the log, or drive a terminal. */
void value_plain(char *text);
/* The option as a command spells it: "CAPACITY". */
const char *value_option_word(const deja_option *o);
/* "ERR " and why, with options as commands spell them. */
int value_reply_error(RedisModuleCtx *ctx, int status, const deja_error *err);
/* The error for a filter whose header fails value_check. */
int value_reply_unsound(RedisModuleCtx *ctx, const deja_error *err);
/* The error for a value that is not a filter: being loaded, or opaque. */
int value_reply_no_filter(RedisModuleCtx *ctx, const struct value *v);
int value_reply_ok(RedisModuleCtx *ctx);

#endif
