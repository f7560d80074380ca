/* fuzz_options.c - command lines for every command, and numbers as people type them.
 *
 * The first byte selects a command, or with 255 the numbers; the rest are arguments separated by
 * newlines, or the text of a number.  Parsing gives options and operands, or a message; nothing
 * is run.  A number that is accepted equals strtold's result, and its printed form is read as the
 * same number. */
#include "checking.h"
#include "cli/session/command.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Numbers ------------------------------------------------------------------ */

static void in_words(int rc, const deja_error *err)
{
    check(rc == DEJA_OK || (err->status == rc && err->text[0]));
}

static long double unit_of(const char *suffix, long double base, bool *known)
{
    static const char letters[] = "kmgtp";
    const char *letter = suffix[0] ? strchr(letters, suffix[0] | 0x20) : NULL;
    *known = letter || suffix[0] == '\0' || !strcmp(suffix, "B") || !strcmp(suffix, "b");
    if (!letter)
        return 1;
    if (suffix[1] && (suffix[1] | 0x20) == 'i')
        base = 1024;
    else if (suffix[1])
        base = 1000;
    return powl(base, (long double)(letter - letters + 1));
}

/* Rounded down by less than 1, and strtold is exact for 19 digits. */
static void near(uint64_t value, const char *text, long double base)
{
    char *rest;
    bool known;
    const long double number = strtold(text, &rest);
    const long double want = number * unit_of(rest, base, &known);
    check(known && fabsl((long double)value - want) <= 1 + want * 1e-18L);
}

static void check_numbers(const char *text)
{
    deja_error err = {0};
    uint64_t n = 77;
    double x = 77;
    char c;
    int rc = num_parse_count(text, &n, &err);
    in_words(rc, &err);
    if (rc == DEJA_OK) {
        char plain[32];
        uint64_t again;
        near(n, text, 1000);
        snprintf(plain, sizeof plain, "%llu", (unsigned long long)n);
        check(num_parse_count(plain, &again, NULL) == DEJA_OK && again == n);
    } else {
        check(n == 77);
    }
    rc = num_parse_size(text, &n, &err);
    in_words(rc, &err);
    if (rc == DEJA_OK)
        near(n, text, 1024);
    rc = num_parse_real(text, &x, &err);
    in_words(rc, &err);
    if (rc == DEJA_OK) {
        double again;
        check(isfinite(x) && x > 0);
        check(num_parse_real(num_exact(x).s, &again, NULL) == DEJA_OK);
        check(memcmp(&again, &x, sizeof x) == 0);
        (void)num_estimate(x);
        (void)num_rate(x);
        (void)num_duration(x);
        (void)num_speed(x);
        (void)num_share(x);
        (void)num_fixed(x, 2);
    }
    rc = num_parse_rate(text, &x, &err);
    in_words(rc, &err);
    check(rc < 0 || (x > 0 && x < 1));
    in_words(num_parse_char(text, &c, &err), &err);
}

/* --- Arguments ------------------------------------------------------------------ */

enum {
    ARGS = 64
};

static bool is_among(const char *arg, char *const *args, int n)
{
    for (int i = 0; i < n; i++)
        if (arg == args[i])
            return true;
    return false;
}

static void check_arguments(const struct command *cmd, char **args, int n)
{
    char *argv[ARGS];
    struct opt_rest rest = {0};
    deja_error err = {0};
    char *options = calloc(1, cmd->options_size + 1);
    check(options);
    if (cmd->defaults)
        memcpy(options, cmd->defaults, cmd->options_size);
    memcpy(argv, args, sizeof argv);
    const int rc = opt_parse(cmd->options, n, argv, options, &rest, &err);
    check(rc == DEJA_OK || (rc < 0 && err.status == rc && err.text[0]));
    check(strlen(err.text) < sizeof err.text);
    for (size_t i = 0; rc == DEJA_OK && i < rest.n; i++)
        check(is_among(rest.operands[i], args, n));
    for (int i = 0; i < n; i++)
        check(is_among(argv[i], args, n)); /* only reordered */
    free(options);
}

static char *copy_of(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    check(copy);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* The lines of the text as arguments, each in a block of its exact size. */
static int split(const char *text, size_t len, char **args)
{
    int n = 0;
    const char *end = text + len;
    while (text <= end && n < ARGS) {
        const char *stop = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
        stop = stop ? stop : end;
        args[n++] = copy_of(text, (size_t)(stop - text));
        text = stop + 1;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct command *const all[] = {
        &cmd_dedup, &cmd_build,  &cmd_check, &cmd_add,    &cmd_remove, &cmd_count,
        &cmd_info,  &cmd_verify, &cmd_merge, &cmd_fold,   &cmd_rotate, &cmd_plan,
        &cmd_url,   &cmd_gen,    &cmd_bench, &cmd_expire,
    };
    char *args[ARGS] = {NULL};
    if (size < 1 || size > 4096)
        return 0;
    const int n = split((const char *)data + 1, size - 1, args);
    if (data[0] == 255)
        check_numbers(args[0]);
    else
        check_arguments(all[data[0] % (sizeof all / sizeof all[0])], args, n);
    for (int i = 0; i < n; i++)
        free(args[i]);
    return 0;
}
