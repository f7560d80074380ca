/* test_textdocs.c - JSON documents without some of their paragraphs. */
#include "cli/session/textdocs.h"
#include "unit.h"

#include <string.h>

/* What remains of a line; keep has a letter per paragraph: y or n. */
static const char *without(const char *line, const char *keep)
{
    static char text[256];
    struct buffer to = {0};
    struct jsonpick_path path;
    uint8_t answer[16];
    const size_t n = strlen(keep);
    for (size_t i = 0; i < n; i++)
        answer[i] = keep[i] == 'y';
    assert_true(jsonpick_parse(&path, "text"));
    assert_true(textdoc_write(&to, (deja_slice){line, strlen(line)}, &path, answer, n, 1));
    assert_true(to.len < sizeof text);
    memcpy(text, to.data, to.len);
    text[to.len] = 0;
    buffer_fini(&to);
    return text;
}

static void paragraphs_are_cut_out_with_what_follows_them(void **state)
{
    (void)state;
    const char *line = "{\"text\":\"\\n\\na\\n\\nb\\n \\nc\\n\", \"x\": 1}\n";
    assert_string_equal(without(line, "yyy"), line);
    assert_string_equal(without(line, "nyy"), "{\"text\":\"\\n\\nb\\n \\nc\\n\", \"x\": 1}\n");
    assert_string_equal(without(line, "yny"), "{\"text\":\"\\n\\na\\n\\nc\\n\", \"x\": 1}\n");
    assert_string_equal(without(line, "yyn"), "{\"text\":\"\\n\\na\\n\\nb\\n\", \"x\": 1}\n");
    assert_string_equal(without(line, "nyn"), "{\"text\":\"\\n\\nb\\n\", \"x\": 1}\n");
}

static void cuts_never_fall_inside_an_escape(void **state)
{
    (void)state;
    /* an escaped backslash before an n is not a line feed; \u000A is one */
    assert_string_equal(without("{\"text\":\"a\\\\n\\u000Ab\\\"\\nc\"}", "nyn"),
                        "{\"text\":\"b\\\"\"}");
    /* halves of a surrogate pair never meet */
    assert_string_equal(without("{\"text\":\"\\ud83d\\nx\\n\\ude00\"}", "yny"),
                        "{\"text\":\"\\ud83d\\n\\ude00\"}");
    /* blank lines may be written with escapes */
    assert_string_equal(without("{\"text\":\"a\\n\\t\\u0020\\r\\nb\\nc\"}", "ynn"),
                        "{\"text\":\"a\"}");
}

static void decoded_paragraphs_are_trimmed_lines_that_are_not_blank(void **state)
{
    (void)state;
    deja_slice rest = {"\n a \r\n\t\n\nb", 10}, p;
    assert_true(textdoc_next(&rest, &p));
    assert_true(p.len == 1 && *(const char *)p.data == 'a');
    assert_true(textdoc_next(&rest, &p));
    assert_true(p.len == 1 && *(const char *)p.data == 'b');
    assert_false(textdoc_next(&rest, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_are_cut_out_with_what_follows_them),
        cmocka_unit_test(cuts_never_fall_inside_an_escape),
        cmocka_unit_test(decoded_paragraphs_are_trimmed_lines_that_are_not_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
