/* test_expressions.c - host suffixes times path prefixes, compared with the published lists. */
#include "unit.h"

#include "core/url/url.h"
#include <stdlib.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* `want` has one expression per line. */
static void assert_expressions(const char *url, const char *want)
{
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    char got[4096];
    struct dj_text text = dj_text_in(got, sizeof got);
    const size_t n = deja_url_expressions((deja_slice){url, strlen(url)}, expression);
    for (size_t i = 0; i < n; i++) {
        dj_text_bytes(&text, expression[i].data, expression[i].len);
        dj_text_byte(&text, '\n');
    }
    dj_text_byte(&text, 0);
    assert_string_equal(got, want);
}

/* The lists of "URLs and Hashing"; we return the longest path first. */
static void the_published_lists_are_right(void **state)
{
    (void)state;
    assert_expressions("http://a.b.com/1/2.html?param=1", "a.b.com/1/2.html?param=1\n"
                                                          "a.b.com/1/2.html\n"
                                                          "a.b.com/1/\n"
                                                          "a.b.com/\n"
                                                          "b.com/1/2.html?param=1\n"
                                                          "b.com/1/2.html\n"
                                                          "b.com/1/\n"
                                                          "b.com/\n");
    assert_expressions("http://a.b.c.d.e.f.com/1.html", "a.b.c.d.e.f.com/1.html\n"
                                                        "a.b.c.d.e.f.com/\n"
                                                        "c.d.e.f.com/1.html\n"
                                                        "c.d.e.f.com/\n"
                                                        "d.e.f.com/1.html\n"
                                                        "d.e.f.com/\n"
                                                        "e.f.com/1.html\n"
                                                        "e.f.com/\n"
                                                        "f.com/1.html\n"
                                                        "f.com/\n");
    assert_expressions("http://1.2.3.4/1/", "1.2.3.4/1/\n"
                                            "1.2.3.4/\n");
}

static void a_host_has_up_to_four_suffixes(void **state)
{
    (void)state;
    assert_expressions("http://com/", "com/\n");
    assert_expressions("http://a.com/", "a.com/\n");
    assert_expressions("http://a.b.c.d.e/", "a.b.c.d.e/\nb.c.d.e/\nc.d.e/\nd.e/\n");
    assert_expressions("http://a.b.c.d.e.f/",
                       "a.b.c.d.e.f/\nb.c.d.e.f/\nc.d.e.f/\nd.e.f/\ne.f/\n");
    assert_expressions("https://[2001:470:1:18::114]/a/b", "[2001:470:1:18::114]/a/b\n"
                                                           "[2001:470:1:18::114]/a/\n"
                                                           "[2001:470:1:18::114]/\n");
    /* Numbers, but not an address. */
    assert_expressions("http://1.2.3.4.5/", "1.2.3.4.5/\n2.3.4.5/\n3.4.5/\n4.5/\n");
}

static void a_path_has_up_to_four_prefixes(void **state)
{
    (void)state;
    assert_expressions("http://a.com/1/2/3/4/5/6?q/r", "a.com/1/2/3/4/5/6?q/r\n"
                                                       "a.com/1/2/3/4/5/6\n"
                                                       "a.com/1/2/3/\n"
                                                       "a.com/1/2/\n"
                                                       "a.com/1/\n"
                                                       "a.com/\n");
    assert_expressions("http://a.com/1/2/3/", "a.com/1/2/3/\na.com/1/2/\na.com/1/\na.com/\n");
    assert_expressions("http://a.com/?", "a.com/?\na.com/\n");
    assert_expressions("http://a.com/?a/b", "a.com/?a/b\na.com/\n");
    assert_expressions("http://a.com/1/?q", "a.com/1/?q\na.com/1/\na.com/\n");
}

static void other_input_has_no_expressions(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "", "/", "a.com/", "http:", "http:/", "http://", "http:///", "http://a.com", "mailto:x",
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        deja_slice expression[DEJA_URL_EXPRESSIONS];
        const deja_slice bytes = {rows[i], strlen(rows[i])};
        assert_int_equal(deja_url_expressions(bytes, expression), 0);
    }
}

/* All 30 expressions of a URL with 100,000 labels, 100,000 segments and a query as long. */
static void long_urls_have_30_expressions_too(void **state)
{
    (void)state;
    enum {
        MANY = 100000
    };
    const size_t cap = 6 * MANY + 64;
    char *const room = malloc(cap);
    assert_non_null(room);
    struct dj_text t = dj_text_in(room, cap);
    dj_text_bytes(&t, "http://a", 8);
    for (size_t i = 0; i < MANY; i++)
        dj_text_bytes(&t, ".b", 2);
    for (size_t i = 0; i < MANY; i++)
        dj_text_bytes(&t, "/c", 2);
    dj_text_byte(&t, '?');
    for (size_t i = 0; i < MANY; i++)
        dj_text_bytes(&t, "/d", 2);
    assert_false(t.short_of_room);
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    const size_t n = deja_url_expressions(dj_text_slice(&t), expression);
    assert_int_equal(n, DEJA_URL_EXPRESSIONS);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(expression[i].data == expression[j].data &&
                         expression[i].len == expression[j].len);
    assert_int_equal(expression[n - 1].len, 4); /* b.b/ */
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_lists_are_right),
        cmocka_unit_test(a_host_has_up_to_four_suffixes),
        cmocka_unit_test(a_path_has_up_to_four_prefixes),
        cmocka_unit_test(other_input_has_no_expressions),
        cmocka_unit_test(long_urls_have_30_expressions_too),
    };
    return cmocka_run_group_tests_name("unit.expressions", tests, NULL, NULL);
}
