/* test_append.c - a list of lines that grows. */
#include "cli/session/append.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/deja-test-append-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/list", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_list(const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void expect_list(const char *text)
{
    char buf[200];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t len = fread(buf, 1, sizeof buf - 1, f);
    fclose(f);
    buf[len] = 0;
    assert_string_equal(buf, text);
}

static struct append opened(void)
{
    struct append a;
    assert_int_equal(append_open(&a, path, '\n', NULL), DEJA_OK);
    return a;
}

static void lines_are_written_by_the_flush(void **state)
{
    (void)state;
    (void)unlink(path);
    struct append a = opened();
    assert_true(a.empty);
    append_put(&a, "a\n", 2);
    append_put(&a, "b\n", 2);
    expect_list("");
    assert_int_equal(append_flush(&a, false, NULL), DEJA_OK);
    expect_list("a\nb\n");
    append_put(&a, "dropped\n", 8);
    append_close(&a, DEJA_OK);
    expect_list("a\nb\n");
    a = opened();
    assert_false(a.empty);
    append_put(&a, "c\n", 2);
    assert_int_equal(append_flush(&a, true, NULL), DEJA_OK);
    append_close(&a, DEJA_OK);
    expect_list("a\nb\nc\n");
}

static void an_incomplete_last_line_is_ended_before_the_next(void **state)
{
    (void)state;
    write_list("a");
    struct append a = opened();
    assert_int_equal(append_flush(&a, false, NULL), DEJA_OK);
    expect_list("a"); /* nothing was appended */
    append_put(&a, "b\n", 2);
    append_put(&a, "c\n", 2);
    assert_int_equal(append_flush(&a, false, NULL), DEJA_OK);
    append_put(&a, "d\n", 2);
    assert_int_equal(append_flush(&a, false, NULL), DEJA_OK);
    append_close(&a, DEJA_OK);
    expect_list("a\nb\nc\nd\n");
}

static void a_second_writer_is_refused(void **state)
{
    (void)state;
    write_list("a\n");
    deja_error err;
    struct append a = opened(), b;
    assert_int_equal(append_open(&b, path, '\n', &err), DEJA_EBUSY);
    append_close(&b, DEJA_EBUSY);
    append_close(&a, DEJA_OK);
    a = opened();
    append_close(&a, DEJA_OK);
    expect_list("a\n");
}

static void a_failed_flush_leaves_the_old_lines(void **state)
{
    (void)state;
    write_list("a\n");
    deja_error err;
    struct append a = opened();
    const int real = a.fd;
    a.fd = open(path, O_RDONLY | O_CLOEXEC); /* writing to it fails */
    append_put(&a, "b\n", 2);
    assert_int_equal(append_flush(&a, false, &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "cannot append"));
    close(real);
    append_close(&a, DEJA_EIO);
    expect_list("a\n");
}

static void an_empty_list_is_removed_after_a_failure(void **state)
{
    (void)state;
    (void)unlink(path);
    struct append a = opened();
    append_close(&a, DEJA_EINVAL);
    assert_int_not_equal(access(path, F_OK), 0);
    write_list(""); /* but not one that existed before */
    a = opened();
    append_close(&a, DEJA_EINVAL);
    assert_int_equal(access(path, F_OK), 0);
    append_close(&a, DEJA_OK); /* may be repeated */
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct append a;
    deja_error err;
    assert_int_equal(append_open(&a, "/dev/null", '\n', &err), DEJA_EINVAL);
    append_close(&a, DEJA_EINVAL);
    assert_int_equal(append_open(&a, "/nowhere/at/all", '\n', &err), DEJA_EIO);
    append_close(&a, DEJA_EIO);
    write_list("\x1f\x8b\b");
    assert_int_equal(append_open(&a, path, '\n', &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "compressed"));
    append_close(&a, DEJA_EINVAL);
    write_list("a\n");
    a = opened();
    const char *const inputs[] = {"/dev/null", path};
    assert_int_equal(append_refuse_inputs(&a, inputs, 1, &err), DEJA_OK);
    assert_int_equal(append_refuse_inputs(&a, inputs, 2, &err), DEJA_EINVAL);
    append_close(&a, DEJA_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_written_by_the_flush),
        cmocka_unit_test(an_incomplete_last_line_is_ended_before_the_next),
        cmocka_unit_test(a_second_writer_is_refused),
        cmocka_unit_test(a_failed_flush_leaves_the_old_lines),
        cmocka_unit_test(an_empty_list_is_removed_after_a_failure),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests_name("unit.append", tests, make_folder, remove_folder);
}
