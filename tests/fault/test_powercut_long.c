/* test_powercut_long.c - test_powercut.c with many more seeds. */
#include "cuts.h"
#include "unit.h"

static void no_acknowledged_key_is_lost(void **state)
{
    (void)state;
    assert_int_equal(run_scenarios(60, 12), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_acknowledged_key_is_lost),
    };
    return cmocka_run_group_tests_name("fault.powercut_long", tests, scratch_open, scratch_close);
}
