/* test_lab_stairs.c - a line and a staircase are told apart. */
#include "lab/experiments/lab_stairs.h"
#include "rng.h"
#include "unit.h"
#include <math.h>

#define GROUPS 9u

/* ns per filter: a constant, each function, each step, and noise. */
struct truth {
    double constant, function, step, noise;
};

static struct lab_stairs fitted(struct truth t, double *time)
{
    struct rng random = rng_seeded(5);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < THESIS_K; i++) {
            const uint32_t f = 1 + g % STAIRS_FILTERS, k = THESIS_K_MIN + i;
            const double steps = ceil((double)k * f / STAIRS_LANES) / f;
            const double noise = t.noise * ((double)(rng_next(&random) >> 11) / 0x1p53 - 0.5);
            time[g * THESIS_K + i] = t.constant / f + t.function * k + t.step * steps + noise;
        }
    return lab_stairs(&(struct lab_stairs_data){time, GROUPS});
}

static void a_line_is_a_line(void **state)
{
    double time[GROUPS * THESIS_K];
    const struct lab_stairs s = fitted((struct truth){50, 60, 0, 4}, time);
    assert_int_equal(s.line.outcome, LAB_YES);
    assert_true(fabs(s.steps) < 0.05);
    assert_true(s.line_share > 0.99 && s.line_share > s.stairs_share);
    assert_true(fabs(s.slope - 60) < 1);
    assert_true(s.line.low < 0 && s.line.high > 0 && s.line.high < 0.1);
}

static void a_staircase_is_not_a_line(void **state)
{
    double time[GROUPS * THESIS_K];
    const struct lab_stairs s = fitted((struct truth){20, 1, 100, 4}, time);
    assert_int_equal(s.line.outcome, LAB_NO);
    assert_true(s.steps > 0.85 && s.steps < 1);
    assert_true(s.stairs_share > 0.98 && s.stairs_share > s.line_share);
    assert_true(fabs(s.rise - 108) < 4); /* a step of eight functions */
}

/* Exactly half of the growth: neither. */
static void halves_are_undecided(void **state)
{
    double time[GROUPS * THESIS_K];
    const struct lab_stairs s = fitted((struct truth){20, 10, 80, 10}, time);
    assert_int_equal(s.line.outcome, LAB_OPEN);
    assert_true(fabs(s.steps - 0.5) < 0.1);
}

static void noise_is_undecided(void **state)
{
    double time[GROUPS * THESIS_K];
    assert_int_equal(fitted((struct truth){100, 1, 0, 100}, time).line.outcome, LAB_OPEN);
    assert_int_equal(fitted((struct truth){100, 0, 0, 0}, time).line.outcome, LAB_OPEN);
    assert_int_equal(fitted((struct truth){100, -5, 0, 1}, time).line.outcome, LAB_OPEN);
}

/* The models' values lie on the measured ones if there is no noise. */
static void fitted_values_are_those_of_the_model(void **state)
{
    double time[GROUPS * THESIS_K];
    const struct lab_stairs line = fitted((struct truth){50, 60, 0, 0}, time);
    struct lab_stairs_data d = {time, GROUPS};
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < THESIS_K; i++)
            assert_true(fabs(lab_stairs_line_at(&d, &line, g, THESIS_K_MIN + i) -
                             time[g * THESIS_K + i]) < 1e-6);
    const struct lab_stairs stairs = fitted((struct truth){50, 0, 90, 0}, time);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < THESIS_K; i++)
            assert_true(fabs(lab_stairs_steps_at(&d, &stairs, g, THESIS_K_MIN + i) -
                             time[g * THESIS_K + i]) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_line),
        cmocka_unit_test(a_staircase_is_not_a_line),
        cmocka_unit_test(halves_are_undecided),
        cmocka_unit_test(noise_is_undecided),
        cmocka_unit_test(fitted_values_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
