/* test_static.c - a set that is built at once: no false negatives, the rate of the fingerprints,
 * its sizes, and no adds afterwards. */
#include "unit.h"

#include "binom.h"
#include "building.h"
#include "kinds/kind.h"
#include "near.h"
#include "rng.h"
#include "scratch.h"
#include <math.h>
#include <string.h>

/* --- Answers -------------------------------------------------------------- */

static void every_number_of_keys_up_to_300_works_for_every_width(void **state)
{
    for (uint64_t n = 0; n <= 300; n++)
        for (uint32_t width = 8; width <= 32; width *= 2)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                deja_filter *f = of_numbers(n, width, seed);
                assert_int_equal(count_found(f, 0, n), n);
                assert_int_equal(stats_of(f).keys, n);
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
    assert_true(stats_of(f).fp_now <= 0);
    deja_filter_free(f);
}

/* Over many small filters, false positives are as random as in a large one. */
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
    const deja_stats s = stats_of(f);
    assert_int_equal(count_found(f, 0, n), n);
    assert_true(binom_within(count_found(f, STRANGER, STRANGER + probes), probes,
                             ldexp(1, -(int)width), 5));
    /* With twins, unless they are less than a billionth of it. */
    assert_near(s.fp_now, ldexp(1, -(int)width) + (double)n * 0x1p-64, 2e-9);
    assert_int_equal(s.bits, f->plan.shape.bits);
    assert_true(s.fill > 0.6 && s.fill < 0.9);
    if (n == 1000000)
        assert_true((double)s.bytes * 8 / (double)n <= 1.15 * width); /* 8 bits: 9.2 */
    deja_filter_free(f);
}

static void large_sets_have_no_false_negatives_and_their_rate(void **state)
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

static void adding_hashes_makes_the_same_filter(void **state)
{
    const deja_options opt = options(16, 3);
    deja_builder *b = begin(&opt);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t hash;
        const deja_slice key = {&i, sizeof i};
        deja_builder_hash_batch(b, &key, 1, &hash);
        assert_int_equal(deja_builder_add_hashed(b, &hash, 1, NULL), DEJA_OK);
    }
    deja_filter *singly = finish(b), *f = of_numbers(5000, 16, 3);
    assert_int_equal(singly->part[0]->body_len, f->part[0]->body_len);
    assert_memory_equal(singly->part[0]->body, f->part[0]->body, f->part[0]->body_len);
    deja_filter_free(singly);
    deja_filter_free(f);
}

/* --- Refusals -------------------------------------------------------------- */

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

static void other_kinds_and_parts_refuse_fingerprint_bits(void **state)
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

static void a_static_filter_refuses_keys(void **state)
{
    deja_filter *f = of_numbers(100, 8, 1);
    deja_dedup *d = NULL;
    deja_error err = {0};
    size_t done = 9;
    const uint64_t hash = 1;
    assert_int_equal(deja_filter_add(f, (deja_slice){"x", 1}, NULL, NULL), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_add_hashed(f, &hash, 1, NULL, &done, NULL), DEJA_ENOTSUP);
    assert_int_equal(done, 0);
    assert_int_equal(deja_dedup_new(f, &d, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "deja_builder_new"));
    assert_null(d);
    deja_filter_free(f);
}

/* --- Sizes ---------------------------------------------------------------- */

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

static void memory_chooses_the_widest_fingerprints_that_fit(void **state)
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
            const uint64_t bytes = stats_of(f).bytes;
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
        const deja_stats s = stats_of(f);
        assert_int_equal(plan.bytes, s.bytes);
        assert_int_equal(plan.bits, s.bits);
        assert_true(plan.fp_rate <= s.fp_now && plan.fp_rate >= s.fp_now);
        deja_filter_free(f);
    }
}

static void sizes_grow_with_the_keys_and_pass_the_check(void **state)
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

static void the_math_page_lists_these_sizes(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_keys_up_to_300_works_for_every_width),
        cmocka_unit_test(an_empty_filter_finds_nothing),
        cmocka_unit_test(the_rate_of_small_filters_is_that_of_their_fingerprints),
        cmocka_unit_test(large_sets_have_no_false_negatives_and_their_rate),
        cmocka_unit_test(a_batch_is_a_loop_of_single_lookups),
        cmocka_unit_test(adding_hashes_makes_the_same_filter),
        cmocka_unit_test(new_and_create_name_the_builder),
        cmocka_unit_test(other_kinds_and_parts_refuse_fingerprint_bits),
        cmocka_unit_test(a_static_filter_refuses_keys),
        cmocka_unit_test(the_rate_chooses_the_fingerprints),
        cmocka_unit_test(memory_chooses_the_widest_fingerprints_that_fit),
        cmocka_unit_test(the_plan_is_what_the_builder_makes),
        cmocka_unit_test(sizes_grow_with_the_keys_and_pass_the_check),
        cmocka_unit_test(the_math_page_lists_these_sizes),
    };
    return cmocka_run_group_tests_name("unit.static", tests, scratch_open, scratch_close);
}
