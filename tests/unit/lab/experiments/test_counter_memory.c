/* test_counter_memory.c - the claim about the memory of counters: results as theory expects them
 * are a "yes", and a planted mistake is a "no". */
#include "lab/experiments/counter_memory.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <math.h>

#define N    1000000u
#define RUNS 10u

/* What a filter would report: the hits that its size makes most likely. */
struct found {
    double hits, bytes;
};

static struct found ideal(uint32_t unit)
{
    const bool spread = unit < COUNTER_MEMORY_UNITS / 2;
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_plan plan = DEJA_PLAN_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = N;
    opt.fp_rate = unit % 8 < 4 ? 1e-2 : 1e-3;
    opt.counter_bits = 4u << unit % 4;
    opt.flags = spread ? DEJA_SPREAD : 0;
    assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
    return (struct found){round(N * plan.fp_rate), (double)plan.bytes};
}

/* The outcome if unit `wrong` has `more` times the hits and `larger` times the memory. */
static enum lab_outcome outcome(uint32_t runs, uint32_t wrong, double more, double larger)
{
    static double value[RUNS * COUNTER_MEMORY_UNITS * COUNTER_VALUES];
    static const struct lab_experiment e = {.name = "memory", .values = COUNTER_VALUES};
    const struct lab lab = {.keys.n = N, .runs = runs};
    const struct lab_results r = {&lab, &e, runs, COUNTER_MEMORY_UNITS, value, NULL};
    struct lab_report report;
    for (uint32_t run = 0; run < runs; run++)
        for (uint32_t unit = 0; unit < COUNTER_MEMORY_UNITS; unit++) {
            const struct found f = ideal(unit);
            double *v = lab_values(&r, unit, run);
            v[COUNTER_FOUND] = unit == wrong ? round(f.hits * more) : f.hits;
            v[COUNTER_BYTES] = unit == wrong ? f.bytes * larger : f.bytes;
        }
    lab_report_init(&report, &e);
    counter_memory_report(&r, &report, 0);
    assert_true(!report.failed && report.n_tables == 1 && report.n_claims == 1);
    assert_int_equal(report.table[0]->n, 2 * COUNTER_MEMORY_UNITS);
    const enum lab_outcome answer = report.claim[0]->holds.test.outcome;
    lab_report_fini(&report);
    return answer;
}

static void results_of_theory_are_a_yes(void **state)
{
    (void)state;
    assert_int_equal(outcome(RUNS, UINT32_MAX, 1, 1), LAB_YES);
    assert_int_equal(outcome(1, UINT32_MAX, 1, 1), LAB_YES);
}

/* One filter of eight: a wrong size, or a wrong hash function. */
static void a_wrong_rate_is_a_no(void **state)
{
    (void)state;
    for (uint32_t unit = 0; unit < COUNTER_MEMORY_UNITS / 2; unit++) {
        assert_int_equal(outcome(RUNS, unit, 1.2, 1), LAB_NO);
        assert_int_equal(outcome(RUNS, unit, 0.8, 1), LAB_NO);
    }
}

/* The claim does not mention the layout in cache lines. */
static void the_rate_of_the_other_layout_does_not_matter(void **state)
{
    (void)state;
    assert_int_equal(outcome(RUNS, COUNTER_MEMORY_UNITS - 1, 2, 1), LAB_YES);
}

/* Even of one filter, by 2 %; or four times the memory, as with one line per key. */
static void a_wrong_formula_of_the_memory_is_a_no(void **state)
{
    (void)state;
    for (uint32_t unit = 0; unit < COUNTER_MEMORY_UNITS / 2; unit++)
        assert_int_equal(outcome(RUNS, unit, 1, unit % 2 ? 4 : 1.02), LAB_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_theory_are_a_yes),
        cmocka_unit_test(a_wrong_rate_is_a_no),
        cmocka_unit_test(the_rate_of_the_other_layout_does_not_matter),
        cmocka_unit_test(a_wrong_formula_of_the_memory_is_a_no),
    };
    return cmocka_run_group_tests_name("unit.counter_memory", tests, NULL, NULL);
}
