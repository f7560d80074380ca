/* test_scope.c - which URLs belong to a crawl. */
#include "crawler/loop/scope.h"
#include "unit.h"

#include <string.h>

static deja_slice of(const char *text)
{
    return (deja_slice){text, strlen(text)};
}

static scope *made(uint32_t kind, const char *match, const char *exclude, const char *seed)
{
    scope *s;
    deja_error err;
    assert_int_equal(scope_new(kind, match, exclude, &s, &err), DEJA_OK);
    assert_int_equal(scope_add(s, of(seed)), DEJA_OK);
    return s;
}

static void belongs(uint32_t kind, const char *seed, const char *url, bool want)
{
    scope *s = made(kind, NULL, NULL, seed);
    assert_int_equal(scope_has(s, of(url)), want);
    scope_free(s);
}

static void a_host_is_name_and_port(void **state)
{
    belongs(SCOPE_HOST, "http://a.org/x", "https://a.org/y", true);
    belongs(SCOPE_HOST, "http://a.org/x", "http://www.a.org/", false);
    belongs(SCOPE_HOST, "http://a.org/x", "http://a.org:81/", false);
    belongs(SCOPE_HOST, "http://a.org", "http://a.org?q", true);
    belongs(SCOPE_HOST, "http://a.org/", "http://me@a.org/", true);
    belongs(SCOPE_HOST, "http://a.org/", "http://a.org.b.net/", false);
    belongs(SCOPE_HOST, "http://[::1]:80/", "http://[::1]:80/x", true);
}

static void a_domain_is_a_registrable_domain(void **state)
{
    belongs(SCOPE_DOMAIN, "http://www.a.co.uk/", "http://b.a.co.uk:81/", true);
    belongs(SCOPE_DOMAIN, "http://www.a.co.uk/", "http://b.co.uk/", false);
    belongs(SCOPE_DOMAIN, "http://co.uk/", "http://b.co.uk/", false);
    belongs(SCOPE_DOMAIN, "http://127.0.0.1:80/", "http://127.0.0.1:81/", true);
    belongs(SCOPE_DOMAIN, "http://127.0.0.1/", "http://1.0.0.1/", false);
    belongs(SCOPE_DOMAIN, "http://[::1]:80/", "http://[::1]/", true);
}

static void a_prefix_ends_with_a_slash(void **state)
{
    belongs(SCOPE_PREFIX, "http://a/docs/i.html?x=/y", "http://a/docs/b/c", true);
    belongs(SCOPE_PREFIX, "http://a/docs/i.html", "http://a/documents", false);
    belongs(SCOPE_PREFIX, "http://a/docs/", "https://a/docs/", false);
    belongs(SCOPE_PREFIX, "http://a/", "http://a/", true);
}

static void every_seed_is_in_scope(void **state)
{
    scope *s = made(SCOPE_HOST, NULL, NULL, "http://m/");
    static const char *const more[] = {"http://z/", "http://a/", "http://k/", "http://mm/"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(scope_add(s, of(more[i])), DEJA_OK);
    for (size_t i = 0; i < 4; i++)
        assert_true(scope_has(s, of(more[i])));
    assert_true(scope_has(s, of("http://m/x")));
    assert_false(scope_has(s, of("http://l/")));
    assert_false(scope_has(s, of("http://mmm/")));
    scope_free(s);
}

static void scope_can_be_a_regular_expression(void **state)
{
    scope *s = made(SCOPE_REGEX, "^http://[^/]*/(a|b)", "b2", "http://x/");
    assert_true(scope_has(s, of("http://any/a1")));
    assert_false(scope_has(s, of("http://any/c")));
    assert_false(scope_has(s, of("http://any/b2")));
    scope_free(s);
    deja_error err;
    assert_int_equal(scope_new(SCOPE_REGEX, "(", NULL, &s, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "--match"));
    assert_int_equal(scope_new(SCOPE_ANY, NULL, "[", &s, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "--exclude"));
}

static void a_url_splits_into_origin_and_path(void **state)
{
    static const char *const cases[][3] = {{"http://a/b?c", "http://a", "/b?c"},
                                           {"http://a?c", "http://a", "?c"},
                                           {"http://a", "http://a", ""},
                                           {"", "", ""}};
    for (size_t i = 0; i < 4; i++) {
        const deja_slice origin = scope_origin(of(cases[i][0]));
        const deja_slice path = scope_path(of(cases[i][0]));
        assert_int_equal(origin.len, strlen(cases[i][1]));
        assert_memory_equal(origin.data, cases[i][1], origin.len);
        assert_int_equal(path.len, strlen(cases[i][2]));
        assert_memory_equal(path.data, cases[i][2], path.len);
    }
}

static void scopes_have_names(void **state)
{
    assert_string_equal(scope_name(SCOPE_PREFIX), "prefix");
    assert_null(scope_name(0));
    assert_null(scope_name(SCOPE_ANY + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_name_and_port),
        cmocka_unit_test(a_domain_is_a_registrable_domain),
        cmocka_unit_test(a_prefix_ends_with_a_slash),
        cmocka_unit_test(every_seed_is_in_scope),
        cmocka_unit_test(scope_can_be_a_regular_expression),
        cmocka_unit_test(a_url_splits_into_origin_and_path),
        cmocka_unit_test(scopes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
