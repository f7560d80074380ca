/* test_lab_svg.c - figures: intervals, arrows, theory, printed values, legend, description. */
#include "catching.h"
#include "lab/report/lab_write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct catcher catcher; /* too large for a stack */

struct drawing {
    struct lab_report report;
    struct lab_figure *f;
};

static struct drawing drawing(void)
{
    struct drawing d;
    lab_report_init(&d.report, NULL);
    d.f = lab_figure(&d.report, "id", "A <figure>", "URLs", "rate, %", NULL);
    return d;
}

static const char *drawn(struct drawing *d)
{
    catch_begin(&catcher);
    lab_svg_write(&catcher.out, d->f, false);
    return catch_end(&catcher);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    while ((text = strstr(text, what)) != NULL) {
        n++;
        text += strlen(what);
    }
    return n;
}

static void a_rate_has_an_interval(void **state)
{
    struct drawing d = drawing();
    lab_point_rate(d.f, lab_series(d.f, LAB_POINTS, 1, "%s", "k = 4"), 10, 100, 1000);
    const struct lab_dot dot = d.f->series[0].dot[0];
    assert_true(dot.y == 10 && dot.low > 8 && dot.low < 9 && dot.high > 11.5 && dot.high < 12.5);
    const char *text = drawn(&d);
    assert_int_equal(count(text, "class=\"bar\""), 2); /* and one in the legend */
    assert_non_null(strstr(text, "<title>k = 4: 10 ("));
    assert_non_null(strstr(text, "95 % interval"));
    assert_null(strstr(text, "class=\"arrow\""));
    lab_report_fini(&d.report);
}

/* Nothing was hit: an arrow at the upper bound on a logarithmic axis, a point at 0 on a linear
 * one. */
static void zero_hits_are_an_arrow_on_a_logarithmic_axis(void **state)
{
    struct drawing d = drawing();
    d.f->log_y = true;
    size_t s = lab_series(d.f, LAB_POINTS, 2, "%s", "k = 5");
    lab_point_rate(d.f, s, 10, 0, 1e6);
    lab_point_rate(d.f, s, 20, 50, 1e6);
    assert_true(isnan(d.f->series[s].dot[0].y));
    assert_true(fabs(d.f->series[s].dot[0].high - 3.6889e-4) < 1e-7);
    const char *text = drawn(&d);
    assert_int_equal(count(text, "class=\"arrow\""), 2); /* and one in the legend */
    assert_non_null(strstr(text, "k = 5: below 0.0003689 at 10"));
    assert_non_null(strstr(text, "no hits: below this"));
    lab_report_fini(&d.report);

    d = drawing();
    s = lab_series(d.f, LAB_POINTS, 2, "%s", "k = 5");
    lab_point_rate(d.f, s, 10, 0, 1e6);
    lab_point_rate(d.f, s, 20, 50, 1e6);
    assert_true(d.f->series[s].dot[0].y == 0);
    assert_null(strstr(drawn(&d), "class=\"arrow\""));
    lab_report_fini(&d.report);
}

static void arrows_in_one_place_stand_side_by_side(void **state)
{
    struct drawing d = drawing();
    d.f->log_y = true;
    for (unsigned i = 0; i < 3; i++)
        lab_point_rate(d.f, lab_series(d.f, LAB_POINTS, i, "k = %u", i), 10, 0, 1e6);
    const char *at = drawn(&d);
    double x[3];
    for (int i = 0; i < 3; i++) {
        at = strstr(at, "class=\"arrow\" d=\"M");
        assert_non_null(at);
        at += strlen("class=\"arrow\" d=\"M");
        x[i] = strtod(at, NULL);
    }
    assert_true(fabs(x[0] - x[1]) > 5 && fabs(x[1] - x[2]) > 5 && fabs(x[0] - x[2]) > 5);
    lab_report_fini(&d.report);
}

static void theory_is_dashed_and_printed_values_are_open(void **state)
{
    struct drawing d = drawing();
    const size_t theory = lab_series(d.f, LAB_DASHES, 3, "%s", "");
    const size_t printed = lab_series(d.f, LAB_RINGS, 3, "%s", "");
    lab_point(d.f, theory, 0, 0);
    lab_point(d.f, theory, 10, 5);
    lab_point(d.f, printed, 10, 6);
    const char *text = drawn(&d);
    assert_int_equal(count(text, "class=\"dash\""), 2); /* and one in the legend */
    assert_int_equal(count(text, "class=\"open\""), 2);
    assert_int_equal(count(text, "class=\"mark\""), 0);
    assert_non_null(strstr(text, ">theory</text>"));
    assert_non_null(strstr(text, ">printed</text>"));
    lab_report_fini(&d.report);
}

/* Theory may go to 1e-30; measured values decide where the axis ends. */
static void vanishing_theory_does_not_stretch_the_axis(void **state)
{
    struct drawing d = drawing();
    d.f->log_y = true;
    const size_t theory = lab_series(d.f, LAB_DASHES, 0, "%s", "");
    const size_t measured = lab_series(d.f, LAB_POINTS, 0, "%s", "k = 3");
    for (int i = 0; i <= 30; i++)
        lab_point(d.f, theory, i, pow(10, i - 30));
    lab_point(d.f, measured, 30, 1);
    lab_point(d.f, measured, 27, 1e-3);
    const char *text = drawn(&d);
    assert_non_null(strstr(text, ">0.001</text>"));
    assert_null(strstr(text, ">1e-4</text>"));
    assert_null(strstr(text, "e-30"));
    /* The line begins at the bottom of the plot (264), not below it. */
    assert_non_null(strstr(text, "class=\"dash\" d=\"M"));
    assert_non_null(strstr(text, " 264.0L"));
    lab_report_fini(&d.report);
}

static void series_differ_without_colors(void **state)
{
    const char *seen[LAB_COLORS];
    struct drawing d = drawing();
    for (unsigned i = 0; i < LAB_COLORS; i++)
        lab_point(d.f, lab_series(d.f, LAB_POINTS, i, "s%u", i), 0, 0);
    const char *at = drawn(&d);
    for (unsigned i = 0; i < LAB_COLORS; i++) {
        at = strstr(at, "class=\"mark\" d=\"M");
        assert_non_null(at);
        seen[i] = strstr(at, "d=\"M");
        seen[i] = strchr(seen[i], 'm');
        for (unsigned j = 0; j < i; j++)
            assert_true(strncmp(seen[i], seen[j], strcspn(seen[i], "\"") + 1) != 0);
        at += 10;
    }
    lab_report_fini(&d.report);
}

static void colors_follow_the_meaning(void **state)
{
    assert_int_equal(LAB_COLOR_HASHES(3), 0);
    assert_int_equal(LAB_COLOR_HASHES(10), 7);
    assert_int_equal(LAB_COLOR_HASHES(2), 7);
    assert_int_equal(LAB_COLOR_FILTERS(1), 0);
    assert_int_equal(LAB_COLOR_FILTERS(3), 2);
}

static void readers_who_cannot_see_it_get_a_description(void **state)
{
    struct drawing d = drawing();
    d.f->log_x = true;
    lab_figure_caption(d.f, "k = %d loses %.2f %% & more", 3, 0.5);
    lab_point(d.f, lab_series(d.f, LAB_LINE, 0, "%s", "measured"), 1, 1);
    const char *text = drawn(&d);
    assert_non_null(strstr(text, "role=\"img\""));
    assert_non_null(strstr(text, "<title>A &lt;figure&gt;</title>"));
    assert_non_null(strstr(text,
                           "<desc>k = 3 loses 0.50 % &amp; more Horizontal: URLs, logarithmic. "
                           "Vertical: rate, %. Series: measured</desc>"));
    lab_report_fini(&d.report);
}

static void cells_are_drawn_with_their_error(void **state)
{
    struct drawing d = drawing();
    struct lab_cell *c =
        lab_cell(lab_table(&d.report, LAB_LIST, "t", "row", "title"), "row", "column");
    const size_t s = lab_series(d.f, LAB_POINTS, 0, "%s", "a");
    lab_cell_plain(c, "ms", 50, 2);
    lab_point_cell(d.f, s, 1, c);
    assert_true(fabs(d.f->series[s].dot[0].low - (50 - 1.96 * 2)) < 0.01);
    lab_cell_plain(c, "ms", 50, NAN);
    lab_point_cell(d.f, s, 2, c);
    assert_true(isnan(d.f->series[s].dot[1].low));
    lab_report_fini(&d.report);
}

static void an_empty_figure_is_drawn(void **state)
{
    struct drawing d = drawing();
    d.f->log_x = d.f->log_y = true;
    (void)lab_series(d.f, LAB_LINE, 0, "%s", "nothing");
    lab_point_rate(d.f, 0, 0, 1, 10);
    lab_point_rate(d.f, 0, 1, NAN, 10);
    lab_point_rate(d.f, 0, 1, 1, 0);
    const char *text = drawn(&d);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    lab_report_fini(&d.report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_has_an_interval),
        cmocka_unit_test(zero_hits_are_an_arrow_on_a_logarithmic_axis),
        cmocka_unit_test(arrows_in_one_place_stand_side_by_side),
        cmocka_unit_test(theory_is_dashed_and_printed_values_are_open),
        cmocka_unit_test(vanishing_theory_does_not_stretch_the_axis),
        cmocka_unit_test(series_differ_without_colors),
        cmocka_unit_test(colors_follow_the_meaning),
        cmocka_unit_test(readers_who_cannot_see_it_get_a_description),
        cmocka_unit_test(cells_are_drawn_with_their_error),
        cmocka_unit_test(an_empty_figure_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
