/* test_lab_conditions.c - what a run depended on: nothing is missing, and small runs say so. */
#include "lab/engine/lab_runner.h"
#include "lab/report/lab_conditions.h"
#include "unit.h"
#include <string.h>

static void sizes(const struct lab *lab, char *text, size_t cap)
{
    (void)snprintf(text, cap, "%llu pages", (unsigned long long)lab->keys.n / 10);
}

static const struct lab_experiment whole = {.name = "whole", .units = 3},
                                   own = {
                                       .name = "own", .units = 1, .max_runs = 2, .sizes = sizes};

struct seen {
    char text[16384];
};

static void see(void *ctx, const char *name, const char *value)
{
    struct seen *s = ctx;
    const size_t len = strlen(s->text);
    (void)snprintf(s->text + len, sizeof s->text - len, "%s: %s\n", name, value);
}

static void conditions_name_command_seeds_and_sizes(void **state)
{
    const struct lab lab = {.keys = {.n = 100000, .source = "deja gen -n 200000 --seed 7"},
                            .runs = 5,
                            .seed = 7,
                            .threads = 2,
                            .quick = true};
    const struct lab_report report[] = {{.experiment = &whole}, {.experiment = &own}};
    const struct lab_page page = {&lab, report, 2, "deja lab all --quick", 61};
    static struct seen seen;
    lab_conditions(&page, see, &seen);
    static const char *const parts[] = {
        "command: deja lab all --quick\n",
        "source: deja gen -n 200000 --seed 7; 0 duplicate lines omitted\n",
        "runs: 5\n",
        "n = 100,000 instead of the papers' 1,000,000, and 5 runs instead of 100 (--quick)\n",
        "seed: 7: it gives the generated URLs",
        "size of whole: n = 100,000; 3 units in each of 5 runs; first seed ",
        "size of own: 10000 pages; 1 unit in each of 2 runs (more add nothing); first seed ",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(seen.text, parts[i]))
            fail_msg("'%s' is not in:\n%s", parts[i], seen.text);
}

static void only_small_runs_are_called_small(void **state)
{
    struct lab lab = {.keys.n = 1000000, .runs = 100};
    assert_string_equal(lab_smaller(&lab).s, "");
    lab.runs = 1;
    assert_string_equal(lab_smaller(&lab).s, "1 run instead of the papers' 100");
    lab.keys.n = 5000;
    lab.runs = 200;
    assert_string_equal(lab_smaller(&lab).s, "n = 5,000 instead of the papers' 1,000,000");
}

static void seeds_depend_on_everything_and_nothing_else(void **state)
{
    const struct lab a = {.seed = 1, .threads = 1, .runs = 3}, b = {.seed = 1, .threads = 8},
                     c = {.seed = 2};
    assert_true(lab_seed(&a, "single", 0, 0) == lab_seed(&b, "single", 0, 0));
    assert_true(lab_seed(&a, "single", 0, 0) != lab_seed(&c, "single", 0, 0));
    assert_true(lab_seed(&a, "single", 0, 0) != lab_seed(&a, "spatial", 0, 0));
    assert_true(lab_seed(&a, "single", 0, 1) != lab_seed(&a, "single", 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_name_command_seeds_and_sizes),
        cmocka_unit_test(only_small_runs_are_called_small),
        cmocka_unit_test(seeds_depend_on_everything_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
