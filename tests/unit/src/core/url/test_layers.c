/* test_layers.c - the layers of a URL: where it is cut, and that no byte is lost. */
#include "unit.h"

#include "urls.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The layers, separated by spaces. */
static void layers_of(const char *url, size_t cap, char *out)
{
    deja_slice layer[16];
    const size_t n = deja_url_split(bytes_of(url), layer, cap);
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        out += snprintf(out, 64, "%s%.*s", i ? " " : "", (int)layer[i].len,
                        (const char *)layer[i].data);
}

static void a_url_is_cut_before_the_slashes_of_its_path(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://a/b/c", "http://a /b /c"},
        {"http://a/b/c/", "http://a /b /c /"},
        {"http://a/", "http://a /"},
        {"http://a", "http://a"},
        {"http://a//b", "http://a / /b"},
        {"http://a/b?c/d?e/f", "http://a /b?c/d?e/f"},
        {"http://a/b#c/d", "http://a /b#c/d"},
        {"http://a?b/c", "http://a?b/c"},
        {"http://u:p@a:1/b", "http://u:p@a:1 /b"},
        {"file:///a/b", "file:// /a /b"},
        {"foo:/a/b", "foo: /a /b"},
        {"mailto:a@b", "mailto:a@b"},
        {"example.com/a/b", "example.com /a /b"},
        {"/a/b", " /a /b"},
        {"a", "a"},
        {"?a/b", "?a/b"},
        {"", ""},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char got[128];
        layers_of(rows[i][0], 16, got);
        assert_string_equal(got, rows[i][1]);
    }
}

static void the_last_layer_holds_the_rest(void **state)
{
    (void)state;
    static const char *const want[] = {"",
                                       "http://a/b/c/d",
                                       "http://a /b/c/d",
                                       "http://a /b /c/d",
                                       "http://a /b /c /d",
                                       "http://a /b /c /d"};
    for (size_t cap = 0; cap < LEN(want); cap++) {
        char got[128];
        layers_of("http://a/b/c/d", cap, got);
        assert_string_equal(got, want[cap]);
    }
}

static void the_layers_together_are_the_url(void **state)
{
    (void)state;
    struct rng r = rng_seeded(3);
    for (int round = 0; round < 5000; round++) {
        char url[80] = "http://user@host.example:8080/a/b;c/../d?e=f/g#h";
        const size_t len = mutate_url(&r, url, strlen(url), sizeof url);
        deja_slice layer[80];
        const size_t cap = 1 + (size_t)rng_below(&r, 12);
        const size_t n = deja_url_split((deja_slice){url, len}, layer, cap);
        const char *at = url;
        assert_true(n <= cap && (n > 0) == (len > 0));
        for (size_t i = 0; i < n; i++) {
            assert_ptr_equal(layer[i].data, at);
            at += layer[i].len;
        }
        assert_ptr_equal(at, url + len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_cut_before_the_slashes_of_its_path),
        cmocka_unit_test(the_last_layer_holds_the_rest),
        cmocka_unit_test(the_layers_together_are_the_url),
    };
    return cmocka_run_group_tests_name("unit.layers", tests, NULL, NULL);
}
