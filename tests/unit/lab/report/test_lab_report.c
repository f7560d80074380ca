/* test_lab_report.c - cells: what the report says about counts, including zero. */
#include "lab/report/lab_report.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static const struct lab_printed nothing;

static struct lab_count counted(double hits, double rate)
{
    const double trials = 1e6;
    return (struct lab_count){.hits = hits,
                              .trials = trials,
                              .runs = 4,
                              .rate = rate,
                              .sigma = sqrt(rate * (1 - rate) / trials)};
}

static void a_rate_is_compared_with_theory(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_cell *c = lab_cell(lab_table(&r, LAB_GRID, "x", "k", "t"), "a", "b");
    const struct lab_count count = counted(40200, 0.01);
    lab_cell_rate(c, &count, &nothing);
    assert_true(fabs(c->mean - 1.005) < 1e-9 && fabs(c->theory - 1) < 1e-9);
    assert_true(fabs(c->theory_sigma - 200 / sqrt(4e6 * 0.01 * 0.99)) < 1e-6);
    assert_true(c->low < c->mean && c->mean < c->high);
    assert_true(isnan(c->printed) && isnan(c->printed_sigma));
    lab_report_fini(&r);
}

static void zero_hits_give_a_bound_and_no_verdict(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_cell *c = lab_cell(lab_table(&r, LAB_GRID, "x", "k", "t"), "a", "b");
    struct lab_count count = counted(0, 1e-8);
    lab_cell_rate(c, &count, &nothing);
    assert_true(c->mean == 0 && c->low == 0);
    assert_true(fabs(c->high - 3.6889 / 4e6 * 100) < 1e-7);
    assert_true(fabs(c->theory_sigma) < 0.1);
    /* Zero hits differ from the theory if it predicts many. */
    count = counted(0, 1e-5);
    lab_cell_rate(c, &count, &nothing);
    assert_true(c->theory_sigma < -LAB_FAR);
    lab_report_fini(&r);
}

static void rounding_in_the_paper_is_not_a_difference(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_cell *c = lab_cell(lab_table(&r, LAB_GRID, "x", "k", "t"), "a", "b");
    const struct lab_count count = counted(40000, 0.01);
    /* Printed as 1.0: the measured value was between 0.95 and 1.05. */
    const struct lab_printed p = {
        .found = true, .value = 1.04, .half = 0.05, .runs = 100, .rows = 1000000, .text = "1.04"};
    lab_cell_rate(c, &count, &p);
    assert_true(c->printed_theory_sigma == 0 && c->printed_sigma == 0);
    lab_report_fini(&r);
}

static const struct lab_printed off = {
    .found = true, .value = 1.006, .half = 0.0005, .runs = 100, .rows = 1000000, .text = "1.006"};

static void a_table_is_judged_by_two_questions(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_table *t = lab_table(&r, LAB_GRID, "5.9", "k", "t");
    const struct lab_count good = counted(40000, 0.01), bad = counted(42000, 0.01),
                           silent = counted(0, 1e-9);
    lab_cell_rate(lab_cell(t, "3 HF", "2.0 M"), &good, &off);
    lab_cell_rate(lab_cell(t, "4 HF", "2.0 M"), &silent, &nothing);
    const struct lab_claim *c = lab_judge(&r, t, "thesis, table 5.9", "%s", "a claim");
    /* 0.006 % is 1.2 standard deviations of four million of our queries. */
    assert_int_equal(c->printed.test.outcome, LAB_YES);
    assert_int_equal(c->holds.test.outcome, LAB_YES);
    assert_true(c->printed.test.cells == 1 && c->holds.test.cells == 2);
    assert_non_null(strstr(c->holds.text, "1 of 2 cells have enough hits"));
    assert_non_null(strstr(c->holds.text, "1 had no hit at all."));

    lab_cell_rate(lab_cell(t, "5 HF", "2.0 M"), &bad, &nothing);
    c = lab_judge(&r, t, "thesis, table 5.9", "%s", "a claim");
    assert_int_equal(c->holds.test.outcome, LAB_NO);
    assert_non_null(
        strstr(c->holds.text, "1 of 3 cells differ. 5 HF 2.0 M: measured 1.05, theory 1."));
    lab_report_fini(&r);
}

static void a_printed_value_that_differs_may_fit_one_run(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_table *t = lab_table(&r, LAB_GRID, "5.16", "k", "t");
    /* A hundred times as many hits: now 0.006 % is 6 standard deviations, but half of one for a
     * single run of the paper. */
    struct lab_count many = counted(40000, 0.01);
    many.hits *= 100;
    many.runs *= 100;
    lab_cell_rate(lab_cell(t, "3 HF", "2.0 M"), &many, &off);
    const struct lab_claim *c = lab_judge(&r, t, "thesis, table 5.16", "%s", "a claim");
    assert_int_equal(c->printed.test.outcome, LAB_NO);
    assert_int_equal(c->holds.test.outcome, LAB_YES);
    assert_non_null(strstr(c->printed.text, "3 HF 2.0 M: measured 1, printed 1.006."));
    assert_non_null(strstr(c->printed.text, "would fit the scatter of one run"));
    lab_report_fini(&r);
}

static void a_table_without_rates_makes_no_claim(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_table *t = lab_table(&r, LAB_GRID, "x", "k", "t");
    lab_cell_plain(lab_cell(t, "a", "b"), "ns", 5, NAN);
    lab_judge_rates(&r, 0, 1);
    assert_int_equal(r.n_claims, 0);
    const struct lab_claim *c = lab_judge(&r, t, "x", "%s", "a claim");
    assert_false(c->printed.given || c->holds.given);
    lab_report_fini(&r);
}

static void values_that_cannot_be_drawn_are_omitted(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_figure *f = lab_figure(&r, "id", "title", "x", "y", NULL);
    const size_t s = lab_series(f, LAB_POINTS, 0, "%s", "a");
    f->log_y = true;
    lab_point(f, s, 1, 0);
    lab_point(f, s, NAN, 1);
    lab_point(f, s, 1, INFINITY);
    lab_point(f, s + 7, 1, 1);
    assert_int_equal(f->series[s].n, 0);
    for (int i = 1; i <= 100; i++)
        lab_point(f, s, i, i);
    assert_int_equal(f->series[s].n, 100);
    assert_true(f->series[s].dot[99].y == 100);
    lab_report_fini(&r);
}

static void numbers_have_few_digits(void **state)
{
    assert_string_equal(lab_number(NAN).s, "-");
    assert_string_equal(lab_number(0).s, "0");
    assert_string_equal(lab_number(8.79392).s, "8.794");
    assert_string_equal(lab_number(0.000137).s, "0.000137");
    assert_string_equal(lab_number(2.346e-7).s, "2.35e-07");
    assert_string_equal(lab_number(123456.7).s, "123457");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_compared_with_theory),
        cmocka_unit_test(zero_hits_give_a_bound_and_no_verdict),
        cmocka_unit_test(rounding_in_the_paper_is_not_a_difference),
        cmocka_unit_test(a_table_is_judged_by_two_questions),
        cmocka_unit_test(a_printed_value_that_differs_may_fit_one_run),
        cmocka_unit_test(a_table_without_rates_makes_no_claim),
        cmocka_unit_test(values_that_cannot_be_drawn_are_omitted),
        cmocka_unit_test(numbers_have_few_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
