/* test_gsb.c - Safe Browsing's canonical form: its published examples, and idempotence. */
#include "unit.h"

#include "canon.h"
#include "rng.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Also checks that the canonical form stays the same. */
static void assert_rows(const struct canon_row *row, size_t n)
{
    assert_canon_rows(dj_url_gsb, DEJA_URL_GSB, row, n);
    for (size_t i = 0; i < n; i++)
        if (row[i].want.len)
            assert_canon(dj_url_gsb, DEJA_URL_GSB, row[i].want, row[i].want);
}

/* All examples of "URLs and Hashing", Safe Browsing API version 4. */
static void the_published_examples_are_right(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://host/%25%32%35"), S("http://host/%25")},
        {S("http://host/%25%32%35%25%32%35"), S("http://host/%25%25")},
        {S("http://host/%2525252525252525"), S("http://host/%25")},
        {S("http://host/asdf%25%32%35asd"), S("http://host/asdf%25asd")},
        {S("http://host/%%%25%32%35asd%%"), S("http://host/%25%25%25asd%25%25")},
        {S("http://www.google.com/"), S("http://www.google.com/")},
        {S("http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/%77%77%77%2E%65"
           "%62%61%79%2E%63%6F%6D/"),
         S("http://168.188.99.26/.secure/www.ebay.com/")},
        {S("http://195.127.0.11/uploads/%20%20%20%20/.verify/"
           ".eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/"),
         S("http://195.127.0.11/uploads/%20%20%20%20/.verify/"
           ".eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/")},
        {S("http://host%23.com/"
           "%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B"),
         S("http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+")},
        {S("http://3279880203/blah"), S("http://195.127.0.11/blah")},
        {S("http://www.google.com/blah/.."), S("http://www.google.com/")},
        {S("www.google.com/"), S("http://www.google.com/")},
        {S("www.google.com"), S("http://www.google.com/")},
        {S("http://www.evil.com/blah#frag"), S("http://www.evil.com/blah")},
        {S("http://www.GOOgle.com/"), S("http://www.google.com/")},
        {S("http://www.google.com.../"), S("http://www.google.com/")},
        {S("http://www.google.com/foo\tbar\rbaz\n2"), S("http://www.google.com/foobarbaz2")},
        {S("http://www.google.com/q?"), S("http://www.google.com/q?")},
        {S("http://www.google.com/q?r?"), S("http://www.google.com/q?r?")},
        {S("http://www.google.com/q?r?s"), S("http://www.google.com/q?r?s")},
        {S("http://evil.com/foo#bar#baz"), S("http://evil.com/foo")},
        {S("http://evil.com/foo;"), S("http://evil.com/foo;")},
        {S("http://evil.com/foo?bar;"), S("http://evil.com/foo?bar;")},
        {S("http://\x01\x80.com/"), S("http://%01%80.com/")},
        {S("http://notrailingslash.com"), S("http://notrailingslash.com/")},
        {S("http://www.gotaport.com:1234/"), S("http://www.gotaport.com/")},
        {S("  http://www.google.com/  "), S("http://www.google.com/")},
        {S("http:// leadingspace.com/"), S("http://%20leadingspace.com/")},
        {S("http://%20leadingspace.com/"), S("http://%20leadingspace.com/")},
        {S("%20leadingspace.com/"), S("http://%20leadingspace.com/")},
        {S("https://www.securesite.com/"), S("https://www.securesite.com/")},
        {S("http://host.com/ab%23cd"), S("http://host.com/ab%23cd")},
        {S("http://host.com//twoslashes?more//slashes"),
         S("http://host.com/twoslashes?more//slashes")},
        /* The examples in its text. */
        {S("http://google.com/#frag"), S("http://google.com/")},
        {S("http://google.com"), S("http://google.com/")},
    };
    assert_rows(rows, LEN(rows));
}

/* A later edition of the page has rules for IPv6. */
static void addresses_have_one_spelling(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://[2001:0db8:0000::1]/"), S("http://[2001:db8::1]/")},
        {S("http://[::ffff:1.2.3.4]/"), S("http://1.2.3.4/")},
        {S("http://[64:ff9b::1.2.3.4]/"), S("http://1.2.3.4/")},
        {S("http://[2001:DB8:0:0:1:0:0:1]:443/x"), S("http://[2001:db8::1:0:0:1]/x")},
        {S("http://[1:0:3:4:5:6:7:8]/"), S("http://[1:0:3:4:5:6:7:8]/")},
        {S("http://[::]/"), S("http://[::]/")},
        {S("http://[0:0::0]/"), S("http://[::]/")},
        {S("http://[1::]/"), S("http://[1::]/")},
        {S("http://[::1]"), S("http://[::1]/")},
        {S("http://[::192.9.5.5]/ipng"), S("http://[::c009:505]/ipng")},
        {S("http://[1:2:3:4:5:6:7::]/"), S("http://[1:2:3:4:5:6:7:0]/")},
        {S("[2001:470:1:18::114]/a/b"), S("http://[2001:470:1:18::114]/a/b")},
        /* Brackets without an address: only converted to lower case. */
        {S("http://[FE80::1%25EN0]/"), S("http://[fe80::1%25en0]/")},
        {S("http://[1::2::3]/"), S("http://[1::2::3]/")},
        {S("http://[1:2:3:4:5:6:7:8::]/"), S("http://[1:2:3:4:5:6:7:8::]/")},
        {S("http://[:1:2]/"), S("http://[:1:2]/")},
        {S("http://[1:2:]/"), S("http://[1:2:]/")},
        {S("http://[12345::]/"), S("http://[12345::]/")},
        {S("http://[::1.2.3]/"), S("http://[::1.2.3]/")},
        {S("http://[::1.2.3.256]/"), S("http://[::1.2.3.256]/")},
        {S("http://[::01.2.3.4]/"), S("http://[::01.2.3.4]/")},
        {S("http://[::1.2.3.0x4]/"), S("http://[::1.2.3.0x4]/")},
        {S("http://[]/"), S("http://[]/")},
        {S("http://[::1"), S("http://[/")},
        {S("http://[::1]x:80/"), S("http://[::1]x/")},
        /* IPv4 in every base and number of parts. */
        {S("http://0x12.0x43.0x44.0x01"), S("http://18.67.68.1/")},
        {S("http://012.034.01.055/"), S("http://10.28.1.45/")},
        {S("http://12.0x12.01234/"), S("http://12.18.2.156/")},
        {S("http://0XC37F000B/"), S("http://195.127.0.11/")},
        {S("http://4294967295/"), S("http://255.255.255.255/")},
        {S("http://127.1/"), S("http://127.0.0.1/")},
        {S("http://1.2.3.4./"), S("http://1.2.3.4/")},
        {S("http://0/"), S("http://0.0.0.0/")},
        {S("http://1.2.65535/"), S("http://1.2.255.255/")},
        /* Text that looks like IPv4, but is not. */
        {S("http://4294967296/"), S("http://4294967296/")},
        {S("http://1.2.65536/"), S("http://1.2.65536/")},
        {S("http://256.1.1.1/"), S("http://256.1.1.1/")},
        {S("http://1.2.3.4.5/"), S("http://1.2.3.4.5/")},
        {S("http://08.1.1.1/"), S("http://08.1.1.1/")},
        {S("http://1.2.3.00x0/"), S("http://1.2.3.00x0/")},
        {S("http://99999999999999999999999999/"), S("http://99999999999999999999999999/")},
    };
    assert_rows(rows, LEN(rows));
}

static void hosts_are_reduced_to_their_name(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("HTTP://user:pass@Host:80/"), S("http://host/")},
        {S("http://a@b@c/"), S("http://c/")},
        {S("http://a:1:2/"), S("http://a/")},
        {S("http://google.com.:8080/foo.html"), S("http://google.com/foo.html")},
        {S("http://..a...b../"), S("http://a.b/")},
        {S("http://host?query"), S("http://host/?query")},
        {S("http://host?a@b/c"), S("http://host/?a@b/c")},
        {S("http://W!eird<>Ho$^.com/"), S("http://w!eird<>ho$^.com/")},
        {S("ftp://ftp.myfiles.com/"), S("ftp://ftp.myfiles.com/")},
        {S("http://host\\a/"), S("http://host\\a/")},
        {S("http://some%1bhost.com/%1b"), S("http://some%1Bhost.com/%1B")},
    };
    assert_rows(rows, LEN(rows));
}

/* Delimiters that appear by unescaping count as delimiters. */
static void the_url_is_unescaped_before_it_is_split(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http%3A%2F%2Fwackyurl.com:80/"), S("http://wackyurl.com/")},
        {S("http://a.com%2fb"), S("http://a.com/b")},
        {S("http://a.com%3fb//c"), S("http://a.com/?b//c")},
        {S("http://a.com/x%3f/../y"), S("http://a.com/x?/../y")},
        {S("http://me%40a.com%3a80/"), S("http://a.com/")},
        {S("http://a.com/b%2f%2e%2e%2fc"), S("http://a.com/c")},
        {S("http://a.com/%2%35%32%33"), S("http://a.com/%23")},
        {S("http://a.com/%\t41"), S("http://a.com/A")},
        {S("http://a.com/%09%0a%0d%00"), S("http://a.com/%09%0A%0D%00")},
        {S("http://a.com/\0"), S("http://a.com/%00")},
        {S("http://a.com/b%20 #frag"), S("http://a.com/b%20")},
        {S("\n \thttp://a.com/b \r "), S("http://a.com/b")},
        {S("http://a.com/%%4"), S("http://a.com/%25%254")},
        {S("http://a.com/%"), S("http://a.com/%25")},
        {S("http://a.com/%4/../1"), S("http://a.com/1")},
    };
    assert_rows(rows, LEN(rows));
}

static void dots_are_resolved_in_paths_only(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://a.com/./b"), S("http://a.com/b")},
        {S("http://a.com/b/."), S("http://a.com/b/")},
        {S("http://a.com/b/./"), S("http://a.com/b/")},
        {S("http://a.com/b/../c"), S("http://a.com/c")},
        {S("http://a.com/../../c/.."), S("http://a.com/")},
        {S("http://a.com/a//../b"), S("http://a.com/a/b")},
        {S("http://a.com//a//b///c////"), S("http://a.com/a/b/c/")},
        {S("http://a.com/foo/.././bar/./../foo.html"), S("http://a.com/foo.html")},
        {S("http://a.com/.../.b/..c"), S("http://a.com/.../.b/..c")},
        {S("http://a.com/?/../x/./y//z"), S("http://a.com/?/../x/./y//z")},
        {S("http://a.com/a b?c d"), S("http://a.com/a%20b?c%20d")},
        {S("http://a.com/\xc3\xa9?\xc3\xa9\x7f"), S("http://a.com/%C3%A9?%C3%A9%7F")},
    };
    assert_rows(rows, LEN(rows));
}

static void text_without_a_host_is_not_a_url(void **state)
{
    (void)state;
    const deja_slice rows[] = {
        {NULL, 0},
        S(""),
        S(" \t\n"),
        S(":"),
        S("#ref"),
        S("/blah"),
        S("//host/blah"),
        S("?query#ref"),
        S("/blah;param"),
        S("http://"),
        S("http://#ref"),
        S("http:///blah"),
        S("http://?query"),
        S("http://.../"),
        S("http://user@/"),
        S("http://:80/"),
        S("mailto:bryner@google.com"),
        S("http:www.google.com:8080/foo.html"),
        S("www.google.com:xxyy/foo.html:80"),
        S("javascript:void(0)"),
        S("http:/a"),
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_canon(dj_url_gsb, DEJA_URL_GSB, rows[i], S(""));
    const struct canon_row hosts[] = {
        {S("www.google.com:8080/foo.html"), S("http://www.google.com/foo.html")},
        {S("www.google.com:80"), S("http://www.google.com/")},
        {S("www.google.com:80?q"), S("http://www.google.com/?q")},
        {S("a_b:80x/"), S("http://a_b/")},
    };
    assert_rows(hosts, LEN(hosts));
}

static bool has_idna(void)
{
    struct canon c = canon_by(dj_url_gsb, DEJA_URL_GSB, S("http://\xc3\xbc.com/"));
    canon_free(&c);
    return c.rc != DEJA_ENOTSUP;
}

static void names_in_other_scripts_become_ascii(void **state)
{
    (void)state;
    if (!has_idna())
        skip();
    const struct canon_row rows[] = {
        {S("http://www.\xc3\xbcmlat.com/"), S("http://www.xn--mlat-zra.com/")},
        {S("http://www.%C3%9Cmlat.com:80/"), S("http://www.xn--mlat-zra.com/")},
        {S("http://\xe4\xbe\x8b\xe3\x80\x82\xe3\x80\x82jp"), S("http://xn--fsq.jp/")},
        {S("http://\xef\xbc\x91.2.3.4/"), S("http://1.2.3.4/")}, /* a full-width 1 */
        {S("http://fa\xc3\x9f.de/"), S("http://xn--fa-hia.de/")},
        /* Refused by IDNA, or not allowed in a name: the bytes stay. */
        {S("http://\xe2\x80\xa8.com/"), S("http://%E2%80%A8.com/")},
        {S("http://A\xef\xbc\x8f\xc3\xa9.com/"), S("http://a%EF%BC%8F%C3%A9.com/")},
        {S("http://\xc3\xa9@.com/"), S("http://com/")},
        {S("http://\xc3\xa9\0.com/"), S("http://%C3%A9%00.com/")},
        {S("http://\xc3\xa9!.com/"), S("http://%C3%A9!.com/")},
    };
    assert_rows(rows, LEN(rows));
}

/* Bytes that are not UTF-8 bypass IDNA. */
static void bytes_that_are_not_utf8_are_escaped(void **state)
{
    (void)state;
    const struct canon_row rows[] = {
        {S("http://\xc3.com/\xff"), S("http://%C3.com/%FF")},
        {S("http://\xed\xa0\x80.com/"), S("http://%ED%A0%80.com/")},
        {S("http://\xc0\xaf.com/"), S("http://%C0%AF.com/")},
    };
    assert_rows(rows, LEN(rows));
}

/* --- Hostile input --------------------------------------------------------- */

#define MANY 100000

static deja_slice repeated(char *room, const char *head, const char *unit, size_t n)
{
    struct dj_text t = dj_text_in(room, 4 * MANY + 64);
    dj_text_bytes(&t, head, strlen(head));
    for (size_t i = 0; i < n; i++)
        dj_text_bytes(&t, unit, strlen(unit));
    assert_false(t.short_of_room);
    return dj_text_slice(&t);
}

static void long_runs_take_one_pass(void **state)
{
    (void)state;
    static char in[4 * MANY + 64], want[4 * MANY + 64];
    static const struct {
        const char *head, *unit, *want_head, *want_unit;
    } rows[] = {
        {"http://a/", "/", "http://a/", ""},
        {"http://a/", "../", "http://a/", ""},
        {"http://a/", "./", "http://a/", ""},
        {"http://a/%", "25", "http://a/%25", ""},
        {"http://a/", "%", "http://a/", "%25"},
        {"http://a/", "b/", "http://a/", "b/"},
        {"http://a", ".b", "http://a", ".b"},
        {"http://a", "..", "http://a", ""},
        {"http://a/?", "//", "http://a/?", "//"},
        {"http://", "u@", NULL, NULL},
        {"http://a", ":1", "http://a", ""},
        {"http://[", ":", "http://[", ""},
        {"", "a", "http://", "a"},
        {"http://a.1", "9", "http://a.1", "9"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const deja_slice url = repeated(in, rows[i].head, rows[i].unit, MANY);
        deja_slice form = S("");
        if (rows[i].want_head) {
            form = repeated(want, rows[i].want_head, rows[i].want_unit, MANY);
            const char *const path = strchr(rows[i].want_head, '/');
            if (!path || !memchr(path + 2, '/', strlen(path + 2)))
                want[form.len++] = '/';
        }
        assert_canon(dj_url_gsb, DEJA_URL_GSB, url, form);
    }
}

/* Random texts made of the pieces that the rules treat, and random bytes. */
static void canonicalizing_twice_changes_nothing(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "http",
        "HTTPS",
        ":",
        "/",
        "//",
        ".",
        "..",
        "/../",
        "?",
        "#",
        "@",
        "%",
        "%2",
        "5",
        "%25",
        "%2f",
        "%3F",
        "%40",
        "%3a",
        "%23",
        "%2e",
        " ",
        "\t",
        "[",
        "]",
        "::",
        "1",
        "0x7f",
        "a",
        "B",
        "\xc3",
        "\xa9",
        "\xe3\x80\x82",
        "xn--",
        "-",
        "4.",
        "\xff",
        "%00",
        "%5b",
        "%5D",
        "1.2",
        "ffff",
        "_",
        "\xef\xbc\x8f",
    };
    struct rng r = rng_seeded(11);
    for (size_t round = 0; round < 60000; round++) {
        char in[256];
        struct dj_text t = dj_text_in(in, sizeof in);
        if (rng_below(&r, 2))
            dj_text_bytes(&t, "http://", 7);
        for (size_t n = rng_below(&r, 14); n-- > 0;) {
            const char *const piece = pieces[rng_below(&r, LEN(pieces))];
            if (rng_below(&r, 20) == 0)
                dj_text_byte(&t, (char)rng_next(&r));
            else
                dj_text_bytes(&t, piece, strlen(piece));
        }
        struct canon once = canon_by(dj_url_gsb, DEJA_URL_GSB, dj_text_slice(&t));
        if (once.rc == DEJA_OK) {
            const char *const form = once.form.data;
            for (size_t i = 0; i < once.form.len; i++)
                assert_true(form[i] > 0x20 && form[i] < 0x7f && form[i] != '#');
            assert_canon(dj_url_gsb, DEJA_URL_GSB, once.form, once.form);
        } else {
            assert_true(once.rc == DEJA_ENOTURL || once.rc == DEJA_ENOTSUP);
        }
        canon_free(&once);
    }
}

static void too_little_room_is_an_error(void **state)
{
    (void)state;
    assert_small_room_is_said(dj_url_gsb, DEJA_URL_GSB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_examples_are_right),
        cmocka_unit_test(addresses_have_one_spelling),
        cmocka_unit_test(hosts_are_reduced_to_their_name),
        cmocka_unit_test(the_url_is_unescaped_before_it_is_split),
        cmocka_unit_test(dots_are_resolved_in_paths_only),
        cmocka_unit_test(text_without_a_host_is_not_a_url),
        cmocka_unit_test(names_in_other_scripts_become_ascii),
        cmocka_unit_test(bytes_that_are_not_utf8_are_escaped),
        cmocka_unit_test(long_runs_take_one_pass),
        cmocka_unit_test(canonicalizing_twice_changes_nothing),
        cmocka_unit_test(too_little_room_is_an_error),
    };
    return cmocka_run_group_tests_name("unit.gsb", tests, NULL, NULL);
}
