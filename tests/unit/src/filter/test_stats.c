/* test_stats.c - stats of every kind: empty, full, and for programs of any age. */
#include "asking.h"
#include <math.h>
#include <stdlib.h>

static void stats_describe_the_filter(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MURMUR3, .capacity = 1000, .fp_rate = 0.01,
                .filters = 2, .hashes = 4, .url = deja_url_profile(DEJA_URL_GSB), .seed = 1));
    for (uint64_t n = 0; n < 150; n++) {
        const uint64_t value = n % 100;
        add(f, number(&value));
    }
    const deja_stats s = stats_of(f);
    assert_int_equal(s.kind, DEJA_CLASSIC);
    assert_int_equal(s.part_kind, DEJA_CLASSIC);
    assert_int_equal(s.hash, DEJA_HASH_MURMUR3);
    assert_int_equal(s.hashes, 4);
    assert_int_equal(s.filters, 2);
    assert_int_equal(s.parts, 2);
    assert_int_equal(s.capacity, 1000);
    assert_true(s.fp_rate == 0.01);
    assert_int_equal(s.bits, 2 * f->part[0]->shape.bits);
    assert_int_equal(s.bytes, 2 * f->part[0]->body_len);
    assert_int_equal(s.offered, 150);
    assert_int_equal(s.keys, 100);
    assert_int_equal(s.visit, 1);
    assert_int_equal(s.syncs, 0);
    assert_int_equal(s.profile, DEJA_URL_GSB);
    assert_int_equal(s.url_rules, deja_url_rules_id(deja_url_profile(DEJA_URL_GSB)));
    assert_int_equal(s.unclean, 0);
    assert_int_equal(s.flags & DEJA_KEY_APART, 0);
    uint64_t set = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (uint64_t b = 0; b < f->part[i]->body_len; b++)
            set += (uint64_t)__builtin_popcount(f->part[i]->body[b]);
    assert_int_equal(s.bits_set, set);
    assert_true(fabs(s.fill - (double)set / (double)s.bits) < 1e-12);
    deja_filter_free(f);
}

static void an_empty_filter_has_lost_nothing(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.bits_set + s.keys + s.offered, 0);
        assert_true(s.fill == 0 && s.distinct == 0 && s.fp_now == 0 && s.lost == 0);
        assert_true(s.bits_expected == 0 && s.bits_sigma == 0);
        deja_filter_free(f);
    }
}

static void a_filter_with_every_bit_set_contains_everything(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_CLASSIC, .capacity = 10, .fp_rate = 0.5, .hashes = 1, .seed = 1));
    for (uint64_t n = 0; n < 10000; n++)
        assert_int_equal(deja_filter_add(f, number(&n), NULL, NULL), DEJA_OK);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.bits_set, s.bits);
    assert_true(s.fp_now == 1);
    assert_true(isinf(s.distinct));
    assert_true(deja_filter_contains(f, text("anything")));
    deja_filter_free(f);
}

static void stats_of_any_age_are_filled_up_to_their_size(void **state)
{
    deja_filter *f = new_filter(every[0].opt);
    for (uint64_t n = 0; n < 100; n++)
        add(f, number(&n));
    const deja_stats whole = stats_of(f);
    for (size_t size = 0; size <= sizeof(deja_stats) + 64; size++) {
        uint64_t room[sizeof(deja_stats) / 8 + 16];
        deja_stats *s = (deja_stats *)(void *)room;
        memset(room, 0xee, sizeof room);
        s->size = size;
        const bool enough = size >= sizeof(size_t);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, s, NULL),
                         enough ? DEJA_OK : DEJA_EINVAL);
        assert_int_equal(s->size, size);
        const size_t known = !enough ? sizeof(size_t) : size < sizeof whole ? size : sizeof whole;
        assert_memory_equal((uint8_t *)room + sizeof(size_t),
                            (const uint8_t *)&whole + sizeof(size_t), known - sizeof(size_t));
        for (size_t i = known; i < sizeof room; i++)
            assert_int_equal(((uint8_t *)room)[i], 0xee);
    }
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, NULL, NULL), DEJA_EINVAL);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_describe_the_filter),
        cmocka_unit_test(an_empty_filter_has_lost_nothing),
        cmocka_unit_test(a_filter_with_every_bit_set_contains_everything),
        cmocka_unit_test(stats_of_any_age_are_filled_up_to_their_size),
    };
    return cmocka_run_group_tests_name("unit.stats", tests, NULL, NULL);
}
