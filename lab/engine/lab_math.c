/* lab_math.c - theoretical rates, and significant deviations from them; see lab_math.h.
 *
 * Rate. n k positions in m = n k M bits leave a bit clear with probability e^(-1/M); the k
 * positions in each of C filters are all set with probability q^(k C), q = 1 - e^(-1/M).  While
 * the filter fills, key number x n encounters the fill q(x) = 1 - e^(-x/M), and the rate of the
 * whole run is the mean over x.
 *
 * Variance.  Given the bits, hits are binomial.  The fraction q of set bits is itself random: for
 * N balls in m bins, the fraction of empty bins has the variance e^-c (1 - (1 + c) e^-c) / m with
 * c = N / m, and a deviation at one moment decays by e^-(c' - c) until a later one.  The rate
 * follows q with the slope k q^(k C - 1) for each of the C filters.  This second part is small (a
 * tenth of the variance at k = 1), but without it "4 sigma" would occur too often.
 *
 * Source: Kolchin, Sevastyanov, Chistyakov, "Random Allocations", 1978 (empty boxes). */
#include "lab/engine/lab_math.h"
#include <math.h>

#define STEPS 400 /* steps of the integrals; even */

static double filled(const struct lab_bloom *b, double at)
{
    return -expm1(-at / b->multiplier);
}

double lab_bloom_rate_at(const struct lab_bloom *b, double at)
{
    return pow(filled(b, at), (double)b->k * b->copies);
}

/* Simpson's weights. */
static double weight(int i)
{
    return (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) / (3.0 * STEPS);
}

double lab_bloom_lost_until(const struct lab_bloom *b, double at)
{
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += weight(i) * lab_bloom_rate_at(b, at * i / STEPS);
    return at * sum;
}

double lab_bloom_rate(const struct lab_bloom *b)
{
    return b->filling ? lab_bloom_lost_until(b, 1) : lab_bloom_rate_at(b, 1);
}

static double fill_variance(const struct lab_bloom *b, double at)
{
    const double c = at / b->multiplier, empty = exp(-c);
    return empty * (1 - (1 + c) * empty) / (b->n * b->k * b->multiplier);
}

/* The derivative of the rate with respect to the fill of one of the filters. */
static double slope(const struct lab_bloom *b, double at)
{
    return b->k * pow(filled(b, at), (double)b->k * b->copies - 1);
}

/* The variance of the mean over a filling due to the fill of one filter: the integral over both
 * times. */
static double filling_variance(const struct lab_bloom *b)
{
    double sum = 0;
    for (int i = 1; i <= STEPS; i++) {
        const double early = (double)i / STEPS;
        for (int j = i; j <= STEPS; j++) {
            const double late = (double)j / STEPS;
            const double both = fill_variance(b, early) * exp(-(late - early) / b->multiplier);
            sum += (i == j ? 1 : 2) * both * slope(b, early) * slope(b, late);
        }
    }
    return sum / ((double)STEPS * STEPS);
}

/* Twice the covariance of a hit with its effect on later hits. */
static double filling_covariance(const struct lab_bloom *b)
{
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        const double early = (i + 0.5) / STEPS;
        double later = 0; /* additional hits per bit set at this moment, times k M */
        for (int j = i; j < STEPS; j++) {
            const double late = (j + 0.5) / STEPS;
            const double share = j == i ? 0.5 : 1;
            later += share * slope(b, late) * exp(-(late - early) / b->multiplier) / STEPS;
        }
        sum += lab_bloom_rate_at(b, early) * (1 - filled(b, early)) * later / STEPS;
    }
    return -2 * sum / (b->multiplier * b->n);
}

static double hits_variance(const struct lab_bloom *b)
{
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double p = lab_bloom_rate_at(b, (double)i / STEPS);
        sum += weight(i) * p * (1 - p);
    }
    return sum / b->n;
}

double lab_bloom_sigma_of(const struct lab_bloom *b, double trials, double filters)
{
    const double p = lab_bloom_rate_at(b, 1), by_fill = slope(b, 1) * slope(b, 1);
    return sqrt(p * (1 - p) / trials + b->copies * by_fill * fill_variance(b, 1) / filters);
}

double lab_bloom_sigma(const struct lab_bloom *b)
{
    if (!b->filling)
        return lab_bloom_sigma_of(b, b->n, 1);
    return sqrt(hits_variance(b) + b->copies * (filling_variance(b) + filling_covariance(b)));
}

/* --- Rare events ------------------------------------------------------------ */

/* P(X = count) and P(X < count) for a Poisson variable: sums via logarithms, accurate enough up to
 * the few thousand for which they are used. */
static double poisson_at(double count, double mean)
{
    return mean > 0 ? exp(count * log(mean) - mean - lgamma(count + 1)) : count == 0;
}

static double poisson_below(double count, double mean)
{
    double sum = 0;
    for (double i = 0; i < count; i++)
        sum += poisson_at(i, mean);
    return fmin(sum, 1);
}

/* P(X > count), summed directly: 1 minus the rest would be lost in rounding. */
static double poisson_above(double count, double mean)
{
    double sum = 0;
    for (double i = count + 1; i < count + 400; i++)
        sum += poisson_at(i, mean);
    return fmin(sum, 1);
}

/* The x that a normal variable exceeds with this probability. */
static double normal_beyond(double tail)
{
    double low = -38, high = 38;
    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#define MANY 1000 /* from this mean up, a Poisson variable is treated as normal */

double lab_poisson_sigma(double count, double expected)
{
    if (expected > MANY)
        return (count - expected) / sqrt(expected);
    count = fmin(count, 10 * MANY); /* already more than 38 sigma, the largest value reported */
    const double at = poisson_at(round(count), expected);
    const double below = poisson_below(round(count), expected);
    const double above = poisson_above(round(count), expected);
    return below > above ? normal_beyond(above + at / 2) : -normal_beyond(below + at / 2);
}

#define OUTER 0.025

double lab_poisson_low(double count)
{
    double low = 0, high = count;
    if (count > MANY)
        return count - 1.96 * sqrt(count);
    for (int i = 0; i < 60 && count > 0; i++) {
        const double mean = (low + high) / 2;
        if (1 - poisson_below(count, mean) < OUTER)
            low = mean;
        else
            high = mean;
    }
    return low;
}

double lab_poisson_high(double count)
{
    double low = count, high = 2 * count + 10;
    if (count > MANY)
        return count + 1.96 * sqrt(count);
    for (int i = 0; i < 60; i++) {
        const double mean = (low + high) / 2;
        if (poisson_below(count + 1, mean) > OUTER)
            low = mean;
        else
            high = mean;
    }
    return low;
}

/* --- Blocks ------------------------------------------------------------------ */

#define BLOCK    512.0
#define LOAD_MAX 1e6 /* keys per block; no filter is that full */

double lab_blocked_sigma(double n, uint32_t k, double positions_a_key, double trials, double rate)
{
    const double load = BLOCK / positions_a_key, blocks = n * positions_a_key / BLOCK;
    double mean = 0, squares = 0;
    if (!(load < LOAD_MAX))
        return NAN;
    for (double keys = 0; keys < load + 12 * sqrt(load) + 12; keys++) {
        const double p = pow(-expm1(-keys * k / BLOCK), k);
        mean += poisson_at(keys, load) * p;
        squares += poisson_at(keys, load) * p * p;
    }
    /* The formula is not exact for deja's blocks, but its relative variance is close. */
    const double scatter = (squares - mean * mean) / (mean * mean);
    return sqrt(rate * (1 - rate) / trials + rate * rate * scatter / blocks);
}

/* --- Many numbers ------------------------------------------------------------ */

struct lab_spread lab_spread(const double *x, uint32_t n)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    const double mean = n > 0 ? sum / n : NAN;
    for (uint32_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (struct lab_spread){mean, n > 1 ? sqrt(squares / (n - 1.0) / n) : 0};
}

struct lab_line lab_fit(const double *x, const double *y, uint32_t n)
{
    const double mx = lab_spread(x, n).mean, my = lab_spread(y, n).mean;
    double xx = 0, xy = 0, yy = 0;
    for (uint32_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    const double b = xx > 0 ? xy / xx : 0;
    return (struct lab_line){my - b * mx, b, yy > 0 ? b * xy / yy : 1};
}
