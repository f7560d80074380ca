/* test_exp_replay.c - the verdict on replayed crawls follows the numbers: it says yes to a run, and
 * no to one whose filter or theory is wrong.
 *
 * n = 400,000, so sites of 40,000 pages, in 8 runs; only p = 0.1 and 0.01, because lower rates lose
 * too few pages to be judged.  The seed is fixed; a right verdict fails with
 * a probability of 0.001. */
#include "cli/report/plan_report.h"
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_runner.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_claim.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <math.h>
#include <string.h>

extern const struct lab_experiment exp_replay;
#define RATES 4u /* of each kind, the highest first */

static struct lab lab = {.runs = 8, .seed = 1, .threads = 1};
static struct lab_results results;

static int make_results(void **state)
{
    deja_error err = {0};
    assert_int_equal(lab_keys_make(&lab.keys, 400000, 1, &err), DEJA_OK);
    assert_int_equal(lab_results_init(&results, &lab, &exp_replay, &err), DEJA_OK);
    for (uint32_t unit = 0; unit < results.units; unit++)
        for (uint32_t run = 0; unit % RATES < 2 && run < results.runs; run++) {
            struct lab_task t = {.lab = &lab,
                                 .unit = unit,
                                 .run = run,
                                 .seed = 1 + unit * results.runs + run,
                                 .value = lab_values(&results, unit, run),
                                 .err = &err};
            exp_replay.run(&t);
            lab_release(&t);
            assert_int_equal(t.rc, DEJA_OK);
        }
    return 0;
}

static int free_results(void **state)
{
    lab_results_fini(&results);
    lab_keys_fini(&lab.keys);
    return 0;
}

/* The answer on the last claim: losses follow the rate and the dominator tree. */
static enum lab_outcome judged(void)
{
    struct lab_report r;
    lab_report_init(&r, &exp_replay);
    exp_replay.report(&results, &r);
    assert_false(r.failed);
    assert_int_equal(r.n_claims, 2);
    const enum lab_outcome outcome = r.claim[1]->holds.test.outcome;
    lab_report_fini(&r);
    return outcome;
}

/* Multiply one value of every unit in every run. */
static void plant(uint32_t index, double factor)
{
    for (uint32_t unit = 0; unit < results.units; unit++)
        for (uint32_t run = 0; run < results.runs; run++)
            lab_values(&results, unit, run)[index] *= factor;
}

/* As in exp_replay.c: ALL, the pages missed by the first visit, and EXPECTED_ALL for them. */
#define MISSED_BY_ONE   9u
#define EXPECTED_BY_ONE 18u

static void a_run_agrees(void **state)
{
    assert_int_equal(judged(), LAB_YES);
}

/* `deja plan` prints a cost; it must be within a fifth of the measured one. */
static void the_plan_quotes_the_cost(void **state)
{
    for (uint32_t kind = 0; kind < results.units / RATES; kind++) {
        const uint32_t unit = kind * RATES + 1; /* p = 0.01 */
        double lost = 0, missed = 0;
        for (uint32_t visit = 0; visit < 3; visit++) {
            lost += lab_sum(&results, unit, 3 + visit);
            missed += lab_sum(&results, unit, 6 + visit);
        }
        assert_true(fabs(missed / lost / PLAN_PAGES_PER_LOSS - 1) < 0.2);
    }
}

static void a_filter_that_loses_twice_as_many_does_not(void **state)
{
    plant(MISSED_BY_ONE, 2);
    assert_int_equal(judged(), LAB_NO);
    plant(MISSED_BY_ONE, 0.5);
    assert_int_equal(judged(), LAB_YES);
}

static void a_wrong_formula_does_not(void **state)
{
    plant(EXPECTED_BY_ONE, 0.5);
    assert_int_equal(judged(), LAB_NO);
    plant(EXPECTED_BY_ONE, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_agrees),
        cmocka_unit_test(the_plan_quotes_the_cost),
        cmocka_unit_test(a_filter_that_loses_twice_as_many_does_not),
        cmocka_unit_test(a_wrong_formula_does_not),
    };
    return cmocka_run_group_tests(tests, make_results, free_results);
}
