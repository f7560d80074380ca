/* test_console.c - messages: one line each, and not mixed with the progress line. */
#include "tools/base/out.h"
#include "unit.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void an_endless_message_is_truncated_to_a_line(void **state)
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

/* Messages may quote anything; the terminal gets harmless text. */
static void quoted_text_cannot_control_the_terminal(void **state)
{
    (void)state;
    char text[8192], long_one[3000];
    FILE *f = tmpfile();
    struct console c;
    assert_non_null(f);
    console_init(&c, fileno(f), "dedup");
    console_error(&c, "no '%s'", "a\x1b]0;title\x07\r\nfake: line\x9b");
    console_note(&c, "%s", "caf\u00e9 \u202e\xc2\x85");
    console_hint(&c, "%s", "\x7f");
    assert_string_equal(said(f, text, sizeof text),
                        "deja dedup: no 'a\\x1b]0;title\\x07\\x0d\\x0afake: line\\x9b'\n"
                        "deja dedup: caf\u00e9 \\u202e\\u0085\n"
                        "\\x7f\n");
    (void)fclose(f);
    /* A truncated message ends with a whole character. */
    for (size_t extra = 0; extra < 3; extra++) {
        f = tmpfile();
        assert_non_null(f);
        memset(long_one, 'x', extra);
        for (size_t i = extra; i + 4 < sizeof long_one; i += 3)
            memcpy(long_one + i, "\xe2\x82\xac", 4);
        console_init(&c, fileno(f), NULL);
        console_error(&c, "%s", long_one);
        (void)said(f, text, sizeof text);
        assert_null(strchr(text, '\\'));
        assert_memory_equal(text + strlen(text) - 4, "\xe2\x82\xac\n", 4);
        (void)fclose(f);
    }
}

/* What the terminal received so far. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_the_command),
        cmocka_unit_test(an_endless_message_is_truncated_to_a_line),
        cmocka_unit_test(quoted_text_cannot_control_the_terminal),
        cmocka_unit_test(a_message_clears_the_progress_line),
    };
    return cmocka_run_group_tests_name("unit.console", tests, NULL, NULL);
}
