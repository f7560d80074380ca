/* test_closing.c - the last line of a command fits 80 columns, whatever it counts. */
#include "cli/session/closing.h"
#include "unit.h"
#include <string.h>

#define TRILLION UINT64_C(1000000000000)

struct printed {
    char text[4096];
};

/* What the line looks like; tty and utf8 describe the terminal. */
static struct printed print_on(struct closing *c, double seconds, bool tty, bool utf8)
{
    struct printed p;
    struct console console;
    FILE *f = tmpfile();
    assert_non_null(f);
    console_init(&console, fileno(f), "dedup");
    console.tty = tty;
    console.utf8 = utf8;
    c->console = &console;
    closing_print(c, seconds);
    rewind(f);
    p.text[fread(p.text, 1, sizeof p.text - 1, f)] = '\0';
    (void)fclose(f);
    return p;
}

static struct printed print(struct closing *c, double seconds)
{
    return print_on(c, seconds, false, false);
}

static void fits(const struct printed *p)
{
    for (const char *at = p->text; *at; at += strcspn(at, "\n") + 1)
        if (out_columns(at, strcspn(at, "\n")) > CLOSING_COLUMNS)
            fail_msg("too long: %s", p->text);
}

static struct closing of(uint64_t read, uint64_t is_new, bool stopped)
{
    struct closing c;
    closing_begin(&c, NULL, stopped);
    closing_count(&c, read, "read");
    closing_count(&c, is_new, "new");
    closing_count(&c, read - is_new, "seen before");
    return c;
}

static void counts_remarks_and_time_are_one_line(void **state)
{
    (void)state;
    struct closing c = of(20000, 14000, false);
    assert_string_equal(print(&c, 0.005).text,
                        "deja dedup: 20,000 read, 14,000 new, 6,000 seen before \u00b7 5 ms\n");
    closing_remark(&c, "about %s lost", "0.4");
    assert_string_equal(
        print(&c, 0.005).text,
        "deja dedup: 20,000 read, 14,000 new, 6,000 seen before, about 0.4 lost \u00b7 5 ms\n");
    c = of(2, 1, true);
    assert_string_equal(print(&c, -1).text, "deja dedup: stopped: 2 read, 1 new, 1 seen before\n");
}

static void remarks_that_do_not_fit_have_their_own_line(void **state)
{
    (void)state;
    struct closing c = of(200000, 198818, false);
    closing_remark(&c, "about 3 lost");
    closing_remark(&c, "filter grew to 606.6 kB");
    assert_string_equal(print(&c, 0.06).text,
                        "deja dedup: 200,000 read, 198,818 new, 1,182 seen before \u00b7 60 ms\n"
                        "deja dedup: about 3 lost, filter grew to 606.6 kB\n");
}

/* Otherwise a test that compares the lines would depend on the speed of the machine. */
static void the_time_does_not_change_the_layout(void **state)
{
    (void)state;
    struct closing c = of(100000, 49372, false);
    closing_remark(&c, "about 623 lost");
    assert_string_equal(print(&c, 0.04).text,
                        "deja dedup: 100,000 read, 49,372 new, 50,628 seen before \u00b7 40 ms\n"
                        "deja dedup: about 623 lost\n");
    assert_string_equal(print(&c, 0.14).text,
                        "deja dedup: 100,000 read, 49,372 new, 50,628 seen before \u00b7 140 ms\n"
                        "deja dedup: about 623 lost\n");
}

static void only_counts_that_do_not_fit_are_abbreviated(void **state)
{
    (void)state;
    struct closing c = of(UINT64_C(999999999), 999999998, false);
    assert_string_equal(
        print(&c, 12).text,
        "deja dedup: 999,999,999 read, 999,999,998 new, 1 seen before \u00b7 12 s\n");
    c = of(TRILLION, TRILLION / 2, false);
    assert_string_equal(print(&c, 15120).text, "deja dedup: 1.0 T read, 500 G new, 500 G seen "
                                               "before \u00b7 4 h 12 min\n");
}

/* All counts up to 10^12, with every remark, after Ctrl-C, and with the longest times. */
static void extreme_counts_fit(void **state)
{
    (void)state;
    static const double seconds[] = {0, 0.9994, 59.4, 3599, 86398, 8639999};
    for (uint64_t n = 1; n <= TRILLION; n = n < TRILLION && n * 7 > TRILLION ? TRILLION : n * 7)
        for (size_t i = 0; i < 3 * sizeof seconds / sizeof seconds[0]; i++) {
            const uint64_t is_new = i % 3 == 0 ? 0 : i % 3 == 1 ? n / 2 : n;
            struct closing c = of(n, is_new, i % 2);
            struct printed p = print(&c, seconds[i / 3]);
            fits(&p);
            closing_remark(&c, "about 1,000,000,000 lost");
            closing_remark(&c, "filter grew to 999.9 MB");
            p = print(&c, seconds[i / 3]);
            fits(&p);
        }
}

static void long_names_lose_their_middle(void **state)
{
    (void)state;
    char path[300];
    struct closing c;
    closing_begin(&c, NULL, false);
    closing_count(&c, 5, "read");
    closing_count_in(&c, 3, "in", "f.deja");
    assert_string_equal(print(&c, 0.001).text, "deja dedup: 5 read, 3 in f.deja \u00b7 1 ms\n");
    for (size_t len = 1; len < sizeof path - 1; len++) {
        memset(path, 'x', len);
        memcpy(path + len, "z", 2);
        closing_begin(&c, NULL, true);
        closing_count(&c, TRILLION - 1, "read");
        closing_count_in(&c, TRILLION - 1, "not in", path);
        const struct printed p = print(&c, 86398);
        fits(&p);
        assert_non_null(strstr(p.text, "z \u00b7"));
    }
}

static void other_terminals_get_a_semicolon(void **state)
{
    (void)state;
    struct closing c = of(2, 1, false);
    assert_string_equal(print_on(&c, 0.005, true, false).text,
                        "deja dedup: 2 read, 1 new, 1 seen before; 5 ms\n");
    assert_string_equal(print_on(&c, 0.005, true, true).text,
                        "deja dedup: 2 read, 1 new, 1 seen before \u00b7 5 ms\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_remarks_and_time_are_one_line),
        cmocka_unit_test(remarks_that_do_not_fit_have_their_own_line),
        cmocka_unit_test(the_time_does_not_change_the_layout),
        cmocka_unit_test(only_counts_that_do_not_fit_are_abbreviated),
        cmocka_unit_test(extreme_counts_fit),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(other_terminals_get_a_semicolon),
    };
    return cmocka_run_group_tests_name("unit.closing", tests, NULL, NULL);
}
