/* test_paragraphs.c - paragraphs as records, in blocks and pieces of every size. */
#include "reading.h"
#include "tools/input/paragraphs.h"

static void paragraphs_are(const char *text, const char *records, const char *keys)
{
    const char *path = file(0, text, strlen(text));
    struct input_options o = options_for(&path, 1);
    o.pick.paragraphs = true;
    for (size_t size = 1; size < 40; size++) {
        o.block_size = size;
        struct reading r = read_all(&o);
        assert_listed(&r.records, records);
        assert_listed(&r.keys, keys);
        reading_free(&r);
    }
}

static void blank_lines_end_paragraphs(void **state)
{
    (void)state;
    paragraphs_are("", "", "");
    paragraphs_are("\n \n\t\n", "", "");
    paragraphs_are("a\nb\n\nc\n", "a\nb\n\n|c\n|", "a\nb|c|");
    paragraphs_are("a\n \t\n\n\n c", "a\n \t\n|\n\n c\n|", "a| c|");
    paragraphs_are("\na\n\n\n", "\na\n\n|", "a|");
}

static void texts_from_windows_have_the_same_keys(void **state)
{
    (void)state;
    paragraphs_are("a\r\nb\r\n\r\nc\r\n", "a\r\nb\r\n\r\n|c\r\n|", "a\nb|c|");
    paragraphs_are("a\rb\r\n", "a\rb\r\n|", "a\rb|");
}

static void a_scan_continues_at_any_byte(void **state)
{
    (void)state;
    const char text[] = "a\n\n  b\n \n\nc d\n\n";
    const size_t len = sizeof text - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        struct paragraph_scan scan = PARAGRAPH_SCAN;
        size_t ends[8];
        size_t n = paragraph_ends(&scan, (deja_slice){text, cut}, 0, ends, 8);
        n += paragraph_ends(&scan, (deja_slice){text, len}, cut, ends + n, 8 - n);
        assert_int_equal(n, 3);
        assert_true(ends[0] == 3 && ends[1] == 9 && ends[2] == len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blank_lines_end_paragraphs),
        cmocka_unit_test(texts_from_windows_have_the_same_keys),
        cmocka_unit_test(a_scan_continues_at_any_byte),
    };
    return cmocka_run_group_tests_name("unit.paragraphs", tests, make_folder, remove_folder);
}
