/* wide.h - numbers of 128 bits: the only place that knows how the compiler provides them.
 *
 * Compilers for 64-bit processors have a type of 128 bits, whose product and sum are a few
 * instructions.  For others, struct dj_halves does the same with words of 64 bits.  It is compiled
 * everywhere, so that tests can compare the two. */
#ifndef DJ_WIDE_H
#define DJ_WIDE_H
#include <stdint.h>

/* --- Portable -------------------------------------------------------------------- */

struct dj_halves {
    uint64_t high, low;
};

/* Four products of 32 by 32 bits.  No sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1. */
static inline struct dj_halves dj_halves_mul(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), cross = a0 * b1 + (uint32_t)mid;
    return (struct dj_halves){a1 * b1 + (mid >> 32) + (cross >> 32), cross << 32 | (uint32_t)low};
}

/* Modulo 2^128. */
static inline struct dj_halves dj_halves_add(struct dj_halves a, struct dj_halves b)
{
    const uint64_t low = a.low + b.low;
    return (struct dj_halves){a.high + b.high + (low < a.low), low};
}

/* The quotient of a and a divisor above its high half, one bit after another. */
static inline uint64_t dj_halves_div(struct dj_halves a, uint64_t by)
{
    uint64_t rest = a.high, quotient = 0;
    for (int i = 63; i >= 0; i--) {
        const uint64_t out = rest >> 63;
        rest = rest << 1 | (a.low >> i & 1);
        const uint64_t fits = out | (rest >= by);
        rest -= by & (0 - fits);
        quotient = quotient << 1 | fits;
    }
    return quotient;
}

/* --- What callers use -------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 dj_wide;

static inline dj_wide dj_wide_of(uint64_t high, uint64_t low)
{
    return (dj_wide)high << 64 | low;
}

static inline dj_wide dj_wide_mul(uint64_t a, uint64_t b)
{
    return (dj_wide)a * b;
}

static inline dj_wide dj_wide_add(dj_wide a, dj_wide b)
{
    return a + b;
}

static inline uint64_t dj_wide_high(dj_wide a)
{
    return (uint64_t)(a >> 64);
}

static inline uint64_t dj_wide_div(dj_wide a, uint64_t by)
{
    return (uint64_t)(a / by);
}

#else

typedef struct dj_halves dj_wide;

static inline dj_wide dj_wide_of(uint64_t high, uint64_t low)
{
    return (dj_wide){high, low};
}

static inline dj_wide dj_wide_mul(uint64_t a, uint64_t b)
{
    return dj_halves_mul(a, b);
}

static inline dj_wide dj_wide_add(dj_wide a, dj_wide b)
{
    return dj_halves_add(a, b);
}

static inline uint64_t dj_wide_high(dj_wide a)
{
    return a.high;
}

static inline uint64_t dj_wide_div(dj_wide a, uint64_t by)
{
    return dj_halves_div(a, by);
}

#endif

/* The high half of a * b: maps a uniform 64-bit a onto 0 .. b-1 without division. */
static inline uint64_t dj_mulhi(uint64_t a, uint64_t b)
{
    return dj_wide_high(dj_wide_mul(a, b));
}

#endif
