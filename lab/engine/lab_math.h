/* lab_math.h - theoretical rates, and significant deviations from them. */
#ifndef LAB_ENGINE_LAB_MATH_H
#define LAB_ENGINE_LAB_MATH_H
#include <stdbool.h>
#include <stdint.h>

/* Bloom filters by the thesis' rule m = n k M.  `copies` filters, all with k hash functions and m
 * bits, must agree: F of them, times the visits of the temporal strategy. */
struct lab_bloom {
    double n; /* per run: keys in each filter, and keys queried */
    uint32_t k, copies;
    double multiplier;
    bool filling; /* incremental: queried while it fills, key by key */
};

/* The expected rate, and the standard deviation of the rate that one run measures, due to random
 * hits and randomly set bits. */
double lab_bloom_rate(const struct lab_bloom *b);
double lab_bloom_sigma(const struct lab_bloom *b);
/* The same for full filters with `trials` queries in total, spread evenly over `filters` of them,
 * each with n keys and its own bits. */
double lab_bloom_sigma_of(const struct lab_bloom *b, double trials, double filters);
/* Expected rate after a fraction `at` of the keys, 0..1: a point of a curve. */
double lab_bloom_rate_at(const struct lab_bloom *b, double at);
/* The fraction of n keys mistaken for seen by the time a fraction `at` of them has arrived. */
double lab_bloom_lost_until(const struct lab_bloom *b, double at);

/* The same for a filter whose k positions are in one block of 512: n keys, `trials` queries, and
 * the expected rate.  There are few blocks, with different numbers of keys. */
double lab_blocked_sigma(double n, uint32_t k, double positions_a_key, double trials, double rate);

/* How unlikely a count of rare events is if its mean is `expected`: the number of standard
 * deviations at which a normal variable has the same tail.  The tail includes half of the
 * probability of the count itself. */
double lab_poisson_sigma(double count, double expected);
/* The means for which this count is in the outer 2.5% on either side: 0 hits mean that fewer than
 * 3.69 are expected, not that none are. */
double lab_poisson_low(double count);
double lab_poisson_high(double count);

struct lab_spread {
    double mean, error; /* standard error of the mean; 0 for fewer than two */
};
struct lab_spread lab_spread(const double *x, uint32_t n);

/* Least squares: y = a + b x; r2 is the fraction of the variance that it explains. */
struct lab_line {
    double a, b, r2;
};
struct lab_line lab_fit(const double *x, const double *y, uint32_t n);

#endif
