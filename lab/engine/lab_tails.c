/* lab_tails.c - tails of distributions; see lab_tails.h.
 *
 * All of them are incomplete gamma or beta functions, computed as series or continued fractions
 * (Abramowitz, Stegun, "Handbook of Mathematical Functions", 1964, 6.5.29, 6.5.31, 26.5.8).  The
 * relative error is below 1e-8 up to a million events; the lab asks for no more. */
#include "lab/engine/lab_tails.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define TERMS   200000
#define CLOSE   1e-15
#define TINY    1e-300
#define BISECT  100
#define Z_MOST  38.0 /* beyond, a double has no smaller tail */
#define MILLION 1e6
#define LARGE   1e4

/* --- Incomplete functions ------------------------------------------------------ */

/* A continued fraction by Lentz' method: each step multiplies the value by a factor. */
struct fraction {
    double c, d, value;
};

static bool step(struct fraction *f, double a, double b)
{
    f->d = b + a * f->d;
    f->d = 1 / (fabs(f->d) < TINY ? TINY : f->d);
    f->c = b + a / f->c;
    f->c = fabs(f->c) < TINY ? TINY : f->c;
    f->value *= f->c * f->d;
    return fabs(f->c * f->d - 1) < CLOSE;
}

static double gamma_front(double a, double x)
{
    return exp(a * log(x) - x - lgamma(a));
}

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (double i = 1; i < TERMS && term > sum * CLOSE; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * gamma_front(a, x);
}

static double gamma_fraction(double a, double x)
{
    struct fraction f = {1 / TINY, 1 / (x + 1 - a), 1 / (x + 1 - a)};
    for (double i = 1; i < TERMS; i++)
        if (step(&f, -i * (i - a), x + 1 - a + 2 * i))
            break;
    return f.value * gamma_front(a, x);
}

/* The regularized incomplete gamma function: the part below x, or above it. */
static double gamma_part(double a, double x, bool above)
{
    if (!(x > 0))
        return above ? 1 : 0;
    const bool series = x < a + 1;
    const double part = series ? gamma_series(a, x) : gamma_fraction(a, x);
    return series == above ? 1 - part : part;
}

static double beta_fraction(double x, double a, double b)
{
    const double first = 1 - (a + b) * x / (a + 1);
    struct fraction f = {1, 1 / (fabs(first) < TINY ? TINY : first), 1};
    f.value = f.d;
    for (double m = 1; m < TERMS; m++) {
        const double at = a + 2 * m;
        (void)step(&f, m * (b - m) * x / ((at - 1) * at), 1);
        if (step(&f, -(a + m) * (a + b + m) * x / (at * (at + 1)), 1))
            break;
    }
    return f.value;
}

/* log(gamma(a + b) / gamma(b)).  For a large b, the difference of two logarithms loses digits, and
 * Stirling's series does not. */
static double log_gamma_ratio(double a, double b)
{
    if (b < LARGE)
        return lgamma(a + b) - lgamma(b);
    const double rest = 1 / (12 * (a + b)) - 1 / (12 * b);
    return a * log(a + b) + (b - 0.5) * log1p(a / b) - a + rest;
}

/* log(x), where y = 1 - x may be known more exactly. */
static double log_of(double x, double y)
{
    return x < 0.5 ? log(x) : log1p(-y);
}

static double beta_front(double x, double y, double a, double b)
{
    const double ratio =
        a < b ? log_gamma_ratio(a, b) - lgamma(a) : log_gamma_ratio(b, a) - lgamma(b);
    return exp(ratio + a * log_of(x, y) + b * log_of(y, x));
}

/* The regularized incomplete beta function; y is 1 - x, which may be known more exactly. */
static double beta_below(double x, double y, double a, double b)
{
    if (!(x > 0))
        return 0;
    if (!(y > 0))
        return 1;
    const double front = beta_front(x, y, a, b);
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(y, b, a) / b;
}

/* --- Inverses ------------------------------------------------------------------ */

/* The x between low and high where a tail that falls with x has this size. */
typedef double tail_of(double x, const double *given);

static double find(tail_of *tail, const double *given, double wanted, double low, double high)
{
    for (int i = 0; i < BISECT; i++) {
        const double middle = (low + high) / 2;
        if (tail(middle, given) > wanted)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* --- Normal, t, F, chi-square ---------------------------------------------------- */

double lab_normal_above(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

double lab_normal_outside(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

static double normal_tail(double z, const double *given)
{
    (void)given;
    return lab_normal_above(z);
}

double lab_normal_beyond(double tail)
{
    return find(normal_tail, NULL, tail, -Z_MOST, Z_MOST);
}

double lab_student_outside(double t, double df)
{
    if (!(df > 0))
        return lab_normal_outside(t);
    const double whole = df + t * t;
    return beta_below(df / whole, t * t / whole, df / 2, 0.5);
}

double lab_student_above(double t, double df)
{
    const double half = lab_student_outside(t, df) / 2;
    return t > 0 ? half : 1 - half;
}

static double student_tail(double t, const double *df)
{
    return lab_student_above(t, *df);
}

double lab_student_beyond(double tail, double df)
{
    return df > 0 ? find(student_tail, &df, tail, -MILLION, MILLION) : lab_normal_beyond(tail);
}

double lab_fisher_above(double f, double df1, double df2)
{
    const double whole = df2 + df1 * f;
    return f > 0 ? beta_below(df2 / whole, df1 * f / whole, df2 / 2, df1 / 2) : 1;
}

double lab_chi2_above(double x, double df)
{
    return gamma_part(df / 2, x / 2, true);
}

/* --- Counts ---------------------------------------------------------------------- */

double lab_poisson_at_most(double count, double mean)
{
    return count < 0 ? 0 : gamma_part(floor(count) + 1, mean, true);
}

double lab_poisson_at_least(double count, double mean)
{
    return count <= 0 ? 1 : gamma_part(ceil(count), mean, false);
}

double lab_binomial_at_most(double count, double n, double p)
{
    return count < 0 ? 0 : count >= n ? 1 : beta_below(1 - p, p, n - count, count + 1);
}

double lab_binomial_at_least(double count, double n, double p)
{
    return count <= 0 ? 1 : count > n ? 0 : beta_below(p, 1 - p, count, n - count + 1);
}

double lab_both_tails(double at_most, double at_least)
{
    return fmin(1, 2 * fmin(at_most, at_least));
}

/* Both fall with the mean or the probability x. */
static double poisson_up(double x, const double *count)
{
    return lab_poisson_at_most(*count, x);
}

static double poisson_down(double x, const double *count)
{
    return 1 - lab_poisson_at_least(*count, x);
}

struct lab_range lab_poisson_range(double count, double outer)
{
    const double top = 3 * count + 1000;
    return (struct lab_range){
        count > 0 ? find(poisson_down, &count, 1 - outer, 0, count) : 0,
        find(poisson_up, &count, outer, count, top),
    };
}

static double binomial_up(double x, const double *given)
{
    return lab_binomial_at_most(given[0], given[1], x);
}

static double binomial_down(double x, const double *given)
{
    return 1 - lab_binomial_at_least(given[0], given[1], x);
}

struct lab_range lab_binomial_range(double count, double n, double outer)
{
    const double given[] = {count, n};
    return (struct lab_range){
        count > 0 ? find(binomial_down, given, 1 - outer, 0, count / n) : 0,
        count < n ? find(binomial_up, given, outer, count / n, 1) : 1,
    };
}
