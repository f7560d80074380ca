/* test_links.c - links in well-formed and malformed pages. */
#include "crawler/http/links.h"
#include "tools/base/buffer.h"
#include "unit.h"

static const struct links_options plain = {.max_len = 2000, .max_cpu = -1};
static const struct links_options with_embeds = {.max_len = 2000, .max_cpu = -1, .embeds = true};
static const struct links_options with_nofollow = {
    .max_len = 2000, .max_cpu = -1, .nofollow = true};

static int collect(void *ctx, deja_slice url)
{
    struct buffer *all = ctx;
    assert_true(buffer_add(all, url.data, url.len));
    assert_true(buffer_add(all, " ", 1));
    return DEJA_OK;
}

/* The links of a page at http://h/d/p, each followed by a space. */
static void links_are(const struct links_options *o, const char *html, const char *want)
{
    static const char at[] = "http://h/d/p";
    struct buffer all = {0};
    struct links_count count;
    assert_int_equal(links_extract((deja_slice){html, strlen(html)},
                                   (deja_slice){at, sizeof at - 1}, o, collect, &all, &count),
                     DEJA_OK);
    assert_true(buffer_add(&all, "", 1));
    assert_string_equal(all.data, want);
    buffer_fini(&all);
}

static void links_of_every_element_are_found(void **state)
{
    links_are(&plain, "<a href=a>x</a><a>no</a><a href='?q#f'>y</a>",
              "http://h/d/a http://h/d/p?q#f ");
    links_are(&plain, "<map><area href=/z></map><iframe src=//o/i></iframe>",
              "http://h/z http://o/i ");
    links_are(&plain, "<frameset><frame src=f1><frame src='f 2'></frameset>",
              "http://h/d/f1 http://h/d/f%202 ");
    links_are(&plain, "<link rel=canonical href=c><link rel='next' href=n>",
              "http://h/d/c http://h/d/n ");
}

static void embedded_files_are_optional(void **state)
{
    static const char html[] =
        "<link rel='stylesheet' href=s.css><link rel='shortcut icon' href=i><img src=i.png>"
        "<script src=s.js></script><link rel=preconnect href=//p/><object data=o></object>";
    links_are(&plain, html, "");
    links_are(&with_embeds, html,
              "http://h/d/s.css http://h/d/i http://h/d/i.png http://h/d/s.js http://h/d/o ");
}

static void the_first_base_applies_to_all_links(void **state)
{
    links_are(
        &plain,
        "<a href=a></a><base target=x><base href='/other/'><base href='//no/'><a href=b></a>",
        "http://h/other/a http://h/other/b ");
    links_are(&plain, "<base href='::: no'><a href=a></a>", "http://h/d/a ");
}

static void meta_refresh_is_understood_in_every_spelling(void **state)
{
    links_are(&plain, "<meta http-equiv=refresh content='5; url=n'>", "http://h/d/n ");
    links_are(&plain, "<META HTTP-EQUIV=Refresh CONTENT=\"0;URL='n?a=1;b'\">",
              "http://h/d/n?a=1;b ");
    links_are(&plain, "<meta http-equiv=refresh content='0, n'>", "http://h/d/n ");
    links_are(&plain, "<meta http-equiv=refresh content='5'>", "");
    links_are(&plain, "<meta http-equiv=refresh content=';'>", "");
    links_are(&plain, "<meta http-equiv=refresh content='0; url = \"open'>", "http://h/d/open ");
}

static void nofollow_is_obeyed_for_links_and_pages(void **state)
{
    static const char link[] = "<a rel='external NoFollow' href=a></a><a href=b></a>";
    static const char page[] = "<meta name=robots content='noindex,nofollow'><a href=a></a>";
    links_are(&plain, link, "http://h/d/b ");
    links_are(&with_nofollow, link, "http://h/d/a http://h/d/b ");
    links_are(&plain, page, "");
    links_are(&with_nofollow, page, "http://h/d/a ");
    links_are(&plain, "<meta name=Deja content=none><a href=a></a>", "");
    links_are(&plain, "<meta name=googlebot content=none><a href=a></a>", "http://h/d/a ");
}

static void links_are_found_in_malformed_pages(void **state)
{
    links_are(&plain, "<a href=a<b>&lt;</a><a href=\"x&amp;y", "http://h/d/a%3Cb ");
    links_are(&plain, "<p><a href='a'><a href='b'><table><a href=c><tr>",
              "http://h/d/a http://h/d/b http://h/d/c ");
    links_are(&plain, "<a href=' \n /x\ty '>", "http://h/xy ");
    links_are(&plain, "<!-- <a href=no> --><script>'<a href=no>'</script><a href=?a&amp;b>",
              "http://h/d/p?a&b ");
    links_are(&plain, "", "");
    links_are(&plain, "\xff\xfe<a href=\xe9>", "http://h/d/%EF%BF%BD ");
}

static void invalid_and_long_urls_are_counted(void **state)
{
    static const char html[] = "<a href='http://[x/'></a><a href=mailto:a@b></a>";
    struct links_count count;
    struct buffer all = {0};
    const struct links_options brief = {.max_len = 30, .max_cpu = -1};
    assert_int_equal(links_extract((deja_slice){html, sizeof html - 1},
                                   (deja_slice){"http://h/", 9}, &brief, collect, &all, &count),
                     DEJA_OK);
    assert_int_equal(count.bad, 1);
    assert_int_equal(count.found, 1); /* other schemes are URLs too; the caller selects its own */
    static const char tall[] = "<a href=0123456789012345678901234567890123456789></a>"
                               "<a href=0123456789012345678901234></a>";
    assert_int_equal(links_extract((deja_slice){tall, sizeof tall - 1},
                                   (deja_slice){"http://h/", 9}, &brief, collect, &all, &count),
                     DEJA_OK);
    assert_int_equal(count.bad, 2);
    buffer_fini(&all);
}

static int refuse(void *ctx, deja_slice url)
{
    ++*(int *)ctx;
    return DEJA_EIO;
}

static void a_callback_error_ends_the_walk(void **state)
{
    static const char html[] = "<a href=a></a><a href=b></a>";
    struct links_count count;
    int calls = 0;
    assert_int_equal(links_extract((deja_slice){html, sizeof html - 1},
                                   (deja_slice){"http://h/", 9}, &plain, refuse, &calls, &count),
                     DEJA_EIO);
    assert_int_equal(calls, 1);
}

/* Endless open tags: gumbo alone would take very long and then overflow the stack. */
static void an_endlessly_nested_page_is_given_up(void **state)
{
    const struct links_options o = {.max_len = 2000, .max_cpu = 0.2};
    const struct links_options small = {.max_len = 2000, .max_cpu = -1, .max_memory = 1 << 20};
    struct buffer html = {0}, all = {0};
    struct links_count count;
    for (int i = 0; i < 400000; i++)
        assert_true(buffer_text(&html, "<div>"));
    const deja_slice url = {"http://h/", 9};
    assert_int_equal(links_extract(buffer_slice(&html), url, &o, collect, &all, &count),
                     DEJA_EFULL);
    assert_int_equal(links_extract(buffer_slice(&html), url, &small, collect, &all, &count),
                     DEJA_EFULL);
    html.len = 5000 * 5;
    assert_true(buffer_text(&html, "<a href=x>"));
    assert_int_equal(links_extract(buffer_slice(&html), url, &plain, collect, &all, &count),
                     DEJA_OK);
    assert_int_equal(count.found, 1);
    buffer_fini(&html);
    buffer_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_every_element_are_found),
        cmocka_unit_test(embedded_files_are_optional),
        cmocka_unit_test(the_first_base_applies_to_all_links),
        cmocka_unit_test(meta_refresh_is_understood_in_every_spelling),
        cmocka_unit_test(nofollow_is_obeyed_for_links_and_pages),
        cmocka_unit_test(links_are_found_in_malformed_pages),
        cmocka_unit_test(invalid_and_long_urls_are_counted),
        cmocka_unit_test(a_callback_error_ends_the_walk),
        cmocka_unit_test(an_endlessly_nested_page_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
