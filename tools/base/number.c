/* number.c - parses and prints numbers as people type and read them.
 *
 * Counts and sizes are parsed without floating point, so 18446744073709551615 is exact and 0.1G
 * is the same number of bytes everywhere.  The parser stores the decimal digits and the position
 * of the point; scale() multiplies by the unit: the whole part from the left by Horner's rule
 * with overflow checks, the fraction from the right.  Dividing by 10 and rounding down at each
 * digit gives the exact rounded-down result: floor((floor(x) + n) / 10) = floor((x + n) / 10) for
 * whole n.
 *
 * Doubles use strtod and snprintf in the C locale, so the decimal point is always a point. */
#include "tools/base/number.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/printable.h"
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DIGITS   64   /* longer numbers are rejected                */
#define MAX_EXPONENT 9999 /* a larger one makes no difference            */

/* --- Parsing ------------------------------------------------------------- */

struct decimal { /* 0.d1 d2 d3 ... times 10^point */
    char digit[MAX_DIGITS];
    int n;
    int point;
};

enum scaled {
    SCALED_EXACT,
    SCALED_ROUNDED,
    SCALED_TOO_BIG
};

struct unit {
    const char *suffix; /* in lower case; any case is accepted */
    uint64_t factor;
};

static const struct unit count_units[] = {
    {"", 1},           {"k", 1000},          {"m", 1000000},
    {"g", 1000000000}, {"t", 1000000000000}, {"p", 1000000000000000},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"", 1},
    {"b", 1},
    {"k", UINT64_C(1) << 10},
    {"kib", UINT64_C(1) << 10},
    {"m", UINT64_C(1) << 20},
    {"mib", UINT64_C(1) << 20},
    {"g", UINT64_C(1) << 30},
    {"gib", UINT64_C(1) << 30},
    {"t", UINT64_C(1) << 40},
    {"tib", UINT64_C(1) << 40},
    {"p", UINT64_C(1) << 50},
    {"pib", UINT64_C(1) << 50},
    {"kb", 1000},
    {"mb", 1000000},
    {"gb", 1000000000},
    {"tb", 1000000000000},
    {"pb", 1000000000000000},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}, {NULL, 0},
};
static const struct unit day_units[] = {
    {"", 1}, {"d", 1}, {"w", 7}, {"mo", 30}, {"y", 365}, {NULL, 0},
};
static const struct unit time_units[] = {
    /* microseconds */
    {"", 1000000},   {"us", 1},          {"ms", 1000},       {"s", 1000000}, {"min", 60000000},
    {"m", 60000000}, {"h", 3600000000u}, {"d", 86400000000}, {NULL, 0},
};

/* Reads e6, e-3, E+9.  Other text is not consumed, because it may be a suffix. */
static const char *read_exponent(const char *at, int *exponent)
{
    *exponent = 0;
    if (*at != 'e' && *at != 'E')
        return at;
    const char *p = at + 1;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!ascii_is_digit(*p))
        return at;
    for (; ascii_is_digit(*p); p++) {
        if (*exponent < MAX_EXPONENT)
            *exponent = *exponent * 10 + (*p - '0');
    }
    if (negative)
        *exponent = -*exponent;
    return p;
}

/* Reads the number at the start of text and returns the rest; NULL if there is no number. */
static const char *read_decimal(const char *text, struct decimal *d)
{
    bool point = false;
    int exponent;
    *d = (struct decimal){.n = 0};
    for (; ascii_is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (d->n == MAX_DIGITS)
            return NULL;
        d->digit[d->n++] = (char)(*text - '0');
        d->point += !point;
    }
    if (d->n == 0)
        return NULL;
    text = read_exponent(text, &exponent);
    d->point += exponent;
    return text;
}

static enum scaled scale(const struct decimal *d, uint64_t unit, uint64_t *value)
{
    uint64_t whole = 0, part = 0;
    bool exact = true;
    for (int i = 0; i < d->point; i++) {
        unsigned digit = i < d->n ? (unsigned char)d->digit[i] : 0;
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, digit, &whole))
            return SCALED_TOO_BIG;
    }
    for (int i = d->n - 1; i >= d->point; i--) {
        uint64_t sum = part + (i >= 0 ? (unsigned char)d->digit[i] * unit : 0);
        exact = exact && sum % 10 == 0;
        part = sum / 10;
    }
    if (__builtin_mul_overflow(whole, unit, &whole) || __builtin_add_overflow(whole, part, value))
        return SCALED_TOO_BIG;
    return exact ? SCALED_EXACT : SCALED_ROUNDED;
}

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
    for (; units->suffix; units++)
        if (ascii_is(ascii_slice(suffix), units->suffix))
            return units;
    return NULL;
}

/* Quotes the user's text, cut off if it is long. */
static struct num_text quote(const char *text)
{
    struct num_text t;
    char shown[36];
    const size_t len = strlen(text), fits = printable(shown, sizeof shown, text, len, false);
    (void)snprintf(t.s, sizeof t.s, "'%s%s'", shown, fits < len ? "..." : "");
    return t;
}

static int parse_scaled(const char *text, const struct unit *units, const char *takes,
                        bool may_round, uint64_t *value, deja_error *err)
{
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    const struct unit *unit = !rest ? NULL : find_unit(units, rest);
    if (!unit)
        return fail(err, DEJA_EINVAL, "%s, not %s", takes, quote(text).s);
    uint64_t result = 0;
    const enum scaled how = scale(&d, unit->factor, &result);
    if (how == SCALED_TOO_BIG)
        return fail(err, DEJA_EINVAL, "takes at most %" PRIu64 ", not %s", UINT64_MAX,
                    quote(text).s);
    if (how == SCALED_ROUNDED && !may_round)
        return fail(err, DEJA_EINVAL, "%s, not %s", takes, quote(text).s);
    *value = result;
    return DEJA_OK;
}

int num_parse_count(const char *text, uint64_t *value, deja_error *err)
{
    return parse_scaled(text, count_units,
                        "takes a whole number such as 250000, 1.5M or 1e6 (k, M, G, T are "
                        "powers of 1000)",
                        false, value, err);
}

int num_parse_size(const char *text, uint64_t *value, deja_error *err)
{
    return parse_scaled(text, size_units,
                        "takes a size in bytes such as 1.5G, 512M or 64KiB (k, M, G, T are "
                        "powers of 1024; kB, MB, GB, TB of 1000)",
                        true, value, err);
}

int num_parse_duration(const char *text, uint64_t *value, deja_error *err)
{
    return parse_scaled(text, duration_units,
                        "takes a duration of whole seconds such as 30s, 15m, 6h, 1.5d or 2w",
                        false, value, err);
}

int num_parse_days(const char *text, uint64_t *days, deja_error *err)
{
    return parse_scaled(text, day_units,
                        "takes a number of days such as 30d, 4w, 6mo or 1y (mo is 30 days, y is "
                        "365)",
                        false, days, err);
}

int num_parse_seconds(const char *text, double *seconds, deja_error *err)
{
    uint64_t us = 0;
    const int rc = parse_scaled(text, time_units,
                                "takes a time such as 0, 500ms, 1.5s, 10min, 6h or 1d (alone: "
                                "seconds)",
                                true, &us, err);
    if (rc == DEJA_OK)
        *seconds = (double)us * 1e-6;
    return rc;
}

static locale_t enter_c_locale(locale_t *c)
{
    *c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *c == (locale_t)0 ? (locale_t)0 : uselocale(*c);
}

static void leave_c_locale(locale_t c, locale_t old)
{
    if (old != (locale_t)0)
        (void)uselocale(old);
    if (c != (locale_t)0)
        freelocale(c);
}

static double to_double(const char *text)
{
    locale_t c, old = enter_c_locale(&c);
    double x = strtod(text, NULL);
    leave_c_locale(c, old);
    return x;
}

/* strtod also accepts nan, inf, 0x1p-3 and " 1", which are rejected here. */
static bool read_double(const char *text, double *x)
{
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    if (!rest || *rest != '\0')
        return false;
    *x = to_double(text);
    return isfinite(*x);
}

int num_parse_rate(const char *text, double *value, deja_error *err)
{
    double x;
    if (!read_double(text, &x) || !(x > 0.0 && x < 1.0))
        return fail(err, DEJA_EINVAL,
                    "takes a rate between 0 and 1, both excluded, such as 0.01 or 1e-6, not %s",
                    quote(text).s);
    *value = x;
    return DEJA_OK;
}

int num_parse_real(const char *text, double *value, deja_error *err)
{
    double x;
    if (!read_double(text, &x) || !(x > 0.0))
        return fail(err, DEJA_EINVAL, "takes a number above 0 such as 2 or 1.44, not %s",
                    quote(text).s);
    *value = x;
    return DEJA_OK;
}

/* The byte that an escape means, or -1. */
static int read_escape(const char *text)
{
    static const char letters[] = "tnr0\\", bytes[] = "\t\n\r\0\\";
    if (text[0] != '\\' || text[1] == '\0')
        return -1;
    const char *letter = strchr(letters, text[1]);
    if (letter && text[2] == '\0')
        return bytes[letter - letters];
    if (text[1] != 'x' || strlen(text) != 4)
        return -1;
    int high = ascii_hex(text[2]), low = ascii_hex(text[3]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

int num_parse_char(const char *text, char *value, deja_error *err)
{
    const int byte = text[0] && !text[1] ? (unsigned char)text[0] : read_escape(text);
    if (byte < 0)
        return fail(err, DEJA_EINVAL,
                    "takes one byte such as ',' or '\\t' (\\t, \\n, \\r, \\0, \\\\, \\xHH), "
                    "not %s",
                    quote(text).s);
    *value = (char)byte;
    return DEJA_OK;
}

int num_parse_mode(const char *text, uint32_t *value, deja_error *err)
{
    uint32_t mode = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '7' && mode <= 0777)
        mode = mode * 8 + (uint32_t)(*at++ - '0');
    if (*at != '\0' || mode == 0 || mode > 0777)
        return fail(err, DEJA_EINVAL, "takes permissions in octal such as 640, not %s",
                    quote(text).s);
    *value = mode;
    return DEJA_OK;
}

/* --- Formatting ---------------------------------------------------------- */

static struct num_text format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static struct num_text format(const char *fmt, ...)
{
    struct num_text t;
    va_list args;
    locale_t c, old = enter_c_locale(&c);
    va_start(args, fmt);
    (void)vsnprintf(t.s, sizeof t.s, fmt, args);
    va_end(args);
    leave_c_locale(c, old);
    return t;
}

struct num_text num_count(uint64_t n)
{
    struct num_text t;
    char plain[24];
    int len = snprintf(plain, sizeof plain, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            t.s[at++] = ',';
        t.s[at++] = plain[i];
    }
    t.s[at] = '\0';
    return t;
}

const char *num_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

struct num_text num_of(uint64_t n, const char *thing)
{
    struct num_text t = num_count(n);
    const size_t len = strlen(t.s);
    (void)snprintf(t.s + len, sizeof t.s - len, " %s%s", thing, num_plural(n));
    return t;
}

struct num_text num_lines(uint64_t n)
{
    return num_of(n, "line");
}

/* 1.0e-6; printf writes 1.0e-06. */
static struct num_text scientific(double x)
{
    struct num_text t = format("%.1e", x);
    char *e = strchr(t.s, 'e');
    if (!e)
        return t;
    long exponent = strtol(e + 1, NULL, 10);
    (void)snprintf(e, sizeof t.s - (size_t)(e - t.s), "e%ld", exponent);
    return t;
}

struct num_text num_estimate(double x)
{
    if (!isfinite(x) || x < 0.0)
        return format("unknown");
    if (x == 0.0)
        return format("0");
    if (x < 0.00995)
        return scientific(x);
    if (x < 0.0995)
        return format("%.2f", x);
    if (x < 9.95)
        return format("%.1f", x);
    if (x >= 1e18)
        return scientific(x);
    return num_count((uint64_t)(x + 0.5));
}

/* Formats x with one decimal and the prefix that keeps it below 1000. */
static struct num_text prefixed(double x, const char *unit)
{
    static const char prefixes[] = "kMGTPE";
    const char *p = prefixes;
    for (x /= 1000.0; x >= 999.95 && p[1] != '\0'; x /= 1000.0)
        p++;
    return format("%.1f %c%s", x, *p, unit);
}

struct num_text num_short(uint64_t n)
{
    if (n < 1000)
        return num_count(n);
    struct num_text t = prefixed((double)n, "");
    char *point = strchr(t.s, '.');
    if (point && point - t.s > 2) /* 123.4 M becomes 123 M */
        memmove(point, point + 2, strlen(point + 2) + 1);
    return t;
}

struct num_text num_bytes(uint64_t bytes)
{
    if (bytes < 1000)
        return format("%u B", (unsigned)bytes);
    return prefixed((double)bytes, "B");
}

struct num_text num_speed(double per_second)
{
    if (!isfinite(per_second) || per_second < 0.0)
        return format("unknown");
    if (per_second < 9.95)
        return format("%.1f /s", per_second);
    if (per_second < 999.5)
        return format("%.0f /s", per_second);
    return prefixed(per_second, "/s");
}

struct num_text num_rate(double p)
{
    if (!isfinite(p) || p < 0.0)
        return format("unknown");
    if (p == 0.0)
        return format("0");
    return p < 0.0009995 ? scientific(p) : format("%.3g", p);
}

struct num_text num_share(double share)
{
    if (!isfinite(share))
        return format("unknown");
    return format("%.1f%%", share * 100.0);
}

struct num_text num_scaled(uint64_t value, unsigned step)
{
    static const char units[] = "kMGTP";
    const char *unit = "";
    for (size_t i = 0; value != 0 && value % step == 0 && i < sizeof units - 1; i++) {
        value /= step;
        unit = units + i;
    }
    return format("%" PRIu64 "%.1s", value, unit);
}

static struct num_text two_units(uint64_t n, unsigned per, const char *big, const char *small)
{
    return format("%" PRIu64 " %s %" PRIu64 " %s", n / per, big, n % per, small);
}

struct num_text num_duration(double seconds)
{
    if (!isfinite(seconds) || seconds < 0.0 || seconds > 1e15)
        return format("unknown");
    if (seconds < 0.00995)
        return format("%.1f ms", seconds * 1e3);
    if (seconds < 9.995)
        return format("%.2f s", seconds);
    if (seconds < 59.95)
        return format("%.1f s", seconds);
    uint64_t s = (uint64_t)(seconds + 0.5);
    if (s < 3600)
        return two_units(s, 60, "min", "s");
    uint64_t minutes = (s + 30) / 60;
    if (minutes < 24 * 60)
        return two_units(minutes, 60, "h", "min");
    return two_units((minutes + 30) / 60, 24, "d", "h");
}

struct num_text num_day(uint64_t day)
{
    struct num_text t = {"unknown"};
    const time_t seconds = (time_t)(day * 86400);
    struct tm tm;
    if (gmtime_r(&seconds, &tm))
        (void)strftime(t.s, sizeof t.s, "%Y-%m-%d", &tm);
    return t;
}

struct num_text num_took(double seconds)
{
    if (seconds >= 0.0 && seconds < 0.00095)
        return format("%.1f ms", seconds * 1e3);
    if (seconds >= 0.0 && seconds < 0.9995)
        return format("%.0f ms", seconds * 1e3);
    if (seconds >= 0.0 && seconds < 9.95)
        return format("%.1f s", seconds);
    return seconds >= 0.0 && seconds < 59.5 ? format("%.0f s", seconds) : num_duration(seconds);
}

struct num_text num_fixed(double x, int decimals)
{
    return isfinite(x) && fabs(x) < 1e18 ? format("%.*f", decimals, x) : num_exact(x);
}

struct num_text num_typed(double x)
{
    struct num_text t = num_exact(x);
    char *zero = strstr(t.s, "e-0");
    if (zero)
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    return t;
}

struct num_text num_exact(double x)
{
    for (int digits = 15; digits < 17; digits++) {
        struct num_text t = format("%.*g", digits, x);
        if (to_double(t.s) == x)
            return t;
    }
    return format("%.17g", x);
}
