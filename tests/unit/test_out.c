/* test_out.c - the only printer: results, messages, JSON, tables, bars. */
#include "out.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH_CAP 32

/* --- Catching what is printed ------------------------------------------------ */

struct catcher {
    FILE *file;
    struct out out;
    char text[4096];
};

static void catch_begin(struct catcher *c)
{
    c->file = tmpfile();
    assert_non_null(c->file);
    assert_int_equal(out_init(&c->out, fileno(c->file), "a test", NULL), DEJA_OK);
}

static const char *catch_end(struct catcher *c)
{
    assert_int_equal(out_close(&c->out, NULL), DEJA_OK);
    rewind(c->file);
    size_t n = fread(c->text, 1, sizeof c->text - 1, c->file);
    c->text[n] = '\0';
    (void)fclose(c->file);
    return c->text;
}

/* A file in the present folder, for what works with paths. */
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

/* --- Results ----------------------------------------------------------------- */

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

/* A reader slower than the writer, and a pipe that takes only part of each write. */
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

static void a_reader_that_has_gone_is_no_error(void **state)
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
    assert_int_equal(out_close(&o, &err), DEJA_EIO); /* a failure stays */
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
    assert_int_equal(out_close(&o, NULL), DEJA_OK); /* no results are results */
    file_is(path, "");
    (void)unlink(path);
}

static void a_failure_before_the_first_flush_destroys_nothing(void **state)
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

static void an_input_that_is_the_output_is_refused_and_kept(void **state)
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
    (void)snprintf(text, sizeof text, "%s is the output as well; write to another file", path);
    assert_string_equal(err.text, text);
    out_text(&o, "overwritten");
    assert_int_not_equal(out_close(&o, NULL), DEJA_OK); /* even without a look at the error */
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
    out_discard(&o);
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

/* --- Messages ---------------------------------------------------------------- */

static const char *said(FILE *f, char *text, size_t cap)
{
    rewind(f);
    text[fread(text, 1, cap - 1, f)] = '\0';
    return text;
}

static void messages_name_the_command(void **state)
{
    (void)state;
    char text[4096];
    FILE *f = tmpfile();
    struct console c;
    assert_non_null(f);
    console_init(&c, fileno(f), NULL);
    console_error(&c, "first %d", 1);
    c.command = "dedup";
    console_note(&c, "second");
    console_hint(&c, "try: this");
    c.quiet = true;
    console_note(&c, "not to be seen");
    console_error(&c, "errors always are");
    console_line(&c, "progress"); /* not on a terminal */
    console_clear(&c);
    assert_string_equal(said(f, text, sizeof text), "deja: first 1\n"
                                                    "deja dedup: second\n"
                                                    "try: this\n"
                                                    "deja dedup: errors always are\n");
    (void)fclose(f);
}

static void an_endless_message_is_cut_to_a_line(void **state)
{
    (void)state;
    char text[4096], endless[3000];
    FILE *f = tmpfile();
    struct console c;
    assert_non_null(f);
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    console_init(&c, fileno(f), "dedup");
    console_error(&c, "%s", endless);
    (void)said(f, text, sizeof text);
    assert_true(strlen(text) <= 1024);
    assert_int_equal(text[strlen(text) - 1], '\n');
    (void)fclose(f);
}

/* What a terminal got so far. */
static const char *terminal_got(int terminal, char *text, size_t cap)
{
    struct pollfd p = {.fd = terminal, .events = POLLIN};
    size_t len = 0;
    while (len < cap - 1 && poll(&p, 1, 100) > 0) {
        ssize_t n = read(terminal, text + len, cap - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    text[len] = '\0';
    return text;
}

static void a_message_clears_the_progress_line(void **state)
{
    (void)state;
    char text[512];
    struct console c;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        skip();
    int fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (fd < 0)
        skip();
    console_init(&c, fd, "dedup");
    assert_true(c.tty);
    console_line(&c, "half");
    console_note(&c, "note");
    console_clear(&c);
    assert_string_equal(terminal_got(terminal, text, sizeof text),
                        "\rhalf\033[K\r\033[Kdeja dedup: note\r\n");
    c.quiet = true;
    console_line(&c, "quiet");
    c.quiet = false;
    char wide[200];
    memset(wide, '.', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    console_line(&c, wide);
    (void)terminal_got(terminal, text, sizeof text);
    assert_int_equal(strlen(text), 79 + strlen("\r\033[K"));
    (void)close(fd);
    (void)close(terminal);
}

/* --- JSON -------------------------------------------------------------------- */

static void json_is_indented_and_separated(void **state)
{
    (void)state;
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_object(&j, NULL);
    json_string(&j, "name", "x");
    json_array(&j, "empty");
    json_end(&j);
    json_object(&j, "none");
    json_end(&j);
    json_array(&j, "list");
    json_uint(&j, NULL, UINT64_MAX);
    json_bool(&j, NULL, true);
    json_end(&j);
    json_null(&j, "nothing");
    json_string(&j, "nobody", NULL);
    json_end(&j);
    assert_string_equal(catch_end(&c), "{\n"
                                       "  \"name\": \"x\",\n"
                                       "  \"empty\": [],\n"
                                       "  \"none\": {},\n"
                                       "  \"list\": [\n"
                                       "    18446744073709551615,\n"
                                       "    true\n"
                                       "  ],\n"
                                       "  \"nothing\": null,\n"
                                       "  \"nobody\": null\n"
                                       "}\n");
}

static void json_numbers_are_numbers_or_null(void **state)
{
    (void)state;
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_array(&j, NULL);
    json_real(&j, NULL, 0.1);
    json_real(&j, NULL, 1e-6);
    json_real(&j, NULL, (double)NAN);
    json_real(&j, NULL, (double)INFINITY);
    json_real(&j, NULL, -(double)INFINITY);
    json_end(&j);
    assert_string_equal(catch_end(&c), "[\n  0.1,\n  1e-06,\n  null,\n  null,\n  null\n]\n");
}

static void quoted_as(const char *bytes, size_t len, const char *json)
{
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_bytes(&j, NULL, bytes, len);
    assert_string_equal(catch_end(&c), json);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    quoted_as("", 0, "\"\"\n");
    quoted_as("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"\n");
    quoted_as("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"\n");
    quoted_as("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"\n");
    quoted_as("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11,
              "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
}

static void json_replaces_what_is_not_utf8(void **state)
{
    (void)state;
    quoted_as("a\xff"
              "b",
              3, "\"a\\ufffdb\"\n");
    quoted_as("\x80", 1, "\"\\ufffd\"\n");
    quoted_as("\xc3", 1, "\"\\ufffd\"\n");            /* cut off    */
    quoted_as("\xe2\x82", 2, "\"\\ufffd\"\n");        /* cut off    */
    quoted_as("\xe2\x82x", 3, "\"\\ufffdx\"\n");      /* broken off */
    quoted_as("\xc0\xaf", 2, "\"\\ufffd\\ufffd\"\n"); /* overlong   */
    quoted_as("\xe0\x80\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"\n");
    quoted_as("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"\n");            /* surrogate  */
    quoted_as("\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n"); /* > U+10FFFF */
    quoted_as("\xf0\x9f\x98", 3, "\"\\ufffd\"\n");
}

/* --- Tables ------------------------------------------------------------------ */

static void columns_are_aligned(void **state)
{
    (void)state;
    struct catcher c;
    struct table t;
    catch_begin(&c);
    table_init(&t, "lrl");
    table_cell(&t, "kind");
    table_cell(&t, "size");
    table_cell(&t, "note");
    table_cell(&t, "classic");
    table_cell(&t, "%d MB", 1234);
    table_cell(&t, "%s", "");
    table_cell(&t, "größe");
    table_cell(&t, "1");
    table_cell(&t, "last");
    table_cell(&t, "unfinished");
    assert_int_equal(table_print(&t, &c.out, 2, NULL), DEJA_OK);
    assert_string_equal(catch_end(&c), "  kind           size  note\n"
                                       "  classic     1234 MB\n"
                                       "  größe             1  last\n"
                                       "  unfinished\n");
}

static void many_rows_are_no_trouble(void **state)
{
    (void)state;
    struct catcher c;
    struct table t;
    catch_begin(&c);
    table_init(&t, "r");
    for (int i = 0; i < 1000; i++)
        table_cell(&t, "%d", i);
    assert_int_equal(table_print(&t, &c.out, 0, NULL), DEJA_OK);
    assert_int_equal(strncmp(catch_end(&c), "  0\n  1\n", 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_arrives_in_order),
        cmocka_unit_test(long_text_passes_the_buffer),
        cmocka_unit_test(a_pipe_that_does_not_block_loses_nothing),
        cmocka_unit_test(a_reader_that_has_gone_is_no_error),
        cmocka_unit_test(a_reader_that_does_not_read_cannot_hold_up_a_stop),
        cmocka_unit_test(a_full_disk_is_an_error_that_names_the_output),
        cmocka_unit_test(a_file_is_replaced),
        cmocka_unit_test(a_failure_before_the_first_flush_destroys_nothing),
        cmocka_unit_test(an_input_that_is_the_output_is_refused_and_kept),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
        cmocka_unit_test(words_are_wrapped),
        cmocka_unit_test(bars_are_plain_or_blocks),
        cmocka_unit_test(messages_name_the_command),
        cmocka_unit_test(an_endless_message_is_cut_to_a_line),
        cmocka_unit_test(a_message_clears_the_progress_line),
        cmocka_unit_test(json_is_indented_and_separated),
        cmocka_unit_test(json_numbers_are_numbers_or_null),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(json_replaces_what_is_not_utf8),
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(many_rows_are_no_trouble),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("unit.out", tests, NULL, NULL);
}
