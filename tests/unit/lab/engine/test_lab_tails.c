/* test_lab_tails.c - tails of distributions, against values computed by SciPy 1.17. */
#include "lab/engine/lab_tails.h"
#include "unit.h"
#include <math.h>

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-7 * fabs(expected))
        fail_msg("%.12g instead of %.12g", value, expected);
}

static void normal_tails_are_right(void **state)
{
    assert_near(lab_normal_above(3.29), 0.0005009369137857222);
    assert_near(lab_normal_above(10), 7.61985302416047e-24);
    assert_near(lab_normal_outside(-3.29), 2 * 0.0005009369137857222);
    assert_near(lab_normal_beyond(0.0005), 3.2905267314918945);
}

static void student_fisher_and_chi_square_tails_are_right(void **state)
{
    assert_near(lab_student_above(2.5, 4), 0.03338327240599407);
    assert_near(lab_student_above(-2.5, 4), 1 - 0.03338327240599407);
    assert_near(lab_student_above(12, 30), 2.7900927075996303e-13);
    assert_near(lab_student_beyond(0.0005, 9), 4.780912585931139);
    assert_near(lab_student_beyond(0.0005, 2), 31.59905457644362);
    assert_near(lab_student_above(3.29, 0), lab_normal_above(3.29));
    assert_near(lab_fisher_above(4.2, 3, 10), 0.0364379359937082);
    assert_near(lab_fisher_above(30, 6, 80), 1.41149557614126e-18);
    assert_near(lab_chi2_above(60, 40), 0.02187346844139091);
}

static void tails_of_counts_are_right(void **state)
{
    assert_near(lab_poisson_at_most(3, 8.5), 0.030109079689220955);
    assert_near(lab_poisson_at_least(20, 8.5), 0.0005347455963917162);
    assert_near(lab_poisson_at_most(900, 1000), 0.0006977673277963054);
    assert_near(lab_binomial_at_most(3, 1e6, 8e-6), 0.04237953946889891);
    assert_near(lab_binomial_at_least(60, 100, 0.5), 0.028443966820490444);
    assert_near(lab_binomial_at_most(2, 1e8, 1e-7), 0.0027693948220899366);
    assert_near(
        lab_both_tails(lab_binomial_at_most(7, 1e6, 2e-6), lab_binomial_at_least(7, 1e6, 2e-6)),
        0.009067514814258557);
}

static void counts_at_the_edges_have_whole_tails(void **state)
{
    assert_true(lab_poisson_at_least(0, 5) == 1 && lab_poisson_at_most(-1, 5) == 0);
    assert_true(lab_binomial_at_least(0, 10, 0.3) == 1 && lab_binomial_at_most(10, 10, 0.3) == 1);
    assert_true(lab_poisson_at_most(0, 0) == 1 && lab_binomial_at_most(0, 10, 0) == 1);
    assert_true(lab_both_tails(1, 1) == 1);
}

static void ranges_of_counts_are_right(void **state)
{
    assert_near(lab_poisson_range(10, 0.0005).low, 2.6990331060328097);
    assert_near(lab_poisson_range(10, 0.0005).high, 25.255559379265968);
    assert_true(lab_poisson_range(0, 0.0005).low == 0);
    assert_near(lab_poisson_range(0, 0.0005).high, 7.600902459542082);
    assert_near(lab_binomial_range(5, 100, 0.0005).low, 0.006433946195449594);
    assert_near(lab_binomial_range(5, 100, 0.0005).high, 0.16361499252741493);
    assert_near(lab_binomial_range(0, 1000, 0.001).high, 0.006883951579066228);
    assert_true(lab_binomial_range(10, 10, 0.001).high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_tails_are_right),
        cmocka_unit_test(student_fisher_and_chi_square_tails_are_right),
        cmocka_unit_test(tails_of_counts_are_right),
        cmocka_unit_test(counts_at_the_edges_have_whole_tails),
        cmocka_unit_test(ranges_of_counts_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
