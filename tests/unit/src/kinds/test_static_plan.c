/* test_static_plan.c - how large a static filter is: fingerprints by rate and memory, slots by
 * keys, and the builder makes what was planned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "building.h"
#include "kinds/kind.h"
#include <math.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_chooses_the_fingerprints),
        cmocka_unit_test(memory_chooses_the_widest_that_fits),
        cmocka_unit_test(the_plan_is_what_the_builder_makes),
        cmocka_unit_test(sizes_grow_with_the_keys_and_stay_sound),
        cmocka_unit_test(the_numbers_of_the_math_page_are_these),
    };
    return cmocka_run_group_tests_name("unit.static_plan", tests, NULL, NULL);
}
