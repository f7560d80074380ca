/* test_safe.c - the safe and crawl profiles: which URLs are merged, and which must not be. */
#include "unit.h"

#include "core/url/idna.h"
#include "urls.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void assert_canon(uint32_t profile, const char *url, const char *want)
{
    char *got = canon_of(profile, url);
    if (strcmp(got, want) != 0)
        fail_msg("%s is %s, not %s", url, got, want);
    char *again = canon_of(profile, got);
    assert_string_equal(again, got);
    free(again);
    free(got);
}

static void assert_table(uint32_t profile, const char *const rows[][2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_canon(profile, rows[i][0], rows[i][1]);
}

/* --- safe --------------------------------------------------------------- */

static void every_rule_has_its_example(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        /* RFC 3986 6.2.2: case, percent encoding, dots */
        {"HTTP://www.EXAMPLE.com/", "http://www.example.com/"},
        {"http://a/%c3%bc", "http://a/%C3%BC"},
        {"http://a/%7Efoo/%41%2d", "http://a/~foo/A-"},
        {"http://a/b/./c/../d", "http://a/b/d"},
        {"eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "example://a/b/c/%7Bfoo%7D"},
        /* 6.2.3: the scheme's own rules */
        {"http://example.com", "http://example.com/"},
        {"http://example.com:/", "http://example.com/"},
        {"http://example.com:80/", "http://example.com/"},
        {"https://example.com:443?q", "https://example.com/?q"},
        /* fragments are never sent to the server */
        {"http://a/b#c", "http://a/b"},
        {"http://a#", "http://a/"},
        {"http://a/?#", "http://a/?"},
        /* WHATWG: white space, slashes, credentials, ports */
        {" \t http://a/b\r\n", "http://a/b"},
        {"http://a/b\n\tc", "http://a/bc"},
        {"h\nttp://a/", "http://a/"},
        {"http:a/b", "http://a/b"},
        {"http:/a/b", "http://a/b"},
        {"http:\\\\a\\b\\..\\c?\\d", "http://a/c?\\d"},
        {"http://////a", "http://a/"},
        {"http://@a/", "http://a/"},
        {"http://:@a/", "http://a/"},
        {"http://u:@a/", "http://u@a/"},
        {"http://:p@a/", "http://:p@a/"},
        {"http://u:p@a/", "http://u:p@a/"},
        {"http://u@v:p:q@a/", "http://u%40v:p%3Aq@a/"},
        {"http://%75:%3a@a/", "http://u:%3A@a/"},
        {"http://a:00080/", "http://a/"},
        {"http://a:0008080/", "http://a:8080/"},
        /* dots, in every spelling */
        {"http://a/b/.", "http://a/b/"},
        {"http://a/b/..", "http://a/"},
        {"http://a/..", "http://a/"},
        {"http://a/../../b", "http://a/b"},
        {"http://a/b/%2e%2E/c", "http://a/c"},
        {"http://a/b/.%2e/c", "http://a/c"},
        {"http://a/b/%2e/c", "http://a/b/c"},
        {"http://a/...", "http://a/..."},
        {"http://a/%2e%2e%2e/..", "http://a/"},
        {"http://a/b//../c", "http://a/b/c"},
        {"http://a/b/..//c", "http://a//c"},
        {"http://a/%2e%2e%2f", "http://a/..%2F"}, /* a segment with an encoded slash */
        /* encoding */
        {"http://a/ \"<>^`{}", "http://a/%20%22%3C%3E%5E%60%7B%7D"},
        {"http://a/|[]!$&'()*+,;=:@", "http://a/|[]!$&'()*+,;=:@"},
        {"http://a/? \"<>'`{}|^", "http://a/?%20%22%3C%3E%27`{}|^"},
        {"http://a/\xc3\xbc?\xc3\xbc", "http://a/%C3%BC?%C3%BC"},
        {"http://a/\xff\xfe", "http://a/%FF%FE"},
        {"http://a/\x01\x7f", "http://a/%01%7F"},
        {"http://a/%", "http://a/%"},
        {"http://a/%zz%4", "http://a/%zz%4"},
        {"http://a/%4%31", "http://a/%4%31"},
        {"http://a/%2541", "http://a/%2541"},
        /* hosts */
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://[2001:DB8::0:1]:80/", "http://[2001:db8::1]/"},
        {"http://ex%41mple.com/", "http://example.com/"},
        {"http://a./", "http://a./"},
        /* other schemes */
        {"MAILTO:Joe@Example.COM", "mailto:Joe@Example.COM"},
        {"mailto:a%40b%2ec", "mailto:a%40b.c"},
        {"mailto:a#b", "mailto:a"},
        {"data:text/plain,a/../b %c3", "data:text/plain,a/../b%20%C3"},
        {"data:,a #b", "data:,a%20"},
        {"javascript:alert(1)//..", "javascript:alert(1)//.."},
        {"gopher://HOST:070/a/../b c", "gopher://host:70/b%20c"},
        {"foo://h", "foo://h"},
        {"foo://h?q'#f", "foo://h?q'"},
        {"foo:/a/./b", "foo:/a/b"},
        {"foo:/..//h/x", "foo:/.//h/x"},
        {"foo:/a/..//h/x", "foo:/.//h/x"},
        {"foo:///a", "foo:///a"},
        {"foo://h//", "foo://h//"},
        {"foo://h/a\\..\\b", "foo://h/a\\..\\b"},
        {"file:///C:/a/../b", "file:///C:/b"},
        {"x:", "x:"},
        {"localhost:8080/a/../b", "localhost:8080/a/../b"},
    };
    assert_table(DEJA_URL_SAFE, rows, LEN(rows));
}

static void hosts_in_other_scripts_equal_their_ascii_form(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://B\xc3\xbc"
         "cher.example/",
         "http://xn--bcher-kva.example/"},
        {"http://xn--bcher-kva.example", "http://xn--bcher-kva.example/"},
        {"http://fa\xc3\x9f.example/", "http://xn--fa-hia.example/"},
        {"http://fa%C3%9F.example/\xc3\x9f", "http://xn--fa-hia.example/%C3%9F"},
        {"http://\xef\xbc\xa7o.example/", "http://go.example/"},
        {"http://\xff/", NOT_A_URL},
    };
    if (!dj_idna_here())
        skip();
    assert_table(DEJA_URL_SAFE, rows, LEN(rows));
}

static void text_that_is_not_a_url_is_returned_unchanged(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        " ",
        "a",
        "www.example.com",
        "//a/b",
        "/a",
        "?q",
        "http://",
        "https:///",
        "http://a b/",
        "http://a:99999/",
        "http://a:b/",
        "http://u@/",
        "http://[::1/",
        "http://a%00b/",
        "http://1.2.3.4.5/",
        "http://256.256.256.256/",
        "http://a<b/",
        "http://a|b",
        "foo://a b/",
        "ht!tp://a/",
    };
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_CRAWL; profile++)
        for (size_t i = 0; i < LEN(rows); i++) {
            char room[DEJA_URL_ROOM(64)];
            const deja_slice url = bytes_of(rows[i]);
            deja_slice canon;
            assert_int_equal(
                deja_url_canon(deja_url_profile(profile), url, room, sizeof room, &canon, NULL),
                DEJA_ENOTURL);
            assert_ptr_equal(canon.data, url.data);
            assert_int_equal(canon.len, url.len);
        }
}

static void a_nul_is_an_ordinary_byte(void **state)
{
    (void)state;
    const deja_slice url = {"http://a/b\0c?\0", 14};
    char *got = canon_slice(deja_url_profile(DEJA_URL_SAFE), url);
    assert_string_equal(got, "http://a/b%00c?"); /* a control character at the end is stripped */
    free(got);
}

static void a_small_room_is_refused(void **state)
{
    (void)state;
    char room[DEJA_URL_ROOM(10)];
    deja_slice canon;
    assert_int_equal(deja_url_canon(deja_url_profile(DEJA_URL_SAFE), bytes_of("http://a/."), room,
                                    sizeof room - 1, &canon, NULL),
                     DEJA_ESPACE);
}

/* Each pair is two pages for some server. */
static const char *const apart[][2] = {
    {"http://a/", "https://a/"},
    {"http://a/", "http://a:81/"},
    {"http://a/", "http://a./"},
    {"http://a/", "http://www.a/"},
    {"http://a/", "http://a/?"},
    {"http://a/?", "http://a/?&"},
    {"http://a/b", "http://a/b/"},
    {"http://a/b", "http://a//b"},
    {"http://a/b", "http://a/B"},
    {"http://a/b", "http://a/b;"},
    {"http://a/b", "http://a/b?"},
    {"http://a/b%2Fc", "http://a/b/c"},
    {"http://a/b%5Cc", "http://a/b\\c"},
    {"http://a/b%3Fc", "http://a/b?c"},
    {"http://a/b%23c", "http://a/b"},
    {"http://a/b%3Bc", "http://a/b;c"},
    {"http://a/b%40c", "http://a/b@c"},
    {"http://a/b%2Bc", "http://a/b+c"},
    {"http://a/b+c", "http://a/b%20c"},
    {"http://a/%25", "http://a/%"},
    {"http://a/%2541", "http://a/%41"},
    {"http://a/%4%31", "http://a/%41"},
    {"http://a/%%34%31", "http://a/%41"},
    {"http://a/%%34%31", "http://a/%%41"},
    {"http://a/%00", "http://a/"},
    {"http://a/\xff", "http://a/\xfe"}, /* invalid UTF-8 sequences stay distinct */
    {"http://a/\xff", "http://a/\xef\xbf\xbd"},
    {"http://a/\xc3\xbc", "http://a/u\xcc\x88"},
    {"http://a/\xc3\xbc", "http://a/\xfc"},
    {"http://a/%7C", "http://a/|"},
    {"http://a/..%2Fb", "http://a/b"},
    {"http://a/...", "http://a/"},
    {"http://a/%2e%2e%2f", "http://a/"},
    {"http://a/b/..", "http://a/b"},
    {"http://a/?a=1&b=2", "http://a/?b=2&a=1"},
    {"http://a/?a=1&a=2", "http://a/?a=2&a=1"},
    {"http://a/?a", "http://a/?a="},
    {"http://a/?a&", "http://a/?a"},
    {"http://a/?&a", "http://a/?a"},
    {"http://a/?a=%26b", "http://a/?a=&b"},
    {"http://a/?a=%2B", "http://a/?a=+"},
    {"http://a/?a/../b", "http://a/?b"},
    {"http://a/?A=1", "http://a/?a=1"},
    {"http://a/?utm_source=x", "http://a/"},
    {"http://a/b;jsessionid=1", "http://a/b"},
    {"http://u@a/", "http://a/"},
    {"http://u:p@a/", "http://u:q@a/"},
    {"http://u@a/", "http://U@a/"},
    {"http://u%3Ap@a/", "http://u:p@a/"},
    {"http://1.2.3.4/", "http://1.2.3.5/"},
    {"http://[::1]/", "http://[::2]/"},
    {"http://fass.example/", "http://fa\xc3\x9f.example/"},
    {"http://xn--4ca/", "http://xn--tda/"},
    {"mailto:a@b", "mailto:A@b"},
    {"data:,a/./b", "data:,a/b"},
    {"foo:/.//h/x", "foo://h/x"},
    {"foo:a", "foo:/a"},
    {"foo:/a", "foo:///a"},
    {"foo://h", "foo://h/"},
    {"foo://h/a\\b", "foo://h/a/b"},
    {"file:///a", "file://a/"},
    {"ws://a/", "http://a/"},
};

/* Each pair is one page for every server. */
static const char *const together[][2] = {
    {"http://a", "http://a/"},
    {"HTTP://A:80", "http://a/#x"},
    {"http://a/b#c", "http://a/b#d"},
    {"http://a/%41", "http://a/A"},
    {"http://a/%C3%BC", "http://a/%c3%bc"},
    {"http://a/\xc3\xbc", "http://a/%c3%bc"},
    {"http://a/b c", "http://a/b%20c"},
    {"http://a/b/../c", "http://a/c"},
    {"http://a/b/%2e%2e/c", "http://a/c"},
    {"http:\\\\a\\b", "http://a/b"},
    {" http://a/\n", "http://a/"},
    {"http://@a/", "http://a/"},
    {"http://u:@a/", "http://u@a/"},
    {"http://0x7f000001/", "http://127.0.0.1/"},
    {"http://[0:0::1]/", "http://[::1]/"},
    {"http://a/?it's", "http://a/?it%27s"}, /* what browsers send */
};

static bool same_form(uint32_t profile, const char *a, const char *b)
{
    char *x = canon_of(profile, a), *y = canon_of(profile, b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static void safe_separates_urls_that_a_server_can_distinguish(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(apart); i++)
        if (same_form(DEJA_URL_SAFE, apart[i][0], apart[i][1]))
            fail_msg("%s and %s are one", apart[i][0], apart[i][1]);
}

static void safe_merges_urls_that_no_server_can_distinguish(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(together); i++)
        for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_CRAWL; profile++)
            if (!same_form(profile, together[i][0], together[i][1]))
                fail_msg("%s and %s are two", together[i][0], together[i][1]);
}

/* --- crawl -------------------------------------------------------------- */

static void crawl_drops_and_sorts(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://a/?b=1&a=2", "http://a/?a=2&b=1"},
        {"http://a/?a=2&a=1", "http://a/?a=2&a=1"},
        {"http://a/?utm_source=x&id=1", "http://a/?id=1"},
        {"http://a/?utm_source=x", "http://a/"},
        {"http://a/?", "http://a/"},
        {"http://a/?&&", "http://a/"},
        {"http://a/?a&&b&", "http://a/?a&b"},
        {"http://a/?PHPSESSID=x&p=2", "http://a/?p=2"},
        {"http://a/b;jsessionid=1?c", "http://a/b?c"},
        {"http://a/b;%6Asessionid=1/c", "http://a/b/c"},
        {"http://a/b/..;jsessionid=1/c", "http://a/c"}, /* two dots remain */
        {"http://a/b;jsessionid=1/../c", "http://a/c"},
        {"http://a?b#c", "http://a/?b"},
        {"foo://a/;jsessionid=1?b&a", "foo://a/;jsessionid=1?b&a"}, /* only for http and similar
                                                                     * schemes */
        {"mailto:a?b&a&utm_source=x", "mailto:a?b&a&utm_source=x"},
    };
    assert_table(DEJA_URL_CRAWL, rows, LEN(rows));
}

/* As documented: a server could distinguish these. */
static void crawl_merges_urls_that_servers_rarely_distinguish(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://a/?a=1&b=2", "http://a/?b=2&a=1"},
        {"http://a/?gclid=1", "http://a/?gclid=2"},
        {"http://a/?a&&b", "http://a/?a&b"},
        {"http://a/?", "http://a/"},
        {"http://a/b;jsessionid=1", "http://a/b;jsessionid=2"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        assert_true(same_form(DEJA_URL_CRAWL, rows[i][0], rows[i][1]));
        assert_false(same_form(DEJA_URL_SAFE, rows[i][0], rows[i][1]));
    }
}

/* --- Any bytes ---------------------------------------------------------- */

static void assert_settled(uint32_t profile, deja_slice url)
{
    const deja_url_rules *rules = deja_url_profile(profile);
    const size_t cap = DEJA_URL_ROOM(url.len), again_cap = DEJA_URL_ROOM(3 * url.len + 256);
    char *room = malloc(cap), *again = malloc(again_cap);
    deja_slice canon, same;
    assert_non_null(room);
    assert_non_null(again);
    if (deja_url_canon(rules, url, room, cap, &canon, NULL) == DEJA_OK) {
        assert_true(canon.len <= 3 * url.len + 256);
        assert_int_equal(deja_url_canon(rules, canon, again, again_cap, &same, NULL), DEJA_OK);
        if (same.len != canon.len || memcmp(same.data, canon.data, canon.len) != 0)
            fail_msg("%.*s becomes %.*s", (int)canon.len, (const char *)canon.data, (int)same.len,
                     (const char *)same.data);
    }
    free(room);
    free(again);
}

static void a_canonical_form_is_canonical(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "http://user:pw@www.example.com:8080/a/./b/../c;jsessionid=1?b=1&a=%7e#f",
        "https://b\303\274cher.example/%2e%2e/x?utm_source=a&z&y", /* u with two dots */
        "http://[1:0::2.3.4.5]/%4%31%c3?%%34&&a=1",
        "http://0x7f.1:80/..;jsessionid=2/%",
        "foo:/a/..//b?c#d",
        "mailto:joe@example.com?subject=a b",
    };
    struct rng r = rng_seeded(2024);
    for (int round = 0; round < 12000; round++) {
        char url[160];
        const char *seed = seeds[rng_below(&r, LEN(seeds))];
        memcpy(url, seed, strlen(seed));
        const size_t len = mutate_url(&r, url, strlen(seed), sizeof url);
        assert_settled(DEJA_URL_SAFE, (deja_slice){url, len});
        assert_settled(DEJA_URL_CRAWL, (deja_slice){url, len});
    }
    for (size_t i = 0; i < LEN(apart); i++)
        for (int j = 0; j < 2; j++) {
            assert_settled(DEJA_URL_SAFE, bytes_of(apart[i][j]));
            assert_settled(DEJA_URL_CRAWL, bytes_of(apart[i][j]));
        }
}

/* A hundred thousand of each construct that could be slow; quadratic code would not finish. */
static void long_urls_take_linear_time(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "/a", "/..",      "/a/..", "%2e%2e/", "&b=1&a", "@",  ":", "%4", "%31", ";jsessionid=1",
        "\\", "\xc3\xbc", "?",     ".",       "[",      "1.", "\t"};
    for (size_t i = 0; i < LEN(pieces); i++)
        for (int where = 0; where < 3; where++) {
            static const char *const begin[] = {"http://a", "http://a/", "http://a/?"};
            const size_t times = 100000, len = strlen(pieces[i]);
            char *url = malloc(16 + times * len);
            assert_non_null(url);
            size_t n = strlen(begin[where]);
            memcpy(url, begin[where], n);
            for (size_t j = 0; j < times; j++, n += len)
                memcpy(url + n, pieces[i], len);
            assert_settled(DEJA_URL_CRAWL, (deja_slice){url, n});
            free(url);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_its_example),
        cmocka_unit_test(hosts_in_other_scripts_equal_their_ascii_form),
        cmocka_unit_test(text_that_is_not_a_url_is_returned_unchanged),
        cmocka_unit_test(a_nul_is_an_ordinary_byte),
        cmocka_unit_test(a_small_room_is_refused),
        cmocka_unit_test(safe_separates_urls_that_a_server_can_distinguish),
        cmocka_unit_test(safe_merges_urls_that_no_server_can_distinguish),
        cmocka_unit_test(crawl_drops_and_sorts),
        cmocka_unit_test(crawl_merges_urls_that_servers_rarely_distinguish),
        cmocka_unit_test(a_canonical_form_is_canonical),
        cmocka_unit_test(long_urls_take_linear_time),
    };
    return cmocka_run_group_tests_name("unit.safe", tests, NULL, NULL);
}
