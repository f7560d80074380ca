/* foreign_value.c - filters of RedisBloom as values; see foreign_value.h. */
#include "foreign_value.h"
#include "tools/base/fail.h"
#include "tools/foreign/redisbloom.h"
#include <string.h>

/* What RedisBloom's structs take on 64-bit machines, which its BF.INFO counts. */
#define CHAIN_SIZE 32
#define LINK_SIZE  64
#define TIGHTENING 0.5
#define LOT        64 /* items that are hashed at once */
#define START_LEN  20
#define RECORD_LEN 53

/* --- Bytes ------------------------------------------------------------------------ */

/* The length of the header that starts with these bytes; 0: there are too few. */
static size_t header_len(const uint8_t *data, size_t len)
{
    uint64_t parts = 0;
    if (len < START_LEN)
        return 0;
    for (int i = 3; i >= 0; i--)
        parts = parts << 8 | data[8 + i];
    const uint64_t all = START_LEN + parts * RECORD_LEN;
    return all <= len ? (size_t)all : 0;
}

int foreign_value_is(const void *data, size_t len, int all)
{
    const size_t head = all ? header_len(data, len) : len;
    return head && redisbloom_is_header(data, head);
}

void foreign_value_begin(struct value *v)
{
    v->foreign = RedisModule_Alloc(sizeof *v->foreign);
    *v->foreign = (struct foreign){.format = &foreign_redisbloom, .alloc = &v->alloc};
}

void foreign_value_free(struct value *v)
{
    if (!v->foreign)
        return;
    foreign_free(v->foreign);
    RedisModule_Free(v->foreign);
    v->foreign = NULL;
}

size_t foreign_value_head(const struct value *v)
{
    return v->foreign->n_parts ? (size_t)redisbloom_header_len(v->foreign) : 0;
}

uint64_t foreign_value_announced(const struct value *v)
{
    return v->foreign->n_parts ? foreign_value_head(v) + foreign_len(v->foreign) : 0;
}

int foreign_value_complete(const struct value *v)
{
    return v->foreign->n_parts && v->loaded >= foreign_value_announced(v);
}

uint64_t foreign_value_len(const struct value *v)
{
    return foreign_value_complete(v) ? foreign_value_announced(v) : v->loaded;
}

/* The bytes of a piece that belong to one part. */
static size_t fit(const struct value *v, size_t len)
{
    uint64_t end = foreign_value_head(v);
    for (size_t i = 0; i < v->foreign->n_parts && end <= v->loaded; i++)
        end += v->foreign->part[i].len;
    const uint64_t left = end - v->loaded;
    return left && len > left ? (size_t)left : len;
}

int foreign_value_write(struct value *v, const void *data, size_t len, deja_error *err)
{
    const uint8_t *at = data;
    int rc = DEJA_OK;
    if (v->loaded == 0) {
        const size_t head = header_len(at, len);
        rc = redisbloom_begin(v->foreign, at, head, err);
        if (rc < 0)
            return rc;
        v->loaded = head;
        at += head;
        len -= head;
    }
    while (len > 0 && rc == DEJA_OK) {
        const size_t some = fit(v, len);
        rc = redisbloom_write(v->foreign, v->loaded - foreign_value_head(v), at, some, err);
        if (rc == DEJA_OK) {
            v->loaded += some;
            at += some;
            len -= some;
        }
    }
    return rc;
}

size_t foreign_value_chunk(const struct value *v, uint64_t at, void *out, size_t len)
{
    const size_t head = foreign_value_head(v);
    const uint64_t end = foreign_value_len(v);
    if (at >= end)
        return 0;
    if (at >= head)
        return redisbloom_read(v->foreign, at - head, out,
                               len < end - at ? len : (size_t)(end - at));
    uint8_t *header = RedisModule_Alloc(head);
    redisbloom_header(v->foreign, header);
    const size_t got = len < head - at ? len : head - (size_t)at;
    memcpy(out, header + at, got);
    RedisModule_Free(header);
    return got;
}

size_t foreign_value_read(const struct value *v, uint64_t at, void *out, size_t len)
{
    size_t have = 0, got = 1;
    while (have < len && got) {
        got = foreign_value_chunk(v, at + have, (char *)out + have, len - have);
        have += got;
    }
    return have;
}

/* --- Answers ------------------------------------------------------------------------ */

deja_stats foreign_value_stats(const struct value *v)
{
    const struct foreign *f = v->foreign;
    deja_stats o = DEJA_STATS_INIT;
    const bool fixed = redisbloom_is_fixed(f);
    for (size_t i = 0; i < f->n_parts; i++)
        o.capacity += f->part[i].capacity;
    o.parts = (uint32_t)f->n_parts;
    o.keys = o.entries = f->keys;
    o.bytes = foreign_len(f);
    o.growth = fixed ? 0 : f->growth;
    o.tightening = fixed ? 0 : TIGHTENING;
    o.fp_rate = f->n_parts ? f->part[0].fp_rate / (fixed ? 1 : TIGHTENING) : 0;
    return o;
}

uint64_t foreign_value_size(const struct value *v)
{
    return CHAIN_SIZE + v->foreign->n_parts * LINK_SIZE + foreign_len(v->foreign);
}

void foreign_value_contains(const struct value *v, struct items *items)
{
    uint64_t hash[LOT * FOREIGN_WORDS];
    for (size_t at = 0; at < items->n; at += LOT) {
        const size_t some = items->n - at < LOT ? items->n - at : LOT;
        v->foreign->format->hash(v->foreign, items->key + at, some, hash);
        foreign_contains(v->foreign, hash, some, items->answer + at);
    }
}

int foreign_value_add(struct value *v, struct items *items, size_t *done, deja_error *err)
{
    uint64_t hash[LOT * FOREIGN_WORDS];
    int rc = DEJA_OK;
    for (*done = 0; *done < items->n && rc == DEJA_OK;) {
        const size_t some = items->n - *done < LOT ? items->n - *done : LOT;
        size_t added;
        v->foreign->format->hash(v->foreign, items->key + *done, some, hash);
        rc = foreign_add(v->foreign, hash, some, items->answer + *done, &added, err);
        *done += added;
    }
    v->loaded = foreign_value_announced(v); /* it may have grown */
    return rc;
}
