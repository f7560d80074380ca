/* interval.c - the confidence interval of a share; see interval.h.
 *
 * With share p, a sample of n has at least x hits with probability I_p(x, n - x + 1), where I is
 * the regularized incomplete beta function.  The low end is the p at which this is 2.5%; the high
 * end is the p at which at most x hits have this probability.  I increases with p, so bisection
 * finds both.
 *
 * I is the continued fraction 8.17.22 of the DLMF, which converges fast below the mean; above it,
 * the symmetry I_p(a, b) = 1 - I_(1-p)(b, a) applies.
 * Source: Clopper, Pearson, "The use of confidence or fiducial limits", Biometrika, 1934. */
#include "tools/base/interval.h"
#include <math.h>

#define TAIL 0.025
#define TINY 1e-300 /* replaces a zero denominator */

/* Term number i of the fraction 1 / (1 + d1 / (1 + d2 / (1 + ...))). */
static double term(double a, double b, double p, double i)
{
    const double m = floor(i / 2);
    if (fmod(i, 2) == 0)
        return m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m));
    return -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1));
}

static double not_zero(double x)
{
    return fabs(x) < TINY ? TINY : x;
}

/* The value of the fraction, by Lentz's method.  It takes about sqrt(max(a, b)) terms. */
static double fraction(double a, double b, double p)
{
    double below = 1, up = 1, down = 0, change = 0;
    for (double i = 1; i < 1e6 && fabs(change - 1) > 1e-15; i++) {
        const double d = term(a, b, p, i);
        down = 1 / not_zero(1 + d * down);
        up = not_zero(1 + d / up);
        change = up * down;
        below *= change;
    }
    return 1 / below;
}

/* I_p(a, b) for 0 < p < 1. */
static double beta_share(double a, double b, double p)
{
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(p) + b * log1p(-p));
    if (p < (a + 1) / (a + b + 2))
        return front * fraction(a, b, p) / a;
    return 1 - front * fraction(b, a, 1 - p) / b;
}

/* The p with I_p(a, b) = share. */
static double solve(double a, double b, double share)
{
    double low = 0, high = 1;
    for (int i = 0; i < 200; i++) {
        const double p = (low + high) / 2;
        if (p <= low || p >= high)
            break;
        if (beta_share(a, b, p) < share)
            low = p;
        else
            high = p;
    }
    return high;
}

struct interval interval_of_share(uint64_t hits, uint64_t n)
{
    const double x = (double)hits, all = (double)n;
    struct interval i = {0, 1};
    if (hits > 0)
        i.low = solve(x, all - x + 1, TAIL);
    if (hits < n)
        i.high = solve(x + 1, all - x, 1 - TAIL);
    return i;
}
