/* test_builder.c - building a static filter: duplicates, seeds that fail, refusals, and memory
 * that runs out. */
#include "unit.h"

#include "building.h"
#include "failmem.h"
#include "kinds/deja_filter.h"
#include "rng.h"
#include "scratch.h"
#include "store/builder.h"
#include <string.h>

/* --- Duplicates and chosen hashes ------------------------------------------- */

static void duplicates_and_order_make_no_difference(void **state)
{
    const deja_options opt = options(8, 9);
    deja_builder *b = begin(&opt);
    for (int again = 0; again < 5; again++)
        add_numbers(b, 0, 2000);
    deja_filter *f = finish(b), *once = of_numbers(2000, 8, 9);
    assert_int_equal(stats_of(f).keys, 2000);
    assert_int_equal(stats_of(f).offered, 10000);
    assert_int_equal(f->part[0]->body_len, once->part[0]->body_len);
    assert_memory_equal(f->part[0]->body, once->part[0]->body, once->part[0]->body_len);
    deja_filter_free(f);
    deja_filter_free(once);
}

static void one_hash_a_hundred_thousand_times_is_one_key(void **state)
{
    const deja_options opt = options(8, 9);
    deja_builder *b = begin(&opt);
    const uint64_t hash[4] = {0, 0, 0, 0};
    for (int i = 0; i < 25000; i++)
        assert_int_equal(deja_builder_add_hashed(b, hash, 4, NULL), DEJA_OK);
    deja_filter *f = finish(b);
    uint8_t found = 0;
    deja_filter_contains_hashed(f, hash, 1, &found);
    assert_true(found);
    assert_int_equal(stats_of(f).keys, 1);
    deja_filter_free(f);
}

/* Consecutive numbers, and single bits: all distinct hashes are distinct keys. */
static void hashes_without_any_randomness_work(void **state)
{
    static uint64_t hash[100064];
    static uint8_t found[100064];
    const deja_options opt = options(8, 9);
    deja_builder *b = begin(&opt);
    size_t n = 0;
    for (uint64_t i = 0; i < 100000; i++)
        hash[n++] = i;
    for (int bit = 17; bit < 64; bit++)
        hash[n++] = UINT64_C(1) << bit;
    assert_int_equal(deja_builder_add_hashed(b, hash, n, NULL), DEJA_OK);
    deja_filter *f = finish(b);
    deja_filter_contains_hashed(f, hash, n, found);
    for (size_t i = 0; i < n; i++)
        assert_true(found[i]);
    assert_int_equal(stats_of(f).keys, n);
    deja_filter_free(f);
}

/* Two hashes with the same three slots under this seed, but different fingerprints: they differ in
 * a bit that selects nothing if segments are short. */
static void twins(const uint8_t key[DEJA_KEY_LEN], unsigned attempt, uint64_t pair[2])
{
    const struct dj_fuse f = {.seed = dj_key_derive(key, DJ_STREAM_STATIC, attempt)};
    const uint64_t h = dj_mix64(attempt + 1);
    pair[0] = dj_fuse_unmix(&f, h);
    pair[1] = dj_fuse_unmix(&f, h ^ UINT64_C(1) << 14);
    assert_int_equal(dj_fuse_remix(&f, pair[0]), h);
}

static void a_seed_that_fails_is_replaced(void **state)
{
    const deja_options opt = options(8, 4);
    uint8_t key[DEJA_KEY_LEN], found[2];
    uint64_t pair[2];
    dj_key_from_seed(4, key);
    twins(key, 0, pair);
    deja_builder *b = begin(&opt);
    assert_int_equal(deja_builder_add_hashed(b, pair, 2, NULL), DEJA_OK);
    deja_filter *f = finish(b);
    assert_true(f->plan.fuse.seed != dj_key_derive(key, DJ_STREAM_STATIC, 0));
    deja_filter_contains_hashed(f, pair, 2, found);
    assert_true(found[0] && found[1]);
    deja_filter_free(f);
}

/* A failed attempt must leave nothing behind for the next one. */
static void many_seeds_that_fail_leave_no_trace(void **state)
{
    enum {
        FAILING = 10,
        KEYS = 200
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const deja_options opt = options(32, seed);
        uint8_t key[DEJA_KEY_LEN], found[KEYS];
        uint64_t hash[KEYS];
        dj_key_from_seed(seed, key);
        for (unsigned i = 0; i < KEYS / 2; i++)
            twins(key, i < FAILING ? i : 1000 + i, hash + 2 * (size_t)i);
        deja_builder *b = begin(&opt);
        assert_int_equal(deja_builder_add_hashed(b, hash, KEYS, NULL), DEJA_OK);
        deja_filter *f = finish(b);
        for (unsigned i = 0; i < FAILING; i++)
            assert_true(f->plan.fuse.seed != dj_key_derive(key, DJ_STREAM_STATIC, i));
        deja_filter_contains_hashed(f, hash, KEYS, found);
        for (size_t i = 0; i < KEYS; i++)
            assert_true(found[i]);
        deja_filter_free(f);
    }
}

static void a_set_that_defeats_every_seed_is_refused_and_kept(void **state)
{
    const deja_options opt = options(8, 4);
    uint8_t key[DEJA_KEY_LEN];
    uint64_t pair[2];
    deja_filter *f = NULL;
    deja_error err = {0};
    dj_key_from_seed(4, key);
    deja_builder *b = begin(&opt);
    for (unsigned i = 0; i < DJ_BUILDER_SEEDS; i++) {
        twins(key, i, pair);
        assert_int_equal(deja_builder_add_hashed(b, pair, 2, NULL), DEJA_OK);
    }
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, &err), DEJA_EFULL);
    assert_null(f);
    assert_non_null(strstr(err.text, "seeds"));
    assert_int_equal(b->keys.n, 2 * DJ_BUILDER_SEEDS); /* no key is lost */
    deja_builder_free(b);
}

static void hashes_are_sorted(void **state)
{
    static uint64_t h[5000];
    struct rng r = rng_seeded(1);
    for (size_t n = 0; n < 5000; n = n * 3 / 2 + 1)
        for (unsigned shift = 0; shift < 64; shift += 9) {
            for (size_t i = 0; i < n; i++)
                h[i] = rng_next(&r) >> shift;
            const size_t kept = dj_fuse_sort(h, n);
            assert_true(kept <= n && (n == 0 || kept > 0));
            for (size_t i = 1; i < kept; i++)
                assert_true(h[i - 1] < h[i]);
        }
}

/* --- Refusals -------------------------------------------------------------- */

static void refused(deja_options opt, int status, const char *word)
{
    deja_builder *b = NULL;
    deja_error err = {0};
    assert_int_equal(deja_builder_new(&opt, &b, &err), status);
    assert_null(b);
    if (!strstr(err.text, word))
        fail_msg("\"%s\" lacks \"%s\"", err.text, word);
}

static void builders_refuse_impossible_options(void **state)
{
    deja_options opt = options(0, 1);
    opt.kind = DEJA_BLOCKED;
    refused(opt, DEJA_EINVAL, "static");
    opt.kind = 0;
    refused(opt, DEJA_EINVAL, "static");
    refused(options(12, 1), DEJA_EINVAL, "8, 16 or 32");
    opt = options(8, 1);
    opt.fp_rate = 1e-3;
    refused(opt, DEJA_EINVAL, "options.fingerprint_bits is 8");
    opt = options(0, 1);
    opt.fp_rate = 1e-12;
    refused(opt, DEJA_EINVAL, "exact");
    opt = options(0, 1);
    opt.filters = 2;
    refused(opt, DEJA_ENOTSUP, "goes with");
    opt = options(0, 1);
    opt.hashes = 4;
    refused(opt, DEJA_EINVAL, "3 positions");
    opt = options(0, 1);
    opt.hash = DEJA_HASH_MD5;
    refused(opt, DEJA_EINVAL, "md5");
    opt = options(0, 1);
    opt.multiplier = 2;
    opt.hashes = 3;
    refused(opt, DEJA_EINVAL, "multiplier");
}

/* --- Memory ------------------------------------------------------------------ */

static int build_with(struct failmem *m, deja_filter **f)
{
    deja_options opt = options(8, 1);
    deja_builder *b = NULL;
    deja_error err = {0};
    opt.alloc = &m->hook;
    *f = NULL;
    int rc = deja_builder_new(&opt, &b, &err);
    for (uint64_t i = 0; rc == DEJA_OK && i < 10000; i++)
        rc = deja_builder_add_batch(b, &(deja_slice){&i, sizeof i}, 1, NULL);
    if (rc == DEJA_OK) {
        rc = deja_builder_finish(b, NULL, 0, f, &err);
        if (rc < 0)
            assert_true(err.text[0] && err.status == rc);
    }
    deja_builder_free(b);
    return rc;
}

static void every_allocation_may_fail_and_nothing_leaks(void **state)
{
    struct failmem m;
    deja_filter *f = NULL;
    failmem_init(&m, 0);
    assert_int_equal(build_with(&m, &f), DEJA_OK);
    const size_t needed = m.asked;
    deja_filter_free(f);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.mistakes, 0);
    assert_true(needed > 8);
    for (size_t n = 1; n <= needed; n++) {
        failmem_init(&m, n);
        assert_int_equal(build_with(&m, &f), DEJA_ENOMEM);
        assert_null(f);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.mistakes, 0);
    }
}

static void a_finish_without_memory_can_be_retried(void **state)
{
    struct failmem m;
    deja_filter *f = NULL;
    failmem_init(&m, 0);
    deja_options opt = options(8, 1);
    opt.alloc = &m.hook;
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, 1000);
    add_numbers(b, 0, 1000);
    m.fail_at = m.asked + 2;
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, NULL), DEJA_ENOMEM);
    m.fail_at = 0;
    add_numbers(b, 1000, 1100);
    f = finish(b);
    assert_int_equal(count_found(f, 0, 1100), 1100);
    assert_int_equal(stats_of(f).offered, 2100);
    deja_filter_free(f);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.mistakes, 0);
}

static void a_finished_builder_starts_again(void **state)
{
    const deja_options opt = options(16, 1);
    deja_builder *b = begin(&opt);
    deja_filter *first = NULL;
    add_numbers(b, 0, 100);
    assert_int_equal(deja_builder_finish(b, NULL, 0, &first, NULL), DEJA_OK);
    add_numbers(b, 500, 600);
    deja_filter *second = finish(b);
    assert_int_equal(count_found(first, 0, 100), 100);
    assert_int_equal(count_found(second, 500, 600), 100);
    assert_int_equal(stats_of(second).keys, 100);
    assert_int_equal(stats_of(second).offered, 100);
    deja_filter_free(first);
    deja_filter_free(second);
}

static void a_far_too_large_hint_is_harmless(void **state)
{
    deja_options opt = options(8, 1);
    opt.capacity = DJ_FUSE_MAX_KEYS * 100;
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, 10);
    deja_filter *f = finish(b);
    assert_int_equal(stats_of(f).capacity, 10);
    deja_filter_free(f);
}

/* --- Files -------------------------------------------------------------------- */

static void the_file_holds_the_built_filter(void **state)
{
    for (uint64_t n = 0; n <= 10000; n = n * 10 + 1) {
        const char *path = scratch_path("static.deja");
        deja_options opt = options(16, 0);
        deja_filter *f = NULL;
        deja_error err = {0};
        opt.url = deja_url_profile(DEJA_URL_GSB);
        deja_builder *b = begin(&opt);
        add_numbers(b, 0, n);
        assert_int_equal(deja_builder_finish(b, path, 0, &f, &err), DEJA_OK);
        assert_int_equal(access(path, F_OK), -1); /* it appears at the sync */
        assert_int_equal(deja_filter_sync(f, &err), DEJA_OK);
        const deja_stats made = stats_of(f);
        deja_filter_free(f);
        deja_builder_free(b);
        assert_int_equal(deja_file_verify(path, &err), DEJA_OK);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err), DEJA_OK);
        const deja_stats read = stats_of(f);
        assert_memory_equal(&made, &read, sizeof made);
        assert_int_equal(count_found(f, 0, n), n);
        assert_int_equal(deja_filter_profile(f), DEJA_URL_GSB);
        assert_int_equal(deja_filter_add(f, (deja_slice){"x", 1}, NULL, NULL), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_sync(f, &err), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, &err), DEJA_OK);
        unlink(path);
    }
}

static void an_existing_file_is_replaced_only_on_request(void **state)
{
    const char *path = scratch_path("taken");
    const deja_options opt = options(8, 1);
    deja_filter *f = NULL;
    deja_error err = {0};
    write_file(path, (const uint8_t *)"text", 4);
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, 10);
    assert_int_equal(deja_builder_finish(b, path, 0, &f, &err), DEJA_EINVAL);
    assert_int_equal(deja_builder_finish(b, path, DEJA_CREATE_REPLACE, &f, &err), DEJA_EINVAL);
    assert_null(f);
    f = finish(b); /* the builder still has its keys */
    assert_int_equal(count_found(f, 0, 10), 10);
    deja_filter_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_and_order_make_no_difference),
        cmocka_unit_test(one_hash_a_hundred_thousand_times_is_one_key),
        cmocka_unit_test(hashes_without_any_randomness_work),
        cmocka_unit_test(a_seed_that_fails_is_replaced),
        cmocka_unit_test(many_seeds_that_fail_leave_no_trace),
        cmocka_unit_test(a_set_that_defeats_every_seed_is_refused_and_kept),
        cmocka_unit_test(hashes_are_sorted),
        cmocka_unit_test(builders_refuse_impossible_options),
        cmocka_unit_test(every_allocation_may_fail_and_nothing_leaks),
        cmocka_unit_test(a_finish_without_memory_can_be_retried),
        cmocka_unit_test(a_finished_builder_starts_again),
        cmocka_unit_test(a_far_too_large_hint_is_harmless),
        cmocka_unit_test(the_file_holds_the_built_filter),
        cmocka_unit_test(an_existing_file_is_replaced_only_on_request),
    };
    return cmocka_run_group_tests_name("unit.builder", tests, scratch_open, scratch_close);
}
