/* test_lab_cache.c - what the report on compressed caches answers to results that are right, and
 * to results with a planted mistake. */
#include "lab/engine/lab_perfect.h"
#include "lab/experiments/lab_budget.h"
#include "lab/experiments/lab_cache.h"
#include "planted.h"
#include <math.h>

extern const struct lab_experiment exp_cache;

#define N    1000000.0
#define RUNS 4u

#define BITMAP  "R = 10 n slots"
#define BLOOM   "10x reduction"
#define MISSED  "No false negative"
#define BEST    "1.44x"
#define PERFECT "completely accurate"
#define FORTY   "40 times"
#define BUDGET  "2 MB"
#define TWO     "second filter for deletions"
#define COUNTED "Counters instead"
#define UNION   "union of two filters"
#define HALVED  "halved by an OR"

static double rate(uint32_t k, double bits)
{
    const struct lab_bloom b = {N, k, 1, bits / k, false};
    return lab_bloom_rate(&b);
}

static void begin(struct planted *p)
{
    const double bloom = rate(CACHE_K, CACHE_BITS);
    planted_begin(p, &exp_cache, (uint64_t)N, 63, RUNS);
    planted_set(p, CACHE_NAIVE, CACHE_HITS, round(N * rate(1, CACHE_BITS)));
    planted_set(p, CACHE_NAIVE, CACHE_BYTES, N * CACHE_BITS / 8);
    planted_set(p, CACHE_BLOOM, CACHE_HITS, round(N * bloom));
    planted_set(p, CACHE_BLOOM, CACHE_BYTES, N * CACHE_BITS / 8);
    planted_set(p, CACHE_UNION, CACHE_HITS, round(N * bloom));
    planted_set(p, CACHE_FOLD, CACHE_HITS, round(N * bloom));
    planted_set(p, CACHE_FOLD, CACHE_BEFORE, round(N * rate(CACHE_K, 2 * CACHE_BITS)));
    planted_set(p, CACHE_PAIRED, CACHE_LOST, round(N / 2 * bloom));
    planted_set(p, CACHE_PAIRED, CACHE_ONE_FILTER, round(N * bloom));
    planted_set(p, CACHE_PAIRED, CACHE_FALSE, round(N * bloom * (1 - bloom)));
    planted_set(p, CACHE_PERFECT, CACHE_STRANGERS, 50000);
    planted_set(p, CACHE_PERFECT, CACHE_STRANGERS_ASKED, 100000);
    planted_set(p, CACHE_PERFECT, CACHE_FUNCTION_BITS, 2.7);
    planted_set(p, CACHE_BUDGET, BUDGET_STRINGS, N * BUDGET_LENGTH);
    planted_set(p, CACHE_BUDGET, BUDGET_SIZE, N * BUDGET_BYTES);
    planted_set(p, CACHE_BUDGET, BUDGET_FUNCTIONS, 11);
    planted_set(p, CACHE_BUDGET, BUDGET_HITS, round(N * rate(11, 16)));
    planted_report(p);
}

static void right_results_confirm_the_lecture(void **state)
{
    static const char *const right[] = {BITMAP, BLOOM,   MISSED, BEST,  BUDGET,
                                        TWO,    COUNTED, UNION,  HALVED};
    struct planted p;
    begin(&p);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        if (planted_holds(&p, right[i]) != LAB_YES)
            fail_msg("does not hold: %s", right[i]);
    assert_int_equal(planted_printed(&p, BITMAP), LAB_YES);
    assert_int_equal(planted_printed(&p, BLOOM), LAB_YES);
    assert_int_equal(planted_printed(&p, BEST), LAB_YES);
    assert_int_equal(planted_printed(&p, FORTY), LAB_YES);
    assert_int_equal(planted_printed(&p, BUDGET), LAB_YES);
    planted_end(&p);
}

/* Where the lecture is wrong: other URLs, and the size of the function. */
static void perfect_hashing_is_judged_by_what_it_needs(void **state)
{
    struct planted p;
    if (!lab_perfect_available())
        skip();
    begin(&p);
    assert_int_equal(planted_holds(&p, PERFECT), LAB_NO);
    assert_int_equal(planted_printed(&p, PERFECT), LAB_YES);
    assert_int_equal(planted_holds(&p, FORTY), LAB_NO);
    planted_set(&p, CACHE_PERFECT, CACHE_STRANGERS, 0);
    planted_set(&p, CACHE_PERFECT, CACHE_FUNCTION_BITS, 1e-9);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, PERFECT), LAB_YES);
    assert_int_equal(planted_holds(&p, FORTY), LAB_YES);
    planted_set(&p, CACHE_PERFECT, CACHE_WRONG, 1);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, PERFECT), LAB_NO);
    assert_int_equal(planted_printed(&p, PERFECT), LAB_NO);
    planted_end(&p);
}

/* A single URL that was added and is not found, in one run of one structure. */
static void one_missed_url_is_found(void **state)
{
    static const struct {
        uint32_t unit, index;
        const char *claim;
    } places[] = {
        {CACHE_NAIVE, CACHE_MISSED, MISSED},   {CACHE_BLOOM, CACHE_MISSED, MISSED},
        {CACHE_UNION, CACHE_MISSED, MISSED},   {CACHE_FOLD, CACHE_MISSED, HALVED},
        {CACHE_BUDGET, BUDGET_MISSED, MISSED}, {CACHE_BUDGET, BUDGET_MISSED, BUDGET},
        {CACHE_COUNTERS, CACHE_LOST, COUNTED}, {CACHE_UNION, CACHE_DIFFER, UNION},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct planted p;
        begin(&p);
        lab_values(&p.r, places[i].unit, 0)[places[i].index] = 1;
        planted_report(&p);
        if (planted_holds(&p, places[i].claim) != LAB_NO)
            fail_msg("%zu: still holds: %s", i, places[i].claim);
        planted_end(&p);
    }
}

/* A hash function that hits some slots more often: 10 % more false positives. */
static void a_wrong_hash_is_found(void **state)
{
    struct planted p;
    begin(&p);
    planted_set(&p, CACHE_NAIVE, CACHE_HITS, 1.1 * N * rate(1, CACHE_BITS));
    planted_set(&p, CACHE_BLOOM, CACHE_HITS, 1.1 * N * rate(CACHE_K, CACHE_BITS));
    planted_set(&p, CACHE_FOLD, CACHE_HITS, 1.1 * N * rate(CACHE_K, CACHE_BITS));
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BITMAP), LAB_NO);
    assert_int_equal(planted_printed(&p, BITMAP), LAB_NO);
    assert_int_equal(planted_holds(&p, BLOOM), LAB_NO);
    assert_int_equal(planted_holds(&p, HALVED), LAB_NO);
    planted_end(&p);
}

/* Twice the memory is not 2 MB; half of it has too many false positives. */
static void a_wrong_size_is_found(void **state)
{
    struct planted p;
    begin(&p);
    planted_set(&p, CACHE_BUDGET, BUDGET_SIZE, 2 * N * BUDGET_BYTES);
    planted_set(&p, CACHE_NAIVE, CACHE_BYTES, 2 * N * CACHE_BITS / 8);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BUDGET), LAB_NO);
    assert_int_equal(planted_printed(&p, BUDGET), LAB_NO);
    assert_int_equal(planted_printed(&p, FORTY), LAB_NO);
    planted_set(&p, CACHE_BUDGET, BUDGET_SIZE, N * BUDGET_BYTES);
    planted_set(&p, CACHE_BUDGET, BUDGET_HITS, N * rate(6, 8));
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BUDGET), LAB_NO);
    planted_end(&p);
}

/* The deletions were never asked, or have the hash functions of the entries. */
static void a_wrong_second_filter_is_found(void **state)
{
    const double bloom = rate(CACHE_K, CACHE_BITS);
    struct planted p;
    begin(&p);
    planted_set(&p, CACHE_PAIRED, CACHE_FALSE, round(N * bloom));
    planted_report(&p);
    assert_int_equal(planted_holds(&p, TWO), LAB_NO);
    planted_set(&p, CACHE_PAIRED, CACHE_FALSE, round(N * bloom / 2));
    planted_report(&p);
    assert_int_equal(planted_holds(&p, TWO), LAB_NO);
    planted_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_results_confirm_the_lecture),
        cmocka_unit_test(perfect_hashing_is_judged_by_what_it_needs),
        cmocka_unit_test(one_missed_url_is_found),
        cmocka_unit_test(a_wrong_hash_is_found),
        cmocka_unit_test(a_wrong_size_is_found),
        cmocka_unit_test(a_wrong_second_filter_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
