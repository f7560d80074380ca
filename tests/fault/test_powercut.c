/* test_powercut.c - power cuts at every moment; see cuts.h.  test_powercut_long.c draws more. */
#include "cuts.h"
#include "unit.h"

static void no_acknowledged_key_is_lost(void **state)
{
    (void)state;
    assert_int_equal(run_scenarios(2, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_acknowledged_key_is_lost),
    };
    return cmocka_run_group_tests_name("fault.powercut", tests, scratch_open, scratch_close);
}
