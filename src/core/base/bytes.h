/* bytes.h - little-endian integers in memory.
 *
 * Files and filter bodies are little-endian everywhere.  On little-endian machines each of these
 * functions is a single load or store. */
#ifndef DJ_BYTES_H
#define DJ_BYTES_H
#include "core/base/wide.h"
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define DJ_LE16(x) __builtin_bswap16(x)
#define DJ_LE32(x) __builtin_bswap32(x)
#define DJ_LE64(x) __builtin_bswap64(x)
#else
#define DJ_LE16(x) (x)
#define DJ_LE32(x) (x)
#define DJ_LE64(x) (x)
#endif

static inline uint16_t dj_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return DJ_LE16(v);
}

static inline uint32_t dj_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return DJ_LE32(v);
}

static inline uint64_t dj_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return DJ_LE64(v);
}

static inline void dj_store16(void *p, uint16_t v)
{
    v = DJ_LE16(v);
    memcpy(p, &v, sizeof v);
}

static inline void dj_store32(void *p, uint32_t v)
{
    v = DJ_LE32(v);
    memcpy(p, &v, sizeof v);
}

static inline void dj_store64(void *p, uint64_t v)
{
    v = DJ_LE64(v);
    memcpy(p, &v, sizeof v);
}

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014: the finalizer of
 * SplitMix64.  It is a bijection, and each output bit depends on every input bit. */
static inline uint64_t dj_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
#define DJ_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / phi, odd: SplitMix64's step */

/* Output i = 0, 1, .. of SplitMix64 seeded with x; position i of the hash x is derived from it. */
static inline uint64_t dj_nth64(uint64_t x, uint32_t i)
{
    return dj_mix64(x + (i + UINT64_C(1)) * DJ_GOLDEN);
}

#endif
