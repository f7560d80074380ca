/* sizing.h - compute n, p, m and k from each other; the rate and the losses at any fill.
 *
 * Pure arithmetic on a shape: its layout, number of bits, and positions per key.  Kinds made of
 * several bodies combine these numbers themselves. rate.c computes the effect of n keys on a
 * shape, sizing.c finds the shape, and docs/math.md derives the formulas. */
#ifndef DJ_SIZING_H
#define DJ_SIZING_H
#include <stdbool.h>
#include <stdint.h>

#define DJ_BLOCK_BITS  512                 /* a cache line */
#define DJ_BLOCK_LANES 16                  /* a key sets one bit in each of k lanes of 32 bits */
#define DJ_KEY_LINES   3                   /* blocks of a key, at most */
#define DJ_EXACT_LINE  8                   /* fingerprints in a cache line */
#define DJ_DATED_LINE  6                   /* the same with dates */
#define DJ_DATED_BITS  53                  /* of a hash that such a fingerprint holds */
#define DJ_MAX_BITS    (UINT64_C(1) << 53) /* a petabyte: doubles stay exact */
#define DJ_MAX_HASHES  64

/* Where the bits of a key are, which determines the rates. */
enum dj_layout {
    DJ_NO_LAYOUT, /* not modeled here: no rate, no size */
    DJ_SPREAD,    /* k positions anywhere in the body */
    DJ_BLOCKS,    /* in lanes of one, two or three blocks of 512 bits */
    DJ_TABLE,     /* in its own slot: 64-bit fingerprints */
    DJ_DATED      /* the same with fingerprints of DJ_DATED_BITS and two days */
};

struct dj_shape {
    uint32_t layout; /* a dj_layout */
    uint32_t k;      /* positions per key; blocks: at most DJ_BLOCK_LANES in each; table: 1 */
    uint64_t bits;   /* of memory: a multiple of dj_shape_granule */
    uint32_t counter_bits; /* counters instead of bits: 4, 8, 16 or 32; 0: bits */
    bool no_twins;         /* a key has k hashes (the papers' families), not a single 64-bit one */
    uint32_t key_lines;    /* blocks of a key: 2 or 3, which share its k evenly; 0: one */
};

/* The number of blocks of a key. */
static inline uint32_t dj_shape_key_lines(const struct dj_shape *s)
{
    return s->key_lines ? s->key_lines : 1;
}

/* Whether keys have the same positions in two bodies of one layout. */
static inline bool dj_shape_same(const struct dj_shape *a, const struct dj_shape *b)
{
    return a->bits == b->bits && a->k == b->k && a->key_lines == b->key_lines;
}

/* Bits of memory that count as one place: a counter's width, or 1. */
static inline uint32_t dj_shape_unit(const struct dj_shape *s)
{
    return s->counter_bits ? s->counter_bits : 1;
}

/* True for layouts in which each key has its own slot; and the number of slots. */
static inline bool dj_layout_is_table(uint32_t layout)
{
    return layout == DJ_TABLE || layout == DJ_DATED;
}
static inline uint64_t dj_shape_slots(const struct dj_shape *s)
{
    return s->bits / DJ_BLOCK_BITS * (s->layout == DJ_DATED ? DJ_DATED_LINE : DJ_EXACT_LINE);
}

/* True for the valid nonzero values of counter_bits. */
bool dj_shape_has_counters(uint32_t counter_bits);
/* The granule that sizes are a multiple of, for this layout and number of lines, and the largest k;
 * DJ_NO_LAYOUT has k 0. */
uint64_t dj_shape_granule(const struct dj_shape *s);
uint32_t dj_shape_most_k(const struct dj_shape *s);
/* Numbers of lines to choose from. */
struct dj_key_lines {
    uint32_t least, most;
};
/* Whether its lines can share its k evenly; and the fewest lines that can.  False: there are none,
 * and *s is unchanged. */
bool dj_shape_splits(const struct dj_shape *s);
bool dj_shape_fewest_lines(struct dj_shape *s, struct dj_key_lines from);

/* The functions from here to dj_shape_keys take a complete shape: a layout with valid k and bits.
 * n is a number of distinct keys; 0, negative values and NaN count as none; INFINITY is
 * allowed. */

/* Probability that a key that was never added is found after n distinct keys have been added. */
double dj_shape_rate(const struct dj_shape *s, double n);
/* Of n keys arriving one after another, the expected number mistaken for seen: the sum of the
 * rates at which the first, second, ... n-th key are mistaken.  (The integral of the rate is at
 * most one key more.) */
double dj_shape_lost(const struct dj_shape *s, double n);
/* The same for F filters of this shape that all hold all n keys: a key is found if all of them
 * find it. */
double dj_shape_rate_of(const struct dj_shape *s, uint32_t filters, double n);
double dj_shape_lost_of(const struct dj_shape *s, uint32_t filters, double n);
/* The part of the rate that no body can lower: the probability that an absent key is a twin (has
 * the same 64-bit hash) of one of n keys; the combination of that and the rate of the bodies; the
 * same probability for the bits of a hash that a shape uses; and the share of p that it leaves for
 * the bodies, or 0. */
double dj_twins(double n);
double dj_with_twins(double bodies, double n);
double dj_shape_twins(const struct dj_shape *s, double n);
double dj_shape_rate_left(const struct dj_shape *s, double n, double p);
/* The probability that at least one of two independent events occurs. */
double dj_either(double a, double b);
/* The mean and the standard deviation of the number of set bits (table: used slots; counters:
 * nonzero counters) after n distinct keys.  Both are exact for ideal hashing, not bounds. */
double dj_shape_bits_set(const struct dj_shape *s, double n);
double dj_shape_bits_sigma(const struct dj_shape *s, double n);
/* The inverse: the number of keys that explains this many set bits.  A full filter gives INFINITY
 * (exact: always the number of used slots). */
double dj_shape_keys(const struct dj_shape *s, double bits_set);

/* Find the smallest shape of this layout whose rate at n keys is at most p.  k = 0 in *s selects
 * the best k, the smaller of two that need the same bits; any other k is kept (s->layout, s->k,
 * s->key_lines and s->counter_bits are inputs, s->k and s->bits outputs).  False, with *s
 * unchanged, if the bits exceed DJ_MAX_BITS, no size reaches p, the layout cannot have this k, n is
 * 0 or above 2^53, or p is not between 0 and 1. */
bool dj_shape_fit(struct dj_shape *s, uint64_t n, double p);
/* The same for the body alone: twins must not prevent a required part from being added. */
bool dj_shape_fit_body(struct dj_shape *s, uint64_t n, double p);
/* For given bits: set the best k for n keys unless k is fixed; n = 0 counts as 1. */
void dj_shape_best_k(struct dj_shape *s, uint64_t n);
/* For given bits: the largest n, at most 2^53, whose rate is at most p (k is chosen unless fixed);
 * exact: also at most 0.8 of the slots.  0 if not even one key is allowed, or p is not between 0
 * and 1. */
uint64_t dj_shape_capacity(struct dj_shape *s, double p);
/* Round bits up to a size that the layout can have; false on overflow, with *s unchanged.  Spread:
 * a multiple of 64, with counters of 512; blocks: of 512 for each line of a key; tables: of 512, at least 1024 (two
 * lines). */
bool dj_shape_round(struct dj_shape *s);

/* The same functions, but they also set s->key_lines.  Every line is a cache miss, so a key gets
 * another one only if that saves a sixteenth of the memory: the fewest lines that can have this k,
 * and one more for as long as it saves that.  Given bits are rounded down. */
bool dj_shape_fit_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n, double p);
bool dj_shape_fit_body_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n, double p);
void dj_shape_best_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n);
uint64_t dj_shape_capacity_lines(struct dj_shape *s, struct dj_key_lines from, double p);

#endif
