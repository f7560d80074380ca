/* sizing.h - n, p, m and k from each other; the rate and the losses at any fill.
 *
 * Pure arithmetic on a shape: which kind of body, how many bits, how many positions a key.
 * Kinds made of several bodies combine these numbers themselves. */
#ifndef DJ_SIZING_H
#define DJ_SIZING_H
#include <stdbool.h>
#include <stdint.h>

#define DJ_BLOCK_BITS  512                 /* a cache line */
#define DJ_BLOCK_LANES 16                  /* a key sets one bit in each of k lanes of 32 bits */
#define DJ_EXACT_LINE  8                   /* fingerprints in a cache line */
#define DJ_MAX_BITS    (UINT64_C(1) << 53) /* a petabyte: doubles stay exact */
#define DJ_MAX_HASHES  64

struct dj_shape {
    uint32_t kind; /* DEJA_CLASSIC, DEJA_BLOCKED or DEJA_EXACT */
    uint32_t k;    /* positions a key; blocked: at most DJ_BLOCK_LANES; exact: 1 */
    uint64_t bits; /* blocked: a multiple of 512; exact: 64 a slot, a multiple of 512 */
};

/* Probability that a key never added is found when n different keys were. */
double dj_shape_rate(const struct dj_shape *s, double n);
/* Keys of n arriving one after another that are taken for seen: the integral of the rate. */
double dj_shape_lost(const struct dj_shape *s, double n);
/* Set bits (exact: used slots) that n different keys leave on average, and the standard deviation
 * (an upper bound where the exact one has no closed form; see docs/math.md). */
double dj_shape_bits_set(const struct dj_shape *s, double n);
double dj_shape_bits_sigma(const struct dj_shape *s, double n);
/* The other way: keys that explain this many set bits.  A full filter gives INFINITY. */
double dj_shape_keys(const struct dj_shape *s, double bits_set);

/* The smallest shape of this kind whose rate at n keys is at most p.  k = 0 in *s asks for the
 * best k, any other k is kept (s->kind and s->k are inputs, s->k and s->bits outputs).
 * False when the bits overflow DJ_MAX_BITS or no size reaches p. */
bool dj_shape_fit(struct dj_shape *s, uint64_t n, double p);
/* With bits given: the k (unless fixed) that is best for n keys. */
void dj_shape_best_k(struct dj_shape *s, uint64_t n);
/* With bits given: how many keys until the rate reaches p (k chosen unless fixed). */
uint64_t dj_shape_capacity(struct dj_shape *s, double p);
/* Round bits up to what the kind can have; false on overflow.  classic: multiple of 64. */
bool dj_shape_round(struct dj_shape *s);

#endif
