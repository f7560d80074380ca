/* test_robots.c - robots.txt: groups, the longest match, wildcards, spellings, limits. */
#include "crawler/http/robots.h"
#include "unit.h"

#include <stdio.h>

static struct robots parsed(const char *text)
{
    struct robots r = {0};
    assert_int_equal(robots_parse(&r, (deja_slice){text, strlen(text)}, "deja"), DEJA_OK);
    return r;
}

static bool allows(const char *text, const char *path)
{
    struct robots r = parsed(text);
    const bool answer = robots_allows(&r, (deja_slice){path, strlen(path)});
    robots_fini(&r);
    return answer;
}

/* One rule against one path. */
static bool forbids(const char *pattern, const char *path)
{
    char text[200];
    snprintf(text, sizeof text, "user-agent: *\ndisallow: %s\n", pattern);
    return !allows(text, path);
}

static void without_a_rule_everything_is_allowed(void **state)
{
    assert_true(allows("", "/"));
    assert_true(allows("User-agent: *\nDisallow:\n", "/a"));
    assert_true(allows("<html>not found</html>", "/a"));
    assert_true(allows("disallow: /\n", "/a")); /* belongs to no group */
}

static void our_own_group_overrides_the_star(void **state)
{
    static const char text[] = "user-agent: *\ndisallow: /\n\n"
                               "user-agent: other\nUser-Agent: DEJA/2.0\ndisallow: /x\n";
    assert_true(allows(text, "/a"));
    assert_false(allows(text, "/x/1"));
    /* "dejavu" is another crawler.  A group for deja without rules allows everything. */
    assert_false(allows("user-agent: dejavu\nallow: /\n\nuser-agent: *\ndisallow: /\n", "/"));
    assert_true(allows("user-agent: *\ndisallow: /\n\nuser-agent: deja\n", "/"));
}

static void groups_with_the_same_name_are_merged(void **state)
{
    static const char text[] = "user-agent: deja\ndisallow: /a\n\n"
                               "user-agent: *\ndisallow: /b\n\n"
                               "user-agent: deja\ndisallow: /c\n";
    assert_false(allows(text, "/a"));
    assert_true(allows(text, "/b"));
    assert_false(allows(text, "/c"));
}

static void unknown_lines_do_not_end_a_group(void **state)
{
    assert_false(
        allows("user-agent: deja\nsitemap: http://x/s\nuser-agent: b\ndisallow: /a\n", "/a"));
    assert_false(allows("user-agent: deja\n\n# c\nclean-param: x\ndisallow: /a # why\n", "/a"));
}

static void the_longest_pattern_decides(void **state)
{
    static const char text[] = "user-agent: *\nallow: /p\ndisallow: /\n";
    assert_true(allows(text, "/page"));
    assert_false(allows(text, "/other"));
    assert_true(allows("user-agent: *\nallow: /folder\ndisallow: /folder\n", "/folder/page"));
    assert_true(allows("user-agent: *\ndisallow: /folder\nallow: /folder\n", "/folder/page"));
    /* Examples from the RFC and from Google. */
    assert_false(allows("user-agent: *\nallow: /page\ndisallow: /*.htm\n", "/page.htm"));
    assert_true(allows("user-agent: *\nallow: /$\ndisallow: /\n", "/"));
    assert_false(allows("user-agent: *\nallow: /$\ndisallow: /\n", "/page.htm"));
    assert_true(allows("user-agent: *\nallow: /example/page/\ndisallow: /example/page/"
                       "disallowed.gif\n",
                       "/example/page/"));
}

static void stars_and_dollars_are_wildcards(void **state)
{
    assert_true(forbids("/*.gif$", "/a/b.gif"));
    assert_false(forbids("/*.gif$", "/a/b.gif?x"));
    assert_true(forbids("/*.gif$", "/a.gif.gif"));
    assert_true(forbids("/*/x", "/a/b/x/y"));
    assert_true(forbids("*", "/"));
    assert_true(forbids("/fish*", "/fish"));
    assert_true(forbids("/a*b*c", "/a-b-b-c"));
    assert_false(forbids("/a*b*c$", "/a-b-c-b"));
    assert_true(forbids("/a$b", "/a$b") == false); /* in the middle, a dollar matches nothing */
    assert_true(forbids("/a%24b", "/a$b"));
    assert_true(forbids("/a%2ab", "/a*b"));
    assert_false(forbids("/a%2ab", "/axb"));
    assert_true(forbids("/**a", "/bba"));
    assert_true(forbids("/a*$", "/a"));
    assert_true(forbids("/a*$", "/abc"));
    assert_true(forbids("/ab*b$", "/abb"));
    assert_false(forbids("/ab*b$", "/ab")); /* text after the star cannot overlap text before it */
    assert_false(forbids("/ab*bc*c$", "/abc"));
    assert_false(forbids("/long*er", "/long"));
    assert_true(forbids("*aab", "/aaaab"));
    assert_true(forbids("$", "/") == false);
}

static void all_spellings_of_a_path_match(void **state)
{
    assert_true(forbids("/%7ejoe/", "/~joe/index.html"));
    assert_true(forbids("/~joe/", "/%7Ejoe/index.html"));
    assert_true(forbids("/\xe3\x83\x84", "/%E3%83%84"));
    assert_true(forbids("/%e3%83%84", "/%E3%83%84/x"));
    assert_false(forbids("/a%2fb", "/a/b")); /* an escaped slash is not a slash */
    assert_true(forbids("/a%2fb", "/a%2Fb"));
    assert_true(forbids("/a%", "/a%"));
    assert_false(forbids("/Fish", "/fish"));
}

static void every_line_end_and_byte_order_mark_is_accepted(void **state)
{
    assert_false(allows("\xef\xbb\xbfuser-agent: *\rdisallow: /a\r", "/a"));
    assert_false(allows("user-agent: *\r\n\r\ndisallow: /a", "/a"));
    assert_false(allows("user-agent : *\n\t disallow\t:\t/a \t\n", "/a"));
}

static void robots_txt_itself_is_always_allowed(void **state)
{
    assert_true(allows("user-agent: *\ndisallow: /\n", "/robots.txt"));
}

static void delays_belong_to_groups(void **state)
{
    struct robots r = parsed("user-agent: *\ncrawl-delay: 7\n\nuser-agent: deja\n"
                             "crawl-delay: 1.25\n");
    assert_true(robots_delay(&r) == 1.25);
    robots_fini(&r);
    r = parsed("user-agent: *\ncrawl-delay: 7\nuser-agent: a\ncrawl-delay: 9\n");
    assert_true(robots_delay(&r) == 7);
    robots_fini(&r);
    r = parsed("user-agent: *\ncrawl-delay: soon\n");
    assert_true(robots_delay(&r) == 0);
    robots_fini(&r);
    r = parsed("user-agent: *\ncrawl-delay: 999999999999\n");
    assert_true(robots_delay(&r) == 86400);
    robots_fini(&r);
}

static void sitemaps_are_listed(void **state)
{
    struct robots r = parsed("Sitemap: http://a/s.xml\nuser-agent: x\nsitemap:http://b/\n");
    assert_int_equal(r.sites.len, sizeof "http://a/s.xml" + sizeof "http://b/");
    assert_string_equal(r.sites.data, "http://a/s.xml");
    assert_string_equal(r.sites.data + sizeof "http://a/s.xml", "http://b/");
    robots_fini(&r);
}

static void rules_beyond_the_size_limit_are_ignored(void **state)
{
    struct buffer text = {0};
    assert_true(buffer_text(&text, "user-agent: *\ndisallow: /early\n"));
    while (text.len < ROBOTS_MAX)
        assert_true(buffer_text(&text, "# long\n"));
    assert_true(buffer_text(&text, "\ndisallow: /late\n"));
    struct robots r = {0};
    assert_int_equal(robots_parse(&r, buffer_slice(&text), "deja"), DEJA_OK);
    assert_false(robots_allows(&r, (deja_slice){"/early", 6}));
    assert_true(robots_allows(&r, (deja_slice){"/late", 5}));
    robots_fini(&r);
    buffer_fini(&text);
}

/* 500 KiB of patterns that match almost everywhere.  Long ones would take quadratic time if tried
 * at every position; many short ones cost 44 MB of comparisons even if not. */
static struct robots hostile(size_t pattern)
{
    struct buffer text = {0};
    struct robots r = {0};
    assert_true(buffer_text(&text, "user-agent: *\n"));
    while (text.len + pattern < ROBOTS_MAX) {
        assert_true(buffer_text(&text, "disallow: *"));
        for (size_t i = 0; i < pattern; i++)
            assert_true(buffer_text(&text, "a"));
        assert_true(buffer_text(&text, "b\n"));
    }
    assert_int_equal(robots_parse(&r, buffer_slice(&text), "deja"), DEJA_OK);
    buffer_fini(&text);
    return r;
}

static void the_work_per_answer_is_limited(void **state)
{
    char path[2000] = "/";
    memset(path + 1, 'a', sizeof path - 1);
    struct robots r = hostile(1000); /* few rules: within the limit */
    assert_true(robots_allows(&r, (deja_slice){path, sizeof path}));
    robots_fini(&r);
    r = hostile(10);
    assert_true(robots_allows(&r, (deja_slice){path, 100}));
    /* Beyond the limit, the answer is unknown: be polite and say no. */
    assert_false(robots_allows(&r, (deja_slice){path, sizeof path}));
    robots_fini(&r);
}

/* Rules without stars are cheap; some sites have tens of thousands. */
static void many_plain_rules_are_fine(void **state)
{
    struct buffer text = {0};
    struct robots r = {0};
    char line[64], path[2000] = "/page/";
    assert_true(buffer_text(&text, "user-agent: *\n"));
    for (int i = 0; i < 20000; i++) {
        snprintf(line, sizeof line, "disallow: /page/%d\n", i);
        assert_true(buffer_text(&text, line));
    }
    assert_int_equal(robots_parse(&r, buffer_slice(&text), "deja"), DEJA_OK);
    memset(path + 6, 'a', sizeof path - 6);
    assert_true(robots_allows(&r, (deja_slice){path, sizeof path}));
    assert_false(robots_allows(&r, (deja_slice){"/page/19999", 11}));
    robots_fini(&r);
    buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rule_everything_is_allowed),
        cmocka_unit_test(our_own_group_overrides_the_star),
        cmocka_unit_test(groups_with_the_same_name_are_merged),
        cmocka_unit_test(unknown_lines_do_not_end_a_group),
        cmocka_unit_test(the_longest_pattern_decides),
        cmocka_unit_test(stars_and_dollars_are_wildcards),
        cmocka_unit_test(all_spellings_of_a_path_match),
        cmocka_unit_test(every_line_end_and_byte_order_mark_is_accepted),
        cmocka_unit_test(robots_txt_itself_is_always_allowed),
        cmocka_unit_test(delays_belong_to_groups),
        cmocka_unit_test(sitemaps_are_listed),
        cmocka_unit_test(rules_beyond_the_size_limit_are_ignored),
        cmocka_unit_test(the_work_per_answer_is_limited),
        cmocka_unit_test(many_plain_rules_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
