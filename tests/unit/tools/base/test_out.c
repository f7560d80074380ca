/* test_out.c - all results arrive in order, or an error explains why not. */
#include "catching.h"
#include "tools/base/out.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_CAP 32

/* A file in the current directory, for functions that take paths. */
static void make_file(char *path, const char *contents)
{
    (void)snprintf(path, PATH_CAP, "test_out_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    (void)close(fd);
}

static void file_is(const char *path, const char *contents)
{
    char text[256] = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    (void)fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    assert_string_equal(text, contents);
}

static void text_arrives_in_order(void **state)
{
    (void)state;
    struct catcher c;
    catch_begin(&c);
    out_text(&c.out, "one ");
    out_write(&c.out, "two\0three", 3);
    out_write(&c.out, NULL, 0);
    out_printf(&c.out, " %d%s", 3, "\n");
    assert_string_equal(catch_end(&c), "one two 3\n");
}

static void long_text_passes_the_buffer(void **state)
{
    (void)state;
    size_t len = 3 * OUT_CAP + 17;
    char *text = malloc(len + 1), *back = malloc(len + 8);
    struct catcher c;
    assert_true(text != NULL && back != NULL);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 23);
    text[len] = '\0';
    catch_begin(&c);
    out_text(&c.out, "begin");
    out_printf(&c.out, "%s", text);
    out_text(&c.out, "e");
    assert_int_equal(out_flush(&c.out, NULL), DEJA_OK);
    assert_true(c.out.written == len + 6);
    rewind(c.file);
    assert_int_equal(fread(back, 1, len + 8, c.file), len + 6);
    assert_memory_equal(back + 5, text, len);
    (void)catch_end(&c);
    free(text);
    free(back);
}

/* A reader slower than the writer, and a pipe that accepts only part of each write. */
static void a_pipe_that_does_not_block_loses_nothing(void **state)
{
    (void)state;
    int fds[2];
    size_t lines = 200000;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char buf[999];
        size_t total = 0;
        ssize_t n;
        (void)close(fds[1]);
        while ((n = read(fds[0], buf, sizeof buf)) > 0)
            total += (size_t)n;
        _exit(total == lines * 8 ? 0 : 1);
    }
    (void)close(fds[0]);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    struct out o;
    int status;
    assert_int_equal(out_init(&o, fds[1], "pipe", NULL), DEJA_OK);
    for (size_t i = 0; i < lines; i++)
        out_write(&o, "7 bytes\n", 8);
    assert_int_equal(out_close(&o, NULL), DEJA_OK);
    (void)close(fds[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_reader_that_has_gone_is_not_an_error(void **state)
{
    (void)state;
    int fds[2];
    struct out o;
    deja_error err = {0};
    assert_int_equal(pipe(fds), 0);
    (void)close(fds[0]);
    assert_int_equal(out_init(&o, fds[1], "pipe", NULL), DEJA_OK);
    out_text(&o, "to nobody");
    assert_int_equal(out_flush(&o, &err), OUT_GONE);
    out_text(&o, "still nobody");
    assert_int_equal(out_flush(&o, &err), OUT_GONE);
    assert_int_equal(out_close(&o, &err), OUT_GONE);
    assert_string_equal(err.text, "");
    (void)close(fds[1]);
}

static void a_reader_that_does_not_read_cannot_hold_up_a_stop(void **state)
{
    (void)state;
    int fds[2];
    atomic_bool stop = true;
    struct out o;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(out_init(&o, fds[1], "pipe", NULL), DEJA_OK);
    o.stop = &stop;
    for (size_t i = 0; i < 100000; i++)
        out_write(&o, "7 bytes\n", 8);
    assert_int_equal(out_close(&o, NULL), OUT_GONE);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_full_disk_is_an_error_that_names_the_output(void **state)
{
    (void)state;
    struct out o;
    deja_error err = {0};
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_int_equal(out_init(&o, fd, "results.txt", NULL), DEJA_OK);
    out_text(&o, "text");
    assert_int_equal(out_flush(&o, &err), DEJA_EIO);
    assert_string_equal(err.text, "results.txt: No space left on device");
    memset(&err, 0, sizeof err);
    assert_int_equal(out_close(&o, &err), DEJA_EIO); /* the failure stays */
    assert_string_equal(err.text, "results.txt: No space left on device");
    (void)close(fd);
}

static void a_file_is_replaced(void **state)
{
    (void)state;
    char path[PATH_CAP];
    struct out o;
    make_file(path, "the old contents");
    assert_int_equal(out_open(&o, path, NULL), DEJA_OK);
    out_text(&o, "new");
    file_is(path, "the old contents"); /* not before the flush */
    assert_int_equal(out_close(&o, NULL), DEJA_OK);
    file_is(path, "new");
    assert_int_equal(out_open(&o, path, NULL), DEJA_OK);
    assert_int_equal(out_close(&o, NULL), DEJA_OK); /* an empty result is a result */
    file_is(path, "");
    (void)unlink(path);
}

static void a_failure_before_the_first_flush_keeps_the_old_file(void **state)
{
    (void)state;
    char path[PATH_CAP];
    struct out o;
    make_file(path, "precious");
    assert_int_equal(out_open(&o, path, NULL), DEJA_OK);
    out_text(&o, "half a result");
    assert_int_equal(out_finish(&o, DEJA_EIO, NULL), DEJA_EIO);
    file_is(path, "precious");
    (void)unlink(path);
}

static void an_output_that_is_also_an_input_is_refused(void **state)
{
    (void)state;
    char path[PATH_CAP], text[300];
    const char *const paths[] = {".", "no such file", "-", path};
    struct out o;
    deja_error err = {0};
    make_file(path, "precious");
    assert_int_equal(out_open(&o, path, NULL), DEJA_OK);
    assert_int_equal(out_refuse_inputs(&o, paths, 0, &err), DEJA_OK);
    assert_int_equal(out_refuse_inputs(&o, paths, 3, &err), DEJA_OK);
    assert_int_equal(out_refuse_inputs(&o, paths, 4, &err), DEJA_EINVAL);
    (void)snprintf(text, sizeof text, "%s is also the output; write to another file", path);
    assert_string_equal(err.text, text);
    out_text(&o, "overwritten");
    assert_int_not_equal(out_close(&o, NULL), DEJA_OK); /* even if the error is not checked */
    file_is(path, "precious");
    (void)unlink(path);
}

static void a_file_that_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct out o;
    deja_error err;
    assert_int_equal(out_open(&o, "no such folder/file", &err), DEJA_EIO);
    assert_string_equal(err.text, "no such folder/file: No such file or directory");
    assert_int_equal(out_close(&o, NULL), DEJA_OK);
    assert_int_equal(out_finish(&o, DEJA_EIO, NULL), DEJA_EIO);
}

static void words_are_wrapped(void **state)
{
    (void)state;
    struct catcher c;
    catch_begin(&c);
    out_wrap(&c.out, "one two  three\nfour averyveryverylongword x", 0, 2, 10);
    out_wrap(&c.out, "", 0, 0, 10);
    out_wrap(&c.out, "äöü äöü äöü", 0, 0, 7);
    assert_string_equal(catch_end(&c), "one two\n"
                                       "  three\n"
                                       "  four\n"
                                       "  averyveryverylongword\n"
                                       "  x\n"
                                       "\n"
                                       "äöü äöü\n"
                                       "äöü\n");
}

static void bars_are_plain_or_blocks(void **state)
{
    (void)state;
    static const double shares[] = {0.0, 0.5, 1.0, 7.0, -1.0};
    struct catcher c;
    catch_begin(&c);
    for (size_t i = 0; i < 5; i++)
        out_bar(&c.out, shares[i], 4);
    out_bar(&c.out, (double)NAN, 4);
    c.out.utf8 = true;
    out_bar(&c.out, 0.40625, 4);
    out_bar(&c.out, 1.0, 2);
    assert_string_equal(catch_end(&c), "[....][##..][####][####][....][....]"
                                       "▕█▋  ▏▕██▏");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_arrives_in_order),
        cmocka_unit_test(long_text_passes_the_buffer),
        cmocka_unit_test(a_pipe_that_does_not_block_loses_nothing),
        cmocka_unit_test(a_reader_that_has_gone_is_not_an_error),
        cmocka_unit_test(a_reader_that_does_not_read_cannot_hold_up_a_stop),
        cmocka_unit_test(a_full_disk_is_an_error_that_names_the_output),
        cmocka_unit_test(a_file_is_replaced),
        cmocka_unit_test(a_failure_before_the_first_flush_keeps_the_old_file),
        cmocka_unit_test(an_output_that_is_also_an_input_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
        cmocka_unit_test(words_are_wrapped),
        cmocka_unit_test(bars_are_plain_or_blocks),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("unit.out", tests, NULL, NULL);
}
