/* test_lab_journal.c - finished runs are read back; torn lines and another lab's lines are not. */
#include "lab/engine/lab_journal.h"
#include "lab/engine/lab_runner.h"
#include "scratch.h"
#include "unit.h"
#include <string.h>

static const struct lab_experiment toy = {.name = "toy", .units = 2, .values = 2};

static struct lab a_lab(void)
{
    return (struct lab){.keys = {.n = 1000, .id = 42}, .runs = 3, .seed = 7};
}

struct
try {
    struct lab_journal journal;
    struct lab_results results;
    uint64_t found;
    deja_error err;
};

static int open_journal(struct try *t, const struct lab *lab, bool resume)
{
    assert_int_equal(lab_results_init(&t->results, lab, &toy, &t->err), DEJA_OK);
    return lab_journal_open(&t->journal, scratch_folder, lab, resume, &t->results, 1, &t->found,
                            &t->err);
}

static void close_journal(struct try *t)
{
    lab_journal_close(&t->journal);
    lab_results_fini(&t->results);
}

static void put(struct try *t, uint32_t unit, uint32_t run, double value)
{
    for (uint32_t i = 0; i < toy.values; i++)
        lab_values(&t->results, unit, run)[i] = value + i / 3.0;
    assert_int_equal(lab_journal_add(&t->journal, &t->results, unit, run, &t->err), DEJA_OK);
}

static void append(const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/lab.journal", scratch_folder);
    FILE *file = fopen(path, "a");
    MUST(file);
    MUST(fputs(text, file) >= 0);
    MUST(fclose(file) == 0);
}

static void begin(void)
{
    struct try t = {.found = 9};
    const struct lab lab = a_lab();
    assert_int_equal(open_journal(&t, &lab, false), DEJA_OK);
    assert_int_equal(t.found, 0);
    put(&t, 0, 0, 0.1);
    put(&t, 1, 2, 1e300);
    close_journal(&t);
}

static void finished_runs_are_read_back(void **state)
{
    struct try t = {0};
    const struct lab lab = a_lab();
    begin();
    assert_int_equal(open_journal(&t, &lab, true), DEJA_OK);
    assert_int_equal(t.found, 2);
    assert_true(t.results.done[0] && t.results.done[2 * 2 + 1]);
    assert_true(lab_value(&t.results, 0, 0, 0) == 0.1); /* bit for bit */
    assert_true(lab_value(&t.results, 1, 2, 1) == 1e300 + 1 / 3.0);
    assert_int_equal(lab_tasks_done(&t.results, 1), 2);
    assert_int_equal(lab_tasks(&t.results, 1), 6);
    close_journal(&t);
}

static void a_torn_line_is_cut_off(void **state)
{
    struct try t = {0};
    const struct lab lab = a_lab();
    begin();
    append("toy 1 1 5 6\ntoy 0 1 3.14");
    assert_int_equal(open_journal(&t, &lab, true), DEJA_OK);
    assert_int_equal(t.found, 3);
    assert_false(t.results.done[2]);
    put(&t, 0, 1, 2.5);
    close_journal(&t);
    assert_int_equal(open_journal(&t, &lab, true), DEJA_OK);
    assert_true(lab_value(&t.results, 0, 1, 0) == 2.5);
    close_journal(&t);
}

static void unknown_lines_are_skipped(void **state)
{
    struct try t = {0};
    const struct lab lab = a_lab();
    begin();
    append("other 0 0 1 2\ntoy 9 0 1 2\ntoy 0 99 1 2\ntoy 0 1\ntoy 0 1 1\ntoy 0 1 1 2 3\n"
           "toy 0 1 1 x\n\ntoy\n");
    assert_int_equal(open_journal(&t, &lab, true), DEJA_OK);
    assert_int_equal(t.found, 2);
    close_journal(&t);
}

static void a_journal_of_another_lab_is_refused(void **state)
{
    struct try t = {0};
    struct lab lab = a_lab();
    begin();
    lab.seed = 8;
    assert_int_equal(open_journal(&t, &lab, true), DEJA_EMISMATCH);
    assert_non_null(strstr(t.err.text, "belongs to another lab"));
    close_journal(&t);
    lab = a_lab();
    lab.keys.id = 43;
    assert_int_equal(open_journal(&t, &lab, true), DEJA_EMISMATCH);
    close_journal(&t);
}

static void a_resumed_journal_accepts_more_runs(void **state)
{
    struct try t = {0};
    struct lab lab = a_lab();
    begin();
    lab.runs = 10;
    assert_int_equal(open_journal(&t, &lab, true), DEJA_OK);
    assert_int_equal(t.found, 2);
    close_journal(&t);
}

static void resuming_without_a_journal_is_an_error(void **state)
{
    struct try t = {0};
    const struct lab lab = a_lab();
    char path[300];
    snprintf(path, sizeof path, "%s/lab.journal", scratch_folder);
    (void)remove(path);
    assert_int_equal(open_journal(&t, &lab, true), DEJA_EINVAL);
    assert_non_null(strstr(t.err.text, "nothing to resume"));
    close_journal(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finished_runs_are_read_back),
        cmocka_unit_test(a_torn_line_is_cut_off),
        cmocka_unit_test(unknown_lines_are_skipped),
        cmocka_unit_test(a_journal_of_another_lab_is_refused),
        cmocka_unit_test(a_resumed_journal_accepts_more_runs),
        cmocka_unit_test(resuming_without_a_journal_is_an_error),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
