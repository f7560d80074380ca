/* cmocka.h - the part of cmocka's interface that our tests use, for cross-compiled tests.
 *
 * A distribution's cmocka is for the CPU of the machine; Debian 12 has none at all for riscv64.  The
 * names and their meaning are cmocka's, so that tests need not know which of the two they have.
 * There are no mocks, no memory checks, and no handlers for signals: a crash ends the program. */
#ifndef CMOCKA_H
#define CMOCKA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintmax_t LargestIntegralType;
typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
    void *initial_state; /* NULL: that of the group */
};

#define cmocka_unit_test(f)                    cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_unit_test_setup(f, setup)       cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)
#define cmocka_unit_test_setup_teardown(f, up, down)                                              \
    {                                                                                             \
#f, f, up, down, NULL                                                                     \
    }
#define cmocka_run_group_tests_name(name, tests, up, down)                                        \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), up, down)
#define cmocka_run_group_tests(tests, up, down)                                                   \
    cmocka_run_group_tests_name(#tests, tests, up, down)

/* Runs the tests, prints one line for each as cmocka does, and returns how many failed. */
int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                            CMFixtureFunction up, CMFixtureFunction down);

/* --- Assertions: they end the running test -------------------------------------- */

#define CMOCKA_AT __FILE__, __LINE__

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cmocka_skip(void);
_Noreturn void cmocka_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cmocka_equal(uintmax_t a, uintmax_t b, bool wanted, const char *file, int line);
void cmocka_strings(const char *a, const char *b, bool wanted, const char *file, int line);
void cmocka_bytes(const void *a, const void *b, size_t n, bool wanted, const char *file, int line);
void cmocka_range(uintmax_t x, uintmax_t least, uintmax_t most, const char *file, int line);

#define skip()        cmocka_skip()
#define fail()        cmocka_fail(CMOCKA_AT, "fail")
#define fail_msg(...) cmocka_fail(CMOCKA_AT, __VA_ARGS__)

#define assert_true(c)                                                                            \
    do {                                                                                          \
        if (!(c))                                                                                 \
            cmocka_fail(CMOCKA_AT, "%s", #c);                                                     \
    } while (0)
#define assert_false(c)    assert_true(!(c))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_null(p)     assert_true((p) == NULL)

#define assert_int_equal(a, b)           cmocka_equal((uintmax_t)(a), (uintmax_t)(b), true, CMOCKA_AT)
#define assert_int_not_equal(a, b)       cmocka_equal((uintmax_t)(a), (uintmax_t)(b), false, CMOCKA_AT)
#define assert_ptr_equal(a, b)           cmocka_equal((uintptr_t)(a), (uintptr_t)(b), true, CMOCKA_AT)
#define assert_ptr_not_equal(a, b)       cmocka_equal((uintptr_t)(a), (uintptr_t)(b), false, CMOCKA_AT)
#define assert_string_equal(a, b)        cmocka_strings(a, b, true, CMOCKA_AT)
#define assert_string_not_equal(a, b)    cmocka_strings(a, b, false, CMOCKA_AT)
#define assert_memory_equal(a, b, n)     cmocka_bytes(a, b, n, true, CMOCKA_AT)
#define assert_memory_not_equal(a, b, n) cmocka_bytes(a, b, n, false, CMOCKA_AT)
#define assert_in_range(x, least, most)                                                           \
    cmocka_range((uintmax_t)(x), (uintmax_t)(least), (uintmax_t)(most), CMOCKA_AT)
#define assert_float_equal(a, b, by) assert_true(((a) > (b) ? (a) - (b) : (b) - (a)) <= (by))

#endif
