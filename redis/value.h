/* value.h - what a key of the server holds: a filter, or one that is being loaded. */
#ifndef VALUE_H
#define VALUE_H
#include "redisapi.h"
#include <deja.h>

struct value {
    deja_filter *filter;       /* NULL while it is being loaded ... */
    deja_import *load;         /* ... by this; otherwise NULL */
    uint32_t kind;             /* deja_kind of the filter */
    uint64_t loaded;           /* bytes that the load has taken */
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

struct totals {
    unsigned long long filters, bytes;
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

enum found { FOUND, ABSENT, REFUSED };
/* The value under a name.  REFUSED: another type, and the client has been told. */
enum found value_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                      struct value **v);
/* The same for commands that need a filter: true, or the client has been told. */
int value_filter(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                 struct value **v);

/* A filter in memory, with its key random unless options have one; err says why not. */
struct value *value_make(deja_options *opt, deja_error *err);
struct value *value_copy(const struct value *from, deja_error *err);
/* A filter of these bytes; key may be NULL. */
struct value *value_import(const void *data, size_t len, const void *key, deja_error *err);

/* A load of bytes in pieces: begun, continued, and with the last one a filter.  len is how many
 * there will be, if that is beyond doubt; or 0. */
struct value *value_load_begin(uint64_t len, const void *key, deja_error *err);
int value_load_more(struct value *v, const void *data, size_t len, deja_error *err);
/* Bytes that it has, complete or not, and some of them. */
uint64_t value_len(const struct value *v);
size_t value_read(const struct value *v, uint64_t at, void *out, size_t len);

deja_outline value_outline(const struct value *v);
/* Bytes of the server's memory that it takes. */
size_t value_memory(const struct value *v);
int value_key_apart(const struct value *v);

/* "ERR " and why. */
int value_reply_error(RedisModuleCtx *ctx, int status, const deja_error *err);
int value_reply_loading(RedisModuleCtx *ctx);
int value_reply_ok(RedisModuleCtx *ctx);

#endif
