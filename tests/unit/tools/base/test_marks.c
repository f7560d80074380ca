/* test_marks.c - marks against loops over single bytes. */
#include "rng.h"
#include "tools/base/marks.h"
#include "tools/base/scan.h"
#include "unit.h"
#include <stdlib.h>

static void every_byte_is_marked_where_it_is_and_nowhere_else(void **state)
{
    struct rng dice = {3};
    for (int round = 0; round < 20000; round++) {
        char bytes[MARKS_BYTES];
        const uint64_t mask = round % 2 ? 0xff : 0x83; /* many equal bytes, or few */
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(rng_next(&dice) & mask);
        const char c = (char)(rng_next(&dice) & mask);
        uint32_t want = 0;
        for (size_t i = 0; i < sizeof bytes; i++)
            want |= (uint32_t)(bytes[i] == c) << i;
        assert_int_equal(marks_of(bytes, c), want);
        assert_int_equal(marks_of_portable(bytes, c), want);
    }
}

/* The first quote that an even number of backslashes precedes. */
static const char *first_quote(const char *text, size_t len)
{
    size_t slashes = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' && slashes % 2 == 0)
            return text + i;
        slashes = text[i] == '\\' ? slashes + 1 : 0;
    }
    return NULL;
}

static void a_string_ends_at_its_first_quote_without_a_backslash(void **state)
{
    struct rng dice = {5};
    for (int round = 0; round < 100000; round++) {
        const size_t len = rng_below(&dice, 80);
        const uint64_t rare = round % 2 ? 8 : 30;
        char *text = malloc(len + 1); /* one spare byte: malloc(0) may be NULL */
        assert_non_null(text);
        for (size_t i = 0; i < len; i++)
            text[i] = rng_below(&dice, rare) ? 'a' : rng_below(&dice, 3) ? '\\' : '"';
        const char *want = first_quote(text, len);
        bool escapes = false, backslash = false;
        assert_ptr_equal(scan_string(text, text + len, &escapes), want);
        assert_ptr_equal(scan_quote(text, text + len), want);
        for (const char *at = text; want && at < want; at++)
            backslash = backslash || *at == '\\';
        assert_true(!want || escapes == backslash);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_marked_where_it_is_and_nowhere_else),
        cmocka_unit_test(a_string_ends_at_its_first_quote_without_a_backslash),
    };
    return cmocka_run_group_tests_name("unit.marks", tests, NULL, NULL);
}
