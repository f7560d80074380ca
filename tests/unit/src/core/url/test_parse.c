/* test_parse.c - parsing: the parts of a URL, and text that is not a URL. */
#include "unit.h"

#include "core/url/parse.h"
#include <stdio.h>
#include <string.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void append(char *out, size_t cap, const char *before, deja_slice part)
{
    const size_t n = strlen(out);
    snprintf(out + n, cap - n, "%s%.*s", before, (int)part.len,
             part.len ? (const char *)part.data : "");
}

/* scheme|user|password|host|port|path|?query|#fragment; the last two only if present. */
static void describe(const char *url, char *out, size_t cap)
{
    struct dj_url u;
    char port[16] = "";
    out[0] = '\0';
    if (dj_parse_url((deja_slice){url, strlen(url)}, &u) < 0) {
        snprintf(out, cap, "no");
        return;
    }
    append(out, cap, "", u.scheme);
    append(out, cap, "|", u.username);
    append(out, cap, "|", u.password);
    append(out, cap, u.has_host ? "|" : "|-", u.host);
    if (u.port != DJ_NO_PORT)
        snprintf(port, sizeof port, "%d", u.port);
    append(out, cap, "|", (deja_slice){port, strlen(port)});
    append(out, cap, u.opaque ? "|:" : "|", u.path);
    if (u.has_query)
        append(out, cap, "|?", u.query);
    if (u.has_fragment)
        append(out, cap, "|#", u.fragment);
}

static void a_url_is_split_into_its_parts(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://user:pw@host:8080/a/b?q=1#f", "http|user|pw|host|8080|/a/b|?q=1|#f"},
        {"http://host", "http|||host||"},
        {"http://host?", "http|||host|||?"},
        {"http://host#", "http|||host|||#"},
        {"http://host/?a?b#c#d?e", "http|||host||/|?a?b|#c#d?e"},
        {"http://host/#?", "http|||host||/|#?"},
        /* Any number of slashes and backslashes, even none. */
        {"http:host/p", "http|||host||/p"},
        {"http:/host/p", "http|||host||/p"},
        {"http:\\\\host\\p", "http|||host||\\p"},
        {"http:////host/p", "http|||host||/p"},
        {"http:\\/\\host", "http|||host||"},
        /* The last @ ends the credentials, their first colon ends the name. */
        {"http://a@b@c/", "http|a@b||c||/"},
        {"http://a:b:c@d/", "http|a|b:c|d||/"},
        {"http://a:b@c:d@e:1/", "http|a|b@c:d|e|1|/"},
        {"http://@h/", "http|||h||/"},
        {"http://:@h/", "http|||h||/"},
        {"http://h/@x", "http|||h||/@x"},
        {"http://h?@x", "http|||h|||?@x"},
        {"http://h\\@x", "http|||h||\\@x"},
        /* Ports */
        {"http://h:80/", "http|||h||/"},
        {"http://h:443/", "http|||h|443|/"},
        {"https://h:443/", "https|||h||/"},
        {"wss://h:443", "wss|||h||"},
        {"ws://h:80", "ws|||h||"},
        {"ftp://h:21", "ftp|||h||"},
        {"http://h:/", "http|||h||/"},
        {"http://h:0/", "http|||h|0|/"},
        {"http://h:000080/", "http|||h||/"},
        {"http://h:00000000000000000000081/", "http|||h|81|/"},
        {"http://h:65535/", "http|||h|65535|/"},
        {"http://[::1]:81/", "http|||[::1]|81|/"},
        {"http://[::1]", "http|||[::1]||"},
        {"HtTpS://H:443", "HtTpS|||H||"},
        /* Other schemes */
        {"mailto:a@b?subject=x", "mailto|||-||:a@b|?subject=x"},
        {"data:,a#b", "data|||-||:,a|#b"},
        {"javascript:", "javascript|||-||:"},
        {"gopher://h:70/x", "gopher|||h|70|/x"},
        {"foo://h", "foo|||h||"},
        {"foo:///p", "foo|||||/p"},
        {"foo://h\\p", "foo|||h\\p||"},
        {"foo:/p", "foo|||-||/p"},
        {"file:///etc", "file|||||/etc"},
        {"a+b-c.1:x", "a+b-c.1|||-||:x"},
        {"localhost:8080/x", "localhost|||-||:8080/x"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char got[256];
        describe(rows[i][0], got, sizeof got);
        assert_string_equal(got, rows[i][1]);
    }
}

static void text_that_is_not_a_url_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "host",
        "www.example.com/x",
        "/path",
        "//host/path",
        ":",
        "://host",
        "1http://host",
        "ht tp://host",
        "-x:y",
        "http",
        "http:",
        "http://",
        "http:///",
        "http://?q",
        "http://#f",
        "http://:80/",
        "http://u@/",
        "http://u:p@:80/",
        "http://h:65536/",
        "http://h:99999999999999999999/",
        "http://h:8a/",
        "http://h:-1/",
        "http://h: 80/",
        "http://h:80:80/",
        "foo://u@/",
        "foo://:1/",
        "foo://h:x/",
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char got[256];
        describe(rows[i], got, sizeof got);
        assert_string_equal(got, "no");
    }
}

static void assert_cleaned(const char *in, size_t len, const char *want)
{
    char room[64];
    const deja_slice got = dj_parse_clean((deja_slice){in, len}, room);
    assert_int_equal(got.len, strlen(want));
    if (got.len)
        assert_memory_equal(got.data, want, got.len);
}

static void surrounding_space_and_line_ends_are_removed(void **state)
{
    (void)state;
    assert_cleaned("http://a", 8, "http://a");
    assert_cleaned("  http://a \r\n", 12, "http://a");
    assert_cleaned("\0\x01\x1f a\x7f\x10", 7, "a\x7f");
    assert_cleaned("ht\ntp\t:/\r\n/a b", 14, "http://a b");
    assert_cleaned("\t\n", 2, "");
    assert_cleaned("", 0, "");
    assert_cleaned(" \0 ", 3, "");
    assert_int_equal(dj_parse_clean((deja_slice){NULL, 0}, NULL).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_split_into_its_parts),
        cmocka_unit_test(text_that_is_not_a_url_is_refused),
        cmocka_unit_test(surrounding_space_and_line_ends_are_removed),
    };
    return cmocka_run_group_tests_name("unit.parse", tests, NULL, NULL);
}
