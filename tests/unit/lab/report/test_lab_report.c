/* test_lab_report.c - cells and verdicts: what the report says about counts, including zero. */
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

static bool says(const struct lab_report *r, enum lab_finding finding, const char *text)
{
    for (size_t i = 0; i < r->n_verdicts; i++)
        if (r->verdict[i].finding == finding && strstr(r->verdict[i].text, text))
            return true;
    return false;
}

static void verdicts_summarize_the_cells(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_table *t = lab_table(&r, LAB_GRID, "5.9", "k", "t");
    const struct lab_count good = counted(40000, 0.01), bad = counted(42000, 0.01),
                           silent = counted(0, 1e-9);
    const struct lab_printed off = {.found = true,
                                    .value = 1.006,
                                    .half = 0.0005,
                                    .runs = 100,
                                    .rows = 1000000,
                                    .text = "1.006"};
    lab_cell_rate(lab_cell(t, "3 HF", "2.0 M"), &good, &off);
    lab_cell_rate(lab_cell(t, "4 HF", "2.0 M"), &silent, &nothing);
    lab_judge_rates(&r, 0, 1);
    assert_true(says(&r, LAB_AGREES, "in all 2 cells"));
    assert_true(says(&r, LAB_NOTE, "1 of 2 cells had no hit"));
    /* 0.006% is 5.5 standard deviations for 10^8 queries, and half of one for 10^6. */
    assert_true(says(&r, LAB_DIFFERS, "5.9, 3 HF 2.0 M: prints 1.006, theory 1,"));
    assert_true(says(&r, LAB_DIFFERS, "scatter of one run"));

    lab_cell_rate(lab_cell(t, "5 HF", "2.0 M"), &bad, &nothing);
    lab_judge_rates(&r, 0, 1);
    assert_true(says(&r, LAB_DIFFERS, "in 1 of 3 cells"));
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
        cmocka_unit_test(verdicts_summarize_the_cells),
        cmocka_unit_test(values_that_cannot_be_drawn_are_omitted),
        cmocka_unit_test(numbers_have_few_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
