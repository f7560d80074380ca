/* test_hostkey.c - the host of a URL, under one name for all spellings. */
#include "crawler/http/hostkey.h"
#include "rng.h"
#include "tools/base/ascii.h"
#include "unit.h"

static void clean_is(const char *url, const char *want)
{
    struct buffer room = {0};
    deja_slice clean;
    assert_int_equal(hostkey_clean(ascii_slice(url), &room, &clean), DEJA_OK);
    assert_int_equal(clean.len, strlen(want));
    assert_memory_equal(clean.data, want, clean.len);
    buffer_fini(&room);
}

static void credentials_and_the_dot_of_the_root_are_removed(void **state)
{
    clean_is("http://h/a?b@c:d", "http://h/a?b@c:d");
    clean_is("http://u@h/", "http://h/");
    clean_is("https://u:p%40@h:8443/@x", "https://h:8443/@x");
    clean_is("http://a@b@h/", "http://h/");
    clean_is("http://:@h", "http://h");
    clean_is("http://u@h?q=@", "http://h?q=@");
    clean_is("http://@h./", "http://h/");
    clean_is("http://h.:81/.", "http://h:81/.");
    clean_is("http://u@[::1]:5/", "http://[::1]:5/");
}

/* The URL may already be in the output buffer. */
static void a_url_can_be_cleaned_in_place(void **state)
{
    struct buffer room = {0};
    deja_slice clean;
    assert_true(buffer_text(&room, "http://user:password@h/path"));
    assert_int_equal(hostkey_clean(buffer_slice(&room), &room, &clean), DEJA_OK);
    assert_int_equal(clean.len, 13);
    assert_memory_equal(clean.data, "http://h/path", 13);
    buffer_fini(&room);
}

static void a_url_without_a_host_is_refused(void **state)
{
    static const char *const urls[] = {"http:///u@h/", "http://u@/",  "http://u@:80/", "http://./",
                                       "http://h../",  "http://4../", "http://",       ""};
    struct buffer room = {0};
    deja_slice clean;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        assert_int_equal(hostkey_clean(ascii_slice(urls[i]), &room, &clean), DEJA_ENOTURL);
    buffer_fini(&room);
}

static void credentials_are_found(void **state)
{
    assert_true(hostkey_has_credentials(ascii_slice("http://u@h/")));
    assert_true(hostkey_has_credentials(ascii_slice("http://@h")));
    assert_false(hostkey_has_credentials(ascii_slice("http://h/u@h")));
    assert_false(hostkey_has_credentials(ascii_slice("http://h?u@h")));
    assert_false(hostkey_has_credentials(ascii_slice("http://h#u@h")));
}

static void name_is(const char *url, const char *name, const char *with_port)
{
    struct buffer out = {0};
    assert_int_equal(hostkey_name(ascii_slice(url), &out), DEJA_OK);
    assert_true(buffer_add(&out, "", 1));
    assert_string_equal(out.data, name);
    out.len = 0;
    assert_int_equal(hostkey_name_and_port(ascii_slice(url), &out), DEJA_OK);
    assert_true(buffer_add(&out, "", 1));
    assert_string_equal(out.data, with_port);
    buffer_fini(&out);
}

static void a_host_has_one_name(void **state)
{
    name_is("http://example.org", "example.org", "example.org:80");
    name_is("https://u:p@EXAMPLE.org.:443/a", "example.org", "example.org:443");
    name_is("http://ex%61mple.org:8080/", "example.org", "example.org:8080");
    name_is("http://0x7f.1/", "127.0.0.1", "127.0.0.1:80");
    name_is("http://2130706433:81", "127.0.0.1", "127.0.0.1:81");
    name_is("http://[::ffff:127.0.0.1]/", "127.0.0.1", "127.0.0.1:80");
    name_is("http://[0:0::1]:82/", "[::1]", "[::1]:82");
}

static bool same(const char *a, const char *b)
{
    return hostkey_same(ascii_slice(a), ascii_slice(b));
}

static void default_ports_are_the_same_host(void **state)
{
    assert_true(same("http://h", "https://h/robots.txt"));
    assert_true(same("http://H:80", "http://h./x"));
    assert_true(same("http://h:8080", "https://h:8080/"));
    assert_false(same("http://h", "http://h:8080"));
    assert_false(same("http://h", "https://h:80"));
    assert_false(same("http://h", "http://hh"));
    assert_false(same("http://a.h", "http://h"));
}

static bool has(deja_slice s, char c)
{
    return s.len > 0 && memchr(s.data, c, s.len);
}

/* Random authorities in canonical form: the cleaned URL has no credentials, cleaning it again
 * changes nothing, and its host is the same. */
static void random_urls_are_cleaned(void **state)
{
    static const char alphabet[] = "@@::..[]%4/?#ab1U-";
    struct rng rng = rng_seeded(3);
    struct buffer room = {0}, again = {0}, name = {0};
    size_t cleaned = 0;
    for (int round = 0; round < 100000; round++) {
        char url[40] = "http://", form[DEJA_URL_ROOM(40)];
        const size_t len = 7 + rng_below(&rng, 20);
        for (size_t i = 7; i < len; i++)
            url[i] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
        deja_slice canon, clean, same;
        if (deja_url_canon(deja_url_profile(DEJA_URL_SAFE), (deja_slice){url, len}, form,
                           sizeof form, &canon, NULL) < 0 ||
            hostkey_clean(canon, &room, &clean) < 0)
            continue;
        cleaned += clean.data != canon.data;
        assert_false(hostkey_has_credentials(clean));
        const char *path = memchr((const char *)clean.data + 7, '/', clean.len - 7);
        assert_non_null(path);
        assert_false(has(ascii_between(clean.data, path), '@'));
        assert_int_equal(hostkey_clean(clean, &again, &same), DEJA_OK);
        assert_ptr_equal(same.data, clean.data);
        name.len = 0;
        assert_int_equal(hostkey_name(canon, &name), DEJA_OK);
        const size_t half = name.len;
        assert_int_equal(hostkey_name(clean, &name), DEJA_OK);
        assert_true(name.len == 2 * half && memcmp(name.data, name.data + half, half) == 0);
    }
    assert_true(cleaned > 1000);
    buffer_fini(&room);
    buffer_fini(&again);
    buffer_fini(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credentials_and_the_dot_of_the_root_are_removed),
        cmocka_unit_test(a_url_can_be_cleaned_in_place),
        cmocka_unit_test(a_url_without_a_host_is_refused),
        cmocka_unit_test(credentials_are_found),
        cmocka_unit_test(a_host_has_one_name),
        cmocka_unit_test(default_ports_are_the_same_host),
        cmocka_unit_test(random_urls_are_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
