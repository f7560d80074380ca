/* test_trap.c - paths that repeat themselves, and the shape of a URL. */
#include "crawler/loop/trap.h"
#include "unit.h"

static bool repeats(const char *path)
{
    return trap_repeats((deja_slice){path, strlen(path)});
}

static void shape_is(const char *url, const char *want)
{
    struct buffer out = {0};
    assert_true(trap_shape((deja_slice){url, strlen(url)}, &out));
    assert_true(buffer_add(&out, "", 1));
    assert_string_equal(out.data, want);
    buffer_fini(&out);
}

static void three_times_in_a_row_is_a_trap(void **state)
{
    assert_true(repeats("/a/a/a"));
    assert_true(repeats("/x/a/b/a/b/a/b/y"));
    assert_true(repeats("/a/b/c/d/a/b/c/d/a/b/c/d"));
    assert_true(repeats("/a//////b")); /* empty segments count too */
    assert_false(repeats("/a/a"));
    assert_false(repeats("/a/b/a/b/a"));
    assert_false(repeats("/a/b/a/c/a/d"));
    assert_false(repeats("/a/b/c/d/e/a/b/c/d/e/a/b/c/d/e")); /* groups of five are not detected */
    assert_false(repeats("/"));
    assert_false(repeats(""));
    assert_false(repeats("/a?b=/a/a/a"));
}

static void very_long_paths_are_only_checked_partly(void **state)
{
    char path[1000];
    for (size_t i = 0; i < sizeof path - 1; i += 2) {
        path[i] = '/';
        path[i + 1] = (char)('a' + i % 26);
    }
    assert_false(trap_repeats((deja_slice){path, sizeof path - 2}));
}

static void a_shape_has_no_numbers_and_no_values(void **state)
{
    shape_is("http://h1:8080/cal/2031/05?day=12&view=x", "http://h1:8080/cal/0/0?day&view");
    shape_is("http://h/p12q3", "http://h/p0q0");
    shape_is("http://h/p?a&b=", "http://h/p?a&b");
    shape_is("http://h?x=1", "http://h?x");
    shape_is("http://h7", "http://h7");
    shape_is("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_times_in_a_row_is_a_trap),
        cmocka_unit_test(very_long_paths_are_only_checked_partly),
        cmocka_unit_test(a_shape_has_no_numbers_and_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
