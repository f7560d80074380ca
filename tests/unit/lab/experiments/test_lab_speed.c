/* test_lab_speed.c - what the report on time answers to planted times. */
#include "lab/experiments/lab_shape.h"
#include "lab/experiments/lab_speed.h"
#include "planted.h"
#include <math.h>

extern const struct lab_experiment exp_speed;

#define RUNS 3u

#define LINE       "with one hash computation per function as in the thesis."
#define DEJA       "also in deja, which computes eight"
#define FILTERS    "with one hash computation per function."
#define OWN        "also in deja (eight"
#define MULTIPLIER "bit-size multiplier"
#define TABLE      "slower than the HashSet"
#define ONE_HASH   "one hash for all positions"
#define LAYERS     "takes the same time as a Bloom"

/* Rounds differ by up to half a percent. */
static double jitter(uint32_t number)
{
    return 1 + 0.01 * ((double)(number * 2654435761u % 1000) / 1000 - 0.5);
}

static void plant_subject(struct planted *p, uint32_t subject, double ns)
{
    for (uint32_t run = 0; run < RUNS; run++)
        for (uint32_t step = 0; step < SHAPE_STEPS; step++)
            for (uint32_t round = 0; round < SHAPE_ROUNDS; round++) {
                const uint32_t at = shape_value(step, subject, round);
                lab_values(&p->r, SPEED_SHAPE, run)[at] = ns * jitter(at + 1000 * run);
            }
}

typedef double way_time(uint32_t filters, uint32_t k);

/* Proportional to k F, with a little overhead, as printed. */
static double line(uint32_t filters, uint32_t k)
{
    return 15 + 95.0 * filters * k;
}

static double staircase(uint32_t filters, uint32_t k)
{
    return 10 + 1.5 * filters * k + 100 * ceil(filters * k / 8.0);
}

static double one_filter(uint32_t filters, uint32_t k)
{
    return line(filters > 2 ? 2 : filters, k); /* the third one was forgotten */
}

static void plant_way(struct planted *p, enum lab_shape_way way, way_time *time)
{
    for (uint32_t f = 1; f <= SHAPE_FILTERS; f++)
        for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
            plant_subject(p, shape_subject(way, f, k), time(f, k));
}

static void plant_other(struct planted *p, enum lab_speed_other which, double ns)
{
    for (uint32_t run = 0; run < RUNS; run++)
        for (uint32_t step = 0; step < 2; step++)
            lab_values(&p->r, SPEED_GRID + which, run)[step] = ns * jitter(7 * run + step);
}

static void begin(struct planted *p)
{
    planted_begin(p, &exp_speed, 1000000, 63, RUNS);
    plant_way(p, SHAPE_ONE_BY_ONE, line);
    plant_way(p, SHAPE_DEJA, staircase);
    plant_subject(p, shape_other(SHAPE_TABLE), 60);
    plant_subject(p, shape_other(SHAPE_CLASSIC), 20);
    plant_subject(p, shape_other(SHAPE_BLOCKED), 8);
    for (uint32_t u = 0; u < SPEED_GRID; u++)
        for (uint32_t i = 0; i < 2 * THESIS_SIZES; i++)
            planted_set(p, u, i, staircase(speed_filters(u), speed_k(u)) + i % THESIS_SIZES);
    for (uint32_t i = 0; i < SPEED_OTHERS; i++)
        plant_other(p, i, 100);
    plant_other(p, SPEED_LAYERS5, 350);
    planted_report(p);
}

static void right_times_are_judged_as_they_are(void **state)
{
    struct planted p;
    begin(&p);
    assert_int_equal(planted_holds(&p, LINE), LAB_YES);
    assert_int_equal(planted_printed(&p, LINE), LAB_YES);
    assert_int_equal(planted_holds(&p, DEJA), LAB_NO);
    assert_int_equal(planted_printed(&p, DEJA), LAB_NO);
    assert_int_equal(planted_holds(&p, FILTERS), LAB_YES);
    assert_int_equal(planted_printed(&p, FILTERS), LAB_YES);
    assert_int_equal(planted_holds(&p, OWN), LAB_NO);
    assert_int_equal(planted_holds(&p, MULTIPLIER), LAB_YES);
    assert_int_equal(planted_holds(&p, TABLE), LAB_YES);
    assert_int_equal(planted_holds(&p, ONE_HASH), LAB_YES);
    assert_int_equal(planted_holds(&p, LAYERS), LAB_NO);
    planted_end(&p);
}

/* A staircase where the thesis has a line, and a line where deja has a staircase. */
static void the_other_model_changes_the_answer(void **state)
{
    struct planted p;
    begin(&p);
    plant_way(&p, SHAPE_ONE_BY_ONE, staircase);
    plant_way(&p, SHAPE_DEJA, line);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, LINE), LAB_NO);
    assert_int_equal(planted_printed(&p, LINE), LAB_NO);
    assert_int_equal(planted_holds(&p, DEJA), LAB_YES);
    assert_int_equal(planted_printed(&p, DEJA), LAB_YES);
    assert_int_equal(planted_holds(&p, OWN), LAB_YES);
    planted_end(&p);
}

static void a_forgotten_filter_is_found(void **state)
{
    struct planted p;
    begin(&p);
    plant_way(&p, SHAPE_ONE_BY_ONE, one_filter);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, FILTERS), LAB_NO);
    assert_int_equal(planted_printed(&p, FILTERS), LAB_NO);
    planted_end(&p);
}

static void slower_structures_change_the_answers(void **state)
{
    struct planted p;
    begin(&p);
    plant_subject(&p, shape_other(SHAPE_TABLE), 5000);
    plant_subject(&p, shape_other(SHAPE_BLOCKED), 6000);
    plant_other(&p, SPEED_LAYERS5, 100);
    for (uint32_t f = 0; f < SPEED_FILTERS; f++) /* a size that costs more than functions */
        for (uint32_t i = 0; i < 2; i++)
            planted_set(&p, f * THESIS_K, i * THESIS_SIZES + 5, 5000);
    planted_report(&p);
    assert_int_equal(planted_holds(&p, TABLE), LAB_NO);
    assert_int_equal(planted_holds(&p, ONE_HASH), LAB_NO);
    assert_int_equal(planted_holds(&p, LAYERS), LAB_YES);
    assert_int_equal(planted_holds(&p, MULTIPLIER), LAB_NO);
    planted_end(&p);
}

/* One disturbed round does not decide anything. */
static void a_disturbed_round_is_no_evidence(void **state)
{
    struct planted p;
    begin(&p);
    for (uint32_t subject = 0; subject < SHAPE_SUBJECTS; subject++)
        lab_values(&p.r, SPEED_SHAPE, 0)[shape_value(SHAPE_QUERY, subject, 2)] *= 1 + subject % 7;
    planted_report(&p);
    assert_int_equal(planted_holds(&p, LINE), LAB_YES);
    assert_int_equal(planted_holds(&p, DEJA), LAB_NO);
    assert_true(planted_holds(&p, FILTERS) != LAB_NO);
    planted_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_times_are_judged_as_they_are),
        cmocka_unit_test(the_other_model_changes_the_answer),
        cmocka_unit_test(a_forgotten_filter_is_found),
        cmocka_unit_test(slower_structures_change_the_answers),
        cmocka_unit_test(a_disturbed_round_is_no_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
