/* test_printable.c - untrusted text is made safe for terminals and is otherwise unchanged. */
#include "rng.h"
#include "tools/base/printable.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

static const char *shown(const char *text, bool ascii)
{
    static char out[4096];
    assert_int_equal(printable(out, sizeof out, text, strlen(text), ascii), strlen(text));
    return out;
}

static void text_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "plain ~ text \\ with 'quotes'",
                                        "\u00a0\u00e9\u0141",
                                        "\u4f60\u597d \u0645\u0631\u062d\u0628\u0627",
                                        "\u200b\u200d\u2027\u202f\u2065\u206a\ufeff\ufffd",
                                        "\U0001f469\u200d\U0001f680\U0010ffff"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(shown(texts[i], false), texts[i]);
}

static void control_characters_become_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("\x1b[2J\x1b]52;c;aGk=\x07", false), "\\x1b[2J\\x1b]52;c;aGk=\\x07");
    assert_string_equal(shown("a\tb\r\n\x7f", false), "a\\x09b\\x0d\\x0a\\x7f");
    assert_string_equal(shown("\xc2\x80\xc2\x9b"
                              "31m\xc2\x9f",
                              false),
                        "\\u0080\\u009b31m\\u009f");
    assert_string_equal(shown("\u202a\u202e\u2066\u2069\u200e\u200f\u061c", false),
                        "\\u202a\\u202e\\u2066\\u2069\\u200e\\u200f\\u061c");
    assert_string_equal(shown("\u2028\u2029", false), "\\u2028\\u2029");
    char zero[20];
    assert_int_equal(printable(zero, sizeof zero, "a\0b", 3, false), 3);
    assert_string_equal(zero, "a\\x00b");
}

/* Raw C1, overlong forms, surrogates, beyond Unicode, incomplete sequences. */
static void bytes_that_are_not_utf8_become_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("\x9b\x31m", false), "\\x9b1m");
    assert_string_equal(shown("\xc0\x9b", false), "\\xc0\\x9b");
    assert_string_equal(shown("\xe0\x82\x9b", false), "\\xe0\\x82\\x9b");
    assert_string_equal(shown("\xed\xa0\x80", false), "\\xed\\xa0\\x80");
    assert_string_equal(shown("\xf4\x90\x80\x80", false), "\\xf4\\x90\\x80\\x80");
    assert_string_equal(shown("\xe2\x82", false), "\\xe2\\x82");
    assert_string_equal(shown("\xe2\x82z", false), "\\xe2\\x82z");
    assert_string_equal(shown("\xff\xfe", false), "\\xff\\xfe");
}

/* 0x9b is a byte of this letter, but CSI to an 8-bit terminal. */
static void other_terminals_get_ascii(void **state)
{
    (void)state;
    assert_string_equal(shown("\u011b \x1b\u202e", true), "\\xc4\\x9b \\x1b\\u202e");
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(printable(out, sizeof out, "1234567", 7, false), 7);
    assert_int_equal(printable(out, sizeof out, "12345678", 8, false), 7);
    assert_string_equal(out, "1234567");
    assert_int_equal(printable(out, sizeof out, "12345\u20ac", 8, false), 5);
    assert_string_equal(out, "12345");
    assert_int_equal(printable(out, sizeof out, "123\x1b", 4, false), 4);
    assert_int_equal(printable(out, sizeof out, "1234\x1b", 5, false), 4);
    assert_string_equal(out, "1234");
    assert_int_equal(printable(out, 1, "x", 1, false), 0);
    assert_string_equal(out, "");
}

static void a_cut_text_loses_half_a_character(void **state)
{
    (void)state;
    static const char text[] = "a\u00e9\u20ac\U0001f680";
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
    for (size_t len = 0; len < sizeof text; len++)
        assert_int_equal(printable_cut(text, len), want[len]);
    assert_int_equal(printable_cut("\x80\x80\x80\x80", 4), 4); /* not a character at all */
}

/* For any input, the output has no control bytes, is valid UTF-8, and stays the same when
 * processed again. */
static void random_bytes_come_out_harmless(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(11);
    for (int round = 0; round < 20000; round++) {
        char in[40], out[200], again[200];
        const size_t len = rng_below(&rng, sizeof in);
        for (size_t i = 0; i < len; i++) {
            static const char likely[] = "\x1b\x9b\xc2\x9b\xe2\x80\xae\xaa\x85\xf0\x9f";
            in[i] = rng_below(&rng, 2) ? likely[rng_below(&rng, sizeof likely - 1)]
                                       : (char)rng_below(&rng, 256);
        }
        const bool ascii = rng_below(&rng, 2);
        assert_int_equal(printable(out, sizeof out, in, len, ascii), len);
        for (size_t i = 0, n; out[i]; i += n) {
            enum printable_class class;
            uint32_t code;
            n = printable_next(out + i, strlen(out + i), &class, &code);
            assert_int_equal(class, PRINTABLE);
            assert_true(code >= 0x20 && code != 0x7f && (!ascii || code < 0x80));
        }
        assert_int_equal(printable(again, sizeof again, out, strlen(out), ascii), strlen(out));
        assert_string_equal(again, out);
    }
}

static void long_text_loses_its_middle(void **state)
{
    (void)state;
    char text[] = "abcdefghij", wide[] = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
    printable_middle(text, 10);
    assert_string_equal(text, "abcdefghij");
    printable_middle(text, 9);
    assert_string_equal(text, "abc...hij");
    printable_middle(text, 8);
    assert_string_equal(text, "ab...hij");
    printable_middle(text, 5);
    assert_string_equal(text, "a...j");
    printable_middle(wide, 6);
    assert_string_equal(wide, "\u00e4...\u00e4\u00e4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_as_it_is),
        cmocka_unit_test(control_characters_become_escapes),
        cmocka_unit_test(bytes_that_are_not_utf8_become_escapes),
        cmocka_unit_test(other_terminals_get_ascii),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(a_cut_text_loses_half_a_character),
        cmocka_unit_test(long_text_loses_its_middle),
        cmocka_unit_test(random_bytes_come_out_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
