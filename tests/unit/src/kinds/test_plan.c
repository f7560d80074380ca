/* test_plan.c - from options to sizes: give two of capacity, rate and memory; the third is
 * computed.
 *
 * A plan is pure arithmetic, so sizes far beyond this machine are as cheap to test as small ones. */
#include "unit.h"

#include "filter/options.h"
#include "kinds/kind.h"
#include "near.h"
#include "options.h"
#include "plans.h"
#include <math.h>
#include <string.h>

/* --- Structs of another age --------------------------------------------- */

static void a_plan_without_a_size_is_refused(void **state)
{
    const deja_options opt = OPTIONS(.capacity = 1000);
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err;
    plan.size = 0;
    assert_int_equal(deja_plan_make(&opt, &plan, &err), DEJA_EINVAL);
    assert_string_equal(err.text, "plan.size is not set: begin with DEJA_PLAN_INIT");
    assert_int_equal(deja_plan_make(&opt, NULL, &err), DEJA_EINVAL);
}

static void a_plan_of_any_age_is_filled_up_to_its_size(void **state)
{
    const deja_plan whole = plan_of(OPTIONS(.capacity = 1000));
    for (size_t size = sizeof(size_t); size <= sizeof(deja_plan) + 64; size++) {
        uint64_t room[sizeof(deja_plan) / 8 + 16];
        deja_plan *plan = (deja_plan *)(void *)room;
        memset(room, 0xee, sizeof room);
        plan->size = size;
        const deja_options opt = OPTIONS(.capacity = 1000);
        assert_int_equal(deja_plan_make(&opt, plan, NULL), DEJA_OK);
        assert_int_equal(plan->size, size);
        const size_t known = size < sizeof whole ? size : sizeof whole;
        assert_memory_equal((uint8_t *)room + sizeof(size_t),
                            (const uint8_t *)&whole + sizeof(size_t), known - sizeof(size_t));
        for (size_t i = known; i < sizeof room; i++)
            assert_int_equal(((uint8_t *)room)[i], 0xee);
    }
}

/* --- Any two of capacity, rate and memory ------------------------------- */

static const uint64_t some_n[] = {1, 2, 100, 10000, 1000000, 100000000};
static const double some_p[] = {0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-8};
static const uint32_t plain_kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED, DEJA_EXACT};

static void the_defaults_are_blocked_xxh3_and_one_in_a_million(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.capacity = 1000000));
    assert_int_equal(plan.kind, DEJA_BLOCKED);
    assert_int_equal(plan.hash, DEJA_HASH_XXH3);
    assert_int_equal(plan.filters, 1);
    assert_int_equal(plan.capacity, 1000000);
    assert_true(plan.fp_rate <= 1e-6 && plan.fp_rate > 0.99e-6);
    const struct dj_plan inner = resolved(OPTIONS(.capacity = 1000000));
    assert_int_equal(inner.growth, 2);
    assert_true(inner.tightening == 0.7);
    assert_int_equal(inner.visit, 1);
    assert_false(inner.seeded);
    assert_true(resolved(OPTIONS(.capacity = 1, .seed = 3)).seeded);
}

static void capacity_and_rate_give_the_smallest_memory(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(plain_kinds); i++)
        for (size_t n = 0; n < DJ_ARRAY_LEN(some_n); n++)
            for (size_t p = 0; p < DJ_ARRAY_LEN(some_p); p++) {
                const deja_options opt =
                    OPTIONS(.kind = plain_kinds[i], .capacity = some_n[n], .fp_rate = some_p[p]);
                const deja_plan plan = plan_of(opt);
                const struct dj_shape s = resolved(opt).shape;
                const struct dj_kind *kind = dj_kind_of(plain_kinds[i]);
                struct dj_shape least = {kind->layout, 0, 0};
                const struct dj_key_lines lines = {1, kind->most_key_lines ? DJ_KEY_LINES : 1};
                assert_true(dj_shape_fit_lines(&least, lines, some_n[n], some_p[p]));
                assert_int_equal(plan.bits, least.bits);
                assert_int_equal(plan.cache_lines, dj_shape_key_lines(&least));
                assert_int_equal(plan.hashes, least.k);
                assert_int_equal(plan.capacity, some_n[n]);
                assert_true(plan.fp_rate <= some_p[p]);
                assert_true(plan.fp_rate == dj_shape_rate(&s, (double)some_n[n]));
                assert_true(plan.lost == dj_shape_lost(&s, (double)some_n[n]));
                assert_int_equal(plan.bytes % 64, 0);
                assert_in_range(plan.bytes, plan.bits / 8, plan.bits / 8 + 63);
                assert_near(plan.bits_per_key, (double)plan.bits / (double)some_n[n], 1e-12);
            }
}

static void memory_and_rate_give_the_largest_capacity(void **state)
{
    static const uint64_t memories[] = {128, 1000, 65536, 10000001, UINT64_C(1) << 40};
    for (size_t i = 0; i < DJ_ARRAY_LEN(plain_kinds); i++)
        for (size_t m = 0; m < DJ_ARRAY_LEN(memories); m++)
            for (size_t p = 0; p < DJ_ARRAY_LEN(some_p); p++) {
                const deja_options opt =
                    OPTIONS(.kind = plain_kinds[i], .memory = memories[m], .fp_rate = some_p[p]);
                const deja_plan plan = plan_of(opt);
                const struct dj_shape s = resolved(opt).shape;
                assert_true(plan.capacity > 0);
                assert_true(plan.fp_rate <= some_p[p]);
                assert_true(plan.bits / 8 <= memories[m]);
                /* Three lines leave up to 1/64 of it, to stay foldable. */
                const uint64_t spare = plan.cache_lines == 3 ? memories[m] / 64 : 0;
                assert_true(plan.bits / 8 + 64 * plan.cache_lines + spare > memories[m]);
                if (plain_kinds[i] == DEJA_EXACT)
                    assert_int_equal(plan.capacity, plan.bits / 64 * 4 / 5);
                else
                    assert_true(dj_shape_rate(&s, (double)(plan.capacity + 1)) > some_p[p]);
            }
}

static void memory_alone_uses_the_default_rate(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.memory = 1 << 20));
    const deja_plan same = plan_of(OPTIONS(.memory = 1 << 20, .fp_rate = 1e-6));
    assert_memory_equal(&plan, &same, sizeof same);
}

static void capacity_and_memory_give_the_lowest_rate(void **state)
{
    const deja_plan plan =
        plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .memory = 1250000));
    assert_int_equal(plan.bits, 10000000);
    assert_int_equal(plan.bytes, 1250048); /* whole cache lines */
    assert_int_equal(plan.hashes, 7);
    assert_near(plan.fp_rate, 0.00819, 1e-3);
    const deja_plan more = plan_of(
        OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .memory = 1250000, .hashes = 6));
    assert_true(more.fp_rate > plan.fp_rate);
    const deja_plan blocked = plan_of(OPTIONS(.capacity = 1000000, .memory = 1250000));
    assert_int_equal(blocked.bits % 512, 0);
    assert_true(blocked.fp_rate > plan.fp_rate);
}

/* Ten lines of eight slots; keys can use four in five. */
static void exact_has_room_for_its_capacity_or_refuses(void **state)
{
    const deja_options more = OPTIONS(.kind = DEJA_EXACT, .capacity = 65, .memory = 640);
    deja_plan plan = DEJA_PLAN_INIT;
    assert_int_equal(plan_of(OPTIONS(.kind = DEJA_EXACT, .capacity = 64, .memory = 640)).bits,
                     5120);
    assert_int_equal(deja_plan_make(&more, &plan, NULL), DEJA_EINVAL);
}

/* --- The rule of the thesis --------------------------------------------- */

/* m = n k M (equation 5.1): 1,000,000 keys, k = 3, M = 2 make 6,000,000 bits.  Tables 5.5 to 5.7
 * measured 6.09 to 6.10% for k = 3, 15.46 to 15.50% for 2, 39.33 to 39.37% for 1. */
static void the_multiplier_gives_the_sizes_and_rates_of_the_thesis(void **state)
{
    static const double rate[] = {0.39347, 0.15482, 0.06092};
    for (uint32_t k = 1; k <= 3; k++) {
        const deja_plan plan = plan_of(
            OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .hashes = k, .multiplier = 2));
        assert_int_equal(plan.bits, 2000000 * k);
        assert_int_equal(plan.hashes, k);
        assert_near(plan.fp_rate, rate[k - 1], 1e-4);
    }
    assert_int_equal(
        plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000, .hashes = 3, .multiplier = 1.7))
            .bits,
        5120 /* 5100, rounded up to 64-bit words */);
    assert_int_equal(plan_of(OPTIONS(.capacity = 1000, .hashes = 3, .multiplier = 1.7)).bits,
                     5120 /* 9.96 blocks */);
}

/* Each of the F filters has m = n k M bits: the rate is the thesis' rate to the power of F. */
static void the_multiplier_sizes_each_of_several_filters(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .hashes = 3,
                                           .multiplier = 2, .filters = 2));
    assert_int_equal(plan.bits, 12000000);
    assert_near(plan.fp_rate, 0.06092 * 0.06092, 2e-4);
}

/* --- Several filters ---------------------------------------------------- */

static void f_filters_share_the_rate_and_the_memory(void **state)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        for (uint32_t filters = 1; filters <= DJ_MAX_FILTERS; filters++) {
            const deja_options by_rate =
                OPTIONS(.kind = kinds[i], .capacity = 10000, .fp_rate = 1e-3, .filters = filters);
            const deja_plan plan = plan_of(by_rate);
            const struct dj_shape one = resolved(by_rate).shape;
            assert_int_equal(plan.filters, filters);
            assert_int_equal(plan.bits, one.bits * filters);
            struct dj_shape least = {dj_kind_of(kinds[i])->layout, 0, 0};
            assert_true(dj_shape_fit(&least, 10000, pow(1e-3, 1.0 / filters)));
            assert_int_equal(one.bits, least.bits);
            assert_true(plan.fp_rate <= 1e-3 * (1 + 1e-12)); /* pow and its root */
            assert_near(plan.fp_rate, pow(dj_shape_rate(&one, 10000), filters), 1e-12);
            const deja_plan by_memory = plan_of(
                OPTIONS(.kind = kinds[i], .memory = 100000, .fp_rate = 1e-3, .filters = filters));
            assert_true(by_memory.bits <= 800000 && by_memory.bits + 512 * filters > 800000);
            assert_true(by_memory.fp_rate <= 1e-3 * (1 + 1e-12));
        }
}

static void the_losses_of_f_filters_are_the_sum_of_their_rates(void **state)
{
    for (uint32_t filters = 1; filters <= 3; filters++) {
        const deja_options opt =
            OPTIONS(.kind = DEJA_CLASSIC, .capacity = 3000, .fp_rate = 0.1, .filters = filters);
        const struct dj_shape one = resolved(opt).shape;
        double sum = 0;
        for (int before = 0; before < 3000; before++)
            sum += pow(dj_shape_rate(&one, before), filters);
        if (!(fabs(plan_of(opt).lost - sum) < 0.1)) /* of about 90: a tenth of a key */
            fail_msg("%u filters: %g, not %g", filters, plan_of(opt).lost, sum);
    }
}

/* --- Hash families ------------------------------------------------------ */

static void mixed_never_takes_more_functions_than_it_has(void **state)
{
    static const deja_options opts[] = {
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000, .fp_rate = 1e-9),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000, .memory = 8000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000, .fp_rate = 1e-4),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000, .filters = 3),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(opts); i++) {
        const deja_plan plan = plan_of(opts[i]);
        if (plan.hashes > 6)
            fail_msg("case %zu takes %u functions", i, plan.hashes);
        if (!opts[i].capacity || !opts[i].memory)
            assert_true(plan.fp_rate <=
                        (opts[i].fp_rate != 0 ? opts[i].fp_rate : 1e-6) * (1 + 1e-12));
    }
}

static void a_key_becomes_one_number_or_one_per_position(void **state)
{
    struct dj_plan plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 5,
                                           .filters = 3, .hash = DEJA_HASH_SIPHASH));
    assert_int_equal(dj_plan_words(&plan), 1);
    plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 5, .filters = 3,
                            .hash = DEJA_HASH_MURMUR3));
    assert_int_equal(dj_plan_words(&plan), 15);
    plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 64, .filters = 8,
                            .hash = DEJA_HASH_MD5));
    assert_int_equal(dj_plan_words(&plan), DJ_MAX_WORDS);
}

/* --- Growing filters ---------------------------------------------------- */

static void the_rates_of_all_parts_sum_to_less_than_p(void **state)
{
    static const uint32_t growths[] = {1, 2, 4, 1024};
    static const double tightenings[] = {0.1, 0.5, 0.7, 0.99};
    for (size_t g = 0; g < DJ_ARRAY_LEN(growths); g++)
        for (size_t t = 0; t < DJ_ARRAY_LEN(tightenings); t++) {
            const struct dj_plan plan =
                resolved(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1000, .fp_rate = 1e-3,
                                 .growth = growths[g], .tightening = tightenings[t]));
            double sum = 0, n = 1000;
            struct dj_part part;
            for (uint32_t i = 0; i < DJ_MAX_PARTS && dj_plan_part(&plan, i, &part); i++) {
                part.shape.no_twins = true; /* the rate of twins, which no part can reduce */
                const double rate = dj_shape_rate(&part.shape, (double)part.capacity);
                assert_true((double)part.capacity == n);
                const double spare = 1e-3 * tightenings[t] * 0.3 * pow(0.7, i - 1.0);
                const double series = 1e-3 * (1 - tightenings[t]) * pow(tightenings[t], i);
                assert_near(part.fp_rate, i > 0 && tightenings[t] < 0.5 ? spare : series, 1e-9);
                assert_true(rate <= part.fp_rate);
                sum += rate;
                n *= growths[g];
            }
            assert_true(sum > 0 && sum < 1e-3);
        }
}

/* 2.7e-9 of all other keys have a twin among 5e10 keys. */
static void a_series_keeps_growing_when_twins_exceed_its_rate(void **state)
{
    const struct dj_plan plan =
        resolved(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 8000000, .fp_rate = 1e-9));
    struct dj_part part;
    for (uint32_t i = 0; i < 14; i++)
        assert_true(dj_plan_part(&plan, i, &part) && !part.shape.no_twins);
    assert_true(part.fp_rate < dj_twins((double)part.capacity));
}

static void rates_below_that_of_twins_are_refused(void **state)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC,  DEJA_BLOCKED, DEJA_LAYERED,
                                     DEJA_SPECTRAL, DEJA_PAIRED,  DEJA_SCALABLE,
                                     DEJA_WINDOW,   DEJA_STATIC,  DEJA_EXACT};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        deja_options opt = OPTIONS(.kind = kinds[i], .capacity = 500000000, .fp_rate = 1e-12);
        struct dj_plan plan;
        deja_error err = {0};
        assert_int_equal(dj_plan_resolve(&opt, &plan, &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, "2.7e-11 among 500000000 keys"));
    }
}

/* A twin is a false positive in all F filters, so the product of their rates must be smaller. */
static void several_filters_leave_room_for_twins(void **state)
{
    const deja_plan two = plan_of(
        OPTIONS(.kind = DEJA_CLASSIC, .filters = 2, .capacity = 500000000, .fp_rate = 2.8e-11));
    const deja_plan papers =
        plan_of(OPTIONS(.kind = DEJA_CLASSIC, .filters = 2, .hash = DEJA_HASH_MURMUR3,
                        .capacity = 500000000, .fp_rate = 2.8e-11));
    assert_true(two.fp_rate <= 2.8e-11 && papers.fp_rate <= 2.8e-11);
    assert_true(two.fp_rate > 2.7e-11 && (double)two.bits > 1.1 * (double)papers.bits);
}

static void a_growing_filter_starts_with_eight_million_keys(void **state)
{
    assert_int_equal(plan_of(OPTIONS(.kind = DEJA_SCALABLE)).capacity, 8000000);
    assert_int_equal(resolved(OPTIONS(.kind = DEJA_SCALABLE)).part_kind->number, DEJA_BLOCKED);
    assert_int_equal(
        resolved(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT)).shape.layout, DJ_TABLE);
}

static void a_part_too_large_to_count_is_refused(void **state)
{
    const struct dj_plan plan = resolved(
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1000000, .fp_rate = 0.01, .growth = 1024));
    struct dj_part part;
    uint32_t i = 0;
    while (dj_plan_part(&plan, i, &part))
        i++;
    assert_int_equal(i, 3); /* 1e6, 1e9, 1e12 keys; 1e15 would need more than 2^53 bits */
    /* 79^21 is 1.6e14 modulo 2^64, which would be a possible size. */
    const struct dj_plan wraps =
        resolved(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1, .fp_rate = 0.9, .growth = 79));
    assert_false(dj_plan_part(&wraps, 21, &part));
}

/* --- Large sizes -------------------------------------------------------- */

static void sizes_that_just_fit_are_planned_without_overflow(void **state)
{
    const deja_plan petabyte = plan_of(OPTIONS(.memory = UINT64_C(1) << 50, .fp_rate = 0.01));
    assert_int_equal(petabyte.bits, UINT64_C(1) << 53);
    assert_int_equal(petabyte.bytes, UINT64_C(1) << 50);
    const deja_plan many = plan_of(OPTIONS(.memory = UINT64_C(1) << 50, .filters = 16));
    assert_true(many.bytes <= UINT64_C(1) << 50);
    const deja_plan product = plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 47,
                                              .hashes = 64, .multiplier = 1));
    assert_int_equal(product.bits, UINT64_C(1) << 53);
}

static void a_product_beyond_2_to_the_53_bits_is_refused(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    const deja_options product = OPTIONS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 53,
                                         .hashes = 64, .multiplier = 9e8);
    assert_int_equal(deja_plan_make(&product, &plan, NULL), DEJA_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_without_a_size_is_refused),
        cmocka_unit_test(a_plan_of_any_age_is_filled_up_to_its_size),
        cmocka_unit_test(the_defaults_are_blocked_xxh3_and_one_in_a_million),
        cmocka_unit_test(capacity_and_rate_give_the_smallest_memory),
        cmocka_unit_test(memory_and_rate_give_the_largest_capacity),
        cmocka_unit_test(memory_alone_uses_the_default_rate),
        cmocka_unit_test(capacity_and_memory_give_the_lowest_rate),
        cmocka_unit_test(exact_has_room_for_its_capacity_or_refuses),
        cmocka_unit_test(the_multiplier_gives_the_sizes_and_rates_of_the_thesis),
        cmocka_unit_test(the_multiplier_sizes_each_of_several_filters),
        cmocka_unit_test(f_filters_share_the_rate_and_the_memory),
        cmocka_unit_test(the_losses_of_f_filters_are_the_sum_of_their_rates),
        cmocka_unit_test(mixed_never_takes_more_functions_than_it_has),
        cmocka_unit_test(a_key_becomes_one_number_or_one_per_position),
        cmocka_unit_test(the_rates_of_all_parts_sum_to_less_than_p),
        cmocka_unit_test(a_series_keeps_growing_when_twins_exceed_its_rate),
        cmocka_unit_test(rates_below_that_of_twins_are_refused),
        cmocka_unit_test(several_filters_leave_room_for_twins),
        cmocka_unit_test(a_growing_filter_starts_with_eight_million_keys),
        cmocka_unit_test(a_part_too_large_to_count_is_refused),
        cmocka_unit_test(sizes_that_just_fit_are_planned_without_overflow),
        cmocka_unit_test(a_product_beyond_2_to_the_53_bits_is_refused),
    };
    return cmocka_run_group_tests_name("unit.plan", tests, NULL, NULL);
}
