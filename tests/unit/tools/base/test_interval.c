/* test_interval.c - confidence intervals against sums of the binomial distribution. */
#include "binom.h"
#include "tools/base/interval.h"
#include "unit.h"

static void assert_near(double x, double want, double tolerance)
{
    if (!(fabs(x - want) <= tolerance))
        fail_msg("%.12g instead of %.12g", x, want);
}

static void each_end_leaves_a_tail_of_2_5_percent(void **state)
{
    static const uint64_t cases[][2] = {{1, 2},      {1, 10},     {5, 10},       {9, 10},
                                        {1, 1000},   {69, 1000},  {999, 1000},   {3, 100000},
                                        {500, 1000}, {5000, 1e6}, {400000, 1e6}, {1, 10000000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double x = (double)cases[i][0], n = (double)cases[i][1];
        const struct interval v = interval_of_share(cases[i][0], cases[i][1]);
        assert_true(v.low < x / n && x / n < v.high);
        assert_near(binom_at_least(x, n, v.low), 0.025, 1e-6);
        assert_near(binom_at_most(x, n, v.high), 0.025, 1e-6);
    }
}

/* No hits: (1 - high)^n = 0.025, and the same from the other end. */
static void no_hits_still_leave_an_upper_end(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 1000000; n *= 10) {
        const double share = 1 - pow(0.025, 1 / (double)n);
        const struct interval none = interval_of_share(0, n), all = interval_of_share(n, n);
        assert_true(none.low == 0 && all.high == 1);
        assert_near(none.high, share, 1e-9 * share + 1e-15);
        assert_near(all.low, 1 - share, 1e-9);
    }
}

/* The published example of the method: 3 hits in 10 give 0.0667 to 0.6525. */
static void a_known_interval_is_found(void **state)
{
    (void)state;
    const struct interval v = interval_of_share(3, 10);
    assert_near(v.low, 0.0667395, 1e-6);
    assert_near(v.high, 0.6524529, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_leaves_a_tail_of_2_5_percent),
        cmocka_unit_test(no_hits_still_leave_an_upper_end),
        cmocka_unit_test(a_known_interval_is_found),
    };
    return cmocka_run_group_tests_name("unit.interval", tests, NULL, NULL);
}
