/* lab_tests.c - hypotheses about measured numbers; see lab_tests.h.
 *
 * Each test computes a p-value and an interval, and how wide that interval is compared with the
 * difference that it should be able to find.  `decide` turns these into an outcome. */
#include "lab/engine/lab_tests.h"
#include "lab/engine/lab_math.h"
#include "lab/engine/lab_tails.h"
#include <math.h>
#include <stdbool.h>

#define FEW 100.0 /* expected hits: with fewer, count exactly */

static const struct lab_test nothing = {
    .p = NAN, .estimate = NAN, .low = NAN, .high = NAN, .expected = NAN};

/* Half of the width of an interval at LAB_LEVEL, in standard errors. */
static double reach(double df)
{
    return lab_student_beyond(LAB_LEVEL / 2, df);
}

/* Equality: `half` is half of the interval, `wanted` the difference that matters. */
static void decide(struct lab_test *t, double half, double wanted)
{
    if (isnan(t->p))
        return;
    if (t->p < LAB_LEVEL)
        t->outcome = LAB_NO;
    else if (half <= wanted)
        t->outcome = LAB_YES;
    else if (wanted > 0 && isfinite(half))
        t->needed = (half / wanted) * (half / wanted);
}

/* One-sided: the probability of a value this much against the hypothesis, and of one this much
 * for it, at the bound; `off` is the distance from the bound in standard errors. */
static void decide_side(struct lab_test *t, double against, double in_favor, double off)
{
    t->p = against;
    if (isnan(against))
        return;
    if (against < LAB_LEVEL)
        t->outcome = LAB_NO;
    else if (in_favor < LAB_LEVEL)
        t->outcome = LAB_YES;
    else if (off != 0)
        t->needed = pow(lab_normal_beyond(LAB_LEVEL) / off, 2);
}

/* --- Numbers ------------------------------------------------------------------- */

struct lab_estimate lab_sample(const double *x, uint32_t n)
{
    const struct lab_spread s = lab_spread(x, n);
    return (struct lab_estimate){s.mean, n > 1 ? s.error : NAN, n > 1 ? n - 1 : 0};
}

/* Degrees of freedom by Welch and Satterthwaite. */
struct lab_estimate lab_difference(struct lab_estimate a, struct lab_estimate b)
{
    const double va = a.sigma * a.sigma, vb = b.sigma * b.sigma;
    const double parts = (a.df > 0 ? va * va / a.df : 0) + (b.df > 0 ? vb * vb / b.df : 0);
    return (struct lab_estimate){a.value - b.value, sqrt(va + vb),
                                 parts > 0 ? (va + vb) * (va + vb) / parts : 0};
}

/* The distance in standard errors; without any error, 0 or infinity. */
static double distance(struct lab_estimate e, double from)
{
    return e.value == from ? 0 : (e.value - from) / e.sigma;
}

static struct lab_test measured(struct lab_estimate e, double expected)
{
    struct lab_test t = nothing;
    t.estimate = e.value;
    t.low = e.value - reach(e.df) * e.sigma;
    t.high = e.value + reach(e.df) * e.sigma;
    t.expected = expected;
    return t;
}

struct lab_test lab_test_equal(struct lab_estimate e, double expected, double tolerance)
{
    struct lab_test t = measured(e, expected);
    if (isnan(e.sigma))
        return t;
    t.p = lab_student_outside(distance(e, expected), e.df);
    decide(&t, reach(e.df) * e.sigma, tolerance * fabs(expected));
    return t;
}

struct lab_test lab_test_less(struct lab_estimate e, double bound)
{
    struct lab_test t = measured(e, bound);
    const double off = distance(e, bound);
    if (!isnan(e.sigma))
        decide_side(&t, lab_student_above(off, e.df), lab_student_above(-off, e.df), off);
    return t;
}

struct lab_test lab_test_more(struct lab_estimate e, double bound)
{
    struct lab_test t = measured(e, bound);
    const double off = distance(e, bound);
    if (!isnan(e.sigma))
        decide_side(&t, lab_student_above(-off, e.df), lab_student_above(off, e.df), off);
    return t;
}

/* --- Rates --------------------------------------------------------------------- */

static double binomial_sigma(double p, double trials)
{
    return sqrt(p * (1 - p) / trials);
}

static double sigma_of(struct lab_rate r, double p)
{
    return fmax(r.sigma, binomial_sigma(p, r.trials));
}

/* The estimate and its interval: exact for few hits. */
static struct lab_test rate_of(struct lab_rate r, double expected)
{
    const double p = r.hits / r.trials;
    struct lab_test t = measured((struct lab_estimate){p, sigma_of(r, p), 0}, expected);
    if (r.hits < FEW) {
        const struct lab_range range = lab_binomial_range(r.hits, r.trials, LAB_LEVEL / 2);
        t.low = range.low;
        t.high = range.high;
    }
    return t;
}

struct lab_test lab_test_rate(struct lab_rate r, double expected, double tolerance)
{
    struct lab_test t = rate_of(r, expected);
    const double sigma = sigma_of(r, expected);
    if (!(r.trials > 0))
        return nothing;
    if (expected * r.trials < FEW)
        t.p = lab_both_tails(lab_binomial_at_most(r.hits, r.trials, expected),
                             lab_binomial_at_least(r.hits, r.trials, expected));
    else
        t.p = lab_normal_outside((t.estimate - expected) / sigma);
    decide(&t, reach(0) * sigma, tolerance * expected);
    return t;
}

struct lab_test lab_test_at_most(struct lab_rate r, double bound)
{
    struct lab_test t = rate_of(r, bound);
    const double off = (t.estimate - bound) / sigma_of(r, bound);
    if (!(r.trials > 0))
        return nothing;
    if (bound * r.trials < FEW)
        decide_side(&t, lab_binomial_at_least(r.hits, r.trials, bound),
                    lab_binomial_at_most(r.hits, r.trials, bound), off);
    else
        decide_side(&t, lab_normal_above(off), lab_normal_above(-off), off);
    return t;
}

struct lab_test lab_test_never(double count, double trials)
{
    if (!(trials > 0))
        return nothing;
    struct lab_test t = rate_of((struct lab_rate){count, trials, 0}, 0);
    t.p = count > 0 ? 0 : 1;
    t.high = lab_binomial_range(count, trials, LAB_LEVEL).high; /* one-sided */
    t.outcome = count > 0 ? LAB_NO : LAB_YES;
    return t;
}

/* The relative standard deviation of a rate. */
static double relative(struct lab_rate r)
{
    const double p = r.hits / r.trials;
    return sigma_of(r, p) / p;
}

/* Given their sum, the hits of a are binomial: its share follows from the ratio of the rates. */
static void compare_few(struct lab_test *t, struct lab_rate a, struct lab_rate b, double ratio)
{
    const double hits = round(a.hits), all = hits + round(b.hits);
    const double share = ratio * a.trials / (ratio * a.trials + b.trials);
    if (!(all > 0)) {
        t->p = 1;
        return;
    }
    const struct lab_range range = lab_binomial_range(hits, all, LAB_LEVEL / 2);
    t->p = lab_both_tails(lab_binomial_at_most(hits, all, share),
                          lab_binomial_at_least(hits, all, share));
    t->low = range.low / (1 - range.low) * b.trials / a.trials;
    t->high = range.high / (1 - range.high) * b.trials / a.trials;
    decide(t, reach(0) * sqrt(1 / (all * share * (1 - share))), 0); /* sets only "no" */
}

/* The relative standard error of the ratio that is expected; with few hits, from their sum. */
static double ratio_error(struct lab_rate a, struct lab_rate b, double ratio)
{
    const double share = ratio * a.trials / (ratio * a.trials + b.trials);
    if (fmin(a.hits, b.hits) >= FEW)
        return hypot(relative(a), relative(b));
    return sqrt(1 / ((a.hits + b.hits) * share * (1 - share)));
}

static struct lab_test compare(struct lab_rate a, struct lab_rate b, double ratio, double wanted)
{
    struct lab_test t = nothing;
    t.estimate = a.hits / a.trials / (b.hits / b.trials);
    t.expected = ratio;
    const double error = ratio_error(a, b, ratio);
    if (fmin(a.hits, b.hits) < FEW) {
        compare_few(&t, a, b, ratio);
    } else {
        t.p = lab_normal_outside(log(t.estimate / ratio) / error);
        t.low = t.estimate * exp(-reach(0) * error);
        t.high = t.estimate * exp(reach(0) * error);
    }
    decide(&t, reach(0) * error, wanted);
    return t;
}

struct lab_test lab_test_ratio(struct lab_rate a, struct lab_rate b, double ratio,
                               double tolerance)
{
    return a.trials > 0 && b.trials > 0 ? compare(a, b, ratio, tolerance) : nothing;
}

/* As a normal variable.  Half a hit more, so that no hits do not look like certainty. */
static struct lab_estimate normal(struct lab_rate r)
{
    const double sigma = sqrt(r.hits + 0.5) / r.trials;
    return (struct lab_estimate){r.hits / r.trials, fmax(sigma, r.sigma), 0};
}

struct lab_test lab_test_lower(struct lab_rate lower, struct lab_rate higher)
{
    if (!(lower.trials > 0) || !(higher.trials > 0))
        return nothing;
    return lab_test_less(lab_difference(normal(lower), normal(higher)), 0);
}

struct lab_test lab_test_printed(struct lab_rate ours, double printed, double half, double trials,
                                 double sigma, double tolerance)
{
    if (!(ours.trials > 0) || !(trials > 0))
        return nothing;
    /* Rounding is not a difference: of the values that round to the printed one, the nearest. */
    const double rate = ours.hits / ours.trials;
    const double nearest = fmin(fmax(rate, fmax(printed - half, 0)), printed + half);
    const struct lab_rate theirs = {nearest * trials, trials, sigma};
    struct lab_test t = rate_of(ours, printed);
    const struct lab_test both =
        compare(ours, theirs, 1, tolerance - (printed > 0 ? half / printed : tolerance));
    t.p = both.p;
    t.outcome = both.outcome;
    t.needed = both.needed;
    return t;
}

struct lab_test lab_test_independent(const double *first, const double *second, const double *both,
                                     double n, uint32_t runs, double tolerance)
{
    double hits = 0, mean = 0, variance = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const double expected = first[i] * second[i] / n;
        hits += both[i];
        mean += expected;
        variance += expected * (n - first[i]) / n * (n - second[i]) / (n - 1);
    }
    const double all = n * runs, sigma = sqrt(variance);
    struct lab_test t = measured((struct lab_estimate){hits / all, sigma / all, 0}, mean / all);
    if (!(all > 0))
        return nothing;
    if (mean < FEW) {
        const struct lab_range range = lab_poisson_range(hits, LAB_LEVEL / 2);
        t.low = range.low / all;
        t.high = range.high / all;
        t.p = lab_both_tails(lab_poisson_at_most(hits, mean), lab_poisson_at_least(hits, mean));
    } else {
        t.p = lab_normal_outside((hits - mean) / sigma);
    }
    decide(&t, reach(0) * sigma, tolerance * mean);
    return t;
}

/* --- Lines --------------------------------------------------------------------- */

struct lab_test lab_test_slope(const double *x, const double *y, uint32_t n, double expected,
                               double tolerance)
{
    const struct lab_line line = lab_fit(x, y, n);
    const double mean = lab_spread(x, n).mean;
    double rest = 0, xx = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double off = y[i] - line.a - line.b * x[i];
        rest += off * off;
        xx += (x[i] - mean) * (x[i] - mean);
    }
    const double df = n > 2 ? n - 2.0 : 0;
    const struct lab_estimate e = {line.b, df > 0 ? sqrt(rest / df / xx) : NAN, df};
    return isnan(expected) ? lab_test_more(e, 0) : lab_test_equal(e, expected, tolerance);
}

/* The measurements at one x. */
struct group {
    double n, mean, squares; /* squares: of the distances from the mean */
};

static struct group group_of(const double *x, const double *y, uint32_t n, double at)
{
    struct group g = {0, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        if (x[i] != at)
            continue;
        const double off = y[i] - g.mean;
        g.n++;
        g.mean += off / g.n;
        g.squares += off * (y[i] - g.mean);
    }
    return g;
}

static bool is_first(const double *x, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (x[j] == x[i])
            return false;
    return true;
}

/* The sums of squares of a line through groups. */
struct fit {
    double scatter, bent, all; /* around the means; of the means around the line, around all */
    double groups, fewest;
    double low, high; /* of the line, over the groups */
};

static struct fit fit_groups(const double *x, const double *y, uint32_t n)
{
    const struct lab_line line = lab_fit(x, y, n);
    const double middle = lab_spread(y, n).mean;
    struct fit f = {.fewest = n, .low = INFINITY, .high = -INFINITY};
    for (uint32_t i = 0; i < n; i++) {
        if (!is_first(x, i))
            continue;
        const struct group g = group_of(x, y, n, x[i]);
        const double on_line = line.a + line.b * x[i];
        f.scatter += g.squares;
        f.bent += g.n * (g.mean - on_line) * (g.mean - on_line);
        f.all += g.n * (g.mean - middle) * (g.mean - middle);
        f.groups++;
        f.fewest = fmin(f.fewest, g.n);
        f.low = fmin(f.low, on_line);
        f.high = fmax(f.high, on_line);
    }
    return f;
}

struct lab_test lab_test_line(const double *x, const double *y, uint32_t n)
{
    struct lab_test t = nothing;
    const struct fit f = fit_groups(x, y, n);
    const double df1 = f.groups - 2, df2 = n - f.groups;
    t.estimate = f.all > 0 ? 1 - f.bent / f.all : NAN;
    t.expected = 1;
    if (!(df1 > 0) || !(df2 > 0))
        return t;
    const double noise = f.scatter / df2;
    t.p = noise > 0 ? lab_fisher_above(f.bent / df1 / noise, df1, df2) : f.bent > 0 ? 0 : 1;
    decide(&t, reach(df2) * sqrt(noise / f.fewest), LAB_TOLERANCE * (f.high - f.low));
    return t;
}

struct lab_test lab_test_nested(double simple, uint32_t simple_parameters, double full,
                                uint32_t full_parameters, uint32_t n)
{
    struct lab_test t = nothing;
    const double df1 = (double)full_parameters - simple_parameters;
    const double df2 = (double)n - full_parameters;
    if (!(df1 > 0) || !(df2 > 0))
        return t;
    t.estimate = (simple - full) / df1 / (full / df2);
    t.p = lab_fisher_above(t.estimate, df1, df2);
    t.outcome = t.p < LAB_LEVEL ? LAB_NO : LAB_OPEN;
    return t;
}

/* --- Many cells ------------------------------------------------------------------ */

/* The number of cells that must be precise for a "yes". */
static double enough(size_t cells)
{
    return fmin((double)cells / 4, 4);
}

/* The smallest multiple of the runs that decides `wanted` cells; 0: unknown. */
static double needed_for(const struct lab_test *test, size_t n, double wanted)
{
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0; /* cells decided by as many runs as this one needs */
        for (size_t j = 0; j < n; j++)
            if (test[j].outcome != LAB_OPEN ||
                (test[j].needed > 0 && test[j].needed <= test[i].needed))
                at++;
        if (test[i].needed > 0 && (double)at >= wanted && !(least > 0 && least < test[i].needed))
            least = test[i].needed;
    }
    return least;
}

/* The cell that represents a family: the one with the smallest p. */
static const struct lab_test *furthest(const struct lab_test *test, size_t n, bool decided)
{
    const struct lab_test *t = NULL;
    for (size_t i = 0; i < n; i++)
        if (!isnan(test[i].p) && (!decided || test[i].outcome != LAB_OPEN) &&
            (!t || test[i].p < t->p))
            t = &test[i];
    return t;
}

struct lab_test lab_test_family(const struct lab_test *test, size_t n)
{
    const struct lab_test *any = furthest(test, n, false), *precise = furthest(test, n, true);
    if (!any)
        return nothing;
    struct lab_test t = precise ? *precise : *any;
    t = (struct lab_test){
        .estimate = t.estimate, .low = t.low, .high = t.high, .expected = t.expected};
    for (size_t i = 0; i < n; i++) {
        t.cells += isnan(test[i].p) ? 0 : 1;
        t.decided += test[i].outcome != LAB_OPEN ? 1 : 0;
    }
    for (size_t i = 0; i < n; i++)
        t.against += test[i].p * (double)t.cells < LAB_LEVEL ? 1 : 0;
    t.p = fmin(1, any->p * (double)t.cells);
    if (t.against > 0)
        t.outcome = LAB_NO;
    else if ((double)t.decided >= enough(t.cells))
        t.outcome = LAB_YES;
    else
        t.needed = needed_for(test, n, enough(t.cells));
    return t;
}
