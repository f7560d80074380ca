/* test_cdxj.c - keys and lines of the CDXJ index. */
#include "crawler/archive/cdxj.h"
#include "unit.h"

static void key_is(const char *url, const char *want)
{
    struct buffer key = {0};
    assert_int_equal(cdxj_key((deja_slice){url, strlen(url)}, &key), DEJA_OK);
    assert_true(buffer_add(&key, "", 1));
    assert_string_equal(key.data, want);
    buffer_fini(&key);
}

static void host_labels_are_reversed(void **state)
{
    key_is("http://example.org/", "org,example)/");
    key_is("https://www.Example.org/A/b", "org,example)/a/b");
    key_is("http://www2.a.example.org/", "org,example,a)/");
    key_is("http://www2./", "www2)/");
    key_is("http://www.example.org.:81/", "org,example:81)/");
    key_is("http://wwwx.example.org/", "org,example,wwwx)/");
    key_is("http://localhost/", "localhost)/");
    key_is("http://example.org:8080/x", "org,example:8080)/x");
    key_is("http://user:pw@example.org/x", "org,example)/x");
}

static void addresses_are_not_reversed(void **state)
{
    key_is("http://127.0.0.1/", "127.0.0.1)/");
    key_is("http://127.0.0.1:81/a", "127.0.0.1:81)/a");
    key_is("http://[::1]:81/a", "[::1]:81)/a");
    key_is("http://[::1]/a", "[::1])/a");
}

static void parameters_are_sorted(void **state)
{
    key_is("http://a.b/c?z=1&B=2&&a", "b,a)/c?&a&b=2&z=1");
    key_is("http://a.b?x", "b,a)/?x");
    key_is("http://a.b/c/?", "b,a)/c");
    key_is("http://a.b/c/", "b,a)/c");
    key_is("", ")/");
}

static void a_line_is_key_time_and_json(void **state)
{
    const struct cdxj_entry e = {.url = {"http://a.b/\"", 12},
                                 .when = 1767323045,
                                 .status = 200,
                                 .mime = {"text/html", 9},
                                 .digest = "sha1:X",
                                 .place = {2, 1234, 567}};
    struct buffer line = {0};
    assert_int_equal(cdxj_line(&e, &line), DEJA_OK);
    assert_true(buffer_add(&line, "", 1));
    assert_string_equal(line.data,
                        "b,a)/\" 20260102030405 {\"url\": \"http://a.b/\\\"\", \"mime\": "
                        "\"text/html\", \"status\": \"200\", \"digest\": \"sha1:X\", \"length\": "
                        "\"567\", \"offset\": \"1234\", \"filename\": \"crawl-00002.warc.gz\"}\n");
    buffer_fini(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_labels_are_reversed),
        cmocka_unit_test(addresses_are_not_reversed),
        cmocka_unit_test(parameters_are_sorted),
        cmocka_unit_test(a_line_is_key_time_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
