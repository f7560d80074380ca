/* mix.h - reproducible pseudorandom numbers: SplitMix64.
 *
 * Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
#ifndef TOOLS_BASE_MIX_H
#define TOOLS_BASE_MIX_H
#include <stddef.h>
#include <stdint.h>

#define MIX_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / phi, odd: the step of the sequence */

/* The finalizer is a bijection: different inputs give different outputs. */
static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The next number of a sequence; *state may start with any value. */
static inline uint64_t mix_next(uint64_t *state)
{
    *state += MIX_GOLDEN;
    return mix64(*state);
}

/* Number i of a sequence that starts at 0; number 0 is 0. */
static inline uint64_t mix_nth(uint64_t i)
{
    return mix64(i * MIX_GOLDEN);
}

/* The high half of a product, from four products of 32 by 32 bits, because not every compiler has
 * wider numbers.  No sum overflows. */
static inline uint64_t mix_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t mid = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (uint32_t)mid;
    return a1 * b1 + (mid >> 32) + (cross >> 32);
}

/* Maps a random 64-bit number to one below `below`. */
static inline uint64_t mix_below(uint64_t random, uint64_t below)
{
    return mix_high(random, below);
}

#define MIX_FNV1A UINT64_C(0xcbf29ce484222325)

/* Continues a 64-bit FNV-1a hash, which starts as MIX_FNV1A, over these bytes. */
static inline uint64_t mix_fnv1a(uint64_t h, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

#endif
