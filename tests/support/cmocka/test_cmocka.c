/* test_cmocka.c - groups of tests that pass, fail, skip and clean up, under our own cmocka.  It runs
 * without one, so it counts by itself. */
#include "cmocka.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *told; /* standard output, which the groups below do not reach */

#define EXPECT(holds)                                                                             \
    do {                                                                                          \
        if (!(holds)) {                                                                           \
            fprintf(told, "%s:%d: %s\n", __FILE__, __LINE__, #holds);                             \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static int began, ended; /* fixtures of tests */
static int group_state = 7, own_state = 8;

static int up(void **state)
{
    (void)state;
    began++;
    return 0;
}

static int down(void **state)
{
    (void)state;
    ended++;
    return 0;
}

static int broken(void **state)
{
    (void)state;
    return -1;
}

static int group_up(void **state)
{
    *state = &group_state;
    return 0;
}

static int group_down(void **state)
{
    assert_ptr_equal(*state, &group_state);
    return 0;
}

#define TEST(name, body)                                                                          \
    static void name(void **state)                                                                \
    {                                                                                             \
        (void)state;                                                                              \
        body;                                                                                     \
    }

TEST(passes, {
    assert_true(1);
    assert_false(0);
    assert_null(NULL);
    assert_non_null(state);
    assert_int_equal(-1, -1);
    assert_int_not_equal(1, 2);
    assert_ptr_equal(state, state);
    assert_ptr_not_equal(state, NULL);
    assert_string_equal("a", "a");
    assert_string_not_equal("a", "b");
    assert_memory_equal("ab", "ac", 1);
    assert_memory_not_equal("ab", "ac", 2);
    assert_in_range(3, 3, 3);
    assert_float_equal(1.0, 1.25, 0.25);
})
TEST(skips, skip())
TEST(has_the_groups_state, assert_int_equal(*(int *)*state, 7))
TEST(has_its_own_state, assert_int_equal(*(int *)*state, 8))

TEST(true_fails, assert_true(0))
TEST(false_fails, assert_false(1))
TEST(null_fails, assert_null(state))
TEST(non_null_fails, assert_non_null(NULL))
TEST(int_fails, assert_int_equal(1, UINT64_C(1) << 32 | 1))
TEST(int_not_fails, assert_int_not_equal(2, 2))
TEST(ptr_fails, assert_ptr_equal(state, NULL))
TEST(ptr_not_fails, assert_ptr_not_equal(state, state))
TEST(string_fails, assert_string_equal("a", "ab"))
TEST(string_not_fails, assert_string_not_equal("a", "a"))
TEST(memory_fails, assert_memory_equal("ab", "ac", 2))
TEST(memory_not_fails, assert_memory_not_equal("ab", "ac", 1))
TEST(below_fails, assert_in_range(2, 3, 4))
TEST(above_fails, assert_in_range(5, 3, 4))
TEST(float_fails, assert_float_equal(1.0, 1.5, 0.25))
TEST(msg_fails, fail_msg("number %d", 5))

static const struct CMUnitTest failing[] = {
    cmocka_unit_test(true_fails),   cmocka_unit_test(false_fails),
    cmocka_unit_test(null_fails),   cmocka_unit_test(non_null_fails),
    cmocka_unit_test(int_fails),    cmocka_unit_test(int_not_fails),
    cmocka_unit_test(ptr_fails),    cmocka_unit_test(ptr_not_fails),
    cmocka_unit_test(string_fails), cmocka_unit_test(string_not_fails),
    cmocka_unit_test(memory_fails), cmocka_unit_test(memory_not_fails),
    cmocka_unit_test(below_fails),  cmocka_unit_test(above_fails),
    cmocka_unit_test(float_fails),  cmocka_unit_test(msg_fails),
};

int main(void)
{
    const struct CMUnitTest good[] = {
        cmocka_unit_test_setup_teardown(passes, up, down),
        cmocka_unit_test_teardown(skips, down),
        cmocka_unit_test(has_the_groups_state),
        {"has_its_own_state", has_its_own_state, NULL, NULL, &own_state},
    };
    const struct CMUnitTest untidy[] = {
        cmocka_unit_test_setup_teardown(passes, broken, down),
        cmocka_unit_test_teardown(passes, broken),
        cmocka_unit_test_setup_teardown(true_fails, up, down),
    };
    told = fdopen(dup(STDOUT_FILENO), "w");
    EXPECT(freopen("/dev/null", "w", stderr) && freopen("/dev/null", "w", stdout));
    EXPECT(cmocka_run_group_tests(good, group_up, group_down) == 0);
    EXPECT(began == 1 && ended == 2);
    EXPECT(cmocka_run_group_tests(failing, NULL, NULL) == sizeof failing / sizeof failing[0]);
    EXPECT(cmocka_run_group_tests(untidy, NULL, NULL) == 3);
    EXPECT(began == 2 && ended == 4);
    EXPECT(cmocka_run_group_tests(good, broken, NULL) == 1);
    EXPECT(cmocka_run_group_tests(good, group_up, broken) == 1);
    return 0;
}
