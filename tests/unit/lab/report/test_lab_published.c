/* test_lab_published.c - published values are found, with the digits that were printed. */
#include "lab/report/lab_published.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static void a_cell_of_a_table_is_found(void **state)
{
    const struct lab_printed p = lab_printed(&(struct lab_printed_query){
        .source = "thesis", .table = "5.9", .filters = 1, .hashes = 3, .multiplier = 1.7});
    assert_true(p.found);
    assert_string_equal(p.text, "8.7927");
    assert_true(fabs(p.value - 8.7927) < 1e-12);
    assert_true(fabs(p.half - 0.00005) < 1e-12);
    assert_true(p.runs == 100);
    assert_int_equal(p.rows, 1000000);
}

static void whole_numbers_are_rounded_to_one(void **state)
{
    const struct lab_printed p =
        lab_printed(&(struct lab_printed_query){.table = "5.14", .subject = "table"});
    assert_true(p.found && p.value == 428 && p.half == 0.5);
}

static void odd_values_have_a_remark(void **state)
{
    const struct lab_printed p =
        lab_printed(&(struct lab_printed_query){.table = "5.10", .hashes = 8, .multiplier = 2.5});
    assert_true(p.found && p.value == 2048);
    assert_non_null(strstr(p.remark, "misprint"));
}

static void missing_values_are_not_found(void **state)
{
    const struct lab_printed p =
        lab_printed(&(struct lab_printed_query){.table = "5.9", .hashes = 11});
    assert_false(p.found);
    assert_true(isnan(p.value));
}

/* A truncated line, or one with extra commas, would be mistaken for another. */
static void every_line_has_all_columns(void **state)
{
    size_t commas = 0, lines = 0;
    for (size_t i = 0; i < lab_published_csv_len; i++) {
        assert_true(lab_published_csv[i] != '"');
        commas += lab_published_csv[i] == ',';
        if (lab_published_csv[i] == '\n') {
            assert_int_equal(commas, 12);
            commas = 0;
            lines++;
        }
    }
    assert_true(lines > 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_of_a_table_is_found),
        cmocka_unit_test(whole_numbers_are_rounded_to_one),
        cmocka_unit_test(odd_values_have_a_remark),
        cmocka_unit_test(missing_values_are_not_found),
        cmocka_unit_test(every_line_has_all_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
