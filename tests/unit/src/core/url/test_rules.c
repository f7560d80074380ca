/* test_rules.c - profiles with different parameters, and the id that identifies rules. */
#include "unit.h"

#include "core/url/idna.h"
#include "urls.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Rules of the crawl profile from names separated by spaces. */
static deja_url_rules *crawl(unsigned flags, const char *drop, const char *keep)
{
    deja_slice names[2][16];
    size_t n[2] = {0, 0};
    const char *const texts[2] = {drop, keep};
    deja_url_rules *rules = NULL;
    for (int i = 0; i < 2; i++)
        for (const char *at = texts[i]; *at; at += strspn(at, " ")) {
            names[i][n[i]++] = (deja_slice){at, strcspn(at, " ")};
            at += strcspn(at, " ");
        }
    assert_int_equal(
        deja_url_rules_new(DEJA_URL_CRAWL, flags, names[0], n[0], names[1], n[1], &rules, NULL),
        DEJA_OK);
    return rules;
}

static uint64_t id_of(unsigned flags, const char *drop, const char *keep)
{
    deja_url_rules *rules = crawl(flags, drop, keep);
    const uint64_t id = deja_url_rules_id(rules);
    deja_url_rules_free(rules);
    return id;
}

static void assert_query(unsigned flags, const char *drop, const char *keep, const char *query,
                         const char *want)
{
    char url[128], wanted[128];
    deja_url_rules *rules = crawl(flags, drop, keep);
    snprintf(url, sizeof url, "http://a/?%s", query);
    snprintf(wanted, sizeof wanted, "http://a/%s", want);
    char *got = canon_slice(rules, bytes_of(url));
    assert_string_equal(got, wanted);
    free(got);
    deja_url_rules_free(rules);
}

static void every_profile_exists(void **state)
{
    (void)state;
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SHAPE; profile++)
        assert_non_null(deja_url_profile(profile));
    assert_null(deja_url_profile(0));
    assert_null(deja_url_profile(DEJA_URL_SHAPE + 1));
    assert_null(deja_url_profile(UINT32_MAX));
}

static void names_can_be_added_and_removed(void **state)
{
    (void)state;
    assert_query(0, "", "", "gclid=1&sid=2&a=3", "?a=3&sid=2");
    assert_query(0, "sid", "", "gclid=1&sid=2&a=3", "?a=3");
    assert_query(0, "s*", "", "gclid=1&sid=2&a=3&s", "?a=3");
    assert_query(0, "", "gclid", "gclid=1&sid=2&a=3", "?a=3&gclid=1&sid=2");
    assert_query(0, "", "utm_source", "utm_source=1&utm_medium=2", "?utm_source=1");
    assert_query(0, "", "utm_*", "utm_source=1&utm_medium=2", "?utm_medium=2&utm_source=1");
    assert_query(0, "", "*", "utm_source=1&gclid=2", "?gclid=2&utm_source=1");
    assert_query(0, "x", "x", "x=1", "?x=1"); /* keep overrides drop */
    assert_query(DEJA_URL_NO_LIST, "sid", "", "gclid=1&sid=2&a=3", "?a=3&gclid=1");
    assert_query(DEJA_URL_NO_LIST, "*", "id", "b=1&id=2&a=3", "?id=2");
    assert_query(DEJA_URL_NO_LIST, "a%20b* %C3%BC", "", "a b1=1&\xc3\xbc=2&c=3", "?c=3");
}

static void keeping_jsessionid_keeps_it_in_paths(void **state)
{
    (void)state;
    deja_url_rules *rules = crawl(0, "", "jsessionid");
    char *got = canon_slice(rules, bytes_of("http://a/b;jsessionid=1"));
    assert_string_equal(got, "http://a/b;jsessionid=1");
    free(got);
    deja_url_rules_free(rules);
}

static void rules_with_the_same_effect_have_the_same_id(void **state)
{
    (void)state;
    assert_true(id_of(0, "", "") == deja_url_rules_id(deja_url_profile(DEJA_URL_CRAWL)));
    assert_true(id_of(0, "b a", "") == id_of(0, "a b", ""));
    assert_true(id_of(0, "a a", "") == id_of(0, "a", ""));
    assert_true(id_of(0, "ab a*", "") == id_of(0, "a*", ""));
    assert_true(id_of(0, "gclid utm_x", "") == id_of(0, "", ""));
    assert_true(id_of(0, "", "nothing") == id_of(0, "", ""));
    assert_true(id_of(0, "x", "x") == id_of(0, "", ""));
    assert_true(id_of(0, "q*", "q*") == id_of(0, "", ""));
    assert_true(id_of(0, "%61", "") == id_of(0, "a", ""));
}

/* Files of deja 0.1 record these ids if it was built with IDNA. */
static void rules_of_deja_0_1_keep_their_ids(void **state)
{
    (void)state;
    const deja_url_rules *safe = deja_url_profile(DEJA_URL_SAFE);
    const deja_url_rules *crawl = deja_url_profile(DEJA_URL_CRAWL);
    if (!dj_idna_here())
        skip();
    assert_true(deja_url_rules_id(deja_url_rules_older(safe)) == UINT64_C(0xd0a6fc18672a1282));
    assert_true(deja_url_rules_id(deja_url_rules_older(crawl)) == UINT64_C(0xd1f4fe21ef68624f));
    assert_null(deja_url_rules_older(deja_url_rules_older(safe)));
    assert_null(deja_url_rules_older(deja_url_profile(DEJA_URL_GSB)));
    assert_null(deja_url_rules_older(deja_url_profile(DEJA_URL_SCRAPY)));
}

static void the_older_version_has_the_same_parameters(void **state)
{
    (void)state;
    static const char url[] = "http://h/?b=1&utm_source=2&mine=3";
    const deja_slice drop = {"mine", 4};
    deja_url_rules *rules = NULL;
    char out[DEJA_URL_ROOM(sizeof url)];
    deja_slice form;
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &drop, 1, NULL, 0, &rules, NULL), 0);
    const deja_url_rules *older = deja_url_rules_older(rules);
    assert_int_equal(deja_url_rules_profile(older), DEJA_URL_CRAWL);
    assert_true(deja_url_rules_id(older) != deja_url_rules_id(rules));
    assert_int_equal(
        deja_url_canon(older, (deja_slice){url, sizeof url - 1}, out, sizeof out, &form, NULL),
        DEJA_OK);
    assert_int_equal(form.len, strlen("http://h/?b=1"));
    assert_memory_equal(form.data, "http://h/?b=1", form.len);
    deja_url_rules_free(rules);
}

static void rules_with_a_different_effect_have_a_different_id(void **state)
{
    (void)state;
    const uint64_t ids[] = {
        deja_url_rules_id(deja_url_profile(DEJA_URL_SAFE)),
        deja_url_rules_id(deja_url_profile(DEJA_URL_GSB)),
        deja_url_rules_id(deja_url_profile(DEJA_URL_SCRAPY)),
        id_of(0, "", ""),
        id_of(DEJA_URL_NO_LIST, "", ""),
        id_of(DEJA_URL_NO_LIST, "a", ""),
        id_of(DEJA_URL_NO_LIST, "a*", ""),
        id_of(DEJA_URL_NO_LIST, "b", ""),
        id_of(DEJA_URL_NO_LIST, "a b", ""),
        id_of(DEJA_URL_NO_LIST, "ab", ""),
        id_of(DEJA_URL_NO_LIST, "a*", "ab"),
        id_of(DEJA_URL_NO_LIST, "a*", "ab*"),
        id_of(0, "", "gclid"),
        id_of(0, "", "utm_source"),
        id_of(0, "", "utm_*"),
    };
    for (size_t i = 0; i < LEN(ids); i++)
        for (size_t j = 0; j < i; j++)
            assert_true(ids[i] != ids[j]);
}

static void invalid_requests_are_refused_with_a_reason(void **state)
{
    (void)state;
    const deja_slice good = {"a", 1}, empty = {"", 0}, assignment = {"a=1", 3}, two = {"a&b", 3};
    deja_url_rules *rules = NULL;
    deja_error err;
    assert_int_equal(deja_url_rules_new(9, 0, NULL, 0, NULL, 0, &rules, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "9"));
    assert_int_equal(deja_url_rules_new(DEJA_URL_SAFE, 0, &good, 1, NULL, 0, &rules, &err),
                     DEJA_EINVAL);
    assert_non_null(strstr(err.text, "safe"));
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 2, NULL, 0, NULL, 0, &rules, &err),
                     DEJA_EVERSION);
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &empty, 1, NULL, 0, &rules, &err),
                     DEJA_EINVAL);
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, NULL, 0, &assignment, 1, &rules, &err),
                     DEJA_EINVAL);
    assert_non_null(strstr(err.text, "keep"));
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &two, 1, NULL, 0, &rules, NULL),
                     DEJA_EINVAL);
    assert_null(rules);
    deja_url_rules_free(NULL);
}

static void rules_without_changes_are_those_of_the_profile(void **state)
{
    (void)state;
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SHAPE; profile++) {
        deja_url_rules *rules = NULL;
        assert_int_equal(deja_url_rules_new(profile, 0, NULL, 0, NULL, 0, &rules, NULL), DEJA_OK);
        assert_true(deja_url_rules_id(rules) == deja_url_rules_id(deja_url_profile(profile)));
        deja_url_rules_free(rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_exists),
        cmocka_unit_test(names_can_be_added_and_removed),
        cmocka_unit_test(keeping_jsessionid_keeps_it_in_paths),
        cmocka_unit_test(rules_with_the_same_effect_have_the_same_id),
        cmocka_unit_test(rules_of_deja_0_1_keep_their_ids),
        cmocka_unit_test(the_older_version_has_the_same_parameters),
        cmocka_unit_test(rules_with_a_different_effect_have_a_different_id),
        cmocka_unit_test(invalid_requests_are_refused_with_a_reason),
        cmocka_unit_test(rules_without_changes_are_those_of_the_profile),
    };
    return cmocka_run_group_tests_name("unit.rules", tests, NULL, NULL);
}
