/* test_number.c - numbers as people type and read them. */
#include "tools/base/number.h"
#include "unit.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 77u

static uint64_t count_of(const char *text)
{
    uint64_t n = UNTOUCHED;
    deja_error err;
    if (num_parse_count(text, &n, &err) < 0)
        fail_msg("'%s' was refused: %s", text, err.text);
    return n;
}

static uint64_t size_of(const char *text)
{
    uint64_t n = UNTOUCHED;
    deja_error err;
    if (num_parse_size(text, &n, &err) < 0)
        fail_msg("'%s' was refused: %s", text, err.text);
    return n;
}

static double rate_of(const char *text)
{
    double p = 0.0;
    deja_error err;
    if (num_parse_rate(text, &p, &err) < 0)
        fail_msg("'%s' was refused: %s", text, err.text);
    return p;
}

/* Refused: the value is untouched, the text is quoted, and the message contains `says`. */
static void refuses_count(const char *text, const char *says)
{
    uint64_t n = UNTOUCHED;
    deja_error err = {0};
    if (num_parse_count(text, &n, &err) != DEJA_EINVAL)
        fail_msg("'%s' was read as %llu", text, (unsigned long long)n);
    assert_int_equal(err.status, DEJA_EINVAL);
    assert_true(n == UNTOUCHED);
    if (!strstr(err.text, says) || !strstr(err.text, text))
        fail_msg("'%s': unexpected message: %s", text, err.text);
}

static void counts_accept_units_and_exponents(void **state)
{
    (void)state;
    assert_true(count_of("0") == 0);
    assert_true(count_of("250000") == 250000);
    assert_true(count_of("007") == 7);
    assert_true(count_of("1k") == 1000);
    assert_true(count_of("1K") == 1000);
    assert_true(count_of("1.5M") == 1500000);
    assert_true(count_of("2g") == UINT64_C(2000000000));
    assert_true(count_of("1T") == UINT64_C(1000000000000));
    assert_true(count_of("18P") == UINT64_C(18000000000000000));
    assert_true(count_of("1e6") == 1000000);
    assert_true(count_of("1E+6") == 1000000);
    assert_true(count_of("1.25e2") == 125);
    assert_true(count_of("100e-2") == 1);
    assert_true(count_of("1e3k") == 1000000);
    assert_true(count_of(".5k") == 500);
    assert_true(count_of("4294967296") == UINT64_C(4294967296));
}

static void counts_reach_2_to_the_64_and_no_further(void **state)
{
    (void)state;
    assert_true(count_of("18446744073709551615") == UINT64_MAX);
    assert_true(count_of("18446744073709551.615k") == UINT64_MAX);
    assert_true(count_of("1e19") == UINT64_C(10000000000000000000));
    assert_true(count_of("18.4e18") == UINT64_C(18400000000000000000));
    assert_true(count_of("0.00000000000000000001e20") == 1);
    assert_true(count_of("1.00000000000000000000000000") == 1);
    assert_true(count_of("0e9999999999") == 0);
    refuses_count("18446744073709551616", "at most 18446744073709551615");
    refuses_count("18446744073709551.616k", "at most");
    refuses_count("18.5e18", "at most");
    refuses_count("2e19", "at most");
    refuses_count("1e20", "at most");
    refuses_count("1e99999999999999999999", "at most");
    refuses_count("18447P", "at most");
}

static void counts_must_be_whole_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        " ",
        "k",
        "-1",
        "+1",
        "1 k",
        "1 ",
        " 1",
        "1e",
        "1e+",
        "e6",
        "1.5",
        "0.0001k",
        "1.0.0",
        "1,000",
        "0x10",
        "1kk",
        "1Q",
        "1kB",
        "1KiB",
        "abc",
        "nan",
        "inf",
        ".",
        "1e-1",
        "1.0001k",
        "1_0",
        "1e6x",
        "2^32",
        "½",
        "1e-9999999999999",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuses_count(wrong[i], "takes a whole number such as");
}

static void a_number_with_endless_digits_is_refused(void **state)
{
    (void)state;
    char text[4096];
    uint64_t n = UNTOUCHED;
    deja_error err;
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(num_parse_count(text, &n, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "...'"));
    assert_true(strlen(err.text) < sizeof err.text - 1);
}

static void a_message_cannot_control_the_terminal(void **state)
{
    (void)state;
    uint64_t n;
    deja_error err;
    assert_int_equal(num_parse_count("1\033[31m\n", &n, &err), DEJA_EINVAL);
    assert_null(strchr(err.text, '\033'));
    assert_null(strchr(err.text, '\n'));
}

static void sizes_are_binary_unless_spelled_kB(void **state)
{
    (void)state;
    assert_true(size_of("512") == 512);
    assert_true(size_of("512B") == 512);
    assert_true(size_of("1k") == 1024);
    assert_true(size_of("64KiB") == 65536);
    assert_true(size_of("64kib") == 65536);
    assert_true(size_of("512M") == UINT64_C(512) << 20);
    assert_true(size_of("1.5G") == UINT64_C(1610612736));
    assert_true(size_of("1T") == UINT64_C(1) << 40);
    assert_true(size_of("2PiB") == UINT64_C(1) << 51);
    assert_true(size_of("1kB") == 1000);
    assert_true(size_of("33.6MB") == 33600000);
    assert_true(size_of("1e9") == UINT64_C(1000000000));
    assert_true(size_of("18446744073709551615") == UINT64_MAX);
    assert_true(size_of("16383.999999999999999999P") == UINT64_MAX); /* one below 2^64 */
}

static void sizes_are_rounded_down_exactly(void **state)
{
    (void)state;
    assert_true(size_of("0.1G") == 107374182); /* .4 */
    assert_true(size_of("1.1k") == 1126);      /* .4 */
    assert_true(size_of("0.7k") == 716);       /* .8 */
    assert_true(size_of("1e-3k") == 1);        /* .024 */
    assert_true(size_of("0.0001k") == 0);
    assert_true(size_of("1.9") == 1);
}

static void durations_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } good[] = {
        {"90", 90},     {"30s", 30},      {"15m", 900},    {"15min", 900}, {"6h", 21600},
        {"7d", 604800}, {"1.5d", 129600}, {"2w", 1209600}, {"0.5m", 30},
    };
    static const char *const wrong[] = {"", "s", "-1s", "1.5s", "1y", "6 h", "h6", "0.1m6"};
    deja_error err;
    uint64_t n = 0;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(num_parse_duration(good[i].text, &n, &err), DEJA_OK);
        assert_int_equal(n, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (num_parse_duration(wrong[i], &n, &err) != DEJA_EINVAL)
            fail_msg("%s is %llu", wrong[i], (unsigned long long)n);
}

static void days_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t days;
    } good[] = {{"30", 30},  {"30d", 30}, {"4w", 28},    {"6mo", 180},
                {"1y", 365}, {"0", 0},    {"0.5mo", 15}, {"2Y", 730}};
    static const char *const wrong[] = {"", "d", "-1d", "1.5d", "6m", "6h", "30s", "1 d", "d1"};
    deja_error err;
    uint64_t n = 0;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(num_parse_days(good[i].text, &n, &err), DEJA_OK);
        assert_int_equal(n, good[i].days);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (num_parse_days(wrong[i], &n, &err) != DEJA_EINVAL)
            fail_msg("%s is %llu", wrong[i], (unsigned long long)n);
}

static void days_are_dates(void **state)
{
    (void)state;
    assert_string_equal(num_day(0).s, "1970-01-01");
    assert_string_equal(num_day(19675).s, "2023-11-14");
    assert_string_equal(num_day(65535).s, "2149-06-06");
}

static void other_sizes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",   "G",   "-1G",  "1 G",    "1.5X", "1GiBs", "1iB",
                                        "1e", "1Gi", "1KBB", "16384P", "1e20", "17e18k"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t n = UNTOUCHED;
        deja_error err;
        if (num_parse_size(wrong[i], &n, &err) != DEJA_EINVAL)
            fail_msg("'%s' was read as %llu", wrong[i], (unsigned long long)n);
        assert_true(n == UNTOUCHED);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_true(strstr(err.text, "takes a size in bytes such as 1.5G") ||
                    strstr(err.text, "takes at most"));
    }
}

static void rates_lie_strictly_between_0_and_1(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0",      "1",      "1.0",   "-0.1",
                                        "2",      "nan",    "inf",   "abc",
                                        "1e-400", "0x1p-3", "0,5",   "",
                                        " .5",    ".5 ",    "1e5",   "0.0",
                                        "50%",    "1e",     "1e999", "0.99999999999999999999999"};
    assert_true(rate_of("0.01") == 0.01);
    assert_true(rate_of(".5") == 0.5);
    assert_true(rate_of("1e-6") == 1e-6);
    assert_true(rate_of("1e-300") == 1e-300);
    assert_true(rate_of("0.9999") == 0.9999);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double p = -1.0;
        deja_error err;
        if (num_parse_rate(wrong[i], &p, &err) != DEJA_EINVAL)
            fail_msg("'%s' was read as %g", wrong[i], p);
        assert_true(p == -1.0);
        assert_non_null(strstr(err.text, "between 0 and 1, both excluded"));
    }
}

static void reals_are_finite_and_above_0(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "-2", "1e400", "nan", "inf", "", "2x"};
    double x = 0.0;
    deja_error err;
    assert_int_equal(num_parse_real("1.44", &x, &err), DEJA_OK);
    assert_true(x == 1.44);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(num_parse_real(wrong[i], &x, &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, "above 0"));
    }
}

static void times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } right[] = {{"0", 0},      {"1.5", 1.5}, {"500ms", 0.5}, {"250us", 0.00025}, {"3s", 3},
                 {"2min", 120}, {"2m", 120},  {"6h", 21600},  {"1.5d", 129600},   {"1e3ms", 1}};
    static const char *const wrong[] = {"", "-1", "s", "1 s", "1w", "nan", "1h30", "1e30d"};
    double x = 0.0;
    deja_error err;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        assert_int_equal(num_parse_seconds(right[i].text, &x, &err), DEJA_OK);
        assert_true(x > right[i].seconds - 1e-9 && x < right[i].seconds + 1e-9);
    }
    x = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(num_parse_seconds(wrong[i], &x, &err), DEJA_EINVAL);
    assert_true(x == 7);
}

static void a_char_is_one_byte_or_an_escape(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char byte;
    } right[] = {{",", ','},     {"\\t", '\t'}, {"\\n", '\n'}, {"\\r", '\r'},     {"\\0", '\0'},
                 {"\\\\", '\\'}, {"\\", '\\'},  {"t", 't'},    {"\\x1F", '\x1f'}, {"\t", '\t'}};
    static const char *const wrong[] = {"",      "ab",     "\\q",  "\\x", "\\x1",
                                        "\\x1g", "\\x123", "\\tt", "é"};
    deja_error err;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char c = '?';
        assert_int_equal(num_parse_char(right[i].text, &c, &err), DEJA_OK);
        assert_int_equal(c, right[i].byte);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char c = '?';
        assert_int_equal(num_parse_char(wrong[i], &c, &err), DEJA_EINVAL);
        assert_int_equal(c, '?');
        assert_non_null(strstr(err.text, "takes one byte"));
    }
}

static void the_error_may_be_null(void **state)
{
    (void)state;
    uint64_t n;
    assert_int_equal(num_parse_count("x", &n, NULL), DEJA_EINVAL);
}

static void counts_are_grouped(void **state)
{
    (void)state;
    assert_string_equal(num_count(0).s, "0");
    assert_string_equal(num_count(999).s, "999");
    assert_string_equal(num_count(1000).s, "1,000");
    assert_string_equal(num_count(4994910).s, "4,994,910");
    assert_string_equal(num_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void short_counts_have_at_most_three_digits(void **state)
{
    (void)state;
    assert_string_equal(num_short(0).s, "0");
    assert_string_equal(num_short(999).s, "999");
    assert_string_equal(num_short(1000).s, "1.0 k");
    assert_string_equal(num_short(1234567).s, "1.2 M");
    assert_string_equal(num_short(12345678).s, "12.3 M");
    assert_string_equal(num_short(123456789).s, "123 M");
    assert_string_equal(num_short(999949999).s, "999 M");
    assert_string_equal(num_short(999950000).s, "1.0 G");
    assert_string_equal(num_short(UINT64_C(1000000000000)).s, "1.0 T");
    assert_string_equal(num_short(UINT64_MAX).s, "18.4 E");
}

static void bytes_are_decimal_and_stay_below_1000(void **state)
{
    (void)state;
    assert_string_equal(num_bytes(0).s, "0 B");
    assert_string_equal(num_bytes(999).s, "999 B");
    assert_string_equal(num_bytes(1000).s, "1.0 kB");
    assert_string_equal(num_bytes(33600000).s, "33.6 MB");
    assert_string_equal(num_bytes(999949).s, "999.9 kB");
    assert_string_equal(num_bytes(999950).s, "1.0 MB");
    assert_string_equal(num_bytes(UINT64_C(1) << 30).s, "1.1 GB");
    assert_string_equal(num_bytes(UINT64_MAX).s, "18.4 EB");
}

static void a_printed_size_can_be_typed_back(void **state)
{
    (void)state;
    assert_true(size_of("33.6MB") == 33600000);
    assert_string_equal(num_bytes(size_of("33.6MB")).s, "33.6 MB");
}

static void rates_are_short(void **state)
{
    (void)state;
    assert_string_equal(num_rate(0.0).s, "0");
    assert_string_equal(num_rate(1e-6).s, "1.0e-6");
    assert_string_equal(num_rate(9.96e-7).s, "1.0e-6");
    assert_string_equal(num_rate(1.25e-12).s, "1.2e-12");
    assert_string_equal(num_rate(0.0096).s, "0.0096");
    assert_string_equal(num_rate(0.00099951).s, "0.001");
    assert_string_equal(num_rate(0.5).s, "0.5");
    assert_string_equal(num_rate((double)NAN).s, "unknown");
    assert_string_equal(num_share(0.123).s, "12.3%");
    assert_string_equal(num_share(1.0).s, "100.0%");
}

static void estimates_show_the_significant_digits(void **state)
{
    (void)state;
    assert_string_equal(num_estimate(0.0).s, "0");
    assert_string_equal(num_estimate(2e-5).s, "2.0e-5");
    assert_string_equal(num_estimate(0.052).s, "0.05");
    assert_string_equal(num_estimate(0.31).s, "0.3");
    assert_string_equal(num_estimate(9.96).s, "10");
    assert_string_equal(num_estimate(4994910.4).s, "4,994,910");
    assert_string_equal(num_estimate(1e30).s, "1.0e30");
    assert_string_equal(num_estimate(-1.0).s, "unknown");
    assert_string_equal(num_estimate((double)INFINITY).s, "unknown");
}

static void durations_have_two_units_at_most(void **state)
{
    (void)state;
    assert_string_equal(num_duration(0.0).s, "0.0 ms");
    assert_string_equal(num_duration(0.0042).s, "4.2 ms");
    assert_string_equal(num_duration(0.31).s, "0.31 s");
    assert_string_equal(num_duration(9.996).s, "10.0 s");
    assert_string_equal(num_duration(59.96).s, "1 min 0 s");
    assert_string_equal(num_duration(123.4).s, "2 min 3 s");
    assert_string_equal(num_duration(3599.6).s, "1 h 0 min");
    assert_string_equal(num_duration(15120).s, "4 h 12 min");
    assert_string_equal(num_duration(86399).s, "1 d 0 h");
    assert_string_equal(num_duration(266400).s, "3 d 2 h");
    assert_string_equal(num_duration((double)INFINITY).s, "unknown");
}

static void the_time_that_a_command_took_is_short(void **state)
{
    (void)state;
    assert_string_equal(num_took(0.0).s, "0.0 ms");
    assert_string_equal(num_took(0.00061).s, "0.6 ms");
    assert_string_equal(num_took(0.0051).s, "5 ms");
    assert_string_equal(num_took(0.3104).s, "310 ms");
    assert_string_equal(num_took(0.99951).s, "1.0 s");
    assert_string_equal(num_took(9.96).s, "10 s");
    assert_string_equal(num_took(59.5).s, "59.5 s");
    assert_string_equal(num_took(59.96).s, "1 min 0 s");
    assert_string_equal(num_took(15120).s, "4 h 12 min");
    assert_string_equal(num_took((double)NAN).s, "unknown");
}

static void speeds_have_a_prefix(void **state)
{
    (void)state;
    assert_string_equal(num_speed(0.0).s, "0.0 /s");
    assert_string_equal(num_speed(812.0).s, "812 /s");
    assert_string_equal(num_speed(999.9).s, "1.0 k/s");
    assert_string_equal(num_speed(23.1e6).s, "23.1 M/s");
    assert_string_equal(num_speed(3.14e9).s, "3.1 G/s");
}

static void exact_text_reads_back_as_the_same_number(void **state)
{
    (void)state;
    static const double some[] = {0.1, 1.0 / 3.0, 1e-6, 6.02e23, 5e-324, 123456789.125, -0.25};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        assert_true(strtod(num_exact(some[i]).s, NULL) == some[i]);
    assert_string_equal(num_exact(0.1).s, "0.1");
    assert_string_equal(num_exact(1e-6).s, "1e-06");
    assert_string_equal(num_fixed(9.584, 2).s, "9.58");
}

/* A locale with a decimal comma changes nothing.  If none is installed, the C locale is used. */
static void scaled_numbers_are_short_and_exact(void **state)
{
    assert_string_equal(num_scaled(0, 1000).s, "0");
    assert_string_equal(num_scaled(1500000, 1000).s, "1500k");
    assert_string_equal(num_scaled(1500001, 1000).s, "1500001");
    assert_string_equal(num_scaled((uint64_t)2 << 30, 1024).s, "2G");
    assert_string_equal(num_scaled(UINT64_MAX, 1024).s, "18446744073709551615");
}

static void the_locale_makes_no_difference(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof comma / sizeof comma[0]; i++) {
        if (setlocale(LC_ALL, comma[i]))
            break;
    }
    assert_true(rate_of("0.25") == 0.25);
    assert_true(count_of("1.5k") == 1500);
    assert_string_equal(num_bytes(33600000).s, "33.6 MB");
    assert_string_equal(num_exact(0.25).s, "0.25");
    assert_string_equal(num_count(1234).s, "1,234");
    double p;
    assert_int_equal(num_parse_rate("0,25", &p, NULL), DEJA_EINVAL);
    assert_non_null(setlocale(LC_ALL, "C"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_accept_units_and_exponents),
        cmocka_unit_test(counts_reach_2_to_the_64_and_no_further),
        cmocka_unit_test(counts_must_be_whole_numbers),
        cmocka_unit_test(a_number_with_endless_digits_is_refused),
        cmocka_unit_test(a_message_cannot_control_the_terminal),
        cmocka_unit_test(sizes_are_binary_unless_spelled_kB),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(days_have_units),
        cmocka_unit_test(days_are_dates),
        cmocka_unit_test(sizes_are_rounded_down_exactly),
        cmocka_unit_test(other_sizes_are_refused),
        cmocka_unit_test(rates_lie_strictly_between_0_and_1),
        cmocka_unit_test(reals_are_finite_and_above_0),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(a_char_is_one_byte_or_an_escape),
        cmocka_unit_test(the_error_may_be_null),
        cmocka_unit_test(counts_are_grouped),
        cmocka_unit_test(short_counts_have_at_most_three_digits),
        cmocka_unit_test(bytes_are_decimal_and_stay_below_1000),
        cmocka_unit_test(a_printed_size_can_be_typed_back),
        cmocka_unit_test(rates_are_short),
        cmocka_unit_test(estimates_show_the_significant_digits),
        cmocka_unit_test(durations_have_two_units_at_most),
        cmocka_unit_test(the_time_that_a_command_took_is_short),
        cmocka_unit_test(speeds_have_a_prefix),
        cmocka_unit_test(exact_text_reads_back_as_the_same_number),
        cmocka_unit_test(scaled_numbers_are_short_and_exact),
        cmocka_unit_test(the_locale_makes_no_difference),
    };
    return cmocka_run_group_tests_name("unit.number", tests, NULL, NULL);
}
