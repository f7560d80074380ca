/* numbered.h - keys that are numbers, for tests that need only many distinct keys. */
#ifndef NUMBERED_H
#define NUMBERED_H
#include "core/base/bytes.h"
#include "deja.h"
#include "unit.h"

/* The same bytes on every machine, so that rates are measured with the same keys.  They live as long
 * as the block in which they are named. */
#define key_of(i) ((deja_slice){&(const uint64_t){DJ_LE64(*(i))}, sizeof(uint64_t)})

/* Adds one number; returns whether it was new. */
static inline bool add(deja_filter *f, uint64_t i)
{
    bool is_new = false;
    assert_int_equal(deja_filter_add(f, key_of(&i), &is_new, NULL), DEJA_OK);
    return is_new;
}

static inline bool has(const deja_filter *f, uint64_t i)
{
    return deja_filter_contains(f, key_of(&i));
}

/* Adds from .. to - 1. */
static inline int take(deja_filter *f, uint64_t from, uint64_t to)
{
    int rc = DEJA_OK;
    for (uint64_t i = from; i < to && rc == DEJA_OK; i++)
        rc = deja_filter_add(f, key_of(&i), NULL, NULL);
    return rc;
}

/* The same; every key must be accepted. */
static inline void add_keys(deja_filter *f, uint64_t from, uint64_t to)
{
    assert_int_equal(take(f, from, to), DEJA_OK);
}

/* Returns how many of the keys from .. to - 1 are missing. */
static inline uint64_t missing(const deja_filter *f, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += !has(f, i);
    return n;
}

#endif
