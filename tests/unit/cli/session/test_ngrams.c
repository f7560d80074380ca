/* test_ngrams.c - the n-grams of a text. */
#include "cli/session/ngrams.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char *ngrams_of(const char *text, unsigned n)
{
    static char list[256];
    struct ngrams g;
    deja_slice one;
    size_t len = 0;
    list[0] = 0;
    ngrams_start(&g, (deja_slice){text, strlen(text)}, n);
    while (ngrams_next(&g, &one))
        len += (size_t)snprintf(list + len, sizeof list - len, "%.*s|", (int)one.len,
                                (const char *)one.data);
    return list;
}

static void all_runs_of_words_are_found(void **state)
{
    (void)state;
    assert_string_equal(ngrams_of("a bb c d", 1), "a|bb|c|d|");
    assert_string_equal(ngrams_of("a bb c d", 2), "a bb|bb c|c d|");
    assert_string_equal(ngrams_of("a bb c d", 4), "a bb c d|");
}

static void a_short_text_is_one_ngram(void **state)
{
    (void)state;
    assert_string_equal(ngrams_of("a bb", 3), "a bb|");
    assert_string_equal(ngrams_of("a", NGRAMS_MAX), "a|");
    assert_string_equal(ngrams_of("", 3), "|");
}

static void white_space_is_normalized(void **state)
{
    (void)state;
    static const struct {
        const char *text, *normal;
    } cases[] = {{"", ""},        {" \t\n", ""},   {"a", "a"},      {"a b", "a b"},
                 {"a  b", "a b"}, {" a b", "a b"}, {"a b ", "a b"}, {"a\tb\r\nc\v\fd", "a b c d"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[32];
        const deja_slice text = {cases[i].text, strlen(cases[i].text)};
        const size_t len = ngrams_normalize(text, out);
        assert_int_equal(len, strlen(cases[i].normal));
        assert_memory_equal(out, cases[i].normal, len);
        assert_int_equal(ngrams_is_normal(text), strcmp(cases[i].text, cases[i].normal) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_runs_of_words_are_found),
        cmocka_unit_test(a_short_text_is_one_ngram),
        cmocka_unit_test(white_space_is_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
