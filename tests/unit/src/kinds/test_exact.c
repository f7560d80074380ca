/* test_exact.c - a table that fills up refuses new keys and changes nothing else. */
#include "asking.h"
#include "rng.h"
#include "sharing.h"
#include <stdlib.h>

/* 160 slots, of which 150 can be used; beyond that, searches get slow. */
#define ROOM 150
static const deja_options small_exact = FIELDS(.kind = DEJA_EXACT, .capacity = 128, .seed = 1);

static deja_filter *new_full(void)
{
    deja_filter *f = new_filter(small_exact);
    for (uint64_t n = 0; n < ROOM; n++)
        assert_true(add(f, number(&n)));
    return f;
}

static void a_full_exact_filter_refuses_new_keys_and_accepts_known_ones(void **state)
{
    deja_filter *f = new_full(), *before = new_full();
    bool is_new = true;
    for (uint64_t n = ROOM; n < 2 * ROOM; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), &is_new, NULL), DEJA_EFULL);
        assert_false(deja_filter_contains(f, number(&n)));
    }
    assert_same_bodies(f, before);
    assert_int_equal(stats_of(f).offered, ROOM);
    for (uint64_t n = 0; n < ROOM; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), &is_new, NULL), DEJA_OK);
        assert_false(is_new);
    }
    deja_filter_free(f);
    deja_filter_free(before);
}

static void a_batch_stops_at_the_key_that_does_not_fit(void **state)
{
    enum {
        KEYS = 400
    };
    static uint64_t value[KEYS];
    static deja_slice keys[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = number(&value[i]);
    for (uint64_t known = 0; known <= 300; known += 17) {
        deja_filter *f = new_full();
        uint8_t is_new[KEYS];
        size_t done = 999;
        for (uint64_t i = 0; i < KEYS; i++)
            value[i] = i < known ? i % ROOM : 1000 + i;
        memset(is_new, 7, sizeof is_new);
        assert_int_equal(deja_filter_add_batch(f, keys, KEYS, is_new, &done, NULL), DEJA_EFULL);
        assert_int_equal(done, known);
        for (size_t i = 0; i < known; i++)
            assert_int_equal(is_new[i], 0);
        for (size_t i = known; i < KEYS; i++)
            assert_false(deja_filter_contains(f, keys[i]));
        assert_int_equal(stats_of(f).keys, ROOM);
        assert_int_equal(stats_of(f).offered, ROOM + known);
        deja_filter_free(f);
    }
}

/* Repeats take no slot, so a batch stops where single calls would. */
static void a_batch_stops_at_the_same_key_as_single_calls(void **state)
{
    enum {
        KEYS = 600
    };
    static uint64_t value[KEYS];
    static deja_slice keys[KEYS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        deja_filter *a = new_filter(small_exact), *b = new_filter(small_exact);
        struct rng r = rng_seeded(seed);
        uint8_t one[KEYS], many[KEYS];
        size_t taken = 0, done;
        for (size_t i = 0; i < KEYS; i++) {
            value[i] = rng_below(&r, 250);
            keys[i] = number(&value[i]);
        }
        int rc = DEJA_OK;
        for (; taken < KEYS && rc == DEJA_OK; taken += rc == DEJA_OK)
            rc = deja_filter_add_batch(a, &keys[taken], 1, &one[taken], NULL, NULL);
        assert_int_equal(rc, DEJA_EFULL);
        assert_int_equal(deja_filter_add_batch(b, keys, KEYS, many, &done, NULL), DEJA_EFULL);
        assert_int_equal(done, taken);
        assert_memory_equal(one, many, taken);
        assert_same_bodies(a, b);
        assert_int_equal(stats_of(b).bits_set, ROOM);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* Threads count their keys after a batch, so another thread may see room that no longer exists.
 * Such a key is refused; it is never reported as seen. */
static void a_table_that_others_have_filled_refuses_the_key(void **state)
{
    enum {
        SLOTS = 160
    };
    deja_filter *f = new_full();
    atomic_store(&f->part[0]->keys, 0); /* as if other threads were still adding */
    share(f);
    for (uint64_t n = ROOM; n < SLOTS; n++)
        assert_true(add(f, number(&n)));
    for (uint64_t n = SLOTS; n < 2 * SLOTS; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), NULL, NULL), DEJA_EFULL);
        assert_false(deja_filter_contains(f, number(&n)));
    }
    for (uint64_t n = 0; n < SLOTS; n++)
        assert_false(add(f, number(&n)));
    deja_filter_free(f);
}

static void the_hash_0_is_a_key_like_any_other(void **state)
{
    deja_filter *f = new_filter(small_exact);
    const uint64_t zero = 0;
    uint8_t answer = 7;
    deja_filter_contains_hashed(f, &zero, 1, &answer);
    assert_int_equal(answer, 0);
    assert_int_equal(deja_filter_add_hashed(f, &zero, 1, &answer, NULL, NULL), DEJA_OK);
    assert_int_equal(answer, 1);
    assert_int_equal(deja_filter_add_hashed(f, &zero, 1, &answer, NULL, NULL), DEJA_OK);
    assert_int_equal(answer, 0);
    deja_filter_contains_hashed(f, &zero, 1, &answer);
    assert_int_equal(answer, 1);
    assert_int_equal(stats_of(f).bits_set, 1);
    deja_filter_free(f);
}

/* All keys start at the last line, so the search wraps around to the first. */
static void a_full_line_overflows_into_the_next_and_wraps_around(void **state)
{
    deja_filter *f = new_filter(small_exact);
    uint8_t answer;
    for (uint64_t i = 0; i < ROOM; i++) {
        const uint64_t hash = UINT64_MAX - i;
        assert_int_equal(deja_filter_add_hashed(f, &hash, 1, &answer, NULL, NULL), DEJA_OK);
        assert_int_equal(answer, 1);
    }
    for (uint64_t i = 0; i < 2 * ROOM; i++) {
        const uint64_t hash = UINT64_MAX - i;
        deja_filter_contains_hashed(f, &hash, 1, &answer);
        assert_int_equal(answer, i < ROOM);
    }
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_exact_filter_refuses_new_keys_and_accepts_known_ones),
        cmocka_unit_test(a_batch_stops_at_the_key_that_does_not_fit),
        cmocka_unit_test(a_batch_stops_at_the_same_key_as_single_calls),
        cmocka_unit_test(a_table_that_others_have_filled_refuses_the_key),
        cmocka_unit_test(the_hash_0_is_a_key_like_any_other),
        cmocka_unit_test(a_full_line_overflows_into_the_next_and_wraps_around),
    };
    return cmocka_run_group_tests_name("unit.exact", tests, NULL, NULL);
}
