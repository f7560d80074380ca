/* test_out_json.c - JSON: indented, separated, escaped, and valid UTF-8 for any bytes. */
#include "catching.h"
#include "tools/base/out.h"
#include <math.h>
#include <string.h>

static void json_is_indented_and_separated(void **state)
{
    (void)state;
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_object(&j, NULL);
    json_string(&j, "name", "x");
    json_array(&j, "empty");
    json_end(&j);
    json_object(&j, "none");
    json_end(&j);
    json_array(&j, "list");
    json_uint(&j, NULL, UINT64_MAX);
    json_bool(&j, NULL, true);
    json_end(&j);
    json_null(&j, "nothing");
    json_string(&j, "nobody", NULL);
    json_end(&j);
    assert_string_equal(catch_end(&c), "{\n"
                                       "  \"name\": \"x\",\n"
                                       "  \"empty\": [],\n"
                                       "  \"none\": {},\n"
                                       "  \"list\": [\n"
                                       "    18446744073709551615,\n"
                                       "    true\n"
                                       "  ],\n"
                                       "  \"nothing\": null,\n"
                                       "  \"nobody\": null\n"
                                       "}\n");
}

static void json_numbers_are_numbers_or_null(void **state)
{
    (void)state;
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_array(&j, NULL);
    json_real(&j, NULL, 0.1);
    json_real(&j, NULL, 1e-6);
    json_real(&j, NULL, (double)NAN);
    json_real(&j, NULL, (double)INFINITY);
    json_real(&j, NULL, -(double)INFINITY);
    json_end(&j);
    assert_string_equal(catch_end(&c), "[\n  0.1,\n  1e-06,\n  null,\n  null,\n  null\n]\n");
}

static void quoted_as(const char *bytes, size_t len, const char *json)
{
    struct catcher c;
    struct json j;
    catch_begin(&c);
    json_begin(&j, &c.out);
    json_bytes(&j, NULL, bytes, len);
    assert_string_equal(catch_end(&c), json);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    quoted_as("", 0, "\"\"\n");
    quoted_as("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"\n");
    quoted_as("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"\n");
    quoted_as("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"\n");
    quoted_as("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11,
              "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
}

static void json_replaces_what_is_not_utf8(void **state)
{
    (void)state;
    quoted_as("a\xff"
              "b",
              3, "\"a\\ufffdb\"\n");
    quoted_as("\x80", 1, "\"\\ufffd\"\n");
    quoted_as("\xc2\x9b", 2, "\"\\u009b\"\n"); /* bytes that terminals obey */
    quoted_as("\xe2\x80\xae\x7f", 4, "\"\\u202e\\u007f\"\n");
    quoted_as("\xc3\xa9", 2, "\"\xc3\xa9\"\n");
    quoted_as("\xc3", 1, "\"\\ufffd\"\n");            /* truncated */
    quoted_as("\xe2\x82", 2, "\"\\ufffd\"\n");        /* truncated */
    quoted_as("\xe2\x82x", 3, "\"\\ufffdx\"\n");      /* interrupted */
    quoted_as("\xc0\xaf", 2, "\"\\ufffd\\ufffd\"\n"); /* overlong   */
    quoted_as("\xe0\x80\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"\n");
    quoted_as("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"\n");            /* surrogate  */
    quoted_as("\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n"); /* > U+10FFFF */
    quoted_as("\xf0\x9f\x98", 3, "\"\\ufffd\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_indented_and_separated),
        cmocka_unit_test(json_numbers_are_numbers_or_null),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(json_replaces_what_is_not_utf8),
    };
    return cmocka_run_group_tests_name("unit.out_json", tests, NULL, NULL);
}
