/* rng.h - random numbers with a seed, so that a failure can be reproduced.
 *
 * SplitMix64 (Steele, Lea, Flood 2014): a counter through a bijection.  Two numbers of one
 * sequence are therefore always different, so the sequence also serves as a source of distinct
 * keys: numbers 0 .. n-1 are members, and the ones after them were never added. */
#ifndef DJ_TEST_RNG_H
#define DJ_TEST_RNG_H
#include "core/base/wide.h"
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline struct rng rng_seeded(uint64_t seed)
{
    return (struct rng){seed * UINT64_C(0xd1342543de82ef95) + 1};
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0 .. limit-1, for limits far below 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t limit)
{
    return dj_mulhi(rng_next(r), limit);
}

/* The same sequence from its 2^40th number on: different from the first 2^40. */
static inline struct rng rng_beyond(struct rng r)
{
    return (struct rng){r.state + (UINT64_C(0x9e3779b97f4a7c15) << 40)};
}

static inline void rng_fill(struct rng *r, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rng_next(r);
}

static inline void rng_bytes(struct rng *r, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(rng_next(r) >> 56);
}

#endif
