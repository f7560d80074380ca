/* foreign_value.h - filters of RedisBloom as values: BF.LOADCHUNK accepts RedisBloom's dumps.
 *
 * Such a filter keeps RedisBloom's hash functions and bits, so BF.* commands answer like
 * RedisBloom, and BF.SCANDUMP returns chunks that RedisBloom loads.  Its bytes, in RDB files and
 * chunks, are those of RedisBloom's dump: a header, then the bits. */
#ifndef FOREIGN_VALUE_H
#define FOREIGN_VALUE_H
#include "items.h"
#include "value.h"

/* Whether these bytes can be the start of a dump, or with `all`, a whole one. */
int foreign_value_is(const void *data, size_t len, int all);
/* An empty value that is loading; the first write must contain the header. */
void foreign_value_begin(struct value *v);
void foreign_value_free(struct value *v);

/* As value_load_write, value_load_complete, value_len and value_read do for other values. */
int foreign_value_write(struct value *v, const void *data, size_t len, deja_error *err);
int foreign_value_complete(const struct value *v);
uint64_t foreign_value_len(const struct value *v);
size_t foreign_value_read(const struct value *v, uint64_t at, void *out, size_t len);
size_t foreign_value_head(const struct value *v); /* bytes of the header */
/* Bytes of the filter that the header announces; 0: it has not arrived. */
uint64_t foreign_value_announced(const struct value *v);
/* Like foreign_value_read, but stops where RedisBloom's chunks do. */
size_t foreign_value_chunk(const struct value *v, uint64_t at, void *out, size_t len);

deja_stats foreign_value_stats(const struct value *v);
/* The size that RedisBloom's BF.INFO reports. */
uint64_t foreign_value_size(const struct value *v);

void foreign_value_contains(const struct value *v, struct items *items);
int foreign_value_add(struct value *v, struct items *items, size_t *done, deja_error *err);

#endif
