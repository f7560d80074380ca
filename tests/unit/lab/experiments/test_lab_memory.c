/* test_lab_memory.c - what the report on memory answers to sizes that are right, and to sizes with
 * a planted mistake. */
#include "lab/experiments/lab_memory.h"
#include "planted.h"
#include <math.h>

extern const struct lab_experiment exp_memory;

#define N      100000
#define BITS   "only thing that consumes memory"
#define LINEAR "approximately linear"
#define LESS   "significantly less"
#define RULE   "much smaller than the key"

/* Bytes per URL, in the order of the subjects. */
static const double asked[MEMORY_SUBJECTS] = {75, 117, 107, 10, 1.13, 2.25, 1.2, 1.24, 3.6, 3.9};

static double bits_of(uint32_t filters, uint32_t cell)
{
    return filters * 1e6 * (THESIS_K_MIN + cell / THESIS_SIZES) *
           thesis_multiplier[cell % THESIS_SIZES];
}

static void plant_subject(struct planted *p, uint32_t subject, double bytes)
{
    for (uint32_t i = 0; i < MEMORY_VALUES; i++)
        planted_set(p, MEMORY_GRIDS, subject * MEMORY_VALUES + i, bytes);
}

/* Each filter is its bits and 6 KiB. */
static void begin(struct planted *p)
{
    planted_begin(p, &exp_memory, N, 63, 1);
    for (uint32_t grid = 0; grid < MEMORY_GRIDS; grid++)
        for (uint32_t i = 0; i < THESIS_CELLS; i++)
            planted_set(p, grid, i, bits_of(grid + 1, i) / 8 + 6144);
    for (uint32_t i = 0; i < MEMORY_SUBJECTS; i++)
        plant_subject(p, i, asked[i] * N);
    planted_report(p);
}

static void right_sizes_confirm_the_thesis(void **state)
{
    struct planted p;
    begin(&p);
    assert_int_equal(planted_holds(&p, BITS), LAB_YES);
    assert_int_equal(planted_holds(&p, LINEAR), LAB_YES);
    assert_int_equal(planted_printed(&p, LINEAR), LAB_YES);
    assert_int_equal(planted_holds(&p, LESS), LAB_YES);
    assert_int_equal(planted_holds(&p, RULE), LAB_YES);
    planted_end(&p);
}

/* 143 of 144 printed sizes are ours and a constant; 8 HF 2.5 M is a misprint. */
static void the_misprint_is_found(void **state)
{
    struct planted p;
    begin(&p);
    const struct lab_answer *printed = &planted_claim(&p, BITS)->printed;
    assert_int_equal(printed->test.outcome, LAB_NO);
    assert_int_equal(printed->test.against, 1);
    assert_non_null(strstr(printed->text, "5.10, 8 HF 2.5 M: it prints 2048"));
    planted_end(&p);
}

static void a_wrong_size_is_found(void **state)
{
    struct planted p;
    begin(&p);
    planted_set(&p, 0, 17, bits_of(1, 17) / 8 * 1.2); /* one cell, by a fifth */
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BITS), LAB_NO);
    assert_int_equal(planted_claim(&p, BITS)->holds.test.against, 1);
    planted_end(&p);
}

/* The second filter forgotten; and bits taken for bytes. */
static void a_wrong_formula_is_found(void **state)
{
    struct planted p;
    begin(&p);
    for (uint32_t i = 0; i < THESIS_CELLS; i++)
        planted_set(&p, 1, i, bits_of(1, i) / 8 + 6144);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BITS), LAB_NO);
    assert_int_equal(planted_holds(&p, LINEAR), LAB_NO);
    assert_int_equal(planted_printed(&p, LINEAR), LAB_NO);
    for (uint32_t i = 6; i < MEMORY_SUBJECTS; i++)
        plant_subject(&p, i, 8 * asked[i] * N);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, LESS), LAB_NO);
    planted_end(&p);
}

/* Strings that are shared, or never stored: the set seems smaller than it is. */
static void a_set_without_strings_is_found(void **state)
{
    struct planted p;
    begin(&p);
    plant_subject(&p, 1, 40.0 * N);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, RULE), LAB_NO);
    planted_end(&p);
}

/* A system that does not tell: no answer, rather than a wrong one. */
static void unknown_sizes_leave_it_undecided(void **state)
{
    struct planted p;
    begin(&p);
    for (uint32_t unit = 0; unit <= MEMORY_GRIDS; unit++)
        for (uint32_t i = 0; i < THESIS_CELLS; i++)
            planted_set(&p, unit, i, NAN);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, BITS), LAB_OPEN);
    assert_int_equal(planted_printed(&p, BITS), LAB_OPEN);
    assert_int_equal(planted_holds(&p, LINEAR), LAB_OPEN);
    assert_int_equal(planted_holds(&p, LESS), LAB_OPEN);
    assert_int_equal(planted_holds(&p, RULE), LAB_OPEN);
    planted_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_sizes_confirm_the_thesis),
        cmocka_unit_test(the_misprint_is_found),
        cmocka_unit_test(a_wrong_size_is_found),
        cmocka_unit_test(a_wrong_formula_is_found),
        cmocka_unit_test(a_set_without_strings_is_found),
        cmocka_unit_test(unknown_sizes_leave_it_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
