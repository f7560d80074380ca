/* lab_math.h - what the theory says, and how far from it is far. */
#ifndef LAB_ENGINE_LAB_MATH_H
#define LAB_ENGINE_LAB_MATH_H
#include <stdbool.h>
#include <stdint.h>

/* Bloom filters by the thesis' rule m = n k M.  `copies` filters, all with k hash functions and
 * m bits, have to agree: F of them, times the visits of the temporal strategy. */
struct lab_bloom {
    double n; /* keys in each filter, and keys asked: one run */
    uint32_t k, copies;
    double multiplier;
    bool filling; /* incremental: asked while it fills, key by key */
};

/* The rate that is expected, and the standard deviation of the rate that one run measures: the
 * chance of the hits, and that of the bits that happen to be set. */
double lab_bloom_rate(const struct lab_bloom *b);
double lab_bloom_sigma(const struct lab_bloom *b);
/* The same for full filters that were asked `trials` questions in all, in equal shares to
 * `filters` of them, each with n keys and bits of its own. */
double lab_bloom_sigma_of(const struct lab_bloom *b, double trials, double filters);
/* Expected rate when `at` of the keys are in, 0..1: a point of a curve. */
double lab_bloom_rate_at(const struct lab_bloom *b, double at);
/* Of n keys, the share that was taken for seen when `at` of them have come. */
double lab_bloom_lost_until(const struct lab_bloom *b, double at);

/* The same for a filter whose k positions lie in one block of 512: n keys in it, `trials` asked,
 * and the rate that is expected.  Blocks get different numbers of keys, and there are few of them.
 */
double lab_blocked_sigma(double n, uint32_t k, double positions_a_key, double trials, double rate);

/* How unlikely is a count when `expected` is its mean and it is a sum of rare events: as many
 * standard deviations as a normal variable with the same tail would be off.  Half of the
 * probability of the count itself belongs to the tail. */
double lab_poisson_sigma(double count, double expected);
/* Means for which a count like this is in the outer 2.5 % on either side: 0 hits in a trial say
 * that fewer than 3.69 are expected, not that none is. */
double lab_poisson_low(double count);
double lab_poisson_high(double count);

struct lab_spread {
    double mean, error; /* standard error of the mean; 0 for fewer than two */
};
struct lab_spread lab_spread(const double *x, uint32_t n);

/* Least squares: y = a + b x; r2 is the share of the variance that it explains. */
struct lab_line {
    double a, b, r2;
};
struct lab_line lab_fit(const double *x, const double *y, uint32_t n);

#endif
