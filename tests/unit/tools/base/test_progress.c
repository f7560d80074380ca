/* test_progress.c - the progress line: numbers, rate, share and time left. */
#include "tools/base/progress.h"
#include "unit.h"
#include <stdlib.h>

static double now;

static double fake_clock(void)
{
    return now;
}

static const char *said(FILE *f, char *text, size_t cap)
{
    rewind(f);
    text[fread(text, 1, cap - 1, f)] = '\0';
    return text;
}

/* A console whose standard error is a file, after `seconds` of fake time. */
static FILE *begin(struct console *c, struct progress *p, double seconds)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    (void)unsetenv("CLICOLOR_FORCE");
    console_init(c, fileno(f), "dedup");
    now = c->next - 60;
    c->clock = fake_clock;
    progress_begin(p, c, NULL, "lines");
    now += seconds;
    return f;
}

static void a_long_job_without_a_terminal_logs_its_rate_and_time_left(void **state)
{
    (void)state;
    char text[512];
    struct console c;
    struct progress p;
    FILE *f = begin(&c, &p, 59);
    assert_false(progress_due(&p));
    now += 41; /* 100 s since the beginning */
    assert_true(progress_due(&p));
    progress_show(&p, &(struct progress_now){
                          .items = 2000000, .done = 25, .total = 100, .fill = 0.1, .lost = -1});
    assert_false(progress_due(&p));
    now += 59;
    assert_false(progress_due(&p));
    now += 1;
    assert_true(progress_due(&p));
    progress_show(&p,
                  &(struct progress_now){
                      .items = 4000000, .total = 0, .fill = -1, .lost = 2, .facts = "  3 late"});
    progress_end(&p);
    assert_false(progress_due(&p));
    assert_string_equal(
        said(f, text, sizeof text),
        "deja dedup: 2,000,000 lines  20.0 k/s  25.0%  5 min 0 s left  fill 10.0%\n"
        "deja dedup: 4,000,000 lines  25.0 k/s  lost 2.0  3 late\n");
    (void)fclose(f);
}

static void nothing_is_logged_with_quiet(void **state)
{
    (void)state;
    char text[512];
    struct console c;
    struct progress p;
    FILE *f = begin(&c, &p, 1000);
    c.quiet = true;
    assert_false(progress_due(&p));
    progress_show(&p, &(struct progress_now){.items = 1, .fill = -1, .lost = -1});
    assert_string_equal(said(f, text, sizeof text), "");
    (void)fclose(f);
}

/* Lines and results would mix on one terminal, but not in a log. */
static void results_on_the_terminal_hide_the_line(void **state)
{
    (void)state;
    struct console c;
    struct progress p;
    const struct out results = {.tty = true};
    FILE *f = begin(&c, &p, 1000);
    progress_begin(&p, &c, &results, "lines");
    assert_true(progress_due(&p));
    c.tty = c.live = true;
    progress_begin(&p, &c, &results, "lines");
    assert_false(progress_due(&p));
    (void)fclose(f);
}

static void the_time_left_follows_from_the_share(void **state)
{
    (void)state;
    char line[64] = "x";
    progress_share(line, sizeof line, 0.5, 3);
    assert_string_equal(line, "x  50.0%  3.00 s left");
    line[0] = '\0';
    progress_share(line, sizeof line, 0.0005, 3); /* too early to say */
    assert_null(strstr(line, "left"));
    char small[6] = "";
    progress_share(small, sizeof small, 0.5, 3);
    assert_string_equal(small, "  50.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_job_without_a_terminal_logs_its_rate_and_time_left),
        cmocka_unit_test(nothing_is_logged_with_quiet),
        cmocka_unit_test(results_on_the_terminal_hide_the_line),
        cmocka_unit_test(the_time_left_follows_from_the_share),
    };
    return cmocka_run_group_tests_name("unit.progress", tests, NULL, NULL);
}
