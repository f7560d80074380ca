/* test_prefer.c - how --prefer REGEX[:WEIGHT] is read, and what a URL weighs. */
#include "crawler/loop/prefer.h"
#include "tools/base/ascii.h"
#include "unit.h"

static int weight(const char *text, const char *url)
{
    prefer *p;
    deja_error err = {0};
    if (prefer_new(text, &p, &err) != DEJA_OK)
        fail_msg("%s: %s", text, err.text);
    const int w = prefer_weight(p, ascii_slice(url));
    prefer_free(p);
    return w;
}

static void is_refused(const char *text, const char *words)
{
    prefer *p;
    deja_error err = {0};
    assert_int_equal(prefer_new(text, &p, &err), DEJA_EINVAL);
    assert_null(p);
    if (!strstr(err.text, words))
        fail_msg("'%s' instead of '%s'", err.text, words);
}

static void only_an_integer_at_the_end_is_a_weight(void **state)
{
    (void)state;
    assert_int_equal(weight("/docs/", "http://a/docs/"), 1);
    assert_int_equal(weight("/docs/", "http://a/"), 0);
    assert_int_equal(weight("/docs/:20", "http://a/docs/"), 20);
    assert_int_equal(weight("/docs/:+20", "http://a/docs/"), 20);
    assert_int_equal(weight("/docs/:-1000", "http://a/docs/"), -1000);
    assert_int_equal(weight("/docs/:0", "http://a/docs/"), 0);
    assert_int_equal(weight("^https:", "https://a/"), 1);
    assert_int_equal(weight("^https:", "http://a/"), 0);
    assert_int_equal(weight("^http://a:80", "http://a:80"), 80);
    assert_int_equal(weight("^http://a:80:1", "http://a:80"), 1);
    assert_int_equal(weight("a:5x", "a:5x"), 1);
    assert_int_equal(weight("a:-", "a:-"), 1);
    assert_int_equal(weight("a:1.5", "a:1.5"), 1);
}

static void weights_of_all_matches_are_added(void **state)
{
    (void)state;
    static const char text[] = "a:3\nb:-5\nc\n^http:900\nd:900";
    assert_int_equal(weight(text, "a"), 3);
    assert_int_equal(weight(text, "abc"), -1);
    assert_int_equal(weight(text, "x"), 0);
    assert_int_equal(weight(text, "httpd"), 1000); /* the limit */
    assert_int_equal(weight("", "a"), 0);
    assert_int_equal(weight(NULL, "a"), 0);
}

static void a_wrong_expression_is_named(void **state)
{
    (void)state;
    is_refused("a:1001", "--prefer 'a:1001': a weight is between -1000 and 1000");
    is_refused("a:-99999999999999999999", "a weight is between");
    is_refused(":5", "--prefer ':5': the regular expression is empty");
    is_refused("a\n\nb", "is empty");
    is_refused("a\n(", "--prefer '(': not a regular expression");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_an_integer_at_the_end_is_a_weight),
        cmocka_unit_test(weights_of_all_matches_are_added),
        cmocka_unit_test(a_wrong_expression_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
