/* lab_tests.h - hypotheses about measured numbers, and whether they hold.
 *
 * A test has a hypothesis ("the rate is 6.09 %", "the time is less than 100 ns") and one of three
 * outcomes:
 *
 *   no    the numbers contradict it: they would be this far off with a probability below LAB_LEVEL
 *         if it were true;
 *   yes   they do not contradict it, and they are precise enough that they would have if it were
 *         off by more than a stated fraction;
 *   open  they are too few to tell; `needed` says how many times as many runs would do.
 *
 * Level.  Each claim is tested at 99.9 %: if all hypotheses were true, one claim in a thousand
 * would get a false "no".  A claim about many cells is one test: lab_test_family divides the level
 * by their number (Bonferroni; valid although cells share hashes), so that the whole family has a
 * false "no" in at most one case in a thousand. */
#ifndef LAB_ENGINE_LAB_TESTS_H
#define LAB_ENGINE_LAB_TESTS_H
#include <stddef.h>
#include <stdint.h>

#define LAB_LEVEL     0.001 /* the probability of a false "no" */
#define LAB_TOLERANCE 0.2   /* "yes" means: a difference of a fifth would have been found */

enum lab_outcome {
    LAB_OPEN, /* also of a test that was never made */
    LAB_YES,
    LAB_NO
};

struct lab_test {
    enum lab_outcome outcome;
    double p;         /* of a difference at least this large, if the hypothesis is true */
    double estimate;  /* measured; NAN: no single number */
    double low, high; /* its interval at 99.9 % (1 - LAB_LEVEL) */
    double expected;  /* by the hypothesis; NAN: none */
    double needed;    /* runs that would decide, as a multiple of these; 0: decided or unknown */
    size_t cells;     /* of a family: tests in it, ... */
    size_t against;   /* ... those that contradict, ... */
    size_t decided;   /* ... those precise enough for a "yes" or "no" */
};

/* --- Numbers ------------------------------------------------------------------- */

/* A measured number with its standard error; df = 0 if sigma is known, n - 1 if it was estimated
 * from n values. */
struct lab_estimate {
    double value, sigma, df;
};
struct lab_estimate lab_sample(const double *x, uint32_t n); /* the mean of n values */
struct lab_estimate lab_difference(struct lab_estimate, struct lab_estimate); /* first - second */

/* The value is `expected`, which is not 0; precise enough: known to within `tolerance` * expected. */
struct lab_test lab_test_equal(struct lab_estimate e, double expected, double tolerance);
/* The value is less than `bound`, or more.  One-sided, so both "yes" and "no" are at LAB_LEVEL. */
struct lab_test lab_test_less(struct lab_estimate e, double bound);
struct lab_test lab_test_more(struct lab_estimate e, double bound);

/* --- Rates --------------------------------------------------------------------- */

/* Hits among trials.  sigma: the standard deviation of hits / trials if it is more than binomial
 * (because the bits of the filter are random too); 0: binomial.  With fewer than 100 expected hits
 * the tests are exact and ignore it. */
struct lab_rate {
    double hits, trials, sigma;
};
/* The rate is `expected`. */
struct lab_test lab_test_rate(struct lab_rate r, double expected, double tolerance);
/* The rate is at most `bound`. */
struct lab_test lab_test_at_most(struct lab_rate r, double bound);
/* It never happens: one case is a "no".  high: the rate that these trials would have missed. */
struct lab_test lab_test_never(double count, double trials);
/* The rate of a is `ratio` times that of b; estimate, low and high are the measured ratio. */
struct lab_test lab_test_ratio(struct lab_rate a, struct lab_rate b, double ratio,
                               double tolerance);
/* One rate is lower than another; estimate, low and high are the difference, lower - higher. */
struct lab_test lab_test_lower(struct lab_rate lower, struct lab_rate higher);
/* Our rate equals a printed one, which was rounded (`half` of the last digit) and averaged over
 * its own `trials` with the standard deviation `sigma` (0: binomial). */
struct lab_test lab_test_printed(struct lab_rate ours, double printed, double half, double trials,
                                 double sigma, double tolerance);
/* Two events are independent: in each run, n URLs; first[i] of them had the first event, second[i]
 * the second, both[i] both.  Exact given these counts, whatever the rates are.  estimate and
 * expected are the share of URLs with both. */
struct lab_test lab_test_independent(const double *first, const double *second, const double *both,
                                     double n, uint32_t runs, double tolerance);

/* --- Lines --------------------------------------------------------------------- */

/* The slope of y over x is `expected`; with NAN: it is positive. */
struct lab_test lab_test_slope(const double *x, const double *y, uint32_t n, double expected,
                               double tolerance);
/* y is a straight line in x: an F-test of the means at each x against the line, with the scatter
 * of repeated measurements at the same x.  estimate: the share of the variance of the means that
 * the line explains. */
struct lab_test lab_test_line(const double *x, const double *y, uint32_t n);
/* A model adds nothing to a simpler one that it includes: an F-test of their squared residuals;
 * n points, and the number of parameters of both.  estimate: F.  Never "yes": no test can show that
 * a model adds nothing at all. */
struct lab_test lab_test_nested(double simple, uint32_t simple_parameters, double full,
                                uint32_t full_parameters, uint32_t n);

/* --- Many cells ------------------------------------------------------------------ */

/* All hypotheses hold: "no" if one is contradicted at LAB_LEVEL / n; else "yes" if enough of them
 * were precise enough: a quarter, or four.  (The cells of a paper's table have rates from 10 % to
 * 1e-8, so most of them never get enough hits.)  p is the smallest one times n; estimate, low,
 * high and expected are those of the cell with the smallest p, of the precise ones if any is. */
struct lab_test lab_test_family(const struct lab_test *test, size_t n);

#endif
