/* test_lab_axis.c - the range and the ticks of linear and logarithmic axes. */
#include "lab/report/lab_axis.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIXELS 100.0

static struct lab_axis axis_of(bool log, double low, double high)
{
    struct lab_axis a = lab_axis(log, 0, PIXELS);
    lab_axis_stretch(&a, low);
    lab_axis_stretch(&a, high);
    lab_axis_settle(&a);
    return a;
}

/* The numbers of an axis, separated by spaces. */
static const char *numbers(const struct lab_axis *a)
{
    static char text[1024];
    struct lab_tick tick[LAB_TICKS];
    const size_t n = lab_axis_ticks(a, tick);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        assert_true(tick[i].major == (tick[i].text.s[0] != '\0'));
        if (tick[i].major)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                           text[0] != '\0' ? " " : "", tick[i].text.s);
    }
    return text;
}

static size_t minor_ticks(const struct lab_axis *a)
{
    struct lab_tick tick[LAB_TICKS];
    size_t n = lab_axis_ticks(a, tick), minor = 0;
    while (n > 0)
        minor += !tick[--n].major;
    return minor;
}

static void a_linear_axis_has_round_numbers(void **state)
{
    struct lab_axis a = axis_of(false, 25000, 1e6);
    assert_string_equal(numbers(&a), "0 200k 400k 600k 800k 1M");
    assert_true(lab_axis_at(&a, 0) == 0 && fabs(lab_axis_at(&a, 250000) - 25) < 1e-9);
    a = axis_of(false, -0.2, 0.1);
    assert_string_equal(numbers(&a), "-0.2 -0.15 -0.1 -0.05 0 0.05 0.1");
    a = axis_of(false, 90, 100); /* far from 0, so it need not include it */
    assert_string_equal(numbers(&a), "90 92 94 96 98 100");
}

static void a_logarithmic_axis_has_decades_and_minor_ticks(void **state)
{
    struct lab_axis a = axis_of(true, 2e-5, 3);
    assert_string_equal(numbers(&a), "1e-5 1e-4 0.001 0.01 0.1 1 10");
    assert_int_equal(minor_ticks(&a), 6 * 8);
    assert_true(fabs(lab_axis_at(&a, 0.01) - PIXELS / 2) < 1e-9);
}

static void a_short_logarithmic_axis_has_more_numbers(void **state)
{
    const struct lab_axis a = axis_of(true, 34887, 1562978);
    assert_string_equal(numbers(&a), "20k 50k 100k 200k 500k 1M 2M");
}

static void a_long_logarithmic_axis_skips_decades(void **state)
{
    const struct lab_axis a = axis_of(true, 1e-16, 1);
    assert_string_equal(numbers(&a), "1e-16 1e-14 1e-12 1e-10 1e-8 1e-6 1e-4 0.01 1");
}

static void one_value_and_none_have_a_range(void **state)
{
    for (int log = 0; log < 2; log++) {
        const struct lab_axis one = axis_of(log, 7, 7), none = axis_of(log, NAN, NAN);
        assert_true(one.high > one.low && none.high > none.low);
        assert_true(isfinite(lab_axis_at(&one, 7)));
        assert_true(numbers(&one)[0] != '\0' && numbers(&none)[0] != '\0');
    }
}

/* Ticks are inside the axis and the range inside its ticks, whatever the values are. */
static void ticks_are_on_the_axis(void **state)
{
    static const double edge[] = {1e-300, 1e-9, 0.9999, 1, 1.0001, 3, 4999, 5e15, 1e300};
    const size_t n = sizeof edge / sizeof *edge;
    for (size_t i = 0; i < 2 * n * n; i++) {
        const double low = edge[i % n], high = edge[i / n % n];
        const struct lab_axis a = axis_of(i >= n * n, fmin(low, high), fmax(low, high));
        struct lab_tick tick[LAB_TICKS];
        const size_t ticks = lab_axis_ticks(&a, tick);
        assert_true(ticks >= 1 && ticks <= LAB_TICKS);
        assert_true(lab_axis_at(&a, low) > -1e-6 && lab_axis_at(&a, high) < PIXELS + 1e-6);
        for (size_t j = 0; j < ticks; j++)
            assert_true(lab_axis_at(&a, tick[j].value) > -1e-6 &&
                        lab_axis_at(&a, tick[j].value) < PIXELS + 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_axis_has_round_numbers),
        cmocka_unit_test(a_logarithmic_axis_has_decades_and_minor_ticks),
        cmocka_unit_test(a_short_logarithmic_axis_has_more_numbers),
        cmocka_unit_test(a_long_logarithmic_axis_skips_decades),
        cmocka_unit_test(one_value_and_none_have_a_range),
        cmocka_unit_test(ticks_are_on_the_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
