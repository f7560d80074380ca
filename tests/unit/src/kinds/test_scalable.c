/* test_scalable.c - growth: parts, their rates, and its limits. */
#include "asking.h"
#include "rng.h"
#include <math.h>
#include <stdlib.h>

static void a_growing_filter_opens_a_part_for_each_power_of_its_growth(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++) {
        deja_filter *f =
            new_filter(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = part_kinds[i], .capacity = 100,
                               .fp_rate = 1e-6, .growth = 3, .seed = 1));
        uint64_t sum = 0, part = 100;
        for (uint64_t n = 0; n < 4001; n++) {
            const bool opens = n == sum + part;
            const uint32_t before = f->n_parts;
            assert_true(add(f, number(&n)));
            assert_int_equal(f->n_parts, before + opens);
            if (opens) {
                sum += part;
                part *= 3;
                assert_int_equal(f->part[f->n_parts - 1]->capacity, part);
            }
        }
        assert_int_equal(stats_of(f).parts, 5); /* 100 + 300 + 900 + 2700 and one more key */
        assert_int_equal(stats_of(f).keys, 4001);
        assert_int_equal(stats_of(f).capacity, 100 + 300 + 900 + 2700 + 8100);
        for (uint64_t n = 0; n < 4001; n++)
            assert_true(deja_filter_contains(f, number(&n)));
        deja_filter_free(f);
    }
}

/* A batch may exceed all parts so far.  None may get more keys than it was sized for, or the
 * promised rate would not hold. */
static void a_large_batch_does_not_overfill_a_small_part(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    enum {
        KEYS = 20000
    };
    static uint64_t hash[KEYS];
    struct rng r = rng_seeded(3);
    rng_fill(&r, hash, KEYS);
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++)
        for (uint64_t first = 1; first <= 1000; first *= 10) {
            deja_filter *f = new_filter(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = part_kinds[i],
                                                .capacity = first, .fp_rate = 1e-3, .seed = 1));
            size_t done = 0;
            const int rc = deja_filter_add_hashed(f, hash, KEYS, NULL, &done, NULL);
            if (rc != DEJA_OK)
                fail_msg("%s parts, first of %zu: %s after %zu of %d keys",
                         deja_kind_name(part_kinds[i]), (size_t)first, deja_strerror(rc), done,
                         KEYS);
            for (uint32_t part = 0; part < f->n_parts; part++)
                if (f->part[part]->keys > f->part[part]->capacity)
                    fail_msg("%s parts, first of %zu: part %u has %zu keys for %zu",
                             deja_kind_name(part_kinds[i]), (size_t)first, part,
                             (size_t)f->part[part]->keys, (size_t)f->part[part]->capacity);
            deja_filter_free(f);
        }
}

/* If every part holds the keys it was sized for, the compound rate is below p, and stats say so. */
static void the_rate_of_a_grown_filter_stays_under_p(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100, .fp_rate = 1e-2, .growth = 2, .seed = 1));
    double none = 1;
    for (uint64_t n = 0; n < 100 * (1 + 2 + 4 + 8 + 16 + 32); n++)
        assert_int_equal(deja_filter_add(f, number(&n), NULL, NULL), DEJA_OK);
    for (uint32_t i = 0; i < f->n_parts; i++)
        none *= 1 - dj_shape_rate(&f->part[i]->shape, (double)f->part[i]->keys);
    assert_int_equal(f->n_parts, 6);
    assert_true(1 - none < 1e-2);
    assert_true(fabs(stats_of(f).fp_now - (1 - none)) < 0.1 * (1 - none));
    deja_filter_free(f);
}

static void a_filter_that_cannot_grow_further_is_full_and_keeps_what_it_has(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 50, .fp_rate = 1e-3,
                                        .growth = 1, .tightening = 0.9, .seed = 1));
    uint64_t n = 0;
    int rc = DEJA_OK;
    for (; n < 3000 && rc == DEJA_OK; n += rc == DEJA_OK)
        rc = deja_filter_add(f, number(&n), NULL, NULL);
    assert_int_equal(rc, DEJA_EFULL);
    assert_int_equal(f->n_parts, DJ_MAX_PARTS);
    assert_in_range(n, 50 * DJ_MAX_PARTS, 50 * DJ_MAX_PARTS + 20); /* some were false positives */
    assert_int_equal(stats_of(f).offered, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(deja_filter_contains(f, number(&i)));
    deja_filter_free(f);
}

/* A newest part that exceeds the cache is queried with the others before keys are added to it.
 * Every key comes twice in a row, and again at the end. */
static void repeats_are_known_however_large_the_newest_part_is(void **state)
{
    enum {
        FIRST = 600000,
        KEYS = 640000
    };
    static uint64_t hash[2 * KEYS];
    static uint8_t is_new[2 * KEYS];
    struct rng r = rng_seeded(4);
    deja_filter *f =
        new_filter(OPTIONS(.kind = DEJA_SCALABLE, .capacity = FIRST, .fp_rate = 1e-6, .seed = 1));
    for (size_t i = 0; i < KEYS; i++)
        hash[2 * i] = hash[2 * i + 1] = rng_next(&r);
    assert_int_equal(deja_filter_add_hashed(f, hash, 2 * KEYS, is_new, NULL, NULL), DEJA_OK);
    assert_int_equal(f->n_parts, 2);
    assert_true(f->part[1]->body_len > UINT64_C(4) << 20);
    uint64_t n_new = 0;
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(is_new[2 * i + 1], 0);
        n_new += is_new[2 * i];
    }
    assert_in_range(n_new, KEYS - 3, KEYS); /* false positives: 0.2 expected */
    assert_int_equal(f->part[0]->keys, FIRST);
    assert_int_equal(f->part[1]->keys, n_new - FIRST);
    assert_int_equal(deja_filter_add_hashed(f, hash, 2 * KEYS, is_new, NULL, NULL), DEJA_OK);
    assert_null(memchr(is_new, 1, sizeof is_new));
    assert_int_equal(f->part[1]->keys, n_new - FIRST);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_growing_filter_opens_a_part_for_each_power_of_its_growth),
        cmocka_unit_test(a_large_batch_does_not_overfill_a_small_part),
        cmocka_unit_test(the_rate_of_a_grown_filter_stays_under_p),
        cmocka_unit_test(repeats_are_known_however_large_the_newest_part_is),
        cmocka_unit_test(a_filter_that_cannot_grow_further_is_full_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests_name("unit.scalable", tests, NULL, NULL);
}
