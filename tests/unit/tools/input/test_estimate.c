/* test_estimate.c - estimating the number of records before reading the files. */
#include "packed.h"
#include "tools/input/input.h"

/* --- Estimates ----------------------------------------------------------- */

static void small_files_are_counted_exactly(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t i = 0; i < 12345; i++) {
        put_letters(&content, below(40));
        put_byte(&content, '\n');
    }
    put(&content, TEXT("last"));
    const char *paths[] = {file(0, content.data, content.len), file(1, TEXT("")),
                           file(2, TEXT("a\nb\n"))};
    struct input_options o = options_for(paths, 3);
    assert_int_equal(input_estimate(&o), 12345 + 1 + 2);
    o.terminator = 0;
    assert_int_equal(input_estimate(&o), 2);
    drop(&content);
}

static void large_files_are_estimated_from_samples(void **state)
{
    (void)state;
    struct bytes content = {0};
    double n = 0;
    while (content.len < 8 * MIB) {
        put_letters(&content, below(66));
        put_byte(&content, '\n');
        n++;
    }
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    double estimate = (double)input_estimate(&o);
    assert_true(estimate >= n);
    assert_true(estimate < 1.1 * n);

    const char *paths[40]; /* too many files to sample all of them */
    for (size_t i = 0; i < LEN(paths); i++)
        paths[i] = path;
    o = options_for(paths, LEN(paths));
    estimate = (double)input_estimate(&o);
    assert_true(estimate >= n * LEN(paths));
    assert_true(estimate < 1.1 * n * LEN(paths));
    drop(&content);
}

static void compressed_missing_and_piped_input_is_not_estimated(void **state)
{
    (void)state;
    struct bytes packed = {0};
    put_gzip(&packed, TEXT("a\n"), 100);
    const char *paths[] = {file(0, TEXT("a\n")), file(1, packed.data, packed.len)};
    struct input_options o = options_for(paths, 2);
    assert_int_equal(input_estimate(&o), 0);
    paths[1] = "/nonexistent";
    assert_int_equal(input_estimate(&o), 0);
    o.n_paths = 1;
    assert_int_equal(input_estimate(&o), 1);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    send(ends[1], TEXT("a\nb\n"));
    close(ends[1]);
    o.n_paths = 0;
    assert_int_equal(input_estimate(&o), 0);
    struct reading r = read_all(&o); /* nothing was consumed */
    assert_listed(&r.keys, "a|b|");
    reading_free(&r);
    stdin_back();
    drop(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files_are_counted_exactly),
        cmocka_unit_test(large_files_are_estimated_from_samples),
        cmocka_unit_test(compressed_missing_and_piped_input_is_not_estimated),
    };
    return cmocka_run_group_tests_name("unit.estimate", tests, make_folder, remove_folder);
}
