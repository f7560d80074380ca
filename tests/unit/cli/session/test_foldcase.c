/* test_foldcase.c - keys in lower case. */
#include "cli/session/foldcase.h"
#include "unit.h"

#include <string.h>

static struct block block_of(deja_slice *keys, size_t n)
{
    struct block b;
    block_init(&b);
    b.keys = keys;
    b.n = n;
    b.path = "list";
    return b;
}

static void block_end(struct block *b)
{
    b->keys = NULL; /* the test's own */
    block_fini(b);
}

static void capitals_become_small_and_other_bytes_stay(void **state)
{
    (void)state;
    char all[256], want[256];
    for (int i = 0; i < 256; i++) {
        all[i] = (char)i;
        want[i] = (char)(i >= 'A' && i <= 'Z' ? i + 32 : i);
    }
    deja_slice keys[] = {{all, sizeof all}, {"ABC", 3}, {"@[", 2}};
    struct block b = block_of(keys, 3);
    assert_int_equal(foldcase_run(&b, NULL), DEJA_OK);
    assert_int_equal(keys[0].len, 256);
    assert_memory_equal(keys[0].data, want, 256);
    assert_memory_equal(keys[1].data, "abc", 3);
    assert_memory_equal(keys[2].data, "@[", 2);
    assert_int_equal(all['A'], 'A'); /* the line is unchanged */
    block_end(&b);
}

static void keys_without_capitals_are_not_copied(void **state)
{
    (void)state;
    const char *text = "lower {`z\xc3\x84";
    deja_slice keys[] = {{text, strlen(text)}, {NULL, 0}, {text, 0}};
    struct block b = block_of(keys, 3);
    assert_int_equal(foldcase_run(&b, NULL), DEJA_OK);
    assert_ptr_equal(keys[0].data, text);
    assert_null(keys[1].data); /* still keyless */
    assert_ptr_equal(keys[2].data, text);
    block_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capitals_become_small_and_other_bytes_stay),
        cmocka_unit_test(keys_without_capitals_are_not_copied),
    };
    return cmocka_run_group_tests_name("unit.foldcase", tests, NULL, NULL);
}
