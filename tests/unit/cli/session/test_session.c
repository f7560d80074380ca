/* test_session.c - when a command syncs its file again. */
#include "cli/session/session.h"
#include "unit.h"

static void quick_syncs_come_twice_a_minute(void **state)
{
    (void)state;
    assert_true(session_next_sync(100, 100) == 100 + SESSION_SYNC);
    assert_true(session_next_sync(100, 101) == 100 + SESSION_SYNC);
}

static void slow_syncs_get_a_fifth_of_the_time(void **state)
{
    (void)state;
    assert_true(session_next_sync(100, 120) == 200);
    assert_true(session_next_sync(0, 1000) == 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_syncs_come_twice_a_minute),
        cmocka_unit_test(slow_syncs_get_a_fifth_of_the_time),
    };
    return cmocka_run_group_tests_name("unit.session", tests, NULL, NULL);
}
