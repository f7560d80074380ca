/* sizing.h - n, p, m and k from each other; the rate and the losses at any fill.
 *
 * Pure arithmetic on a shape: which layout, how many bits, how many positions a key.
 * Kinds made of several bodies combine these numbers themselves.  rate.c says what n keys do
 * to a shape, sizing.c finds the shape; docs/math.md derives the formulas. */
#ifndef DJ_SIZING_H
#define DJ_SIZING_H
#include <stdbool.h>
#include <stdint.h>

#define DJ_BLOCK_BITS  512                 /* a cache line */
#define DJ_BLOCK_LANES 16                  /* a key sets one bit in each of k lanes of 32 bits */
#define DJ_EXACT_LINE  8                   /* fingerprints in a cache line */
#define DJ_MAX_BITS    (UINT64_C(1) << 53) /* a petabyte: doubles stay exact */
#define DJ_MAX_HASHES  64

/* Where the bits of a key are: what rates depend on. */
enum dj_layout {
    DJ_NO_LAYOUT, /* none that is known here: no rate, no size */
    DJ_SPREAD,    /* anywhere: k positions over the whole body */
    DJ_BLOCKS,    /* in k lanes of one block of 512 bits */
    DJ_TABLE      /* in a slot of its own: 64-bit fingerprints */
};

struct dj_shape {
    uint32_t layout;       /* a dj_layout */
    uint32_t k;            /* positions per key; blocks: at most DJ_BLOCK_LANES; table: 1 */
    uint64_t bits;         /* of memory; a multiple of 64 if spread, of 512 otherwise */
    uint32_t counter_bits; /* blocks of counters instead of bits: 4, 8, 16 or 32; 0: bits */
    bool no_twins;         /* a key is k numbers (the papers' hashes), not one of 64 bits */
};

/* Bits of memory that are counted as one: of a counter, of a slot, or a bit. */
static inline uint32_t dj_shape_unit(const struct dj_shape *s)
{
    return s->counter_bits ? s->counter_bits : 1;
}

/* What counter_bits may be, but for 0. */
bool dj_shape_has_counters(uint32_t counter_bits);
/* Bits that a size is a multiple of, and the largest k; DJ_NO_LAYOUT has k 0. */
uint64_t dj_shape_granule(uint32_t layout);
uint32_t dj_shape_most_k(uint32_t layout);

/* All that follow, up to dj_shape_keys, take a complete shape: a layout, k and bits that
 * it can have.  n is a number of different keys; 0 or less (and NaN) count as none, INFINITY is
 * allowed. */

/* Probability that a key never added is found when n different keys were. */
double dj_shape_rate(const struct dj_shape *s, double n);
/* Keys of n arriving one after another that are taken for seen: the rates met by the first,
 * second, ... n-th key, added up.  (The integral of the rate is at most one key more.) */
double dj_shape_lost(const struct dj_shape *s, double n);
/* The same of F filters of this shape with all n keys each: found is what all of them find. */
double dj_shape_rate_of(const struct dj_shape *s, uint32_t filters, double n);
double dj_shape_lost_of(const struct dj_shape *s, uint32_t filters, double n);
/* The part of the rate that no body lessens: that a stranger is a twin of one of n keys; that and
 * the rate of bodies together; and what it leaves of p for the bodies, 0 when nothing. */
double dj_twins(double n);
double dj_with_twins(double bodies, double n);
double dj_shape_rate_left(const struct dj_shape *s, double n, double p);
/* Of two independent chances, at least one. */
double dj_either(double a, double b);
/* Set bits (table: used slots; counters that are not 0) that n different keys leave on
 * average, and the standard deviation.  No upper bound is involved: both are exact for ideal
 * hashing. */
double dj_shape_bits_set(const struct dj_shape *s, double n);
double dj_shape_bits_sigma(const struct dj_shape *s, double n);
/* The other way: keys that explain this many set bits.  A full filter gives INFINITY (exact:
 * the number of slots in use, whatever it is). */
double dj_shape_keys(const struct dj_shape *s, double bits_set);

/* The smallest shape of this layout whose rate at n keys is at most p.  k = 0 in *s asks for the
 * best k, the smaller of two that need the same bits; any other k is kept (s->layout, s->k and
 * s->counter_bits are inputs, s->k and s->bits outputs).  False, with *s as it was, when the bits
 * overflow DJ_MAX_BITS, when no size reaches p, when the layout cannot have this k, and when n is
 * 0 or beyond 2^53 or p is not between 0 and 1. */
bool dj_shape_fit(struct dj_shape *s, uint64_t n, double p);
/* The same for the body alone: a part that has to be added cannot be refused for twins. */
bool dj_shape_fit_body(struct dj_shape *s, uint64_t n, double p);
/* With bits given: the k (unless fixed) that is best for n keys; n = 0 counts as 1. */
void dj_shape_best_k(struct dj_shape *s, uint64_t n);
/* With bits given: how many keys until the rate reaches p (k chosen unless fixed): the largest
 * n, at most 2^53, whose rate is at most p; exact: also at most 0.8 of the slots.  0 when not
 * even one key is allowed, or p is not between 0 and 1. */
uint64_t dj_shape_capacity(struct dj_shape *s, double p);
/* Round bits up to what the layout can have; false on overflow, with *s as it was.  Spread:
 * multiple of 64; blocks: of 512; table: of 512, at least 1024 (16 slots). */
bool dj_shape_round(struct dj_shape *s);

#endif
