/* test_collisions.c - short keys collide no more often than random numbers would.
 *
 * With rules 1, the hash of keys of up to 16 bytes is strongly universal: over random secrets,
 * the hashes of two different keys are independent.  So all 64 bits are practically never equal
 * (2^-64), and 16 bits are equal for one secret in 2^16. */
#include "unit.h"

#include "binom.h"
#include "colliding.h"

#define N (UINT64_C(1) << 18) /* secrets for each pair */

/* 106 pairs, two counts each; at 5 sigma one correct function in 8,000 fails, and the seeds are
 * fixed. */
static void is_random(const struct colliding *p, uint64_t seed)
{
    const struct collisions c = colliding_count(DJ_RULES_0_2, p, N, seed);
    assert_int_equal(c.all, 0);
    if (!binom_within(c.high, N, 0x1p-16, 5) || !binom_within(c.low, N, 0x1p-16, 5))
        fail_msg("keys of %zu and %zu bytes: %u and %u of 2^18 equal in 16 bits, not 4", p->a_len,
                 p->b_len, (unsigned)c.high, (unsigned)c.low);
}

/* The reported weakness, about 5 of 2^24, which shows that the test below can fail. */
static void the_reported_pair_collides_with_rules_0(void **state)
{
    const struct colliding p = colliding_reported();
    const struct collisions c = colliding_count(DJ_RULES_0_1, &p, UINT64_C(1) << 24, 1);
    assert_in_range(c.all, 1, 25);
}

static void the_reported_pair_does_not_collide_with_rules_1(void **state)
{
    const struct colliding p = colliding_reported();
    const struct collisions c = colliding_count(DJ_RULES_0_2, &p, UINT64_C(1) << 24, 1);
    assert_int_equal(c.all, 0);
    assert_true(binom_within(c.high, UINT64_C(1) << 24, 0x1p-16, 5));
    assert_true(binom_within(c.low, UINT64_C(1) << 24, 0x1p-16, 5));
}

/* Differences to which products and sums are sensitive: a bit at either end, and complements. */
static void keys_of_one_length_collide_like_random_numbers(void **state)
{
    for (size_t len = 1; len <= 16; len++) {
        const struct colliding pairs[] = {
            colliding_masked(len, 0, 1, 1),
            colliding_masked(len, len - 1, len, 0x80),
            colliding_masked(len, 0, (len + 1) / 2, 0xff),
            colliding_masked(len, len / 2, len, 0xff),
            colliding_masked(len, 0, len, 0xff),
        };
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
            is_random(&pairs[i], 100 * len + i);
    }
}

/* A key and the same key with a zero byte appended; only the length distinguishes them. */
static void keys_of_two_lengths_collide_like_random_numbers(void **state)
{
    for (size_t len = 0; len <= 16; len++) {
        struct colliding p = colliding_masked(len, 0, 0, 0);
        p.b_len = len + 1;
        is_random(&p, len);
        memset(p.a, 0, len);
        memset(p.b, 0, len);
        is_random(&p, 50 + len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reported_pair_collides_with_rules_0),
        cmocka_unit_test(the_reported_pair_does_not_collide_with_rules_1),
        cmocka_unit_test(keys_of_one_length_collide_like_random_numbers),
        cmocka_unit_test(keys_of_two_lengths_collide_like_random_numbers),
    };
    return cmocka_run_group_tests_name("stat.collisions", tests, NULL, NULL);
}
