/* test_static.c - a set that is built at once: nothing that was given is missing, the rate is the
 * fingerprints', duplicates are no matter, and what cannot be is refused in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "binom.h"
#include "failmem.h"
#include "filters/builder.h"
#include "rng.h"
#include "scratch.h"
#include <math.h>
#include <string.h>

#define LOT 1024

static deja_options options(uint32_t width, uint64_t seed)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_STATIC;
    opt.fingerprint_bits = width;
    opt.seed = seed;
    return opt;
}

static deja_builder *begin(const deja_options *opt)
{
    deja_builder *b = NULL;
    deja_error err = {0};
    if (deja_builder_new(opt, &b, &err) < 0)
        fail_msg("%s", err.text);
    return b;
}

static deja_filter *finish(deja_builder *b)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_builder_finish(b, NULL, 0, &f, &err) < 0)
        fail_msg("%s", err.text);
    deja_builder_free(b);
    return f;
}

static deja_stats stats(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
    return s;
}

static void add_numbers(deja_builder *b, uint64_t from, uint64_t to)
{
    uint64_t number[LOT];
    deja_slice key[LOT];
    while (from < to) {
        size_t n = 0;
        for (; n < LOT && from < to; n++) {
            number[n] = from++;
            key[n] = (deja_slice){&number[n], sizeof number[n]};
        }
        assert_int_equal(deja_builder_add_batch(b, key, n), DEJA_OK);
    }
}

static deja_filter *of_numbers(uint64_t n, uint32_t width, uint64_t seed)
{
    const deja_options opt = options(width, seed);
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, n);
    return finish(b);
}

static uint64_t count_found(const deja_filter *f, uint64_t from, uint64_t to)
{
    uint64_t number[LOT], found = 0;
    deja_slice key[LOT];
    uint8_t answer[LOT];
    while (from < to) {
        size_t n = 0;
        for (; n < LOT && from < to; n++) {
            number[n] = from++;
            key[n] = (deja_slice){&number[n], sizeof number[n]};
        }
        deja_filter_contains_batch(f, key, n, answer);
        for (size_t i = 0; i < n; i++)
            found += answer[i];
    }
    return found;
}

#define STRANGER (UINT64_C(1) << 40)

/* --- Answers -------------------------------------------------------------- */

static void every_number_of_keys_up_to_300_works_for_every_width(void **state)
{
    for (uint64_t n = 0; n <= 300; n++)
        for (uint32_t width = 8; width <= 32; width *= 2)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                deja_filter *f = of_numbers(n, width, seed);
                assert_int_equal(count_found(f, 0, n), n);
                assert_int_equal(stats(f).keys, n);
                if (n == 0 || width == 32)
                    assert_int_equal(count_found(f, STRANGER, STRANGER + 100), 0);
                deja_filter_free(f);
            }
}

/* All slots are zero, which is the fingerprint of one key in 256. */
static void an_empty_filter_finds_nothing(void **state)
{
    deja_filter *f = of_numbers(0, 8, 1);
    assert_int_equal(count_found(f, STRANGER, STRANGER + 10000), 0);
    assert_true(stats(f).fp_now <= 0);
    deja_filter_free(f);
}

/* Over small filters the strangers' answers are as random as over a large one. */
static void the_rate_of_small_filters_is_that_of_their_fingerprints(void **state)
{
    uint64_t hits = 0, probes = 0;
    for (uint64_t n = 1; n <= 300; n++) {
        deja_filter *f = of_numbers(n, 8, n);
        hits += count_found(f, STRANGER, STRANGER + 10000);
        probes += 10000;
        deja_filter_free(f);
    }
    assert_true(binom_within(hits, probes, 0x1p-8, 5));
}

static void check_large(uint64_t n, uint32_t width, uint64_t probes)
{
    deja_filter *f = of_numbers(n, width, 7);
    const deja_stats s = stats(f);
    assert_int_equal(count_found(f, 0, n), n);
    assert_true(binom_within(count_found(f, STRANGER, STRANGER + probes), probes,
                             ldexp(1, -(int)width), 5));
    assert_true(s.fp_now >= ldexp(1, -(int)width) && s.fp_now <= ldexp(1, -(int)width));
    assert_int_equal(s.bits, f->plan.shape.bits);
    assert_true(s.fill > 0.6 && s.fill < 0.9);
    if (n == 1000000)
        assert_true((double)s.bytes * 8 / (double)n <= 1.15 * width); /* 8 bits: 9.2 */
    deja_filter_free(f);
}

static void large_sets_forget_nothing_and_have_their_rate(void **state)
{
    for (uint64_t n = 1000; n <= 1000000; n *= 10)
        for (uint32_t width = 8; width <= 32; width *= 2)
            check_large(n, width, 1000000);
}

static void a_batch_is_a_loop_of_single_lookups(void **state)
{
    for (uint32_t width = 8; width <= 32; width *= 2) {
        deja_filter *f = of_numbers(3000, width, 5);
        uint64_t number[400];
        deja_slice key[400];
        uint8_t found[400];
        for (size_t n = 1; n <= 400; n += 7) {
            for (size_t i = 0; i < n; i++) {
                number[i] = i * 2654435761u % 20000;
                key[i] = (deja_slice){&number[i], sizeof number[i]};
            }
            deja_filter_contains_batch(f, key, n, found);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(deja_filter_contains(f, key[i]), found[i]);
        }
        deja_filter_free(f);
    }
}

static void hashing_and_adding_apart_makes_the_same_filter(void **state)
{
    const deja_options opt = options(16, 3);
    deja_builder *b = begin(&opt);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t hash;
        const deja_slice key = {&i, sizeof i};
        deja_builder_hash_batch(b, &key, 1, &hash);
        assert_int_equal(deja_builder_add_hashed(b, &hash, 1), DEJA_OK);
    }
    deja_filter *singly = finish(b), *f = of_numbers(5000, 16, 3);
    assert_int_equal(singly->part[0]->body_len, f->part[0]->body_len);
    assert_memory_equal(singly->part[0]->body, f->part[0]->body, f->part[0]->body_len);
    deja_filter_free(singly);
    deja_filter_free(f);
}

/* --- Duplicates and hashes that somebody chose ----------------------------- */

static void duplicates_and_their_order_make_no_difference(void **state)
{
    const deja_options opt = options(8, 9);
    deja_builder *b = begin(&opt);
    for (int again = 0; again < 5; again++)
        add_numbers(b, 0, 2000);
    deja_filter *f = finish(b), *once = of_numbers(2000, 8, 9);
    assert_int_equal(stats(f).keys, 2000);
    assert_int_equal(stats(f).offered, 10000);
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
        assert_int_equal(deja_builder_add_hashed(b, hash, 4), DEJA_OK);
    deja_filter *f = finish(b);
    uint8_t found = 0;
    deja_filter_contains_hashed(f, hash, 1, &found);
    assert_true(found);
    assert_int_equal(stats(f).keys, 1);
    deja_filter_free(f);
}

/* Numbers in a row, and with a single bit: all hashes that differ are keys of their own. */
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
    assert_int_equal(deja_builder_add_hashed(b, hash, n), DEJA_OK);
    deja_filter *f = finish(b);
    deja_filter_contains_hashed(f, hash, n, found);
    for (size_t i = 0; i < n; i++)
        assert_true(found[i]);
    assert_int_equal(stats(f).keys, n);
    deja_filter_free(f);
}

/* Two hashes that have the same three slots under this seed, though not the same fingerprint:
 * bits that choose nothing when segments are short. */
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
    assert_int_equal(deja_builder_add_hashed(b, pair, 2), DEJA_OK);
    deja_filter *f = finish(b);
    assert_true(f->plan.fuse.seed != dj_key_derive(key, DJ_STREAM_STATIC, 0));
    deja_filter_contains_hashed(f, pair, 2, found);
    assert_true(found[0] && found[1]);
    deja_filter_free(f);
}

/* What a failed attempt has left behind must not reach the next one. */
static void many_seeds_that_fail_leave_no_trace(void **state)
{
    enum { FAILING = 10, KEYS = 200 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const deja_options opt = options(32, seed);
        uint8_t key[DEJA_KEY_LEN], found[KEYS];
        uint64_t hash[KEYS];
        dj_key_from_seed(seed, key);
        for (unsigned i = 0; i < KEYS / 2; i++)
            twins(key, i < FAILING ? i : 1000 + i, hash + 2 * (size_t)i);
        deja_builder *b = begin(&opt);
        assert_int_equal(deja_builder_add_hashed(b, hash, KEYS), DEJA_OK);
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
        assert_int_equal(deja_builder_add_hashed(b, pair, 2), DEJA_OK);
    }
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, &err), DEJA_EFULL);
    assert_null(f);
    assert_non_null(strstr(err.text, "seeds"));
    assert_int_equal(b->n, 2 * DJ_BUILDER_SEEDS); /* nothing is lost */
    deja_builder_free(b);
}

static void sorting_is_sorting(void **state)
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

static void builders_refuse_what_a_static_filter_cannot_be(void **state)
{
    deja_options opt = options(0, 1);
    opt.kind = DEJA_BLOCKED;
    refused(opt, DEJA_EINVAL, "static");
    opt.kind = 0;
    refused(opt, DEJA_EINVAL, "static");
    refused(options(12, 1), DEJA_EINVAL, "8, 16 or 32");
    opt = options(8, 1);
    opt.fp_rate = 1e-3;
    refused(opt, DEJA_EINVAL, "8-bit");
    opt = options(0, 1);
    opt.fp_rate = 1e-12;
    refused(opt, DEJA_EINVAL, "exact");
    opt = options(0, 1);
    opt.filters = 2;
    refused(opt, DEJA_ENOTSUP, "several");
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

static void new_and_create_name_the_builder(void **state)
{
    deja_options opt = options(8, 1);
    deja_filter *f = NULL;
    deja_error err = {0};
    opt.capacity = 100;
    assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "deja_builder_new"));
    assert_int_equal(deja_filter_create(scratch_path("x"), 0, &opt, &f, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "deja_builder_new"));
    assert_null(f);
}

static void other_kinds_and_parts_take_no_fingerprints(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    opt.capacity = 100;
    opt.fingerprint_bits = 8;
    assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_EINVAL);
    opt.fingerprint_bits = 0;
    opt.kind = DEJA_SCALABLE;
    opt.part_kind = DEJA_STATIC;
    assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "blocked, classic or exact"));
}

static void a_static_filter_takes_no_key(void **state)
{
    deja_filter *f = of_numbers(100, 8, 1);
    deja_dedup *d = NULL;
    deja_error err = {0};
    size_t done = 9;
    const uint64_t hash = 1;
    assert_int_equal(deja_filter_add(f, (deja_slice){"x", 1}, NULL), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_add_hashed(f, &hash, 1, NULL, &done), DEJA_ENOTSUP);
    assert_int_equal(done, 0);
    assert_int_equal(deja_dedup_new(f, &d, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "deja build"));
    assert_null(d);
    deja_filter_free(f);
}

/* --- Sizes ------------------------------------------------------------------ */

static void the_rate_chooses_the_fingerprints(void **state)
{
    static const struct {
        double p;
        uint32_t width;
    } cases[] = {{0.5, 8}, {0.004, 8}, {0x1p-8, 8}, {0.0039, 16}, {1e-4, 16}, {1e-6, 32}, {0, 32}};
    for (size_t i = 0; i < DJ_ARRAY_LEN(cases); i++) {
        deja_options opt = options(0, 1);
        opt.fp_rate = cases[i].p;
        deja_builder *b = begin(&opt);
        add_numbers(b, 0, 10);
        deja_filter *f = finish(b);
        assert_int_equal(f->plan.fuse.width, cases[i].width);
        deja_filter_free(f);
    }
}

static void memory_chooses_the_widest_that_fits(void **state)
{
    for (uint64_t memory = 11000; memory <= 44000; memory *= 2) {
        deja_options opt = options(0, 1);
        deja_filter *f = NULL;
        deja_error err = {0};
        opt.memory = memory;
        deja_builder *b = begin(&opt);
        add_numbers(b, 0, 9000);
        const int rc = deja_builder_finish(b, NULL, 0, &f, &err);
        if (memory < 12000) { /* 9000 keys take 12288 slots */
            assert_int_equal(rc, DEJA_EINVAL);
            assert_non_null(strstr(err.text, "memory"));
        } else {
            assert_int_equal(rc, DEJA_OK);
            const uint64_t bytes = stats(f).bytes;
            assert_true(bytes <= memory && (2 * bytes > memory || f->plan.fuse.width == 32));
            assert_int_equal(count_found(f, 0, 9000), 9000);
        }
        deja_filter_free(f);
        deja_builder_free(b);
    }
}

static void the_plan_is_what_the_builder_makes(void **state)
{
    for (uint64_t n = 1; n < 300000; n = n * 7 / 2 + 1) {
        deja_options opt = options(16, 1);
        deja_plan plan = DEJA_PLAN_INIT;
        opt.capacity = n;
        assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
        deja_filter *f = of_numbers(n, 16, 1);
        const deja_stats s = stats(f);
        assert_int_equal(plan.bytes, s.bytes);
        assert_int_equal(plan.bits, s.bits);
        assert_true(plan.fp_rate <= s.fp_now && plan.fp_rate >= s.fp_now);
        deja_filter_free(f);
    }
}

static void sizes_grow_with_the_keys_and_stay_sound(void **state)
{
    for (double n = 1; n < 3e9; n = n * 1.37 + 1) {
        struct dj_fuse f = {.width = 8};
        assert_true(dj_fuse_fit(&f, (uint64_t)n));
        assert_true(dj_fuse_is_sound(&f));
        const double a_key = (double)dj_fuse_slots(&f) / n;
        assert_true(a_key >= 1.1249);
        if (n > 1e6)
            assert_true(a_key < 1.14);
    }
    struct dj_fuse f = {.width = 8};
    assert_false(dj_fuse_fit(&f, DJ_FUSE_MAX_KEYS + 1));
}

static void the_numbers_of_the_math_page_are_these(void **state)
{
    static const struct {
        uint64_t n;
        double bits[3];
    } rows[] = {{1000, {11.26, 22.53, 45.06}},
                {10000, {10.24, 20.48, 40.96}},
                {100000, {9.50, 19.01, 38.01}},
                {1000000, {9.04, 18.09, 36.18}},
                {100000000, {9.01, 18.01, 36.03}}};
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++)
        for (unsigned w = 0; w < 3; w++) {
            deja_options opt = options(8u << w, 1);
            deja_plan plan = DEJA_PLAN_INIT;
            opt.capacity = rows[i].n;
            assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
            if (fabs(plan.bits_per_key - rows[i].bits[w]) > 0.0051)
                fail_msg("%g for %g", plan.bits_per_key, rows[i].bits[w]);
        }
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
        rc = deja_builder_add_batch(b, &(deja_slice){&i, sizeof i}, 1);
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

static void a_finish_without_memory_can_be_tried_again(void **state)
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
    assert_int_equal(stats(f).offered, 2100);
    deja_filter_free(f);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.mistakes, 0);
}

static void a_builder_begins_anew_after_it_has_finished(void **state)
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
    assert_int_equal(stats(second).keys, 100);
    assert_int_equal(stats(second).offered, 100);
    deja_filter_free(first);
    deja_filter_free(second);
}

static void a_far_too_large_hint_is_only_a_hint(void **state)
{
    deja_options opt = options(8, 1);
    opt.capacity = DJ_FUSE_MAX_KEYS * 100;
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, 10);
    deja_filter *f = finish(b);
    assert_int_equal(stats(f).capacity, 10);
    deja_filter_free(f);
}

/* --- Files -------------------------------------------------------------------- */

static void file_is_what_was_built(void **state)
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
        assert_int_equal(access(path, F_OK), -1); /* it appears with its sync */
        assert_int_equal(deja_filter_sync(f, &err), DEJA_OK);
        const deja_stats made = stats(f);
        deja_filter_free(f);
        deja_builder_free(b);
        assert_int_equal(deja_file_verify(path, &err), DEJA_OK);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err), DEJA_OK);
        const deja_stats read = stats(f);
        assert_memory_equal(&made, &read, sizeof made);
        assert_int_equal(count_found(f, 0, n), n);
        assert_int_equal(deja_filter_profile(f), DEJA_URL_GSB);
        assert_int_equal(deja_filter_add(f, (deja_slice){"x", 1}, NULL), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_sync(f, &err), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, &err), DEJA_OK);
        unlink(path);
    }
}

static void a_file_in_the_way_is_not_replaced_unasked(void **state)
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
    f = finish(b); /* it still has its keys */
    assert_int_equal(count_found(f, 0, 10), 10);
    deja_filter_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_keys_up_to_300_works_for_every_width),
        cmocka_unit_test(an_empty_filter_finds_nothing),
        cmocka_unit_test(the_rate_of_small_filters_is_that_of_their_fingerprints),
        cmocka_unit_test(large_sets_forget_nothing_and_have_their_rate),
        cmocka_unit_test(a_batch_is_a_loop_of_single_lookups),
        cmocka_unit_test(hashing_and_adding_apart_makes_the_same_filter),
        cmocka_unit_test(duplicates_and_their_order_make_no_difference),
        cmocka_unit_test(one_hash_a_hundred_thousand_times_is_one_key),
        cmocka_unit_test(hashes_without_any_randomness_work),
        cmocka_unit_test(a_seed_that_fails_is_replaced),
        cmocka_unit_test(many_seeds_that_fail_leave_no_trace),
        cmocka_unit_test(a_set_that_defeats_every_seed_is_refused_and_kept),
        cmocka_unit_test(sorting_is_sorting),
        cmocka_unit_test(builders_refuse_what_a_static_filter_cannot_be),
        cmocka_unit_test(new_and_create_name_the_builder),
        cmocka_unit_test(other_kinds_and_parts_take_no_fingerprints),
        cmocka_unit_test(a_static_filter_takes_no_key),
        cmocka_unit_test(the_rate_chooses_the_fingerprints),
        cmocka_unit_test(memory_chooses_the_widest_that_fits),
        cmocka_unit_test(the_plan_is_what_the_builder_makes),
        cmocka_unit_test(sizes_grow_with_the_keys_and_stay_sound),
        cmocka_unit_test(the_numbers_of_the_math_page_are_these),
        cmocka_unit_test(every_allocation_may_fail_and_nothing_leaks),
        cmocka_unit_test(a_finish_without_memory_can_be_tried_again),
        cmocka_unit_test(a_builder_begins_anew_after_it_has_finished),
        cmocka_unit_test(a_far_too_large_hint_is_only_a_hint),
        cmocka_unit_test(file_is_what_was_built),
        cmocka_unit_test(a_file_in_the_way_is_not_replaced_unasked),
    };
    return cmocka_run_group_tests_name("unit.static", tests, scratch_open, scratch_close);
}
