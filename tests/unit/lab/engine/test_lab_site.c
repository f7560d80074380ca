/* test_lab_site.c - sites whose pages are known by their URLs, from memory and from files. */
#include "lab/engine/lab_site.h"
#include "scratch.h"
#include "unit.h"
#include <string.h>

static deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static uint32_t node_of(const struct lab_graph *g, const char *url)
{
    for (uint32_t i = 1; i < g->nodes; i++)
        if (ascii_compare(g->url[i], text(url)) == 0)
            return i;
    fail_msg("%s is not a page", url);
    return 0;
}

static bool has_link(const struct lab_graph *g, uint32_t from, uint32_t to)
{
    for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++)
        if (g->to[i] == to)
            return true;
    return false;
}

static void pages_are_numbered_once(void **state)
{
    struct lab_site s = {0};
    struct lab_graph g;
    deja_error err;
    assert_int_equal(lab_site_page(&s, text("b"), false, &err), DEJA_OK);
    assert_int_equal(lab_site_page(&s, text("a"), true, &err), DEJA_OK);
    assert_int_equal(lab_site_page(&s, text("b"), false, &err), DEJA_OK);
    assert_int_equal(lab_site_page(&s, text("a"), false, &err), DEJA_OK);
    assert_int_equal(lab_site_link(&s, text("a"), text("b"), &err), DEJA_OK);
    assert_int_equal(lab_site_link(&s, text("a"), text("c"), &err), DEJA_OK);
    assert_int_equal(s.unknown, 1);
    assert_int_equal(lab_site_finish(&s, "a file", &g, &err), DEJA_OK);
    assert_int_equal(g.nodes, 3);
    assert_int_equal(lab_graph_links(&g), 2);
    assert_true(has_link(&g, 0, node_of(&g, "a")));
    assert_true(has_link(&g, node_of(&g, "a"), node_of(&g, "b")));
    assert_string_equal(g.source, "a file");
    lab_graph_fini(&g);
    lab_site_fini(&s);
}

static void a_site_needs_a_seed(void **state)
{
    struct lab_site s = {0};
    struct lab_graph g;
    deja_error err;
    assert_int_equal(lab_site_page(&s, text("a"), false, &err), DEJA_OK);
    assert_int_equal(lab_site_finish(&s, "a file", &g, &err), DEJA_EINVAL);
    assert_string_equal(err.text, "a file: no page to start from");
    lab_site_fini(&s);
}

static int read_text(const char *content, struct lab_graph *g, deja_error *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s/links", scratch_folder);
    FILE *file = fopen(path, "w");
    MUST(file);
    MUST(fputs(content, file) >= 0);
    MUST(fclose(file) == 0);
    return lab_site_read(g, path, NULL, err);
}

static void a_file_has_one_link_per_line(void **state)
{
    struct lab_graph g;
    deja_error err;
    assert_int_equal(read_text("x\ty\n\ny\tz\nx\tz\n", &g, &err), DEJA_OK);
    assert_int_equal(g.nodes, 4);
    assert_true(has_link(&g, 0, node_of(&g, "x"))); /* the first FROM is the seed */
    assert_false(has_link(&g, 0, node_of(&g, "y")));
    assert_true(has_link(&g, node_of(&g, "y"), node_of(&g, "z")));
    lab_graph_fini(&g);

    assert_int_equal(read_text("x\ty\n\ty\n", &g, &err), DEJA_OK);
    assert_false(has_link(&g, 0, node_of(&g, "x")));
    assert_true(has_link(&g, 0, node_of(&g, "y"))); /* a seed that is named */
    lab_graph_fini(&g);
}

static void a_line_that_is_no_link_is_named(void **state)
{
    static const char *const wrong[] = {"x\ty\nx y\n", "x\ty\nx\t\n", "x\ty\n\t\n"};
    struct lab_graph g;
    deja_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(read_text(wrong[i], &g, &err), DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "line 2 is not a link: FROM, a tab, TO"));
    }
    assert_int_equal(read_text("", &g, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "no page to start from"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_numbered_once),
        cmocka_unit_test(a_site_needs_a_seed),
        cmocka_unit_test(a_file_has_one_link_per_line),
        cmocka_unit_test(a_line_that_is_no_link_is_named),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
