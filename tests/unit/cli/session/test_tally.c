/* test_tally.c - exact counts of keys. */
#include "cli/session/tally.h"
#include "unit.h"

#include <stdlib.h>

static uint64_t spread(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void counts_are_exact_while_the_table_grows(void **state)
{
    (void)state;
    const uint64_t n = 20000;
    struct tally t = {0};
    for (uint64_t round = 0; round < 5; round++)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t hash = spread(i);
            if (i % 5 >= round) /* key i occurs 1 + i % 5 times */
                assert_int_equal(tally_add(&t, &hash, 1, 1, NULL), DEJA_OK);
        }
    const struct tally_sums s = tally_sums(&t);
    assert_int_equal(s.distinct, n);
    assert_int_equal(s.once, n / 5);
    assert_int_equal(s.saturated, 0);
    assert_true(s.bytes >= 16 * n && s.bytes <= 32 * n);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(tally_take(&t, spread(i)), 1 + i % 5);
        assert_int_equal(tally_take(&t, spread(i)), 0);
        assert_int_equal(tally_take(&t, spread(n + i)), TALLY_UNKNOWN);
    }
    assert_int_equal(tally_sums(&t).once, n / 5); /* taking a count does not change it */
    tally_fini(&t);
}

static void a_batch_counts_repeats_and_colliding_slots(void **state)
{
    (void)state;
    /* The low bits select the slot: all except two hashes have the same one.  0 is a valid hash. */
    const uint64_t hash[] = {0, 1, UINT64_C(1) << 32, UINT64_C(2) << 32, 0, UINT64_C(1) << 32, 7};
    struct tally t = {0};
    assert_int_equal(tally_take(&t, 7), TALLY_UNKNOWN);
    assert_int_equal(tally_add(&t, hash, 7, 1, NULL), DEJA_OK);
    assert_int_equal(tally_take(&t, UINT64_C(1) << 32), 2);
    assert_int_equal(tally_take(&t, UINT64_C(2) << 32), 1);
    assert_int_equal(tally_take(&t, 7), 1);
    assert_int_equal(tally_take(&t, UINT64_C(3) << 32), TALLY_UNKNOWN);
    tally_fini(&t);
}

static void a_count_stays_at_its_maximum(void **state)
{
    (void)state;
    const uint64_t hash[] = {5, 6};
    struct tally t = {0};
    assert_int_equal(tally_add(&t, hash, 1, TALLY_MAX - 1, NULL), DEJA_OK);
    assert_int_equal(tally_sums(&t).saturated, 0);
    assert_int_equal(tally_add(&t, hash, 2, 3, NULL), DEJA_OK);
    assert_int_equal(tally_add(&t, hash, 1, TALLY_MAX, NULL), DEJA_OK);
    assert_int_equal(tally_sums(&t).saturated, 1);
    assert_int_equal(tally_take(&t, 5), TALLY_MAX);
    assert_int_equal(tally_take(&t, 6), 3);
    tally_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_while_the_table_grows),
        cmocka_unit_test(a_batch_counts_repeats_and_colliding_slots),
        cmocka_unit_test(a_count_stays_at_its_maximum),
    };
    return cmocka_run_group_tests_name("unit.tally", tests, NULL, NULL);
}
