/* test_shape.c - the shape profile: which URLs belong to one template, and which do not. */
#include "rng.h"
#include "unit.h"
#include "urls.h"
#include <stdio.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void assert_shape(const char *url, const char *want)
{
    char *got = canon_of(DEJA_URL_SHAPE, url);
    if (strcmp(got, want) != 0)
        fail_msg("%s has shape %s, not %s", url, got, want);
    char *again = canon_of(DEJA_URL_SHAPE, got);
    assert_string_equal(again, got);
    free(again);
    free(got);
}

static void every_rule_has_its_example(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        /* parameters: names count, values do not */
        {"http://a/post/123?id=7", "http://a/post/0?id"},
        {"http://a/post/124?id=9", "http://a/post/0?id"},
        {"http://a/?b=1&a=2", "http://a/?a&b"},
        {"http://a/?a=1&a=2&b", "http://a/?a&b"},
        {"http://a/?q", "http://a/?q"},
        {"http://a/?q=", "http://a/?q"},
        {"http://a/?=7", "http://a/"},
        {"http://a/?utm_source=x", "http://a/"},
        {"http://a/?a1=1&a2=2", "http://a/?a1&a2"},
        /* numbers */
        {"http://a/1/2/3", "http://a/0/0/0"},
        {"http://a/12.html", "http://a/0.html"},
        {"http://a/item-12_34.jpg", "http://a/item-0_0.jpg"},
        {"http://a/p12345", "http://a/p0"},
        {"http://a/IMG20240131x.jpg", "http://a/IMG0x.jpg"},
        {"http://a/n%2012", "http://a/n%200"},
        {"http://a/%E4%BD%A0", "http://a/%E4%BD%A0"},
        /* numbers that belong to a name */
        {"http://a/api/v1/mp3", "http://a/api/v1/mp3"},
        {"http://a/h264/utf8", "http://a/h264/utf8"},
        /* dates */
        {"http://a/2024/01/31/title", "http://a/0/0/0/title"},
        {"http://a/2024-01-31-title", "http://a/0-0-0-title"},
        {"http://a/20240131", "http://a/0"},
        /* UUIDs and hashes */
        {"http://a/123E4567-e89b-12d3-a456-426614174000/x",
         "http://a/00000000-0000-0000-0000-000000000000/x"},
        {"http://a/d41d8cd98f00b204e9800998ecf8427e.png", "http://a/0123456789abcdef.png"},
        {"http://a/s/DA39A3EE5E6B4B0D3255BFEF95601890AFD80709", "http://a/s/0123456789abcdef"},
        {"http://a/f/dGhpcyBpcyBiYXNlNjQ0", "http://a/f/0123456789abcdef"},
        {"http://a/facade/deadbeef", "http://a/facade/deadbeef"},
        {"http://a/aSentenceInCamelCaseWithoutDigits",
         "http://a/aSentenceInCamelCaseWithoutDigits"},
        /* languages, in the first segment only */
        {"http://a/de/about", "http://a/en/about"},
        {"http://a/fr-CA/about", "http://a/en/about"},
        {"http://a/pt_br", "http://a/en"},
        {"http://a/about/de", "http://a/about/de"},
        {"http://a/xx/about", "http://a/xx/about"},
        {"http://a/de-at-1/", "http://a/de-at-0/"},
        /* the rest is crawl's form; hosts and ports stay */
        {"HTTP://www.A.com:80/X/../7#f", "http://www.a.com/0"},
        {"http://127.0.0.1:8080/8080", "http://127.0.0.1:8080/0"},
        {"http://a2024.example/", "http://a2024.example/"},
        {"http://a", "http://a/"},
        {"mailto:a123@b?c=1", "mailto:a123@b?c=1"},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_shape(rows[i][0], rows[i][1]);
}

static void different_templates_keep_different_shapes(void **state)
{
    (void)state;
    static const char *const apart[][2] = {
        {"http://a/post/1", "http://a/page/1"},
        {"http://a/post/1", "http://a/post/1/edit"},
        {"http://a/?id=1", "http://a/?page=1"},
        {"http://a/?id=1", "http://a/?id=1&page=1"},
        {"http://a/x", "http://b/x"},
        {"http://a/v1/x", "http://a/v2/x"},
        {"http://a/1.html", "http://a/1.php"},
        {"http://a/x", "http://a/x/"},
        {"http://a/about-us", "http://a/about"},
        {"http://a/1", "http://a/one"},
        {"http://a:81/", "http://a:82/"},
        {"http://a/de/x", "http://a/x"},
    };
    for (size_t i = 0; i < LEN(apart); i++) {
        char *x = canon_of(DEJA_URL_SHAPE, apart[i][0]),
             *y = canon_of(DEJA_URL_SHAPE, apart[i][1]);
        if (strcmp(x, y) == 0)
            fail_msg("%s and %s are one", apart[i][0], apart[i][1]);
        free(x);
        free(y);
    }
}

/* The shape of a shape is itself, and never longer than crawl's form: 50,000 URLs of random
 * pieces. */
static void a_shape_is_its_own_shape(void **state)
{
    (void)state;
    static const char *const piece[] = {"/",
                                        "//",
                                        "?",
                                        "&",
                                        "=",
                                        ";",
                                        "1",
                                        "2024",
                                        "de",
                                        "-",
                                        "_",
                                        ".",
                                        "..",
                                        "%20",
                                        "%31",
                                        "%",
                                        "abc",
                                        "Ab9",
                                        "#",
                                        "[",
                                        "{",
                                        "\xc3\xbc",
                                        "0123456789abcdef",
                                        "en-US",
                                        "123e4567-e89b-12d3-a456-426614174000",
                                        "dGhpcyBpcyBiYXNlNjQ0",
                                        "utm_x=",
                                        "@",
                                        ":"};
    struct rng rng = rng_seeded(20);
    for (int i = 0; i < 50000; i++) {
        char url[512] = "http://h/";
        size_t len = strlen(url);
        for (uint64_t n = rng_below(&rng, 9); n > 0; n--)
            len += (size_t)snprintf(url + len, sizeof url - len, "%s",
                                    piece[rng_below(&rng, LEN(piece))]);
        char *crawl = canon_of(DEJA_URL_CRAWL, url), *shape = canon_of(DEJA_URL_SHAPE, url);
        char *again = canon_of(DEJA_URL_SHAPE, shape), *of_crawl = canon_of(DEJA_URL_SHAPE, crawl);
        assert_string_equal(again, shape);
        assert_string_equal(of_crawl, shape);
        assert_true(strlen(shape) <= strlen(crawl));
        free(of_crawl);
        free(again);
        free(shape);
        free(crawl);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_its_example),
        cmocka_unit_test(different_templates_keep_different_shapes),
        cmocka_unit_test(a_shape_is_its_own_shape),
    };
    return cmocka_run_group_tests_name("unit.shape", tests, NULL, NULL);
}
