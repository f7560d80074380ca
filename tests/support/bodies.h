/* bodies.h - compares the contents of two parts.  Bodies of bits must be equal byte for byte.  In
 * a table of fingerprints the order within a line depends on the batch size, so only the set of
 * fingerprints must be equal. */
#ifndef TEST_BODIES_H
#define TEST_BODIES_H
#include "kinds/kind.h"
#include <stdlib.h>
#include <string.h>

static inline int bodies_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Slots with days: every key of a is in b with the same days, and b has no others. */
static inline bool bodies_dated_equal(const struct dj_part *a, const struct dj_part *b)
{
    uint64_t hash[DJ_CHUNK], at = 0;
    deja_days in_a[DJ_CHUNK], in_b[DJ_CHUNK];
    for (size_t n; (n = a->kind->body.dated(a, &at, hash, in_a)) > 0;) {
        memset(in_b, 0, sizeof in_b);
        b->kind->body.days(b, hash, n, in_b);
        if (memcmp(in_a, in_b, n * sizeof *in_a) != 0)
            return false;
    }
    return a->kind->body.bits_set(a) == b->kind->body.bits_set(b);
}

static inline bool bodies_equal(const struct dj_part *a, const struct dj_part *b)
{
    if (a->body_len != b->body_len)
        return false;
    if (a->kind->body.dated)
        return bodies_dated_equal(a, b);
    if (a->kind->number != DEJA_EXACT)
        return memcmp(a->body, b->body, a->body_len) == 0;
    const size_t slots = a->body_len / 8;
    uint64_t *in_a = malloc(a->body_len), *in_b = malloc(b->body_len);
    bool same = in_a && in_b;
    if (same) {
        memcpy(in_a, a->body, a->body_len);
        memcpy(in_b, b->body, b->body_len);
        qsort(in_a, slots, 8, bodies_order);
        qsort(in_b, slots, 8, bodies_order);
        same = memcmp(in_a, in_b, a->body_len) == 0;
    }
    free(in_a);
    free(in_b);
    return same;
}

#endif
