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
    console_line(&c, "progress", ""); /* not on a terminal */
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

/* The output that the terminal has received so far. */
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

/* The variables that choose colors; NULL: not set. */
static void set_environment(const char *no_color, const char *color, const char *force,
                            const char *term)
{
    const char *const names[] = {"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"};
    const char *const values[] = {no_color, color, force, term};
    for (size_t i = 0; i < 4; i++) {
        (void)unsetenv(names[i]);
        if (values[i])
            (void)setenv(names[i], values[i], 1);
    }
}

/* Opens a terminal; returns the side of the user and stores that of the program. */
static int open_terminal(int *fd)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        skip();
    *fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (*fd < 0)
        skip();
    return terminal;
}

static double now;

static double fake_clock(void)
{
    return now;
}

static void a_message_clears_the_progress_line(void **state)
{
    (void)state;
    char text[512];
    struct console c;
    int fd, terminal = open_terminal(&fd);
    set_environment("1", NULL, NULL, "xterm");
    console_init(&c, fd, "dedup");
    assert_true(c.tty && c.live && !c.color);
    console_line(&c, "half", " done");
    console_note(&c, "note");
    console_clear(&c);
    assert_string_equal(terminal_got(terminal, text, sizeof text),
                        "\rhalf done\033[K\r\033[Kdeja dedup: note\r\n");
    c.quiet = true;
    console_line(&c, "quiet", "");
    c.quiet = false;
    char wide[200];
    memset(wide, '.', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    console_line(&c, wide, "never");
    (void)terminal_got(terminal, text, sizeof text);
    assert_int_equal(strlen(text), 79 + strlen("\r\033[K"));
    console_line(&c, "lead ", wide);
    (void)terminal_got(terminal, text, sizeof text);
    assert_int_equal(strlen(text), 79 + strlen("\r\033[K"));
    (void)close(fd);
    (void)close(terminal);
}

static void colors_are_a_matter_of_the_environment(void **state)
{
    (void)state;
    const struct {
        const char *no_color, *color, *force, *term;
        bool on_terminal, elsewhere;
    } cases[] = {
        {NULL, NULL, NULL, "xterm", true, false}, {NULL, NULL, NULL, NULL, true, false},
        {"", NULL, NULL, "xterm", true, false},   {"1", NULL, NULL, "xterm", false, false},
        {"0", NULL, NULL, "xterm", false, false}, {NULL, "0", NULL, "xterm", false, false},
        {NULL, "1", NULL, "xterm", true, false},  {NULL, NULL, "1", "xterm", true, true},
        {NULL, NULL, "0", "xterm", true, false},  {NULL, NULL, "", "xterm", true, false},
        {"1", NULL, "1", "xterm", false, false},  {NULL, "0", "1", "xterm", false, false},
        {NULL, NULL, NULL, "dumb", false, false}, {NULL, NULL, "1", "dumb", true, true},
    };
    int fd, terminal = open_terminal(&fd);
    FILE *f = tmpfile();
    assert_non_null(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct console c;
        set_environment(cases[i].no_color, cases[i].color, cases[i].force, cases[i].term);
        console_init(&c, fd, NULL);
        assert_int_equal(c.color, cases[i].on_terminal);
        assert_int_equal(c.live, !cases[i].term || strcmp(cases[i].term, "dumb") != 0);
        console_init(&c, fileno(f), NULL);
        assert_int_equal(c.color, cases[i].elsewhere);
    }
    struct console c;
    char text[512];
    set_environment(NULL, NULL, NULL, "xterm");
    console_init(&c, fd, "dedup");
    console_line(&c, "10 lines", "  5 left");
    assert_string_equal(terminal_got(terminal, text, sizeof text),
                        "\r\033[1;32m10 lines\033[0m\033[2m  5 left\033[0m\033[K");
    (void)fclose(f);
    (void)close(fd);
    (void)close(terminal);
}

static void a_terminal_gets_ten_lines_a_second(void **state)
{
    (void)state;
    int fd, terminal = open_terminal(&fd);
    struct console c;
    set_environment(NULL, NULL, NULL, NULL);
    console_init(&c, fd, "dedup");
    now = c.next;
    c.clock = fake_clock;
    assert_true(console_due(&c));
    now -= 0.01;
    assert_false(console_due(&c));
    console_line(&c, "a", ""); /* even if it is not due */
    now += 0.05;
    assert_false(console_due(&c));
    now += 0.06;
    assert_true(console_due(&c));
    c.quiet = true;
    assert_false(console_due(&c));
    (void)close(fd);
    (void)close(terminal);
}

static void elsewhere_a_line_is_printed_once_a_minute(void **state)
{
    (void)state;
    char text[512];
    FILE *f = tmpfile();
    struct console c;
    assert_non_null(f);
    set_environment(NULL, NULL, NULL, NULL);
    console_init(&c, fileno(f), "dedup");
    c.clock = fake_clock;
    const double begin = c.next - 60;
    for (int second = 0; second <= 150; second++) {
        char lead[32];
        now = begin + second;
        assert_int_equal(console_due(&c), second == 60 || second == 120);
        (void)snprintf(lead, sizeof lead, "%d lines", second);
        console_line(&c, lead, "  \x1b[31m");
    }
    c.json = true; /* nothing may precede the report */
    now = begin + 200;
    assert_false(console_due(&c));
    console_line(&c, "json", "");
    c.json = false;
    c.quiet = true;
    console_line(&c, "quiet", "");
    assert_string_equal(said(f, text, sizeof text), "deja dedup: 60 lines  \\x1b[31m\n"
                                                    "deja dedup: 120 lines  \\x1b[31m\n");
    (void)fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_the_command),
        cmocka_unit_test(an_endless_message_is_truncated_to_a_line),
        cmocka_unit_test(quoted_text_cannot_control_the_terminal),
        cmocka_unit_test(a_message_clears_the_progress_line),
        cmocka_unit_test(colors_are_a_matter_of_the_environment),
        cmocka_unit_test(a_terminal_gets_ten_lines_a_second),
        cmocka_unit_test(elsewhere_a_line_is_printed_once_a_minute),
    };
    return cmocka_run_group_tests_name("unit.console", tests, NULL, NULL);
}
