/* test_dated.c - slots with days: what a slot stores, and which hashes it tells apart. */
#include "unit.h"

#include "core/bits/dated.h"
#include "rng.h"
#include <string.h>

#define LINES 7

struct table {
    _Alignas(64) uint64_t body[8 * LINES];
    struct dj_slots s;
};

static struct table *empty_table(void)
{
    static struct table t;
    memset(&t, 0, sizeof t);
    t.s = (struct dj_slots){t.body, LINES};
    return &t;
}

static void assert_days(const struct table *t, uint64_t hash, uint32_t first, uint32_t last)
{
    const deja_days days = dj_dated_find(&t->s, hash);
    assert_int_equal(days.first, first);
    assert_int_equal(days.last, last);
}

static void the_layout_is_that_of_the_format(void **state)
{
    struct table *t = empty_table();
    const uint8_t *line = (const uint8_t *)t->body;
    const uint64_t a = UINT64_C(0x0000000000011fff), b = UINT64_C(0x0000000012345800);
    assert_int_equal(dj_dated_add(&t->s, a, 0x0102, NULL), DJ_DATED_NEW);
    assert_int_equal(dj_dated_add(&t->s, b, 0x0304, NULL), DJ_DATED_NEW);
    assert_int_equal(dj_dated_add(&t->s, a, 0x0506, NULL), DJ_DATED_SEEN);
    static const uint8_t slots[] = {2, 1, 1, 0, 0, 0, 0, 0, 4, 3, 0x34, 0x12, 0, 0, 0, 0};
    static const uint8_t last[] = {6, 5, 4, 3};
    assert_memory_equal(line, slots, sizeof slots);
    assert_memory_equal(line + 48, last, sizeof last);
    /* bits 11 to 15 of the hashes: 0x1fff >> 11 = 3 and 0x5800 >> 11 = 11 */
    const uint8_t extra[] = {3 | (11 & 7) << 5, 11 >> 3, 0, 0};
    assert_memory_equal(line + 60, extra, sizeof extra);
}

static void an_add_of_a_known_key_raises_only_its_last_day(void **state)
{
    struct table *t = empty_table();
    const uint64_t h = UINT64_C(0xfedcba9876543210);
    assert_days(t, h, 0, 0);
    assert_false(dj_dated_touch(&t->s, h, 5));
    assert_int_equal(dj_dated_add(&t->s, h, 10, NULL), DJ_DATED_NEW);
    assert_days(t, h, 10, 10);
    assert_int_equal(dj_dated_add(&t->s, h, 12, NULL), DJ_DATED_SEEN);
    assert_int_equal(dj_dated_add(&t->s, h, 11, NULL), DJ_DATED_SEEN);
    assert_days(t, h, 10, 12);
    assert_true(dj_dated_touch(&t->s, h, UINT16_MAX));
    assert_days(t, h, 10, UINT16_MAX);
}

static void hashes_differ_in_their_high_53_bits(void **state)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        struct table *t = empty_table();
        const uint64_t h = UINT64_C(0x0123456789abcdef);
        assert_int_equal(dj_dated_add(&t->s, h, 1, NULL), DJ_DATED_NEW);
        assert_int_equal(dj_dated_add(&t->s, h ^ UINT64_C(1) << bit, 1, NULL),
                         bit < 11 ? DJ_DATED_SEEN : DJ_DATED_NEW);
    }
}

static void the_hash_0_is_a_key_like_any_other(void **state)
{
    struct table *t = empty_table();
    assert_int_equal(dj_dated_add(&t->s, 0, 1, NULL), DJ_DATED_NEW);
    assert_int_equal(dj_dated_add(&t->s, 0, 2, NULL), DJ_DATED_SEEN);
    assert_days(t, 0, 1, 2);
}

/* Every slot can be filled; then every key is found with its own day, and no other fits. */
static void a_full_table_holds_every_key_with_its_days(void **state)
{
    enum {
        SLOTS = LINES * DJ_DATED_SLOTS
    };
    struct table *t = empty_table();
    struct rng r = rng_seeded(1);
    uint64_t hash[SLOTS + 1], stored;
    deja_days days;
    rng_fill(&r, hash, SLOTS + 1);
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_int_equal(dj_dated_add(&t->s, hash[i], i + 1, NULL), DJ_DATED_NEW);
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_days(t, hash[i], i + 1, i + 1);
        assert_true(dj_dated_slot(&t->s, i, &stored, &days));
        assert_days(t, stored, days.first, days.last);
        assert_true(hash[days.first - 1] >> 11 == stored >> 11);
    }
    assert_int_equal(dj_dated_add(&t->s, hash[SLOTS], 1, NULL), DJ_DATED_FULL);
    assert_int_equal(dj_dated_add(&t->s, hash[0], 99, NULL), DJ_DATED_SEEN);
}

static void locked_adds_fill_the_same_slots(void **state)
{
    static atomic_bool locks[DJ_LINE_LOCKS];
    struct rng r = rng_seeded(2);
    uint64_t hash[30], alone[8 * LINES];
    rng_fill(&r, hash, 30);
    for (int locked = 0; locked < 2; locked++) {
        struct table *t = empty_table();
        for (uint32_t i = 0; i < 60; i++)
            assert_int_equal(dj_dated_add(&t->s, hash[i % 30], i + 1, locked ? locks : NULL),
                             i < 30 ? DJ_DATED_NEW : DJ_DATED_SEEN);
        if (locked)
            assert_memory_equal(alone, t->body, sizeof alone);
        memcpy(alone, t->body, sizeof alone);
    }
}

static void days_are_extended_or_replaced(void **state)
{
    struct table *t = empty_table();
    assert_false(dj_dated_set(&t->s, 1 << 20, (deja_days){1, 2}, false));
    assert_int_equal(dj_dated_add(&t->s, 1 << 20, 100, NULL), DJ_DATED_NEW);
    assert_true(dj_dated_set(&t->s, 1 << 20, (deja_days){101, 99}, false));
    assert_days(t, 1 << 20, 100, 100);
    assert_true(dj_dated_set(&t->s, 1 << 20, (deja_days){90, 110}, false));
    assert_days(t, 1 << 20, 90, 110);
    assert_true(dj_dated_set(&t->s, 1 << 20, (deja_days){95, 96}, true));
    assert_days(t, 1 << 20, 95, 96);
}

/* A file with slots that no add would write. */
static void a_crafted_slot_without_days_is_still_a_key(void **state)
{
    struct table *t = empty_table();
    t->body[0] = DJ_LE64(UINT64_C(1) << 16);
    assert_days(t, 1 << 16, 1, 1);
    memset(t->body, 0xff, sizeof t->body); /* no free slot: a search still ends */
    assert_days(t, 1 << 16, 0, 0);
    assert_int_equal(dj_dated_add(&t->s, 1 << 16, 1, NULL), DJ_DATED_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_the_format),
        cmocka_unit_test(an_add_of_a_known_key_raises_only_its_last_day),
        cmocka_unit_test(hashes_differ_in_their_high_53_bits),
        cmocka_unit_test(the_hash_0_is_a_key_like_any_other),
        cmocka_unit_test(a_full_table_holds_every_key_with_its_days),
        cmocka_unit_test(locked_adds_fill_the_same_slots),
        cmocka_unit_test(days_are_extended_or_replaced),
        cmocka_unit_test(a_crafted_slot_without_days_is_still_a_key),
    };
    return cmocka_run_group_tests_name("unit.dated", tests, NULL, NULL);
}
