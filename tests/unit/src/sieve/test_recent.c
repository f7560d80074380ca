/* test_recent.c - the exact table of recent keys: grows up to its limit, and takes adds back. */
#include "failmem.h"
#include "rng.h"
#include "sieve/recent.h"
#include "unit.h"

enum {
    KEYS = 5000
};

/* Some share all high bits, so that they meet in the same buckets. */
static deja_fingerprint nth(uint32_t i)
{
    struct rng rng = rng_seeded(i);
    const uint64_t hash = rng_next(&rng);
    return (deja_fingerprint){i % 5 ? hash : hash >> 40 | UINT64_MAX << 30, i, 77};
}

static void keys_are_found_and_sorted(void **state)
{
    struct dj_recent r;
    dj_recent_init(&r, 1 << 20, NULL);
    for (uint32_t i = 0; i < KEYS; i++) {
        const deja_fingerprint key = nth(i);
        assert_int_equal(dj_recent_reserve(&r, 1, false), DEJA_OK);
        assert_false(dj_recent_has(&r, &key));
        assert_true(dj_recent_add(&r, &key));
        assert_false(dj_recent_add(&r, &key));
    }
    for (uint32_t i = 0; i < 2 * KEYS; i++)
        assert_int_equal(dj_recent_has(&r, &(deja_fingerprint){nth(i).hash, i, 0}), i < KEYS);
    deja_fingerprint *sorted = dj_recent_sorted(&r);
    for (uint32_t i = 1; i < KEYS; i++)
        assert_true(dj_print_less(&sorted[i - 1], &sorted[i]));
    dj_free(NULL, sorted, KEYS * sizeof *sorted);
    dj_recent_fini(&r);
}

/* One key in 16 belongs to the first or the last bucket, so the table wraps around. */
static deja_fingerprint crowded(uint32_t i)
{
    const uint64_t hash = nth(5 * i + 1).hash;
    return (deja_fingerprint){i % 32 == 0    ? hash >> 44
                              : i % 32 == 16 ? ~(hash >> 44)
                                             : hash,
                              i, 0};
}

static void growing_in_place_keeps_every_key(void **state)
{
    struct dj_recent r;
    size_t grown = 0;
    dj_recent_init(&r, 60001 * 128 / 7, NULL); /* the last step is a small one */
    for (uint32_t n = 0; n < 60000; n++) {
        const deja_fingerprint key = crowded(n);
        const size_t before = r.buckets;
        assert_int_equal(dj_recent_reserve(&r, 1, false), DEJA_OK);
        for (uint32_t i = 0; r.buckets != before && i < n; i++)
            assert_true(dj_recent_has(&r, &(deja_fingerprint){crowded(i).hash, i, 0}));
        grown += r.buckets != before;
        assert_true(dj_recent_add(&r, &key));
    }
    assert_int_equal(r.n, 60000);
    assert_in_range(grown, 10, 20);
    dj_recent_fini(&r);
}

static void undoing_restores_the_table(void **state)
{
    struct dj_recent r;
    dj_recent_init(&r, 1 << 20, NULL);
    assert_int_equal(dj_recent_reserve(&r, 600, false), DEJA_OK);
    for (uint32_t i = 0; i < 300; i++)
        assert_true(dj_recent_add(&r, &(deja_fingerprint){nth(i).hash, i, 0}));
    struct dj_bucket *before = malloc(r.buckets * sizeof *before);
    memcpy(before, r.bucket, r.buckets * sizeof *before);
    for (uint32_t i = 300; i < 600; i++)
        assert_true(dj_recent_add(&r, &(deja_fingerprint){nth(i).hash, i, 0}));
    for (uint32_t i = 600; i-- > 300;)
        dj_recent_undo(&r, &(deja_fingerprint){nth(i).hash, i, 0});
    for (size_t i = 0; i < r.buckets; i++) {
        assert_int_equal(r.bucket[i].n, before[i].n);
        assert_memory_equal(r.bucket[i].hash, before[i].hash, 8 * before[i].n);
        assert_memory_equal(r.bucket[i].check, before[i].check, 4 * before[i].n);
    }
    assert_int_equal(r.n, 300);
    free(before);
    dj_recent_fini(&r);
}

static void the_limit_holds_unless_the_log_is_longer(void **state)
{
    struct dj_recent r;
    dj_recent_init(&r, 10 * sizeof(struct dj_bucket), NULL);
    assert_int_equal(dj_recent_most(&r), 35);
    assert_int_equal(dj_recent_reserve(&r, 35, false), DEJA_OK);
    assert_int_equal(r.buckets, 10);
    assert_int_equal(dj_recent_reserve(&r, 36, false), DEJA_EFULL);
    assert_int_equal(dj_recent_reserve(&r, 5000, true), DEJA_OK);
    assert_int_equal(dj_recent_reserve(&r, 36, false), DEJA_EFULL); /* there is room, but no */
    dj_recent_fini(&r);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    struct failmem mem;
    struct dj_recent r;
    for (size_t nth_call = 3; nth_call <= 4; nth_call++) { /* growing allocates twice */
        failmem_init(&mem, nth_call);
        dj_recent_init(&r, 1 << 20, &mem.hook);
        assert_int_equal(dj_recent_reserve(&r, 100, false), DEJA_OK);
        const deja_fingerprint key = nth(1);
        assert_true(dj_recent_add(&r, &key));
        assert_int_equal(dj_recent_reserve(&r, 5000, false), DEJA_ENOMEM);
        assert_true(dj_recent_has(&r, &key));
        assert_int_equal(dj_recent_reserve(&r, 5000, false), DEJA_OK);
        assert_true(dj_recent_has(&r, &key));
        dj_recent_fini(&r);
        assert_int_equal(mem.live + mem.mistakes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_and_sorted),
        cmocka_unit_test(growing_in_place_keeps_every_key),
        cmocka_unit_test(undoing_restores_the_table),
        cmocka_unit_test(the_limit_holds_unless_the_log_is_longer),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("unit.recent", tests, NULL, NULL);
}
