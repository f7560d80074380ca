/* test_jsonpick.c - one string from a JSON object. */
#include "rng.h"
#include "tools/input/jsonpick.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* The text has exactly its size in memory, for the sanitizers; NULL: nothing is found. */
static void picks_of(const char *text, size_t len, const char *path, const char *want,
                     size_t want_len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    deja_slice value;
    struct jsonpick_path parsed;
    assert_true(jsonpick_parse(&parsed, path));
    const bool found = jsonpick_find((deja_slice){copy, len}, &parsed, &value);
    assert_int_equal(found, want != NULL);
    if (found && jsonpick_is_raw(value)) {
        char *out = malloc(value.len);
        assert_non_null(out);
        assert_int_equal(jsonpick_decode(value, out), want_len);
        assert_memory_equal(out, want, want_len);
        free(out);
    } else if (found) {
        assert_int_equal(value.len, want_len);
        assert_memory_equal(value.data, want, want_len);
    }
    free(copy);
}

static void picks(const char *text, const char *path, const char *want)
{
    picks_of(text, strlen(text), path, want, want ? strlen(want) : 0);
}

static void a_member_is_found_at_any_position(void **state)
{
    (void)state;
    picks("{\"url\":\"a\"}", "url", "a");
    picks(" \t{ \"n\" : 1 , \"url\" : \"a\" , \"m\":2}", "url", "a");
    picks("{\"x\":null,\"y\":[1,{\"url\":\"no\"},\"]\"],\"z\":{\"url\":\"no\"},\"url\":\"a\"}",
          "url", "a");
    picks("{\"curl\":\"no\",\"ur\":\"no\",\"url\":\"\"}", "url", "");
    picks("{\"url\":\"first\",\"url\":\"second\"}", "url", "first");
    picks("{\"text\":\"\\\"url\\\":\\\"no\\\"\",\"url\":\"a\"}", "url", "a");
}

static void missing_members_and_other_types_are_not_found(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "{}",
                                        "[]",
                                        "\"url\"",
                                        "null",
                                        "{\"url\":1}",
                                        "{\"url\":nul",
                                        "{\"url\":",
                                        "{\"url\"",
                                        "{\"url\":}",
                                        "{\"a\":1}",
                                        "{\"url\":[\"a\"]}",
                                        "{\"url\":{\"url\":\"a\"}}",
                                        "{\"url\" \"a\"}",
                                        "{url:\"a\"}",
                                        "[{\"url\":\"a\"}]",
                                        "{\"x\":,\"url\":\"a\"}",
                                        "{\"x\":[1,\"url\":\"a\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        picks(texts[i], "url", NULL);
}

static void a_truncated_line_has_the_members_before_the_cut(void **state)
{
    (void)state;
    static const char whole[] = "{\"n\":{\"m\":[1,\"\\\\\"]},\"url\":\"http:\\/\\/a\"";
    picks(whole, "url", "http://a");
    for (size_t len = 0; len + 1 < sizeof whole - 1; len++)
        picks_of(whole, len, "url", NULL, 0);
    picks("{\"url\":\"a\",\"oth", "url", "a");
    picks("{\"url\":\"a\" and then prose", "url", "a");
}

static void paths_lead_into_objects_and_names_may_have_dots(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":{\"x\":{},\"b\":{\"c\":\"abc\"}},\"a.b\":{\"d\":\"dotted\"},"
        "\"e.f\":\"ef\",\"g\":\"no object\"}";
    picks(text, "a.b.c", "abc");
    picks(text, "e.f", "ef");
    picks(text, "a.b.d", NULL); /* the object a has no b.d */
    picks(text, "a.b", NULL);
    picks(text, "a.x.c", NULL);
    picks(text, "g.h", NULL);
    picks(text, "a.", NULL);
    picks(text, ".a", NULL);
    picks(text, "..", NULL);
    picks("{\"\":{\"\":\"x\"}}", ".\"\".\"\"", "x");
}

static void paths_may_be_written_as_in_jq_and_jsonpath(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":\"nested\",\"c.d\":{\"e\":\"deep\"}},"
                               "\"a.b\":\"dotted\",\"x.y\":\"xy\",\".z\":\"dot\",\"$\":\"dollar\","
                               "\"\\\"q\\\"\":\"quoted\"}";
    picks(text, ".x.y", "xy");
    picks(text, "$.x.y", "xy");
    picks(text, "a.b", "dotted"); /* a name with a dot wins, however the path is written */
    picks(text, ".a.b", "dotted");
    picks(text, ".\"a\".\"b\"", "nested");
    picks(text, "$.\"a\".b", "nested");
    picks(text, ".[\"a\"][\"b\"]", "nested");
    picks(text, "$['a']['b']", "nested");
    picks(text, "$['a'].b", "nested");
    picks(text, ".\"a.b\"", "dotted");
    picks(text, "$[\"a.b\"]", "dotted");
    picks(text, ".a.\"c.d\".e", "deep");
    picks(text, ".a[\"c.d\"].e", "deep");
    picks(text, ".a.\"c.d.e\"", NULL); /* quoted, a dot is a byte of the name */
    picks(text, "a.c.d.e", NULL);      /* c.d is not the end of the path */
    picks(text, ".\".z\"", "dot");
    picks(text, ".z", NULL);
    picks(text, "$", "dollar");
    picks(text, "\"q\"", "quoted"); /* without a leading dot, quotes are part of the name */
    struct jsonpick_path path;
    static const char *const bad[] = {"",      ".",      "$.",     ".\"a",    ".\"a\"b",
                                      "$['a'", "$['a'x", ".a.\"b", ".\"a\".", "$[\"a\"]b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(jsonpick_parse(&path, bad[i]));
    assert_true(
        jsonpick_parse(&path, ".[\"1\"][\"2\"][\"3\"][\"4\"][\"5\"][\"6\"][\"7\"][\"8\"]"));
    assert_false(
        jsonpick_parse(&path, ".[\"1\"][\"2\"][\"3\"][\"4\"][\"5\"][\"6\"][\"7\"][\"8\"].z"));
}

static void members_are_walked_in_their_order(void **state)
{
    (void)state;
    static const char text[] = " {\"a\":1 , \"b\\u0063\":{\"x\":\"}\"},,\"d\":\"e";
    struct jsonpick_walk w;
    deja_slice name, value;
    assert_true(jsonpick_walk(&w, (deja_slice){text, sizeof text - 1}));
    assert_true(jsonpick_next(&w, &name, &value));
    assert_int_equal(name.len, 1);
    assert_memory_equal(value.data, "1 ,", 3);
    assert_true(jsonpick_next(&w, &name, &value));
    assert_true(jsonpick_is_raw(name));
    assert_memory_equal(value.data, "{\"x\"", 4);
    assert_true(jsonpick_next(&w, &name, &value));
    assert_memory_equal(name.data, "d\"", 2);
    assert_memory_equal(value.data, "\"e", value.len);
    assert_false(jsonpick_next(&w, &name, &value)); /* the value has no end */
    assert_false(jsonpick_next(&w, &name, &value));
    assert_false(jsonpick_walk(&w, (deja_slice){"[1]", 3}));
    assert_false(jsonpick_walk(&w, (deja_slice){"", 0}));
}

static void escapes_become_utf8(void **state)
{
    (void)state;
    picks("{\"url\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "url", "\"\\/\b\f\n\r\t");
    picks("{\"url\":\"http:\\/\\/a\\/\"}", "url", "http://a/");
    picks("{\"url\":\"\\u0041\\u00e9\\u20aC\\uD83D\\uDE00.\"}", "url",
          "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.");
    picks_of("{\"url\":\"a\\u0000b\"}", 17, "url", "a\0b", 3);
    picks("{\"url\":\"\xc3\xa9\xff\"}", "url", "\xc3\xa9\xff"); /* any byte may be there */
}

static void odd_escapes_stay_or_become_the_replacement_character(void **state)
{
    (void)state;
    picks("{\"url\":\"\\q\\u12\\u12g4\\x41\"}", "url", "\\q\\u12\\u12g4\\x41");
    picks("{\"url\":\"\\ud83d\"}", "url", "\xef\xbf\xbd");
    picks("{\"url\":\"\\ud83dx\\ude00\"}", "url", "\xef\xbf\xbdx\xef\xbf\xbd");
    picks("{\"url\":\"\\ud83d\\ud83d\\ude00\"}", "url", "\xef\xbf\xbd\xf0\x9f\x98\x80");
    picks("{\"url\":\"\\ud83d\\u00e\"}", "url", "\xef\xbf\xbd\\u00e");
}

static void names_are_compared_without_their_escapes(void **state)
{
    (void)state;
    picks("{\"\\u0075r\\u006c\":\"a\"}", "url", "a");
    picks("{\"\\u0075rl2\":\"a\",\"\\u0075\":\"b\"}", "url", NULL);
    picks("{\"a\\\"b\":\"c\"}", "a\"b", "c");
    picks("{\"\\u00e9\":\"c\"}", "\xc3\xa9", "c");
}

static void nesting_has_no_limit(void **state)
{
    (void)state;
    enum {
        DEEP = 1000000
    };
    static const char head[] = "{\"x\":", tail[] = ",\"url\":\"a\"}";
    char *text = malloc(sizeof head + 2 * DEEP + sizeof tail);
    assert_non_null(text);
    size_t len = sizeof head - 1;
    memcpy(text, head, len);
    memset(text + len, '[', DEEP);
    picks_of(text, len + DEEP, "url", NULL, 0);
    memset(text + len + DEEP, ']', DEEP);
    len += (size_t)2 * DEEP;
    memcpy(text + len, tail, sizeof tail - 1);
    picks_of(text, len + sizeof tail - 1, "url", "a", 1);
    free(text);
}

/* The end of the brackets that open at 0, one byte at a time; 0 if they do not close. */
static size_t model_brackets(const char *text, size_t len)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && (c == ']' || c == '}') && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* A member before "url" whose value is random brackets, strings and text. */
static void values_are_skipped_as_by_a_model_that_reads_single_bytes(void **state)
{
    static const char *const piece[] = {
        "[", "]", "{", "}", "\"", "\\", "\"a]b\"", "\\\"", "long plain text of a value",
        ",", "]]"};
    struct rng dice = {12};
    struct jsonpick_path path;
    assert_true(jsonpick_parse(&path, "url"));
    for (int round = 0; round < 100000; round++) {
        char text[600] = "{\"a\":[";
        const size_t begin = strlen("{\"a\":");
        for (size_t n = rng_below(&dice, 12); n > 0; n--)
            strncat(text, piece[rng_below(&dice, sizeof piece / sizeof *piece)],
                    sizeof text - strlen(text) - 1);
        const char *const tail = "],\"url\":\"found\"}";
        strncat(text, tail, sizeof text - strlen(text) - 1);
        const size_t len = strlen(text), skipped = model_brackets(text + begin, len - begin);
        const bool want = skipped && begin + skipped + strlen(tail) == len + 1;
        deja_slice value;
        const bool got = jsonpick_find((deja_slice){text, len}, &path, &value);
        if (want)
            assert_true(got && value.len == 5 && memcmp(value.data, "found", 5) == 0);
        if (!skipped)
            assert_false(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_found_at_any_position),
        cmocka_unit_test(missing_members_and_other_types_are_not_found),
        cmocka_unit_test(a_truncated_line_has_the_members_before_the_cut),
        cmocka_unit_test(paths_lead_into_objects_and_names_may_have_dots),
        cmocka_unit_test(paths_may_be_written_as_in_jq_and_jsonpath),
        cmocka_unit_test(members_are_walked_in_their_order),
        cmocka_unit_test(escapes_become_utf8),
        cmocka_unit_test(odd_escapes_stay_or_become_the_replacement_character),
        cmocka_unit_test(names_are_compared_without_their_escapes),
        cmocka_unit_test(nesting_has_no_limit),
        cmocka_unit_test(values_are_skipped_as_by_a_model_that_reads_single_bytes),
    };
    return cmocka_run_group_tests_name("unit.jsonpick", tests, NULL, NULL);
}
