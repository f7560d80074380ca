/* test_exp_layered.c - mistakes planted into the results of `layered` and `split` change the
 * answers. */
#include "lab/engine/lab_halves.h"
#include "planted.h"
#include <math.h>

extern const struct lab_experiment exp_layered, exp_split;

#define LISTS 5u /* units of `layered`; one more has recombined lines */
#define RUNS  20u

static const double rows[LISTS] = {34887, 293120, 304964, 422420, 1562978};

static double rate_of(double bits, double k)
{
    return pow(-expm1(-k / bits), k);
}

/* What a correct run measures: the program's filter has 5 %, segments 7 %, of which 1 % are
 * structural, layers almost none. */
static void fill_list(struct planted *p, uint32_t unit, double asked)
{
    planted_set(p, unit, HALVES_ASKED, asked);
    planted_set(p, unit, HALVES_ARRAYS, 12);
    planted_set(p, unit, HALVES_PLAIN, round(asked * rate_of(HALVES_BITS, HALVES_K)));
    planted_set(p, unit, HALVES_ONE, round(asked * 0.07));
    planted_set(p, unit, HALVES_ONE_SURE, round(asked * 0.01));
    planted_set(p, unit, HALVES_ONE_CHANCE, asked * 0.06);
    planted_set(p, unit, HALVES_ONE_VARIANCE, asked * 0.06);
    planted_set(p, unit, HALVES_LAYERED, round(asked * 2e-5));
    planted_set(p, unit, HALVES_LAYERED_CHANCE, round(asked * 2e-5));
    planted_set(p, unit, HALVES_LAYERED_VARIANCE, round(asked * 2e-5));
    planted_set(p, unit, HALVES_KIND, round(asked * 0.003));
    planted_set(p, unit, HALVES_PAPER, round(asked * 2e-5));
}

static void begin_layered(struct planted *p)
{
    planted_begin(p, &exp_layered, 1000000, 60, RUNS);
    for (uint32_t u = 0; u < LISTS; u++)
        fill_list(p, u, floor(rows[u] / 2));
    fill_list(p, LISTS, 50000);
    planted_set(p, LISTS, HALVES_ONE, 50000);
    planted_set(p, LISTS, HALVES_ONE_SURE, 49900);
    planted_set(p, LISTS, HALVES_ONE_CHANCE, 100);
    planted_set(p, LISTS, HALVES_ONE_VARIANCE, 10);
    planted_set(p, LISTS, HALVES_LAYERED, 3000);
    planted_set(p, LISTS, HALVES_LAYERED_CHANCE, 3000);
    planted_set(p, LISTS, HALVES_LAYERED_VARIANCE, 3000);
    planted_set(p, LISTS, HALVES_PAPER, 3000);
}

#define BLOOM   "(1 - e^(-k n / m))^k."
#define SEGMENT "The same holds"
#define MODEL   "The rates follow"
#define FEWER   "far fewer"
#define XOR     "a1/b2/a3"
#define PAPER   "paper mode"
#define FOUND   "always found"

static enum lab_outcome holds(struct planted *p, const char *claim)
{
    planted_report(p);
    return planted_holds(p, claim);
}

static enum lab_outcome printed(struct planted *p, const char *claim)
{
    planted_report(p);
    return planted_printed(p, claim);
}

static void a_correct_run_is_believed(void **state)
{
    struct planted p;
    begin_layered(&p);
    assert_int_equal(holds(&p, BLOOM), LAB_YES);
    assert_int_equal(holds(&p, MODEL), LAB_YES);
    assert_int_equal(holds(&p, FEWER), LAB_YES);
    assert_int_equal(holds(&p, XOR), LAB_YES);
    assert_int_equal(holds(&p, PAPER), LAB_YES);
    assert_int_equal(holds(&p, FOUND), LAB_YES);
    assert_int_equal(holds(&p, SEGMENT), LAB_NO);
    assert_int_equal(holds(&p, "most effective"), LAB_NO);
    assert_int_equal(holds(&p, "both halves"), LAB_NO);
    planted_end(&p);
}

/* A tenth fewer bits than the paper's 6.2352. */
static void a_wrong_size_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    for (uint32_t u = 0; u < LISTS; u++)
        planted_set(&p, u, HALVES_PLAIN,
                    round(floor(rows[u] / 2) * rate_of(0.9 * HALVES_BITS, HALVES_K)));
    assert_int_equal(holds(&p, BLOOM), LAB_NO);
    planted_end(&p);
}

/* Two of the four functions are the same: three bits per line instead of four. */
static void a_wrong_hash_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    for (uint32_t u = 0; u < LISTS; u++)
        planted_set(&p, u, HALVES_PLAIN, round(floor(rows[u] / 2) * rate_of(HALVES_BITS, 3)));
    assert_int_equal(holds(&p, BLOOM), LAB_NO);
    planted_end(&p);
}

/* The model forgets that structural false positives are certain. */
static void a_wrong_formula_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    for (uint32_t u = 0; u < LISTS; u++)
        planted_set(&p, u, HALVES_ONE_SURE, 0);
    assert_int_equal(holds(&p, MODEL), LAB_NO);
    planted_end(&p);
}

/* One queried line in a hundred is in both halves. */
static void a_biased_sample_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    for (uint32_t u = 0; u < LISTS; u++)
        for (uint32_t run = 0; run < RUNS; run++) {
            double *value = lab_values(&p.r, u, run);
            value[HALVES_PLAIN] += round(0.01 * value[HALVES_ASKED]);
            value[HALVES_LAYERED] += round(0.01 * value[HALVES_ASKED]);
        }
    assert_int_equal(holds(&p, BLOOM), LAB_NO);
    assert_int_equal(holds(&p, MODEL), LAB_NO);
    planted_end(&p);
}

static void an_xor_array_that_does_nothing_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    planted_set(&p, LISTS, HALVES_LAYERED, 49900);
    assert_int_equal(holds(&p, XOR), LAB_NO);
    assert_int_equal(holds(&p, PAPER), LAB_NO);
    assert_int_equal(holds(&p, MODEL), LAB_NO);
    planted_end(&p);
}

static void a_missed_line_is_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    lab_values(&p.r, 2, 7)[HALVES_MISSED] = 1;
    assert_int_equal(holds(&p, FOUND), LAB_NO);
    planted_end(&p);
}

static void useless_layers_are_noticed(void **state)
{
    struct planted p;
    begin_layered(&p);
    planted_set(&p, 0, HALVES_LAYERED, round(17443 * 0.05));
    assert_int_equal(holds(&p, FEWER), LAB_NO);
    planted_end(&p);
}

/* One run with a short list cannot tell. */
static void a_short_run_is_undecided(void **state)
{
    struct planted p;
    planted_begin(&p, &exp_layered, 500, 60, 1);
    fill_list(&p, 0, 500);
    assert_int_equal(holds(&p, BLOOM), LAB_OPEN);
    planted_end(&p);
}

/* Only lists of the same length are compared with printed values, and these differ. */
static void printed_values_of_other_lists_are_not_reproduced(void **state)
{
    struct planted p;
    begin_layered(&p);
    assert_int_equal(printed(&p, BLOOM), LAB_NO);
    planted_end(&p);
}

/* --- split -------------------------------------------------------------------------- */

enum { /* as in exp_split.c */
    WORDS = HALVES_VALUES,
    K_PLAIN = 0,
    K_LAYERED = 6,
    K_ASKED = 12
};

static void begin_split(struct planted *p)
{
    planted_begin(p, &exp_split, 1000000, 60, RUNS);
    fill_list(p, 0, 100000);
    planted_set(p, 0, WORDS, 40);
    planted_set(p, 1, K_ASKED, 25000);
    for (uint32_t i = 0; i < 6; i++)
        planted_set(p, 1, K_PLAIN + i, round(25000 * rate_of(HALVES_BITS, 2 + i)));
}

#define TABLE1 "k = 2 to 7"

static void split_notices_a_wrong_k(void **state)
{
    struct planted p;
    begin_split(&p);
    assert_int_equal(holds(&p, TABLE1), LAB_YES);
    assert_int_equal(printed(&p, TABLE1), LAB_YES);
    planted_set(&p, 1, K_PLAIN, round(25000 * rate_of(HALVES_BITS, 3)));
    assert_int_equal(holds(&p, TABLE1), LAB_NO);
    planted_end(&p);
}

static void split_notices_words_that_are_counted_wrongly(void **state)
{
    struct planted p;
    begin_split(&p);
    assert_int_equal(holds(&p, MODEL), LAB_YES);
    assert_int_equal(holds(&p, "always found"), LAB_YES);
    planted_set(&p, 0, HALVES_ONE_CHANCE, 100000 * 0.05);
    assert_int_equal(holds(&p, MODEL), LAB_NO);
    planted_set(&p, 0, HALVES_MISSED, 1);
    assert_int_equal(holds(&p, "always found"), LAB_NO);
    planted_end(&p);
}

static void split_notices_useless_layers(void **state)
{
    struct planted p;
    begin_split(&p);
    assert_int_equal(holds(&p, "reduce false positives"), LAB_YES);
    planted_set(&p, 0, HALVES_LAYERED, 6000);
    assert_int_equal(holds(&p, "reduce false positives"), LAB_NO);
    planted_end(&p);
}

/* Layers that would improve precision by a fifth: the other answer. */
static void split_would_believe_a_better_precision(void **state)
{
    struct planted p;
    begin_split(&p);
    assert_int_equal(holds(&p, "precision"), LAB_NO);
    for (uint32_t i = 0; i < 6; i++)
        planted_set(&p, 1, K_PLAIN + i, 6000);
    assert_int_equal(holds(&p, "precision"), LAB_YES);
    planted_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_run_is_believed),
        cmocka_unit_test(a_wrong_size_is_noticed),
        cmocka_unit_test(a_wrong_hash_is_noticed),
        cmocka_unit_test(a_wrong_formula_is_noticed),
        cmocka_unit_test(a_biased_sample_is_noticed),
        cmocka_unit_test(an_xor_array_that_does_nothing_is_noticed),
        cmocka_unit_test(a_missed_line_is_noticed),
        cmocka_unit_test(useless_layers_are_noticed),
        cmocka_unit_test(a_short_run_is_undecided),
        cmocka_unit_test(printed_values_of_other_lists_are_not_reproduced),
        cmocka_unit_test(split_notices_a_wrong_k),
        cmocka_unit_test(split_notices_words_that_are_counted_wrongly),
        cmocka_unit_test(split_notices_useless_layers),
        cmocka_unit_test(split_would_believe_a_better_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
