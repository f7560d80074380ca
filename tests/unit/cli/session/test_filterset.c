/* test_filterset.c - which operands are filters, and what they are called. */
#include "cli/session/filterset.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_name(const char *path, const char *name)
{
    const struct filterset_one one = {.path = path};
    const deja_slice got = filterset_name(&one);
    assert_int_equal(got.len, strlen(name));
    assert_memory_equal(got.data, name, got.len);
}

static void a_list_is_called_like_its_file(void **state)
{
    (void)state;
    expect_name("phish.deja", "phish");
    expect_name("/lists/phish.deja", "phish");
    expect_name("./phish.v2.deja", "phish.v2");
    expect_name("phish", "phish");
    expect_name("a.deja/phish.bloom", "phish.bloom");
    expect_name(".deja", ".deja");
    expect_name("lists/", "lists/");
}

static void leading_operands_that_are_filters_count(void **state)
{
    (void)state;
    char folder[] = "/tmp/deja-test-filterset-XXXXXX", path[64];
    deja_options o = DEJA_OPTIONS_INIT;
    deja_filter *f;
    o.capacity = 10;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/f.deja", folder);
    assert_int_equal(deja_filter_create(path, 0, &o, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    const char *operands[] = {"no such file", path, path, "/dev/null", path};
    struct call call = {.operands = operands};
    const size_t expected[] = {0, 1, 2, 3, 3, 3}; /* for 0 to 5 operands */
    for (call.n_operands = 0; call.n_operands <= 5; call.n_operands++)
        assert_int_equal(filterset_leading(&call), expected[call.n_operands]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_called_like_its_file),
        cmocka_unit_test(leading_operands_that_are_filters_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
