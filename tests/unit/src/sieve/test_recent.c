/* test_recent.c - the exact table of recent keys: grows up to its limit, and takes adds back. */
#include "failmem.h"
#include "rng.h"
#include "sieve/recent.h"
#include "unit.h"

enum {
    KEYS = 5000
};

/* Some share all high bits, so that they meet in the same slots. */
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

static void undoing_restores_the_table(void **state)
{
    struct dj_recent r;
    dj_recent_init(&r, 1 << 20, NULL);
    assert_int_equal(dj_recent_reserve(&r, 600, false), DEJA_OK);
    for (uint32_t i = 0; i < 300; i++)
        assert_true(dj_recent_add(&r, &(deja_fingerprint){nth(i).hash, i, 0}));
    const size_t len = r.slots * sizeof *r.slot;
    deja_fingerprint *before = malloc(len);
    memcpy(before, r.slot, len);
    for (uint32_t i = 300; i < 600; i++)
        assert_true(dj_recent_add(&r, &(deja_fingerprint){nth(i).hash, i, 0}));
    for (uint32_t i = 600; i-- > 300;)
        dj_recent_undo(&r, &(deja_fingerprint){nth(i).hash, i, 0});
    assert_memory_equal(r.slot, before, len);
    assert_int_equal(r.n, 300);
    free(before);
    dj_recent_fini(&r);
}

static void the_limit_holds_unless_the_log_is_longer(void **state)
{
    struct dj_recent r;
    dj_recent_init(&r, 64 * sizeof(deja_fingerprint), NULL);
    assert_int_equal(dj_recent_most(&r), 40);
    assert_int_equal(dj_recent_reserve(&r, 40, false), DEJA_OK);
    assert_int_equal(r.slots, 64);
    assert_int_equal(dj_recent_reserve(&r, 41, false), DEJA_EFULL);
    assert_int_equal(dj_recent_reserve(&r, 5000, true), DEJA_OK);
    assert_int_equal(dj_recent_reserve(&r, 41, false), DEJA_EFULL); /* there is room, but no */
    dj_recent_fini(&r);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    struct failmem mem;
    struct dj_recent r;
    failmem_init(&mem, 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_and_sorted),
        cmocka_unit_test(undoing_restores_the_table),
        cmocka_unit_test(the_limit_holds_unless_the_log_is_longer),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("unit.recent", tests, NULL, NULL);
}
