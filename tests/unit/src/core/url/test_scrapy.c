/* test_scrapy.c - the form of w3lib's canonicalize_url.  The expected values come from w3lib
 * 2.1.1 on Python 3.11; url.w3lib_agrees compares with the installed version. */
#include "unit.h"

#include "canon.h"
#include "core/url/lowercase.h"
#include "rng.h"
#include <stdio.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void assert_rows(const struct canon_row *row, size_t n)
{
    assert_canon_rows(dj_url_scrapy, DEJA_URL_SCRAPY, row, n);
}

static void queries_are_sorted_and_reencoded(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://www.example.com/do?c=3&b=5&b=2&a=50"),
         S("http://www.example.com/do?a=50&b=2&b=5&c=3")},
        {S("http://a/?c&=d&&;e=f;="), S("http://a/?=&=d&c=&e=f")},
        {S("http://a/?a=1&a=&a&a=0&a=1"), S("http://a/?a=&a=&a=0&a=1&a=1")},
        {S("http://a/?b=a=c&b=a%3Dc&b=a"), S("http://a/?b=a&b=a%3Dc&b=a%3Dc")},
        {S("http://a/?%61=1&a=0&%41=2&A=3"), S("http://a/?A=2&A=3&a=0&a=1")},
        {S("http://a/?a=%00&a&a=%01"), S("http://a/?a=&a=%00&a=%01")},
        {S("http://a/?q=b%a3"), S("http://a/?q=b%A3")},
        {S("http://a/?x=%2541&y=%zz&z=%"), S("http://a/?x=%2541&y=%25zz&z=%25")},
        {S("http://a/?c+d=e%2Bf+g%20h"), S("http://a/?c+d=e%2Bf+g+h")},
        {S("http://a/?!$'()*,:@|[]{}^`<>\"\\~_-./?"),
         S("http://a/?%21%24%27%28%29%2A%2C%3A%40%7C%5B%5D%7B%7D%5E%60%3C%3E%22%5C~_-.%2F%3F=")},
        {S("http://a/?\xc3\xa9=1&z=1&%C3%A9=0"), S("http://a/?z=1&%C3%A9=0&%C3%A9=1")},
        {S("http://a/?"), S("http://a/")},
        {S("http://a/?&&;"), S("http://a/")},
        {S("http://a/?b=2&a=1#c=0?d"), S("http://a/?a=1&b=2")},
        {S("http://a?b&a"), S("http://a/?a=&b=")},
    };
    assert_rows(rows, LEN(rows));
}

static void paths_are_unescaped_and_escaped(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://a"), S("http://a/")},
        {S("http://a/r%c3%a9sum%C3%A9/\xc3\xa9"), S("http://a/r%C3%A9sum%C3%A9/%C3%A9")},
        {S("http://a/%a3"), S("http://a/%A3")},
        {S("http://a/a b/%7Ec%20d"), S("http://a/a%20b/~c%20d")},
        {S("http://a/%zz/%/%4/%%41/%2541"), S("http://a/%zz/%/%4/%A/%41")},
        {S("http://a/a%2fb%2Fc%3fd%3Fe"), S("http://a/a%2Fb%2Fc%3Fd%3Fe")},
        {S("http://a/%%2f%2%3f"), S("http://a/%%2F%2%3F")},
        {S("http://a/%23%3b%25"), S("http://a/%23;%")},
        {S("http://a/./a/../b//c"), S("http://a/./a/../b//c")},
        {S("http://a/!$&'()*+,;=:@|[]{}^`<>\"\\~_-."),
         S("http://a/!$&'()*+,;=:@|[]%7B%7D%5E%60%3C%3E%22%5C~_-.")},
        {S("http://a/a;b/c;d;e?f;g"), S("http://a/a;b/c;d;e?f=&g=")},
        {S("http://a/;"), S("http://a/")},
        {S("http://a/a;%2f%7e b"), S("http://a/a;%2f%7e%20b")},
        {S("x://a/b;c%7e"), S("x://a/b;c~")},
        {S("ftp:a;type=i"), S("ftp:///a;type=i")},
        {S("tel:+1-2;ext=3"), S("tel:+1-2;ext=3")},
        {S("http://a/%00"), S("http://a/%00")},
    };
    assert_rows(rows, LEN(rows));
}

static void any_part_may_be_missing(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S(""), S("/")},
        {S("path"), S("path")},
        {S("?b=2&a=1"), S("/?a=1&b=2")},
        {S("#frag"), S("/")},
        {S(";params"), S("/;params")},
        {S("/p;q?b&a"), S("/p;q?a=&b=")},
        {S("//host/path"), S("//host/path")},
        {S("//host:"), S("//host/")},
        {S("///path"), S("/path")},
        {S("////path"), S("//path")},
        {S("http:"), S("http:///")},
        {S("http:path"), S("http:///path")},
        {S("http:///path"), S("http:///path")},
        {S("http:////path"), S("http://path")},
        {S("http://:80/"), S("http://:80/")},
        {S("http://:/"), S("http:///")},
        {S("http://@/"), S("http://@/")},
        {S("file:etc"), S("file:///etc")},
        {S("WS:x"), S("ws:///x")},
        {S("mailto:me@example.com?subject=b&body=a"), S("mailto:me@example.com?body=a&subject=b")},
        {S("javascript:void(0)"), S("javascript:void(0)")},
        {S("localhost:8080/x"), S("localhost:8080/x")},
        {S("www.example.com/x?b&a"), S("www.example.com/x?a=&b=")},
        {S("a:b:c"), S("a:b:c")},
        {S("1a://host/"), S("1a://host/")},
        {S("+a:b"), S("+a:b")},
        {S(":x"), S(":x")},
        {S("\xc3\xa9:b"), S("%C3%A9:b")},
        {S("A+b-C.9://HOST/Path"), S("a+b-c.9://host/Path")},
    };
    assert_rows(rows, LEN(rows));
}

static void network_locations_are_lowercased(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://USER:Pass@WWW.Example.COM:8080/UPPER?UP=per"),
         S("http://user:pass@www.example.com:8080/UPPER?UP=per")},
        {S("http://www.example.com:80/"), S("http://www.example.com:80/")},
        {S("http://www.example.com:::/"), S("http://www.example.com/")},
        {S("http://ex%61mple.com/%61"), S("http://ex%61mple.com/a")},
        {S("http://exa mple.com/"), S("http://exa mple.com/")},
        {S("http://..example..com./"), S("http://..example..com./")},
        {S("http://a\\b/c"), S("http://a\\b/c")},
        {S("http://a@b@c/"), S("http://a@b@c/")},
        {S("http://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.com/"),
         S("http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/")},
    };
    assert_rows(rows, LEN(rows));
}

static void brackets_must_hold_an_address(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://[::1]/"), S("http://[::1]/")},
        {S("http://[FE80::A]:80/"), S("http://[fe80::a]:80/")},
        {S("http://[::1]:/"), S("http://[::1]/")},
        {S("http://[::1]x/"), S("")},
        {S("http://x[::1]/"), S("")},
        {S("http://[::1/"), S("")},
        {S("http://::1]/"), S("")},
        {S("http://]::1[/"), S("")},
        {S("http://[1:2:3:4:5:6:7:8]/"), S("http://[1:2:3:4:5:6:7:8]/")},
        {S("http://[1:2:3:4:5:6:7:8:9]/"), S("")},
        {S("http://[::1.2.3.4]/"), S("http://[::1.2.3.4]/")},
        {S("http://[::1.2.3.04]/"), S("")},
        {S("http://[1.2.3.4]/"), S("")},
        {S("http://[fe80::1%25eth0]/"), S("http://[fe80::1%25eth0]/")},
        {S("http://[fe80::1%eth0]/"), S("http://[fe80::1%eth0]/")},
        {S("http://[fe80::1%]/"), S("")},
        {S("http://[v1.x]/"), S("http://[v1.x]/")},
        {S("http://[v.x]/"), S("")},
        {S("http://[v1.]/"), S("")},
        {S("http://[V1.x]/"), S("")},
        {S("http://[]/"), S("")},
        {S("http://[a]@example.com/"), S("")},
        {S("http://[a]@[::1]/"), S("http://[a]@[::1]/")},
        {S("http://[a]@v1.x:80/"), S("http://[a]@v1.x:80/")},
        {S("http://a/[b"), S("http://a/[b")},
    };
    assert_rows(rows, LEN(rows));
}

static void surrounding_space_and_line_ends_are_removed(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S(" http://a/b "), S("http://a/b")},
        {S("\x1fhttp://a/b\0"), S("http://a/b")},
        {S("ht\ttp:/\n/a\r/b"), S("http://a/b")},
        {S("http://a/\tb?c\n=d"), S("http://a/b?c=d")},
        {S(" \t\n"), S("/")},
        {S("http\0://a/"), S("http%00://a/")},
        {S("http://a\0b/\0?\0"), S("http://a\0b/%00")},
        {S("\xc2\xa0http://a/"), S("%C2%A0http://a/")},
    };
    assert_rows(rows, LEN(rows));
}

static void bytes_that_are_not_text_are_not_a_url(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://a/\xff"), S("")},    {S("\xed\xa0\x80"), S("")},  {S("\xc0\xaf"), S("")},
        {S("\xf4\x90\x80\x80"), S("")}, {S("http://a/\xc3"), S("")},
    };
    assert_rows(rows, LEN(rows));
}

static bool has_idna(void)
{
    struct canon c = canon_by(dj_url_scrapy, DEJA_URL_SCRAPY, S("http://\xc3\xbc.com/"));
    canon_free(&c);
    return c.rc != DEJA_ENOTSUP;
}

static void names_in_other_scripts_become_ascii(void **state)
{
    (void)state;
    if (!has_idna())
        skip();
    const struct canon_row rows[] = {
        {S("http://b\xc3\xbc"
           "cher.de/"),
         S("http://xn--bcher-kva.de/")},
        {S("http://B\xc3\x9c"
           "CHER.DE:80"),
         S("http://xn--bcher-kva.de:80/")},
        {S("http://me:pw@www.b\xc3\xbc"
           "cher.de:8080/"),
         S("http://me:pw@www.xn--bcher-kva.de:8080/")},
        {S("http://me@b\xc3\xbc"
           "cher:80/"),
         S("http://xn--me@bcher:80-whb/")},
        {S("http://-\xc3\xbc-.de"), S("http://xn-----xka.de/")},
        {S("http://fa\xc3\x9f.de"), S("http://fass.de/")},
        {S("http://"
           "\xe4\xbe\x8b\xe3\x81\x88\xe3\x80\x82\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88\xef\xbd\xa1"),
         S("http://xn--r8jz45g.xn--zckzah./")},
        {S("http://\xd0\x9f\xd0\xa0\xd0\x98\xd0\x9c\xd0\x95\xd0\xa0.\xd0\xa0\xd0\xa4/"),
         S("http://xn--e1afmkfd.xn--p1ai/")},
        {S("http://"
           "\xef\xbd\x85\xef\xbd\x98\xef\xbd\x81\xef\xbd\x8d\xef\xbd\x90\xef\xbd\x8c\xef\xbd\x85."
           "com"),
         S("http://example.com/")},
        {S("http://\xd7\x9e"
           "1.com"),
         S("http://\xd7\x9e"
           "1.com/")},
        {S("http://\xd7\x9e"
           "b.com"),
         S("http://\xd7\x9e"
           "b.com/")},
        {S("http://\xc3\xbc%41.com"), S("http://xn--%41-goa.com/")},
        {S("http://B\xc3\xbc"
           "cher..DE"),
         S("http://b\xc3\xbc"
           "cher..de/")},
        {S("http://\xc3\x89..\xc3\x80:"), S("http://\xc3\xa9..\xc3\xa0/")},
        {S("http://\xc4\xb0..x"), S("http://i\xcc\x87..x/")},
        {S("http://"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc.DE"),
         S("http://"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
           "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
           "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc.de/")},
        {S("http://a\xef\xbc\x8f"
           "b\xc3\xbc.com"),
         S("")},
        {S("http://\xe2\x84\x80.com"), S("")},
        {S("http://i\xe2\x9d\xa4\xef\xb8\x8f.ws"), S("http://xn--i-7iq.ws/")},
        {S("http://xn--\xc3\xbc.de"), S("http://xn--\xc3\xbc.de/")},
        {S("http://\xc2\xad.com"), S("http://\xc2\xad.com/")},
        {S("http://a\xc2\xad@\xc3\xbc.com"), S("http://xn--a@-yka.com/")},
    };
    assert_rows(rows, LEN(rows));
}

/* w3lib is not idempotent here, and neither are we. */
static void canonicalizing_twice_may_change_it_again(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://a/%2541"), S("http://a/%41")}, {S("http://a/%41"), S("http://a/A")},
        {S("http:////path"), S("http://path")},   {S("http://path"), S("http://path/")},
        {S("http://a/%252f"), S("http://a/%2f")}, {S("http://a/%2f"), S("http://a/%2F")},
    };
    assert_rows(rows, LEN(rows));
}

static void lowercasing_follows_unicode(void **state)
{
    (void)state;
    static const uint32_t rows[][2] = {
        {'A', 'a'},         {'z', 'z'},         {'@', '@'},         {0x7f, 0x7f},
        {0xc0, 0xe0},       {0xd7, 0xd7},       {0xdf, 0xdf},       {0x100, 0x101},
        {0x101, 0x101},     {0x178, 0xff},      {0x3a3, 0x3c3},     {0x410, 0x430},
        {0x10a0, 0x2d00},   {0x1e9e, 0xdf},     {0x2126, 0x3c9},    {0x4e00, 0x4e00},
        {0x10400, 0x10428}, {0x1e921, 0x1e943}, {0x1e922, 0x1e922}, {0x10ffff, 0x10ffff},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_int_equal(dj_lowercase(rows[i][0]), rows[i][1]);
}

/* --- Hostile input --------------------------------------------------------- */

#define MANY 100000

/* n pairs with the same name in descending order are sorted into ascending order. */
static void many_pairs_are_sorted(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, MANY};
    static char in[16 * MANY], want[16 * MANY];
    for (size_t i = 0; i < LEN(sizes); i++) {
        struct dj_text url = dj_text_in(in, sizeof in), form = dj_text_in(want, sizeof want);
        dj_text_bytes(&url, "http://a/?", 10);
        dj_text_bytes(&form, "http://a/?", 10);
        for (size_t n = 0; n < sizes[i]; n++) {
            char pair[32];
            int len = snprintf(pair, sizeof pair, "%sk=%06zu", n ? ";" : "", sizes[i] - n);
            dj_text_bytes(&url, pair, (size_t)len);
            len = snprintf(pair, sizeof pair, "%sk=%06zu", n ? "&" : "", n + 1);
            dj_text_bytes(&form, pair, (size_t)len);
        }
        assert_canon(dj_url_scrapy, DEJA_URL_SCRAPY, dj_text_slice(&url), dj_text_slice(&form));
    }
}

/* The contract that canon_by checks, for a hundred thousand of each piece. */
static void long_runs_keep_to_their_room(void **state)
{
    (void)state;
    static const char *const heads[] = {"", "http:", "http://", "http://a/", "http://a/?", "//"};
    static const char *const units[] = {
        "/",
        ".",
        "a.",
        ":",
        "@",
        "[",
        "%",
        "%25",
        "%41",
        "&",
        ";",
        "=",
        "a;",
        "\x01&",
        "+",
        " ",
        "\xc3\xa9",
        "\xc3\xa9.",
        "\xe3\x8c\x96.",
        "\xc3\x84..",
        "\xe3\x80\x82",
        "\xd7\x90",
        "-\xc3\xa9",
        "@\xc3\xa9.",
        "\xcc\x81",
    };
    static char in[5 * MANY];
    for (size_t h = 0; h < LEN(heads); h++)
        for (size_t u = 0; u < LEN(units); u++) {
            struct dj_text url = dj_text_in(in, sizeof in);
            dj_text_bytes(&url, heads[h], strlen(heads[h]));
            for (size_t i = 0; i < MANY / 4; i++)
                dj_text_bytes(&url, units[u], strlen(units[u]));
            struct canon c = canon_by(dj_url_scrapy, DEJA_URL_SCRAPY, dj_text_slice(&url));
            assert_true(c.rc == DEJA_OK || c.rc == DEJA_ENOTURL || c.rc == DEJA_ENOTSUP);
            canon_free(&c);
        }
}

static void any_bytes_are_safe(void **state)
{
    (void)state;
    struct rng r = rng_seeded(3);
    static const char alphabet[] = "http:/?#[]@%&;=+. aZ0\t\0\xc3\xa9\xe3\x80\x82-";
    for (size_t round = 0; round < 40000; round++) {
        char in[80];
        const size_t len = rng_below(&r, sizeof in), from = rng_below(&r, 2) ? 7 : 0;
        memcpy(in, "http://", 7);
        for (size_t i = from; i < len; i++)
            in[i] = alphabet[rng_below(&r, sizeof alphabet - 1)];
        struct canon c = canon_by(dj_url_scrapy, DEJA_URL_SCRAPY, (deja_slice){in, len});
        assert_true(c.rc == DEJA_OK || c.rc == DEJA_ENOTURL || c.rc == DEJA_ENOTSUP);
        canon_free(&c);
    }
}

static void too_little_room_is_an_error(void **state)
{
    (void)state;
    assert_small_room_is_said(dj_url_scrapy, DEJA_URL_SCRAPY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_are_sorted_and_reencoded),
        cmocka_unit_test(paths_are_unescaped_and_escaped),
        cmocka_unit_test(any_part_may_be_missing),
        cmocka_unit_test(network_locations_are_lowercased),
        cmocka_unit_test(brackets_must_hold_an_address),
        cmocka_unit_test(surrounding_space_and_line_ends_are_removed),
        cmocka_unit_test(bytes_that_are_not_text_are_not_a_url),
        cmocka_unit_test(names_in_other_scripts_become_ascii),
        cmocka_unit_test(canonicalizing_twice_may_change_it_again),
        cmocka_unit_test(lowercasing_follows_unicode),
        cmocka_unit_test(many_pairs_are_sorted),
        cmocka_unit_test(long_runs_keep_to_their_room),
        cmocka_unit_test(any_bytes_are_safe),
        cmocka_unit_test(too_little_room_is_an_error),
    };
    return cmocka_run_group_tests_name("unit.scrapy", tests, NULL, NULL);
}
