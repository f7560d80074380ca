/* test_linecounts.c - a number for each line of a batch. */
#include "cli/session/linecounts.h"
#include "unit.h"

static void keyless_records_get_their_own_number(void **state)
{
    (void)state;
    deja_slice keys[] = {{NULL, 0}, {"a", 1}, {NULL, 0}, {"b", 1}, {NULL, 0}};
    struct batch b = {.block = {.keys = keys, .n = 5}, .keyed = 2};
    struct linecounts l = {0};
    assert_int_equal(linecounts_reserve(&l, &b, NULL), DEJA_OK);
    l.count[0] = 7;
    l.count[1] = 8;
    linecounts_spread(&l, &b, 1);
    static const uint64_t want[] = {1, 7, 1, 8, 1};
    assert_memory_equal(l.count, want, sizeof want);
    linecounts_fini(&l);
}

static void a_line_with_several_keys_gets_the_largest(void **state)
{
    (void)state;
    deja_slice keys[6] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
    size_t ends[] = {4, 4, 9, 12, 12, 12};
    struct batch b = {.block = {.keys = keys, .ends = ends, .n = 6, .shared = true}, .keyed = 6};
    struct linecounts l = {0};
    assert_int_equal(linecounts_reserve(&l, &b, NULL), DEJA_OK);
    static const uint64_t counts[] = {1, 5, 2, 3, 9, 4}, want[] = {5, 2, 9};
    for (size_t i = 0; i < 6; i++)
        l.count[i] = counts[i];
    linecounts_spread(&l, &b, 0);
    linecounts_fold(&l, &b);
    assert_memory_equal(l.count, want, sizeof want);
    linecounts_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyless_records_get_their_own_number),
        cmocka_unit_test(a_line_with_several_keys_gets_the_largest),
    };
    return cmocka_run_group_tests_name("unit.linecounts", tests, NULL, NULL);
}
