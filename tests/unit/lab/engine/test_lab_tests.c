/* test_lab_tests.c - hypotheses: p-values as computed by SciPy 1.17, and the three outcomes. */
#include "lab/engine/lab_tails.h"
#include "lab/engine/lab_tests.h"
#include "unit.h"
#include <math.h>

#define N(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected)))
        fail_msg("%.12g instead of %.12g", value, expected);
}

static void a_mean_is_compared_by_student_s_t(void **state)
{
    const double x[] = {4.1, 3.9, 4.3, 4.0, 4.2};
    const struct lab_test t = lab_test_equal(lab_sample(x, N(x)), 4, 0.2);
    assert_near(t.p, 0.23019964108050028);
    assert_near(t.high - t.estimate, 0.608840263625454);
    assert_int_equal(t.outcome, LAB_YES);
    /* Known to 15 %: too little for a tolerance of 5 %, for which (0.61 / 0.2)^2 would do. */
    const struct lab_test strict = lab_test_equal(lab_sample(x, N(x)), 4, 0.05);
    assert_int_equal(strict.outcome, LAB_OPEN);
    assert_near(strict.needed, pow(0.608840263625454 / 0.2, 2));
    assert_int_equal(lab_test_equal(lab_sample(x, N(x)), 5, 0.2).outcome, LAB_NO);
    assert_int_equal(lab_test_equal(lab_sample(x, 1), 4, 0.2).outcome, LAB_OPEN);
}

static void a_bound_is_kept_broken_or_too_close(void **state)
{
    const struct lab_estimate e = {100, 2, 0};
    assert_int_equal(lab_test_less(e, 110).outcome, LAB_YES);
    assert_int_equal(lab_test_less(e, 90).outcome, LAB_NO);
    assert_int_equal(lab_test_less(e, 101).outcome, LAB_OPEN);
    assert_int_equal(lab_test_more(e, 110).outcome, LAB_NO);
    assert_int_equal(lab_test_more(e, 90).outcome, LAB_YES);
    assert_near(lab_test_less(e, 90).p, lab_normal_above(5));
    /* Half a sigma away: 3.09 / 0.5, squared, times as many runs. */
    assert_near(lab_test_less(e, 101).needed, pow(lab_normal_beyond(0.001) / 0.5, 2));
    assert_int_equal(lab_test_less((struct lab_estimate){1, 0, 0}, 2).outcome, LAB_YES);
    assert_int_equal(lab_test_less((struct lab_estimate){1, NAN, 0}, 2).outcome, LAB_OPEN);
}

static void differences_add_their_errors(void **state)
{
    const struct lab_estimate d =
        lab_difference((struct lab_estimate){5, 3, 4}, (struct lab_estimate){2, 4, 9});
    assert_near(d.value, 3);
    assert_near(d.sigma, 5);
    assert_near(d.df, 625 / (81.0 / 4 + 256.0 / 9)); /* Welch */
}

static void a_rate_equals_a_theory_or_not(void **state)
{
    /* 1e6 trials at 1 %: sigma is 99.5 hits. */
    assert_int_equal(lab_test_rate((struct lab_rate){10150, 1e6, 0}, 0.01, 0.2).outcome, LAB_YES);
    assert_int_equal(lab_test_rate((struct lab_rate){10500, 1e6, 0}, 0.01, 0.2).outcome, LAB_NO);
    assert_int_equal(lab_test_rate((struct lab_rate){9500, 1e6, 0}, 0.01, 0.2).outcome, LAB_NO);
    /* Random bits that scatter as much as 1000 hits excuse it. */
    assert_int_equal(lab_test_rate((struct lab_rate){10500, 1e6, 1e-3}, 0.01, 0.5).outcome,
                     LAB_YES);
    /* Few hits: exact. */
    const struct lab_test few = lab_test_rate((struct lab_rate){7, 1e6, 0}, 2e-6, 0.2);
    assert_near(few.p, 0.009067514814258557);
    assert_int_equal(few.outcome, LAB_OPEN);
    assert_near(few.needed, pow(lab_normal_beyond(0.0005) / 0.2, 2) / 2 * (1 - 2e-6));
    assert_int_equal(lab_test_rate((struct lab_rate){0, 0, 0}, 0.01, 0.2).outcome, LAB_OPEN);
}

static void no_hit_contradicts_a_rate_that_predicts_many(void **state)
{
    assert_int_equal(lab_test_rate((struct lab_rate){0, 1e6, 0}, 1e-5, 0.2).outcome, LAB_NO);
    assert_int_equal(lab_test_rate((struct lab_rate){0, 1e6, 0}, 1e-6, 0.2).outcome, LAB_OPEN);
}

static void a_rate_stays_below_a_bound_or_not(void **state)
{
    assert_int_equal(lab_test_at_most((struct lab_rate){9000, 1e6, 0}, 0.01).outcome, LAB_YES);
    assert_int_equal(lab_test_at_most((struct lab_rate){11000, 1e6, 0}, 0.01).outcome, LAB_NO);
    assert_int_equal(lab_test_at_most((struct lab_rate){10000, 1e6, 0}, 0.01).outcome, LAB_OPEN);
    assert_int_equal(lab_test_at_most((struct lab_rate){0, 100, 0}, 0.01).outcome, LAB_OPEN);
    assert_int_equal(lab_test_at_most((struct lab_rate){0, 1000, 0}, 0.01).outcome, LAB_YES);
}

static void never_means_not_once(void **state)
{
    assert_int_equal(lab_test_never(0, 1000).outcome, LAB_YES);
    assert_near(lab_test_never(0, 1000).high, 0.006883951579066228);
    assert_int_equal(lab_test_never(1, 1e9).outcome, LAB_NO);
    assert_int_equal(lab_test_never(0, 0).outcome, LAB_OPEN);
}

static void two_rates_are_compared_by_their_ratio(void **state)
{
    const struct lab_rate a = {30, 1e6, 0}, b = {60, 1e6, 0};
    assert_near(lab_test_ratio(a, b, 1, 0.2).p, 0.0020602656809630745);
    assert_int_equal(lab_test_ratio(a, b, 1, 0.2).outcome, LAB_OPEN);
    const struct lab_rate c = {30000, 1e6, 0}, d = {30100, 1e6, 0}, e = {60000, 2e6, 0};
    assert_int_equal(lab_test_ratio(c, d, 1, 0.2).outcome, LAB_YES);
    assert_int_equal(lab_test_ratio(c, e, 1, 0.2).outcome, LAB_YES);
    assert_int_equal(lab_test_ratio(c, e, 0.5, 0.2).outcome, LAB_NO);
    assert_int_equal(lab_test_ratio((struct lab_rate){0, 1e6, 0}, c, 1, 0.2).outcome, LAB_NO);
    assert_int_equal(
        lab_test_ratio((struct lab_rate){0, 1e6, 0}, (struct lab_rate){0, 1e6, 0}, 1, 0.2).outcome,
        LAB_OPEN);
}

static void a_lower_rate_is_recognized(void **state)
{
    const struct lab_rate none = {0, 1e6, 0}, few = {3, 1e6, 0}, many = {100, 1e6, 0};
    assert_int_equal(lab_test_lower(none, many).outcome, LAB_YES);
    assert_int_equal(lab_test_lower(many, none).outcome, LAB_NO);
    assert_int_equal(lab_test_lower(none, few).outcome, LAB_OPEN);
    assert_int_equal(lab_test_lower(none, none).outcome, LAB_OPEN);
    assert_near(lab_test_lower(few, many).estimate, -97e-6);
}

static void a_printed_rate_is_compared_with_its_own_runs_and_rounding(void **state)
{
    const struct lab_rate ours = {60900, 1e6, 0};
    /* Printed as 6.1 %: anything from 6.05 to 6.15 %. */
    assert_int_equal(lab_test_printed(ours, 0.061, 0.0005, 1e8, 0, 0.2).outcome, LAB_YES);
    assert_near(lab_test_printed(ours, 0.061, 0.0005, 1e8, 0, 0.2).p, 1);
    assert_int_equal(lab_test_printed(ours, 0.0622, 0.00005, 1e8, 0, 0.2).outcome, LAB_NO);
    /* The same from a hundred queries neither contradicts nor confirms. */
    assert_int_equal(lab_test_printed(ours, 0.0622, 0.00005, 1e2, 0, 0.2).outcome, LAB_OPEN);
    /* Printed as 0.0 %: agrees with any small rate, and proves none. */
    const struct lab_test zero =
        lab_test_printed((struct lab_rate){3, 1e6, 0}, 0, 0.0005, 1e8, 0, 0.2);
    assert_int_equal(zero.outcome, LAB_OPEN);
    assert_true(zero.needed == 0);
}

static void independent_events_meet_by_chance(void **state)
{
    const double first[] = {6000, 6100}, second[] = {5900, 6000};
    const double n = 1e5, chance = (6000 * 5900.0 + 6100 * 6000.0) / n;
    const double by_chance[] = {355, 363}, rarely[] = {250, 260}, always[] = {6000, 6000};
    const struct lab_test t = lab_test_independent(first, second, by_chance, n, 2, 0.2);
    assert_int_equal(t.outcome, LAB_YES);
    assert_near(t.expected, chance / (2 * n));
    assert_int_equal(lab_test_independent(first, second, rarely, n, 2, 0.2).outcome, LAB_NO);
    assert_int_equal(lab_test_independent(first, second, always, n, 2, 0.2).outcome, LAB_NO);
    /* One joint hit is expected: none, or three, tell nothing. */
    const double few[] = {300}, three[] = {3}, thirty[] = {30};
    assert_int_equal(lab_test_independent(few, few, three, n, 1, 0.2).outcome, LAB_OPEN);
    assert_int_equal(lab_test_independent(few, few, thirty, n, 1, 0.2).outcome, LAB_NO);
}

/* Two measurements at each k, with a step after eight, as SIMD lanes give. */
static const double k[] = {3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10};
static const double stairs[] = {126, 128, 127, 129, 128, 130, 128, 131,
                                129, 131, 131, 132, 239, 241, 240, 242};
static const double straight[] = {31, 29, 40, 41, 52, 49, 60, 58, 69, 71, 81, 79, 91, 89, 99, 101};

static void a_staircase_is_not_a_line(void **state)
{
    const struct lab_test t = lab_test_line(k, stairs, N(k));
    assert_near(t.p, 2.4608584559476448e-11);
    assert_near(t.estimate, 0.5969676145430628);
    assert_int_equal(t.outcome, LAB_NO);
    assert_int_equal(lab_test_line(k, straight, N(k)).outcome, LAB_YES);
    /* One measurement at each k has no scatter to compare with. */
    const double once[] = {1, 2, 3, 4};
    assert_int_equal(lab_test_line(once, stairs, 4).outcome, LAB_OPEN);
}

static void a_slope_has_an_interval(void **state)
{
    const struct lab_test t = lab_test_slope(k, stairs, N(k), NAN, 0);
    assert_near(t.estimate, 16.261904761904763);
    assert_near(1 - t.p, 1 - 0.99977365886003871);
    assert_int_equal(t.outcome, LAB_YES);
    assert_int_equal(lab_test_slope(k, straight, N(k), 10, 0.2).outcome, LAB_YES);
    assert_int_equal(lab_test_slope(k, straight, N(k), 12, 0.2).outcome, LAB_NO);
}

static void a_model_that_adds_much_is_recognized(void **state)
{
    /* F = ((100 - 40) / 3) / (40 / 10) = 5; with 16 left, 20. */
    assert_near(lab_test_nested(100, 2, 40, 5, 15).p, lab_fisher_above(5, 3, 10));
    assert_int_equal(lab_test_nested(100, 2, 40, 5, 15).outcome, LAB_OPEN);
    assert_int_equal(lab_test_nested(1000, 2, 40, 5, 15).outcome, LAB_NO);
}

static void a_family_divides_the_level(void **state)
{
    struct lab_test cell[10];
    for (int i = 0; i < 10; i++)
        cell[i] = lab_test_rate((struct lab_rate){10000, 1e6, 0}, 0.01, 0.2);
    assert_int_equal(lab_test_family(cell, 10).outcome, LAB_YES);
    /* p = 0.0007 alone is a "no"; as the smallest of ten it is not. */
    cell[3] = lab_test_equal((struct lab_estimate){3.4, 1, 0}, 1e-9, 0.2);
    assert_int_equal(cell[3].outcome, LAB_NO);
    assert_int_equal(lab_test_family(cell, 10).outcome, LAB_YES);
    assert_near(lab_test_family(cell, 10).p, 10 * cell[3].p);
    cell[3] = lab_test_rate((struct lab_rate){10600, 1e6, 0}, 0.01, 0.2);
    const struct lab_test no = lab_test_family(cell, 10);
    assert_int_equal(no.outcome, LAB_NO);
    assert_true(no.against == 1 && no.cells == 10 && no.decided == 10);
    assert_near(no.estimate, 0.0106);
}

static void a_family_needs_a_quarter_of_its_cells(void **state)
{
    struct lab_test cell[8];
    for (int i = 0; i < 8; i++)
        cell[i] =
            lab_test_rate((struct lab_rate){i < 2 ? 10000 : 2, 1e6, 0}, i < 2 ? 0.01 : 2e-6, 0.2);
    assert_int_equal(lab_test_family(cell, 8).outcome, LAB_YES);
    cell[1] = lab_test_rate((struct lab_rate){100, 1e6, 0}, 1e-4, 0.2);
    const struct lab_test open = lab_test_family(cell, 8);
    assert_int_equal(open.outcome, LAB_OPEN);
    assert_near(open.needed, cell[1].needed);
    assert_int_equal(lab_test_family(cell, 0).outcome, LAB_OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mean_is_compared_by_student_s_t),
        cmocka_unit_test(a_bound_is_kept_broken_or_too_close),
        cmocka_unit_test(differences_add_their_errors),
        cmocka_unit_test(a_rate_equals_a_theory_or_not),
        cmocka_unit_test(no_hit_contradicts_a_rate_that_predicts_many),
        cmocka_unit_test(a_rate_stays_below_a_bound_or_not),
        cmocka_unit_test(never_means_not_once),
        cmocka_unit_test(two_rates_are_compared_by_their_ratio),
        cmocka_unit_test(a_lower_rate_is_recognized),
        cmocka_unit_test(a_printed_rate_is_compared_with_its_own_runs_and_rounding),
        cmocka_unit_test(independent_events_meet_by_chance),
        cmocka_unit_test(a_staircase_is_not_a_line),
        cmocka_unit_test(a_slope_has_an_interval),
        cmocka_unit_test(a_model_that_adds_much_is_recognized),
        cmocka_unit_test(a_family_divides_the_level),
        cmocka_unit_test(a_family_needs_a_quarter_of_its_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
