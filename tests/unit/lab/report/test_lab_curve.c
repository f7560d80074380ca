/* test_lab_curve.c - rates while a filter fills: what is drawn, and what the caption says. */
#include "lab/report/lab_curve.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 100000u

struct trial {
    struct lab lab;
    struct lab_experiment experiment;
    double value[2 * LAB_CURVE];
    struct lab_results results;
    struct lab_report report;
    struct lab_figure *f;
    struct lab_curve curve[2];
};

/* Two curves in one run: k = 3, and another k, with hits as expected times `factor`. */
static void setup(struct trial *t, uint32_t k, uint32_t copies, double factor)
{
    *t = (struct trial){.lab = {.keys = {.n = N}, .runs = 1},
                        .experiment = {.values = 2 * LAB_CURVE}};
    t->results = (struct lab_results){
        .lab = &t->lab, .experiment = &t->experiment, .runs = 1, .units = 1, .value = t->value};
    for (uint32_t i = 0; i < 2; i++) {
        const struct lab_bloom b = {N, i == 0 ? 3 : k, copies, 1.7, true};
        t->curve[i] = (struct lab_curve){0, i * LAB_CURVE, b, NAN};
        for (uint32_t j = 0; j < LAB_CURVE; j++)
            t->value[i * LAB_CURVE + j] =
                round(factor * N * lab_bloom_lost_until(&b, (j + 1.0) / LAB_CURVE));
    }
    lab_report_init(&t->report, NULL);
    t->f = lab_figure(&t->report, "A.1", "title", "x", "y", NULL);
}

static const struct lab_series *named(const struct lab_figure *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->series[i].name, name) == 0)
            return &f->series[i];
    fail_msg("no series %s", name);
    return NULL;
}

static void curves_of_similar_size_have_a_linear_axis(void **state)
{
    struct trial t;
    setup(&t, 4, 1, 1);
    t.curve[0].printed = 2.6;
    lab_curve_draw(t.f, &t.results, t.curve, 2);
    assert_false(t.f->log_y);
    const struct lab_series *s = named(t.f, "k = 3");
    const struct lab_dot last = s->dot[s->n - 1];
    assert_true(last.x == N && fabs(last.y - 2.6) < 0.1);
    assert_true(last.low < last.y && last.y < last.high);
    size_t rings = 0;
    for (size_t i = 0; i < t.f->n; i++)
        rings += t.f->series[i].style == LAB_RINGS ? t.f->series[i].n : 0;
    assert_int_equal(rings, 1); /* nothing is drawn for a value that is not printed */
    lab_report_fini(&t.report);
}

static void a_curve_that_vanishes_gives_a_logarithmic_axis(void **state)
{
    struct trial t;
    setup(&t, 6, 3, 1);
    lab_curve_draw(t.f, &t.results, t.curve, 2);
    assert_true(t.f->log_y);
    /* No hits with k = 6: one arrow, at the end. */
    const struct lab_series *s = named(t.f, "k = 6");
    assert_int_equal(s->n, 1);
    assert_true(isnan(s->dot[0].y) && s->dot[0].x == N);
    lab_report_fini(&t.report);
}

/* The caption's numbers are those of the run. */
static void the_caption_is_computed(void **state)
{
    struct trial t;
    setup(&t, 4, 1, 1);
    lab_curve_draw(t.f, &t.results, t.curve, 2);
    const struct lab_bloom *b = &t.curve[0].bloom;
    char text[80];
    (void)snprintf(text, sizeof text, "(theory: %.1f %%)",
                   100 * (1 - lab_bloom_lost_until(b, 0.5) / lab_bloom_lost_until(b, 1)));
    assert_non_null(strstr(t.f->caption, text));
    char before[600];
    memcpy(before, t.f->caption, sizeof before);
    lab_report_fini(&t.report);

    setup(&t, 4, 1, 0.5);
    lab_curve_draw(t.f, &t.results, t.curve, 2);
    assert_string_not_equal(t.f->caption, before);
    lab_report_fini(&t.report);

    setup(&t, 4, 1, 0);
    lab_curve_draw(t.f, &t.results, t.curve, 2);
    assert_non_null(strstr(t.f->caption, "Only 0 hits with k = 3"));
    lab_report_fini(&t.report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_of_similar_size_have_a_linear_axis),
        cmocka_unit_test(a_curve_that_vanishes_gives_a_logarithmic_axis),
        cmocka_unit_test(the_caption_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
