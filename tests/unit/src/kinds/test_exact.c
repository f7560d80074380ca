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

/* --- Tables with marks --------------------------------------------------------- */

enum {
    LARGE = 30000 /* the fewest lines with marks hold 26214 keys */
};
static const deja_options large_exact = FIELDS(.kind = DEJA_EXACT, .capacity = LARGE, .seed = 1);

static void add_numbers(deja_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++)
        assert_true(add(f, number(&n)));
}

static void has_numbers(const deja_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t n = 0; n < 3 * LARGE; n++)
        assert_int_equal(deja_filter_contains(f, number(&n)), n >= from && n < to);
}

static uint64_t count_marks(const struct dj_part *p)
{
    uint64_t marks = 0;
    for (uint64_t i = 0; i < p->shape.bits / 64; i++)
        marks += p->body[8 * i] & 1;
    return marks;
}

static void only_large_tables_have_marks(void **state)
{
    const struct {
        deja_options opt;
        bool marked;
    } cases[] = {
        {FIELDS(.kind = DEJA_EXACT, .capacity = 26208, .seed = 1), false},
        {FIELDS(.kind = DEJA_EXACT, .capacity = 26209, .seed = 1), true},
        {FIELDS(.kind = DEJA_EXACT, .memory = 1 << 18, .seed = 1), true},
        {FIELDS(.kind = DEJA_EXACT, .capacity = LARGE, .seed = 1, .format = 1), false},
        {FIELDS(.kind = DEJA_EXACT, .capacity = LARGE, .seed = 1, .flags = DEJA_DATES), false},
        {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = LARGE, .seed = 1),
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        deja_filter *f = new_filter(cases[i].opt);
        assert_int_equal(f->part[0]->marked, cases[i].marked);
        deja_filter_free(f);
    }
}

static void marks_lead_to_every_key(void **state)
{
    deja_filter *alone = new_filter(large_exact), *shared = new_filter(large_exact);
    share(shared);
    add_numbers(alone, 0, LARGE);
    add_numbers(shared, 0, LARGE);
    has_numbers(alone, 0, LARGE);
    has_numbers(shared, 0, LARGE);
    assert_true(count_marks(alone->part[0]) > LARGE / 20);
    assert_same_bodies(alone, shared);
    assert_int_equal(stats_of(alone).bits_set, LARGE);
    deja_filter_free(alone);
    deja_filter_free(shared);
}

/* Slots with marks hold whole hashes: the keys can move to a table of any size. */
static void tables_with_and_without_marks_can_be_merged(void **state)
{
    const deja_options sizes[] = {
        FIELDS(.kind = DEJA_EXACT, .capacity = 20000, .seed = 1), large_exact,
        FIELDS(.kind = DEJA_EXACT, .capacity = 2 * LARGE + 7, .seed = 1)};
    for (size_t from = 0; from < 3; from++)
        for (size_t into = 0; into < 3; into++) {
            deja_filter *a = new_filter(sizes[into]), *b = new_filter(sizes[from]);
            add_numbers(a, 0, 6000);
            add_numbers(b, 5000, 20000);
            assert_int_equal(deja_filter_merge(a, b, NULL), DEJA_OK);
            has_numbers(a, 0, 20000);
            assert_int_equal(stats_of(a).bits_set, 20000);
            deja_filter_free(a);
            deja_filter_free(b);
        }
}

static void the_first_hashes_are_keys_of_a_marked_table(void **state)
{
    deja_filter *f = new_filter(large_exact), *g = new_filter(large_exact);
    uint8_t answer[2];
    for (uint64_t least = 0; least < 4;
         least += 2) { /* 2 and 3 have the fingerprints of 0 and 1 */
        const uint64_t hash[2] = {least, least + 1};
        assert_int_equal(deja_filter_add_hashed(f, hash, 2, answer, NULL, NULL), DEJA_OK);
        deja_filter_contains_hashed(f, hash, 2, answer);
        assert_true(answer[0] && answer[1]);
    }
    assert_int_equal(deja_filter_merge(g, f, NULL), DEJA_OK);
    for (uint64_t hash = 0; hash < 6; hash++) {
        deja_filter_contains_hashed(g, &hash, 1, answer);
        assert_int_equal(answer[0], hash < 4);
    }
    deja_filter_free(f);
    deja_filter_free(g);
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
        cmocka_unit_test(only_large_tables_have_marks),
        cmocka_unit_test(marks_lead_to_every_key),
        cmocka_unit_test(tables_with_and_without_marks_can_be_merged),
        cmocka_unit_test(the_first_hashes_are_keys_of_a_marked_table),
    };
    return cmocka_run_group_tests_name("unit.exact", tests, NULL, NULL);
}
