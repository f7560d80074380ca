/* test_resolve.c - links resolved against the page that contains them. */
#include "unit.h"

#include "urls.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void assert_resolved(const char *base, const char *link, const char *want)
{
    char *got = resolved(base, link);
    if (strcmp(got, want) != 0)
        fail_msg("%s in %s is %s, not %s", link, base, got, want);
    free(got);
}

#define RFC_BASE "http://a/b/c/d;p?q"

static void the_examples_of_rfc_3986_hold(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        /* 5.4.1 normal */
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        /* 5.4.2 abnormal */
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g#s/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_resolved(RFC_BASE, rows[i][0], rows[i][1]);
}

/* Browsers differ: a host always has a path, and the page's own scheme without slashes is ignored. */
static void browsers_differ_from_the_rfc_in_two_examples(void **state)
{
    (void)state;
    assert_resolved(RFC_BASE, "//g", "http://g/");         /* RFC: http://g   */
    assert_resolved(RFC_BASE, "http:g", "http://a/b/c/g"); /* RFC: http:g     */
    assert_resolved(RFC_BASE, "HTTP:/g", "http://a/g");
    assert_resolved(RFC_BASE, "http:", "http://a/b/c/d;p?q");
    assert_resolved(RFC_BASE, "http://g", "http://g/");
    assert_resolved(RFC_BASE, "https:g", "https://g/"); /* a different scheme: g is a host */
}

static void links_are_read_as_browsers_read_them(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"http://a/b/", "\\x\\y", "http://a/x/y"},
        {"http://a/b/", "\\\\h\\y", "http://h/y"},
        {"http://a/b/", "///h/y", "http://h/y"},
        {"http://a/b/", " c\n/d\t ", "http://a/b/c/d"},
        {"http://a/b/", "a b?c d'e#f g`", "http://a/b/a%20b?c%20d%27e#f%20g%60"},
        {"http://a/b/", "%2e%2E/x", "http://a/x"},
        {"http://a/b/", "%41%7e%c3", "http://a/b/%41%7e%c3"}, /* not normalized */
        {"http://a/b/", "\xc3\xbc", "http://a/b/%C3%BC"},
        {"http://a/b/c/..", "d", "http://a/b/d"}, /* the base is parsed first */
        {"http://a/b/c/%2e%2e", "..", "http://a/"},
        {"http://a", "b", "http://a/b"},
        {"http://a", "", "http://a/"},
        {"http://a?q", "#f", "http://a/?q#f"},
        {"http://a?q#g", "", "http://a/?q"},
        {"http://a/?q", "?", "http://a/?"},
        {"http://a/b", "#", "http://a/b#"},
        {"http://u:p@a:81/b", "c", "http://u:p@a:81/c"},
        {"http://u:p@a:81/b", "//h/c", "http://h/c"},
        {"HTTP://A:80/b", "c", "http://a/c"},
        {"http://a/b", "//u@h:99/", "http://u@h:99/"},
        {"http://a/b", "HTTPS://H:443?x", "https://h/?x"},
        {"http://a/b//c", "../d", "http://a/b/d"},
        {"http://a/b", "/c//d/../e", "http://a/c//e"},
        {"http://a/b", "//[1:0::2]/", "http://[1::2]/"},
        {"http://a/b", "//0x7f.1/", "http://127.0.0.1/"},
        {"ws://a/b", "c", "ws://a/c"},
        {"not a url", "http://a/b", "http://a/b"},
        /* Other schemes */
        {"foo://h/a/b", "c", "foo://h/a/c"},
        {"foo://H/a/b", "/c", "foo://H/c"},
        {"foo://h", "c", "foo://h/c"},
        {"foo://h", "?q", "foo://h?q"},
        {"foo://h/a", "\\c", "foo://h/\\c"},
        {"foo:/a/b", "..//c", "foo:/.//c"},
        {"foo:/a/b", "//h/c", "foo://h/c"},
        {"file:///a/b", "c", "file:///a/c"},
        {"mailto:a@b", "#f", "mailto:a@b#f"},
        {"mailto:a@b?q", "#f", "mailto:a@b?q#f"},
        {"http://a/", "mailto:a@b", "mailto:a@b"},
        {"http://a/", "javascript:void(0)", "javascript:void(0)"},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_resolved(rows[i][0], rows[i][1], rows[i][2]);
}

static void links_without_a_target_are_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "a"},
        {"not a url", "a"},
        {"not a url", "#f"},
        {"http:///", "a"},
        {"mailto:a@b", "c"},
        {"mailto:a@b", ""},
        {"mailto:a@b", "?q"},
        {"http://a b/", "c"},
        {"http://a/", "http://"},
        {"http://a/", "//"},
        {"http://a/", "//h:99999/"},
        {"http://a/", "//a b/"},
        {"http://a/", "https:"},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_resolved(rows[i][0], rows[i][1], NOT_A_URL);
}

static void a_small_room_is_refused(void **state)
{
    (void)state;
    char room[DEJA_URL_ROOM(10)];
    deja_slice url;
    assert_int_equal(deja_url_resolve(bytes_of("http://a/"), bytes_of("b"), room,
                                      DEJA_URL_ROOM(10) - 1, &url, NULL),
                     DEJA_ESPACE);
    assert_int_equal(deja_url_resolve(bytes_of("http://a/"), bytes_of("b"), room,
                                      DEJA_URL_ROOM(10), &url, NULL),
                     DEJA_OK);
}

/* A resolved link resolves to itself against any base. */
static void a_resolved_link_is_absolute(void **state)
{
    (void)state;
    struct rng r = rng_seeded(8);
    for (int round = 0; round < 5000; round++) {
        char link[96] = "//u:p@h.example:81/a/./b/../c?d=e&f#g";
        const size_t from = (size_t)rng_below(&r, 12);
        const size_t len = mutate_url(&r, link + from, strlen(link + from), sizeof link - 14);
        const deja_slice base = bytes_of("http://x/y/z?q");
        char room[DEJA_URL_ROOM(128)], again[DEJA_URL_ROOM(512)];
        deja_slice url, same;
        if (deja_url_resolve(base, (deja_slice){link + from, len}, room, sizeof room, &url, NULL) <
            0)
            continue;
        assert_int_equal(deja_url_resolve(bytes_of("https://else/where"), url, again, sizeof again,
                                          &same, NULL),
                         DEJA_OK);
        assert_int_equal(same.len, url.len);
        assert_memory_equal(same.data, url.data, url.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_rfc_3986_hold),
        cmocka_unit_test(browsers_differ_from_the_rfc_in_two_examples),
        cmocka_unit_test(links_are_read_as_browsers_read_them),
        cmocka_unit_test(links_without_a_target_are_refused),
        cmocka_unit_test(a_small_room_is_refused),
        cmocka_unit_test(a_resolved_link_is_absolute),
    };
    return cmocka_run_group_tests_name("unit.resolve", tests, NULL, NULL);
}
