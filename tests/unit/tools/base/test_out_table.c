/* test_out_table.c - aligned tables of any length. */
#include "catching.h"
#include "tools/base/out.h"
#include <string.h>

static void columns_are_aligned(void **state)
{
    (void)state;
    struct catcher c;
    struct table t;
    catch_begin(&c);
    table_init(&t, "lrl");
    table_cell(&t, "kind");
    table_cell(&t, "size");
    table_cell(&t, "note");
    table_cell(&t, "classic");
    table_cell(&t, "%d MB", 1234);
    table_cell(&t, "%s", "");
    table_cell(&t, "größe");
    table_cell(&t, "1");
    table_cell(&t, "last");
    table_cell(&t, "unfinished");
    assert_int_equal(table_print(&t, &c.out, 2, NULL), DEJA_OK);
    assert_string_equal(catch_end(&c), "  kind           size  note\n"
                                       "  classic     1234 MB\n"
                                       "  größe             1  last\n"
                                       "  unfinished\n");
}

static void many_rows_are_fine(void **state)
{
    (void)state;
    struct catcher c;
    struct table t;
    catch_begin(&c);
    table_init(&t, "r");
    for (int i = 0; i < 1000; i++)
        table_cell(&t, "%d", i);
    assert_int_equal(table_print(&t, &c.out, 0, NULL), DEJA_OK);
    assert_int_equal(strncmp(catch_end(&c), "  0\n  1\n", 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(many_rows_are_fine),
    };
    return cmocka_run_group_tests_name("unit.out_table", tests, NULL, NULL);
}
