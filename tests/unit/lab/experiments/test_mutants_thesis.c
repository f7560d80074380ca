/* test_mutants_thesis.c - mistakes planted in the experiments on the thesis' filters change the
 * right answers from "yes" to "no", and only these.
 *
 * All seeds are fixed.  With other seeds, an answer of a right run would be "no" once in a thousand
 * times (LAB_LEVEL). */
#include "mutant.h"

extern const struct lab_experiment exp_single, exp_temporal, exp_spatial;

#define N(array) (sizeof(array) / sizeof(array)[0])

/* --- single ------------------------------------------------------------------------ */

#define SINGLE "A filter with k seeded hash functions"
#define ORDER  "The probability decreases with more"

/* As if small filters were good: the cells of each run in reverse order. */
static void reverse(struct lab_results *r)
{
    for (uint32_t run = 0; run < r->runs; run++) {
        double *value = lab_values(r, 0, run);
        for (uint32_t i = 0; i < 24; i++) {
            const double other = value[47 - i];
            value[47 - i] = value[i];
            value[i] = other;
        }
    }
}

static const struct planting in_single[] = {
    {{"5 % too small", .size = 0.95}, {{SINGLE, false}, {SINGLE, true}}, {{ORDER, false}}},
    {{"5 % too large", .size = 1.05}, {{SINGLE, false}, {SINGLE, true}}, {{ORDER, false}}},
    {{"a wrong formula", .formula = 1.1}, {{SINGLE, false}}, {{SINGLE, true}}},
    {{"a hash of 4 bytes", .read = 4}, {{SINGLE, false}, {SINGLE, true}}, {{0}}},
    {{"a biased sample", .biased = 200}, {{SINGLE, false}, {SINGLE, true}}, {{ORDER, false}}},
    {{"reversed cells", .change = reverse}, {{SINGLE, false}, {ORDER, false}}, {{0}}},
};

static void mistakes_in_single_are_noticed(void **state)
{
    assert_plantings(&exp_single, 40000, 4, in_single, N(in_single));
}

/* --- temporal ---------------------------------------------------------------------- */

#define BOTH   "URLs lost on both visits, with a full filter"
#define GAIN   "With 3 functions and M = 1.7"
#define OTHERS "With other salts"

static const struct planting in_temporal[] = {
    {{"the same salts", .same_salts = true},
     {{BOTH, false}, {BOTH, true}, {GAIN, true}, {OTHERS, false}},
     {{0}}},
    {{"10 % too small", .size = 0.9},
     {{BOTH, false}, {BOTH, true}, {GAIN, true}},
     {{GAIN, false}, {OTHERS, false}}},
    {{"a wrong formula", .formula = 1.2}, {{BOTH, false}}, {{BOTH, true}, {OTHERS, false}}},
    {{"a biased sample", .biased = 200},
     {{BOTH, false}, {BOTH, true}, {GAIN, true}, {OTHERS, false}},
     {{GAIN, false}}},
    {{"a hash of 4 bytes", .read = 4}, {{BOTH, false}, {OTHERS, false}}, {{0}}},
};

static void mistakes_in_temporal_are_noticed(void **state)
{
    assert_plantings(&exp_temporal, 40000, 6, in_temporal, N(in_temporal));
}

/* --- spatial ------------------------------------------------------------------------ */

#define TWO   "Two full filters that must agree"
#define MORE  "More filters of the same size"
#define EQUAL "F filters of k functions and m bits"

static const struct planting in_spatial[] = {
    {{"the same salts", .same_salts = true}, {{TWO, false}, {TWO, true}, {EQUAL, false}}, {{0}}},
    {{"10 % too small", .size = 0.9},
     {{TWO, false}, {TWO, true}},
     {{MORE, false}, {EQUAL, false}}},
};

static void mistakes_in_spatial_are_noticed(void **state)
{
    assert_plantings(&exp_spatial, 80000, 6, in_spatial, N(in_spatial));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_single_are_noticed),
        cmocka_unit_test(mistakes_in_temporal_are_noticed),
        cmocka_unit_test(mistakes_in_spatial_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
