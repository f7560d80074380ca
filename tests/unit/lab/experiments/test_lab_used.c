/* test_lab_used.c - every published value is in some report: published.csv stores nothing that
 * nobody sees. */
#include "lab/report/lab_published.h"
#include "planted.h"
#include <stdio.h>

/* The report of results that nobody measured: any numbers will do. */
static void report_anything(const struct lab_experiment *e)
{
    struct planted p;
    planted_begin(&p, e, 1000000, 60, 3);
    const size_t values = (size_t)p.r.runs * p.r.units * e->values;
    for (size_t i = 0; i < values; i++)
        p.r.value[i] = 1 + (double)(i * 37 % 101);
    planted_report(&p);
    assert_false(p.report.failed);
    planted_end(&p);
}

static void every_published_value_is_in_a_report(void **state)
{
    size_t unused = 0, line = 1, begin = 0;
    for (const struct lab_experiment *const *e = lab_experiments; *e != NULL; e++)
        report_anything(*e);
    for (size_t i = 0; i < lab_published_csv_len; i++) {
        if (lab_published_csv[i] != '\n')
            continue;
        if (line > 1 && !lab_published_used(line)) {
            printf("line %zu: %.*s\n", line, (int)(i - begin), lab_published_csv + begin);
            unused++;
        }
        line++;
        begin = i + 1;
    }
    assert_true(line > 800);
    assert_int_equal(unused, 0);
}

static void a_value_counts_once_it_is_looked_up(void **state)
{
    const struct lab_printed p =
        lab_printed(&(struct lab_printed_query){.source = "thesis", .table = "5.14"});
    assert_true(p.found && p.line > 1);
    assert_true(lab_published_used(p.line));
    assert_false(lab_published_used(1));
    assert_false(lab_published_used(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_counts_once_it_is_looked_up),
        cmocka_unit_test(every_published_value_is_in_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
