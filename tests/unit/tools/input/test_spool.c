/* test_spool.c - input that is read twice; copies of pipes. */
#include "reading.h"
#include "tools/input/input.h"
#include "tools/input/spool.h"
#include <fcntl.h>

/* The keys of all records, as text: "a|b|". */
static void read_keys(struct input *in, char *keys, size_t cap)
{
    struct block b;
    deja_error err;
    int rc;
    block_init(&b);
    keys[0] = 0;
    while ((rc = input_next(in, &b, &err)) > 0)
        for (size_t i = 0; i < b.n; i++) {
            const size_t len = strlen(keys);
            snprintf(keys + len, cap - len, "%.*s|", (int)b.keys[i].len,
                     (const char *)b.keys[i].data);
        }
    assert_int_equal(rc, 0);
    block_fini(&b);
}

static void expect_twice(const struct input_options *o, const char *want)
{
    struct input *in;
    struct input_progress first, second;
    char keys[200];
    assert_int_equal(input_open(o, &in, NULL), DEJA_OK);
    read_keys(in, keys, sizeof keys);
    assert_string_equal(keys, want);
    input_progress(in, &first);
    for (int again = 0; again < 2; again++) {
        input_rewind(in);
        read_keys(in, keys, sizeof keys);
        assert_string_equal(keys, want);
        input_progress(in, &second);
        assert_int_equal(first.raw, second.raw);
        assert_int_equal(first.records, second.records);
        assert_int_equal(first.missing, second.missing);
    }
    input_close(in);
}

static struct input_options twice(const char *const *paths, size_t n)
{
    struct input_options o = options_for(paths, n);
    o.twice = true;
    return o;
}

static void stdin_pipe(const char *text)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    stdin_from(ends[0]);
}

static void files_are_opened_again(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\nb\n")), file(1, TEXT("")), file(2, TEXT("c"))};
    struct input_options o = twice(paths, 3);
    expect_twice(&o, "a|b|c|");
    paths[0] = file(0, TEXT("x,key\n1,a\n2,b\n"));
    paths[1] = file(1, TEXT("key,x\nc,3\n,4\n"));
    o = twice(paths, 2);
    o.pick.csv_column = "key"; /* each reading finds the headers */
    expect_twice(&o, "a|b|c||");
}

static void a_pipe_is_copied(void **state)
{
    (void)state;
    static const char *const dash[] = {"-", "-"};
    struct input_options o = twice(NULL, 0);
    stdin_pipe("a\nb\nc");
    expect_twice(&o, "a|b|c|");
    stdin_back();
    const char *paths[] = {file(0, TEXT("x\n")), "-", file(1, TEXT("y\n"))};
    o = twice(paths, 3);
    stdin_pipe("a\n");
    expect_twice(&o, "x|a|y|");
    stdin_back();
    o = twice(dash, 2); /* the second time, it has ended */
    stdin_pipe("a\nb\n");
    expect_twice(&o, "a|b|");
    stdin_back();
}

static void a_file_as_standard_input_starts_where_it_started(void **state)
{
    (void)state;
    struct input_options o = twice(NULL, 0);
    stdin_from(open(file(0, TEXT("skipped\na\nb\n")), O_RDONLY));
    assert_int_equal(lseek(STDIN_FILENO, 8, SEEK_SET), 8);
    expect_twice(&o, "a|b|");
    stdin_back();
}

static void a_copy_without_room_is_an_error(void **state)
{
    (void)state;
    const char *before = getenv("TMPDIR");
    char *saved = before ? strdup(before) : NULL;
    int copy;
    deja_error err;
    assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    stdin_pipe("a\n");
    assert_int_equal(spool_copy(STDIN_FILENO, "standard input", NULL, NULL, &copy, &err),
                     DEJA_EIO);
    assert_contains(err.text, "standard input is read twice");
    assert_contains(err.text, "set TMPDIR");
    stdin_back();
    if (saved)
        assert_int_equal(setenv("TMPDIR", saved, 1), 0);
    else
        assert_int_equal(unsetenv("TMPDIR"), 0);
    free(saved);
}

static void stop_ends_a_copy(void **state)
{
    (void)state;
    const atomic_bool stop = true;
    int ends[2], copy;
    char byte;
    assert_int_equal(pipe(ends), 0); /* nobody writes, and it does not end */
    assert_int_equal(spool_copy(ends[0], "pipe", &stop, NULL, &copy, NULL), DEJA_OK);
    assert_int_equal(read(copy, &byte, 1), 0);
    close(copy);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_opened_again),
        cmocka_unit_test(a_pipe_is_copied),
        cmocka_unit_test(a_file_as_standard_input_starts_where_it_started),
        cmocka_unit_test(a_copy_without_room_is_an_error),
        cmocka_unit_test(stop_ends_a_copy),
    };
    return cmocka_run_group_tests_name("unit.spool", tests, make_folder, remove_folder);
}
