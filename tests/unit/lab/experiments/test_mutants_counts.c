/* test_mutants_counts.c - mistakes planted in the experiments on counts, unknown sizes and all
 * kinds; and in spatiotemporal, whose rates are too low to be measured in a test: its counts are
 * drawn from the theory. */
#include "mutant.h"
#include "rng.h"
#include <math.h>

extern const struct lab_experiment exp_spectral, exp_unknown_n, exp_frontier, exp_spatiotemporal;

#define N(array) (sizeof(array) / sizeof(array)[0])

/* --- spectral ---------------------------------------------------------------------- */

#define LOOKUP   "Lookup returns the smallest"
#define ERROR    "The error probability is the same"
#define DELETION "It permits deletion"
#define MINIMAL  "Incrementing only the smallest"

enum {
    OVER,
    UNDER
};

static void lose_one(struct lab_results *r)
{
    lab_values(r, 1, 0)[UNDER]++;
}

static void overcount(struct lab_results *r)
{
    for (uint32_t run = 0; run < r->runs; run++)
        lab_values(r, 1, run)[OVER] = 2 * lab_value(r, 0, run, OVER);
}

static const struct planting in_spectral[] = {
    {{"10 % too small", .size = 0.9}, {{ERROR, false}, {DELETION, false}}, {{LOOKUP, false}}},
    {{"a wrong formula", .formula = 1.2}, {{ERROR, false}}, {{LOOKUP, false}, {MINIMAL, false}}},
    {{"a biased sample", .biased = 50}, {{ERROR, false}}, {{LOOKUP, false}, {DELETION, false}}},
    {{"a count too low", .change = lose_one}, {{LOOKUP, false}}, {{ERROR, false}}},
    {{"counts too high", .change = overcount}, {{MINIMAL, false}}, {{ERROR, false}}},
};

static void mistakes_in_spectral_are_noticed(void **state)
{
    assert_plantings(&exp_spectral, 40000, 8, in_spectral, N(in_spectral));
}

/* --- unknown-n ----------------------------------------------------------------------- */

#define OWN     "Each filter loses as many URLs"
#define GROWS   "A scalable filter grows"
#define RESIZED "Oversize the filter"
#define SMALL   "If the filter is too small"
#define SHARED  "The temporal strategy should be tested"

enum {
    LOST = 1,
    PER_VISIT = 5
};

/* Five times the losses of one visit of a unit. */
static void lose(struct lab_results *r, uint32_t unit, uint32_t visit)
{
    for (uint32_t run = 0; run < r->runs; run++)
        lab_values(r, unit, run)[visit * PER_VISIT + LOST] *= 5;
}

static void lose_scalable(struct lab_results *r)
{
    lose(r, 4, 0);
}

static void lose_resized(struct lab_results *r)
{
    for (int i = 0; i < 3; i++)
        lose(r, 3, 1);
}

static void lose_little(struct lab_results *r)
{
    for (uint32_t run = 0; run < r->runs; run++)
        lab_values(r, 1, run)[LOST] /= 1000;
}

static const struct planting in_unknown_n[] = {
    {{"a wrong formula", .formula = 1.3}, {{OWN, false}}, {{GROWS, false}, {RESIZED, false}}},
    {{"a hash of 3 bytes", .read = 3}, {{OWN, false}, {GROWS, false}, {RESIZED, false}}, {{0}}},
    {{"a growing filter that loses", .change = lose_scalable}, {{GROWS, false}}, {{0}}},
    {{"a resized filter that loses", .change = lose_resized}, {{RESIZED, false}}, {{0}}},
    {{"a small filter that loses little", .change = lose_little}, {{SMALL, false}}, {{0}}},
};

static void mistakes_in_unknown_n_are_noticed(void **state)
{
    assert_plantings(&exp_unknown_n, 40000, 6, in_unknown_n, N(in_unknown_n));
}

/* The second visit loses the same URLs: all that it shares with the first in its part. */
static void share(struct lab_results *r)
{
    const uint32_t strata = 100, first = 2 * PER_VISIT + 1;
    for (uint32_t run = 0; run < r->runs; run++) {
        double *value = lab_values(r, 5, run) + first;
        for (uint32_t i = 0; i < strata; i++)
            value[2 * strata + i] = fmin(value[i], value[strata + i]);
    }
}

static void visits_that_lose_the_same_urls_are_noticed(void **state)
{
    static const struct question shared = {SHARED, false};
    const struct mutant none = {0}, same = {.change = share};
    struct trial_run t;
    trial_run(&t, &exp_unknown_n, 40000, 2, &none);
    assert_answer(&t.report, &shared, "two runs", LAB_OPEN);
    assert_true(answer_to(&t.report, &shared)->test.needed > 10);
    trial_fini(&t);
    trial_run(&t, &exp_unknown_n, 40000, 2, &same);
    assert_answer(&t.report, &shared, "the same URLs", LAB_NO);
    trial_fini(&t);
}

/* --- frontier ------------------------------------------------------------------------- */

#define KINDS "Every kind has the false positive rate"
#define BOUND "No structure needs fewer"

static void shrink(struct lab_results *r)
{
    for (uint32_t unit = 0; unit < r->units; unit++)
        lab_values(r, unit, 0)[0] /= 20;
}

static const struct planting in_frontier[] = {
    {{"a biased sample", .biased = 50}, {{KINDS, false}}, {{BOUND, false}}},
    {{"a hash of 4 bytes", .read = 4}, {{KINDS, false}}, {{0}}},
    {{"too little memory", .change = shrink}, {{BOUND, false}}, {{KINDS, false}}},
};

static void mistakes_in_frontier_are_noticed(void **state)
{
    assert_plantings(&exp_frontier, 40000, 1, in_frontier, N(in_frontier));
}

/* --- spatiotemporal --------------------------------------------------------------------- */

#define BY_TWO   "URLs lost on both visits with two filters"
#define BY_THREE "URLs lost on both visits with three filters"
#define FURTHER  "The combination reduces"
#define EQUAL    "Several filters on two visits gain"

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* A Poisson number: Knuth's product of uniform numbers, in parts of a mean of at most 10. */
static double draw(struct rng *rng, double mean)
{
    double count = 0;
    for (; mean > 0; mean -= 10) {
        const double end = exp(-fmin(mean, 10));
        for (double product = uniform(rng); product > end; product *= uniform(rng))
            count++;
    }
    return count;
}

static const double multiplier[] = {1.7, 2, 2.5, 3};
static const unsigned several_k[] = {2, 3, 4}, one_k[] = {4, 6, 8, 9};

/* Hits of a filter with this many functions in all, among `n` URLs. */
static double hits(struct rng *rng, double n, unsigned functions, unsigned size)
{
    return draw(rng, n * pow(-expm1(-1 / multiplier[size]), functions));
}

/* Rates as the theory expects them; `wrong` more functions in two filters, and in one. */
static void fill(struct lab_results *r, unsigned wrong_two, unsigned wrong_one)
{
    struct rng rng = rng_seeded(5);
    for (uint32_t run = 0; run < r->runs; run++) {
        for (unsigned i = 0; i < 24; i++)
            lab_values(r, 0, run)[i] =
                hits(&rng, lab_n(r),
                     2 * (2 + i / 12) * several_k[i / 4 % 3] + wrong_two * (i < 12), i % 4);
        for (unsigned i = 0; i < 16; i++)
            lab_values(r, 1, run)[i] = hits(&rng, lab_n(r), 2 * one_k[i / 4] + wrong_one, i % 4);
    }
}

static struct lab_report made(struct lab *lab, unsigned wrong_two, unsigned wrong_one)
{
    struct lab_results r;
    struct lab_report report;
    assert_int_equal(lab_results_init(&r, lab, &exp_spatiotemporal, NULL), DEJA_OK);
    fill(&r, wrong_two, wrong_one);
    lab_report_init(&report, &exp_spatiotemporal);
    exp_spatiotemporal.report(&r, &report);
    lab_results_fini(&r);
    return report;
}

static void mistakes_in_spatiotemporal_are_noticed(void **state)
{
    static const struct question two = {BY_TWO, false}, printed = {BY_TWO, true},
                                 three = {BY_THREE, false}, further = {FURTHER, false},
                                 equal = {EQUAL, false};
    struct lab lab = {.runs = 100, .seed = 1, .threads = 1, .keys.n = 1000000};
    struct lab_report right = made(&lab, 0, 0), wrong = made(&lab, 1, 0), one = made(&lab, 0, 1);
    const struct question *all[] = {&two, &printed, &three, &further, &equal};
    for (size_t i = 0; i < N(all); i++)
        assert_answer(&right, all[i], "as it is",
                      all[i] == &three ? LAB_OPEN : LAB_YES); /* too rare for 100 runs */
    assert_answer(&wrong, &two, "two filters with another function", LAB_NO);
    assert_answer(&wrong, &printed, "two filters with another function", LAB_NO);
    assert_answer(&wrong, &equal, "two filters with another function", LAB_NO);
    assert_answer(&one, &equal, "one filter with another function", LAB_NO);
    assert_answer(&one, &two, "one filter with another function", LAB_YES);
    lab_report_fini(&right);
    lab_report_fini(&wrong);
    lab_report_fini(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_spectral_are_noticed),
        cmocka_unit_test(mistakes_in_unknown_n_are_noticed),
        cmocka_unit_test(visits_that_lose_the_same_urls_are_noticed),
        cmocka_unit_test(mistakes_in_frontier_are_noticed),
        cmocka_unit_test(mistakes_in_spatiotemporal_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
