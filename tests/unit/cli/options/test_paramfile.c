/* test_paramfile.c - names of query parameters, from a file or separated by commas. */
#include "cli/options/paramfile.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void has(const struct paramnames *p, const char *want)
{
    char all[1024] = "";
    size_t len = 0;
    for (size_t i = 0; i < p->n; i++)
        len += (size_t)snprintf(all + len, sizeof all - len, "%.*s;", (int)p->name[i].len,
                                (const char *)p->name[i].data);
    assert_string_equal(all, want);
}

static int read_text(struct paramnames *p, const char *text, size_t len, deja_error *err)
{
    char path[] = "/tmp/deja-test-paramfile-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    close(fd);
    *p = (struct paramnames){0};
    const int rc = paramnames_read(p, path, err);
    unlink(path);
    return rc;
}

static void reads(const char *text, const char *want)
{
    struct paramnames p;
    assert_int_equal(read_text(&p, text, strlen(text), NULL), DEJA_OK);
    has(&p, want);
    paramnames_fini(&p);
}

static void refuses(const char *text, const char *words)
{
    struct paramnames p;
    deja_error err = {0};
    assert_int_equal(read_text(&p, text, strlen(text), &err), DEJA_EINVAL);
    if (!strstr(err.text, words))
        fail_msg("'%s' instead of '%s'", err.text, words);
    paramnames_fini(&p);
}

static void a_file_has_one_name_per_line(void **state)
{
    (void)state;
    reads("", "");
    reads("a", "a;");
    reads("a\nb_*\n\n c\t\r\nd", "a;b_*;c;d;");
    reads("# a\n#b\n  # c\nd # e\nf#g\n", "d;f#g;");
    reads("%C3%BC\n\xc3\xbc\n", "%C3%BC;\xc3\xbc;");
}

static void the_list_grows(void **state)
{
    (void)state;
    static char text[100000];
    struct paramnames p;
    size_t len = 0;
    for (int i = 0; i < 10000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "name%d\n", i);
    assert_int_equal(read_text(&p, text, len, NULL), DEJA_OK);
    assert_int_equal(p.n, 10000);
    for (int i = 0; i < 10000; i++) {
        char want[16];
        const int n = snprintf(want, sizeof want, "name%d", i);
        assert_int_equal(p.name[i].len, (size_t)n);
        assert_memory_equal(p.name[i].data, want, (size_t)n);
    }
    paramnames_fini(&p);
}

static void the_error_for_an_invalid_name_gives_its_line(void **state)
{
    (void)state;
    refuses("a\nb=c\n", "line 2 is not a parameter name: it contains = or &");
    refuses("a&b", "line 1 is not a parameter name");
    refuses("\n\nu*m\n", "line 3 is not a parameter name: it has a * that is not at the end");
    refuses("*", "matches every name");
    refuses("a b", "contains a blank");
    struct paramnames p = {0};
    deja_error err;
    assert_int_equal(paramnames_read(&p, "/nowhere/names", &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "/nowhere/names: cannot open the list of parameters"));
}

static void names_can_be_separated_by_commas(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a", "a;"}, {"a,b_*,c", "a;b_*;c;"}, {"", ""}, {",,a, b ,", "a;b;"}, {"#a", "#a;"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct paramnames p = {0};
        assert_int_equal(paramnames_split(&p, rows[i][0], NULL), DEJA_OK);
        has(&p, rows[i][1]);
        paramnames_fini(&p);
    }
    struct paramnames p = {0};
    deja_error err;
    assert_int_equal(paramnames_split(&p, "a,b=c", &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "'b=c' is not a parameter name"));
    paramnames_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_one_name_per_line),
        cmocka_unit_test(the_list_grows),
        cmocka_unit_test(the_error_for_an_invalid_name_gives_its_line),
        cmocka_unit_test(names_can_be_separated_by_commas),
    };
    return cmocka_run_group_tests_name("unit.paramfile", tests, NULL, NULL);
}
