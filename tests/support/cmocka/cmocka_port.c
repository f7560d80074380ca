/* cmocka_port.c - runs groups of tests; see cmocka.h.  An assertion that fails jumps back here. */
#include "cmocka.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum result {
    PASSED, /* the value of the first setjmp */
    FAILED,
    SKIPPED
};

static jmp_buf back;

void print_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

void cmocka_skip(void)
{
    longjmp(back, SKIPPED);
}

void cmocka_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    longjmp(back, FAILED);
}

void cmocka_equal(uintmax_t a, uintmax_t b, bool wanted, const char *file, int line)
{
    if ((a == b) != wanted)
        cmocka_fail(file, line, "%#jx %s %#jx", a, wanted ? "!=" : "==", b);
}

void cmocka_strings(const char *a, const char *b, bool wanted, const char *file, int line)
{
    if ((strcmp(a, b) == 0) != wanted)
        cmocka_fail(file, line, "\"%s\" %s \"%s\"", a, wanted ? "!=" : "==", b);
}

void cmocka_bytes(const void *a, const void *b, size_t n, bool wanted, const char *file, int line)
{
    const unsigned char *x = a, *y = b;
    size_t same = 0;
    while (same < n && x[same] == y[same])
        same++;
    if ((same == n) == wanted)
        return;
    if (wanted)
        cmocka_fail(file, line, "byte %zu of %zu: %#x != %#x", same, n, x[same], y[same]);
    cmocka_fail(file, line, "all %zu bytes are the same", n);
}

void cmocka_range(uintmax_t x, uintmax_t least, uintmax_t most, const char *file, int line)
{
    if (x < least || x > most)
        cmocka_fail(file, line, "%ju is not in %ju .. %ju", x, least, most);
}

/* --- Groups ---------------------------------------------------------------------- */

static void say(const char *what, const char *name)
{
    print_message("[%10s] %s\n", what, name);
}

static enum result run_fixture(CMFixtureFunction fixture, void **state)
{
    const int jumped = setjmp(back);
    if (jumped)
        return (enum result)jumped;
    return fixture && fixture(state) != 0 ? FAILED : PASSED;
}

static enum result run_body(const struct CMUnitTest *test, void **state)
{
    const int jumped = setjmp(back);
    if (jumped)
        return (enum result)jumped;
    test->test_func(state);
    return PASSED;
}

static enum result run_test(const struct CMUnitTest *test, void *of_group)
{
    void *state = test->initial_state ? test->initial_state : of_group;
    enum result result = run_fixture(test->setup_func, &state);
    if (result == PASSED)
        result = run_body(test, &state);
    if (run_fixture(test->teardown_func, &state) == FAILED)
        result = FAILED;
    return result;
}

int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                            CMFixtureFunction up, CMFixtureFunction down)
{
    static const char *const said[] = {"      OK ", " FAILED  ", " SKIPPED "};
    void *state = NULL;
    int failed = 0;
    print_message("[==========] %s: running %zu tests\n", group, n);
    if (run_fixture(up, &state) != PASSED) {
        say(said[FAILED], "the setup of the group");
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        say(" RUN      ", tests[i].name);
        const enum result result = run_test(tests + i, state);
        say(said[result], tests[i].name);
        failed += result == FAILED;
    }
    if (run_fixture(down, &state) != PASSED) {
        say(said[FAILED], "the teardown of the group");
        failed++;
    }
    print_message("[==========] %s: %d failed\n", group, failed);
    return failed;
}
