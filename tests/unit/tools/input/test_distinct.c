/* test_distinct.c - the distinct keys of a file, in memory. */
#include "packed.h"
#include "tools/input/distinct.h"

static void check_key(const deja_slice *key, const char *text)
{
    assert_int_equal(key->len, strlen(text));
    assert_memory_equal(key->data, text, key->len);
}

static void repeats_empty_and_long_lines_are_skipped(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("b\na\nb\n\ntoo long\na\nccc\n"));
    const struct input_options o = options_for(&path, 1);
    struct distinct d = {0};
    assert_int_equal(distinct_read(&d, &o, 10, 3, NULL), DEJA_OK);
    assert_int_equal(d.n, 3);
    assert_int_equal(d.duplicates, 2);
    deja_slice *key = distinct_slices(&d, NULL);
    check_key(&key[0], "b");
    check_key(&key[1], "a");
    check_key(&key[2], "ccc");
    free(key);
    distinct_fini(&d);
}

static void reading_stops_at_the_maximum(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\na\nb\nc\nd\n"));
    const struct input_options o = options_for(&path, 1);
    struct distinct d = {0};
    assert_int_equal(distinct_read(&d, &o, 2, 9, NULL), DEJA_OK);
    assert_int_equal(d.n, 2);
    distinct_fini(&d);
}

static void a_missing_file_is_an_error(void **state)
{
    (void)state;
    const char *path = "/no/such/file";
    const struct input_options o = options_for(&path, 1);
    struct distinct d = {0};
    deja_error err = {0};
    assert_int_equal(distinct_read(&d, &o, 2, 9, &err), DEJA_EIO);
    assert_non_null(strstr(err.text, path));
    distinct_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_empty_and_long_lines_are_skipped),
        cmocka_unit_test(reading_stops_at_the_maximum),
        cmocka_unit_test(a_missing_file_is_an_error),
    };
    return cmocka_run_group_tests_name("unit.distinct", tests, make_folder, remove_folder);
}
