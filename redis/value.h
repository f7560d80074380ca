/* value.h - the value of a key on the server: a filter, a filter that is being loaded, or the bytes
 * of a filter that this build cannot use. */
#ifndef VALUE_H
#define VALUE_H
#include "redisapi.h"
#include <deja.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What to do with bytes that are not a filter for this build.  A client gets an error.  RESTORE
 * keeps bytes that another build can use.  While the server loads its data, or follows a primary
 * that has accepted them, all bytes are kept: refusing them would lose them or stop the server. */
enum keep {
    KEEP_NONE,
    KEEP_SOUND,
    KEEP_ALL
};

/* Flags of a value, as stored in RDB files: append only. */
enum {
    VALUE_WITH_KEY = 1,
    VALUE_PARTIAL = 2,
    VALUE_FOREIGN = 4, /* a filter of RedisBloom: the bytes of its dump */
    VALUE_FLAGS = VALUE_WITH_KEY | VALUE_PARTIAL | VALUE_FOREIGN
};

/* A filter that this build cannot use: its bytes, unchanged, and the reason. */
struct opaque {
    char *bytes;
    size_t len, room;
    uint64_t flags; /* as they arrived, including those of a newer version */
    char why[sizeof((deja_error *)0)->text];
};

/* The bytes of a small filter that is not in use (rest.c). */
struct rest {
    uint8_t *at;
    size_t len;
};

struct value { /* exactly one of the first five is set */
    deja_filter *filter;
    deja_import *load;
    struct opaque *opaque;
    struct foreign *foreign;     /* of RedisBloom (foreign_value.h), complete or being loaded */
    struct rest rest;            /* at is NULL: it is not at rest */
    struct value *newer, *older; /* in the list of rest.c */
    atomic_bool listed;
    enum keep keep;            /* if the load fails */
    int with_key;              /* the key below came with the bytes */
    uint32_t kind;             /* deja_kind of the filter */
    const deja_url_rules *url; /* use value_rules() */
    uint64_t loaded;           /* bytes that have arrived */
    uint64_t expected;         /* bytes announced by the sender: only an upper limit for room */
    uint8_t key[DEJA_KEY_LEN]; /* of a filter whose file does not contain it */
    deja_allocator alloc;
    size_t bytes; /* allocated, including what the allocator rounds up */
};

/* For the whole server: the data type, and the settings of CONFIG SET. */
extern RedisModuleType *value_type;
extern struct settings {
    long long filter_max_bytes;
    long long bf_capacity;
    long long bf_expansion;
    double bf_error;
} settings;

/* The URL rules for its items, in the version of the filter; NULL: it has no profile, or this
 * library does not have the rules. */
const deja_url_rules *value_rules(struct value *v);

struct totals {
    unsigned long long filters, bytes, opaque;
};
struct totals value_totals(void);

#define VALUE_PIECE ((size_t)16 << 20) /* bytes that are processed at once */
#define VALUE_PAGE  4096u              /* the header of a .deja file */

struct value *value_new(void);
void value_free(void *value);
/* Memory that belongs to the value; NULL: there is none. */
void *value_take(struct value *v, size_t size);
void value_give(struct value *v, void *start);

/* From now on, allocations belong to the command of ctx and are bounded by filter-max-bytes and
 * maxmemory; NULL: to a load, and are not bounded. */
void value_asking(RedisModuleCtx *ctx);

/* Is a filter of this size refused to the current command? */
int value_too_large(uint64_t bytes);

/* What to do with the bytes of the command of ctx. */
enum keep value_keep(RedisModuleCtx *ctx);

/* A new filter.  Its key is random unless the options have one. */
struct value *value_make(deja_options *opt, deja_error *err);
struct value *value_copy(const struct value *from, deja_error *err);
/* A filter from the bytes of its file; key may be NULL. */
struct value *value_import(const void *data, size_t len, const void *key, enum keep keep,
                           deja_error *err);

/* A load in pieces: begin, write each, finish.  len is the number of bytes if it can be trusted,
 * or 0.  value_load_more writes a piece and finishes a complete load.  If a load fails but its
 * bytes are kept, it succeeds with an opaque value. */
struct value *value_load_begin(uint64_t len, const void *key, enum keep keep, deja_error *err);
struct value *value_load_foreign(enum keep keep); /* of RedisBloom */
int value_load_write(struct value *v, const void *data, size_t len, deja_error *err);
int value_load_finish(struct value *v, deja_error *err);
int value_load_more(struct value *v, const void *data, size_t len, deja_error *err);
/* Have all bytes arrived that the header announces? */
int value_load_complete(const struct value *v);
/* Fail a load for a reason outside its bytes.  Returns status, or DEJA_OK if the bytes are kept
 * (as an opaque value). */
int value_load_unusable(struct value *v, int status, const char *why, deja_error *err);
/* Begin and finish a load that came with flags. */
struct value *value_load_flagged(uint64_t flags, const void *key, enum keep keep, deja_error *err);
int value_load_end(struct value *v, uint64_t flags, deja_error *err);
/* The same for all bytes at once.  They are always kept. */
struct value *value_import_flagged(const void *data, size_t len, const void *key, uint64_t flags,
                                   deja_error *err);

/* The number of bytes that it has, complete or not; and a part of them. */
/* Does it answer queries? */
int value_is_ready(const struct value *v);
uint64_t value_len(const struct value *v);
size_t value_read(const struct value *v, uint64_t at, void *out, size_t len);
/* The same, at most up to the end of a chunk of BF.SCANDUMP; the first one is the header. */
size_t value_chunk(const struct value *v, uint64_t at, void *out, size_t len);
size_t value_head(const struct value *v); /* bytes of the first chunk */
/* Would the exported header page of a filter pass the checks of a load? */
int value_check(const struct value *v, const char *page, deja_error *err);

deja_stats value_stats(const struct value *v);
/* Its memory in bytes.  That of a small filter in use is what it takes at rest. */
size_t value_memory(const struct value *v);
int value_key_apart(const struct value *v); /* its file does not contain its key */

/* Replaces all bytes except printable ASCII with '?': other bytes could end a line of the protocol
 * or of the log, or control a terminal. */
void value_plain(char *text);
/* The option as a command spells it: "CAPACITY". */
const char *value_option_word(const deja_option *o);

#endif
