/* binom.h - tests whether a count is inside the interval that a hypothesis allows.
 *
 * "z standard deviations" stands for a tail probability: that of a normal variable beyond z, on
 * either side (z = 5: 2.9e-7).  Counts, above all small ones, are not normal, so the tails of the
 * binomial and the Poisson distribution are summed term by term.  The first term comes from
 * lgamma, the others from the ratio of adjacent terms; the sum stops when terms no longer matter.
 *
 * If the rate itself varies from filter to filter, a count varies more than binomially.  Counts
 * large enough for that to show are nearly normal. */
#ifndef DJ_TEST_BINOM_H
#define DJ_TEST_BINOM_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Probability that a normal variable is more than z standard deviations above its mean. */
static inline double normal_tail(double z)
{
    return erfc(z / sqrt(2.0)) / 2.0;
}

static inline double poisson_term(double x, double mean)
{
    return exp(x * log(mean) - mean - lgamma(x + 1.0));
}

static inline double poisson_at_least(double x, double mean)
{
    if (x <= 0.0)
        return 1.0;
    if (!(mean > 0.0))
        return 0.0;
    double sum = 0.0;
    for (double term = poisson_term(x, mean); term > 1e-17 * sum || x < mean; x += 1.0) {
        sum += term;
        term *= mean / (x + 1.0);
    }
    return fmin(sum, 1.0);
}

static inline double poisson_at_most(double x, double mean)
{
    if (!(mean > 0.0))
        return 1.0;
    double sum = 0.0;
    for (double term = poisson_term(x, mean); x >= 0.0 && (term > 1e-17 * sum || x > mean);
         x -= 1.0) {
        sum += term;
        term *= x / mean;
    }
    return fmin(sum, 1.0);
}

static inline double binom_term(double x, double n, double p)
{
    return exp(lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0) + x * log(p) +
               (n - x) * log1p(-p));
}

static inline double binom_at_least(double x, double n, double p)
{
    if (x <= 0.0 || p >= 1.0)
        return 1.0;
    if (!(p > 0.0) || x > n)
        return 0.0;
    double sum = 0.0;
    for (double term = binom_term(x, n, p); x <= n && (term > 1e-17 * sum || x < n * p);
         x += 1.0) {
        sum += term;
        term *= (n - x) / (x + 1.0) * p / (1.0 - p);
    }
    return fmin(sum, 1.0);
}

static inline double binom_at_most(double x, double n, double p)
{
    return binom_at_least(n - x, n, 1.0 - p);
}

/* Below this many expected hits, use the Poisson distribution instead of the binomial one: it is
 * nearly the same, never narrower, and avoids logarithms that differ only in the last digits. */
#define FEW_HITS 50.0

static inline bool poisson_within(uint64_t hits, double mean, double z)
{
    const double tail = normal_tail(z), x = (double)hits;
    return x > mean ? poisson_at_least(x, mean) >= tail : poisson_at_most(x, mean) >= tail;
}

/* Whether there are neither too many nor too few hits. */
static inline bool binom_within(uint64_t hits, uint64_t trials, double p, double z)
{
    const double tail = normal_tail(z), x = (double)hits, n = (double)trials;
    if (n * p < FEW_HITS)
        return poisson_within(hits, n * p, z);
    return x > n * p ? binom_at_least(x, n, p) >= tail : binom_at_most(x, n, p) >= tail;
}

/* Whether there are not too many hits, for a bound "at most p". */
static inline bool binom_at_most_rate(uint64_t hits, uint64_t trials, double p, double z)
{
    return (double)hits <= (double)trials * p || binom_within(hits, trials, p, z);
}

static inline bool normal_within(double x, double mean, double sigma, double z)
{
    return fabs(x - mean) <= z * sigma;
}

/* Like binom_within, for a rate that varies around p with deviation p_sigma: the variances
 * add. */
static inline bool binom_within_spread(uint64_t hits, uint64_t trials, double p, double p_sigma,
                                       double z)
{
    const double n = (double)trials, spread = n * p_sigma;
    return binom_within(hits, trials, p, z) ||
           normal_within((double)hits, n * p, sqrt(n * p * (1.0 - p) + spread * spread), z);
}

#endif
