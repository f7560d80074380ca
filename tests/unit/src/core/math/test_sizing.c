/* test_sizing.c - the smallest body, the best k and the keys that fit.
 *
 * Searches are checked by their definition: the answer satisfies it, one step further does not.
 * Sizes are compared with bounds and published formulas that share no code. */
#include "unit.h"

#include "near.h"
#include "shapes.h"
#include <math.h>
#include <string.h>

static const uint64_t some_n[] = {
    1, 10, 1000, 1000000, 100000000, UINT64_C(10000000000), UINT64_C(1) << 40,
};
static const double some_p[] = {.5, .1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};

static double bits_per_key(uint32_t kind, uint32_t k, uint64_t n, double p)
{
    return (double)fitted(kind, k, n, p).bits / (double)n;
}

/* --- Fit ---------------------------------------------------------------- */

/* The table of docs/math.md, n = 100 million. */
static void the_math_page_lists_these_sizes(void **state)
{
    (void)state;
    static const struct {
        double p, classic_bits, blocked_bits, classic_lost, blocked_lost;
        uint32_t classic_k, blocked_k;
    } rows[] = {
        {1e-1, 4.808, 4.832, 2.998e6, 3.017e6, 3, 3},
        {1e-2, 9.593, 9.908, 1.658e5, 1.873e5, 7, 6},
        {1e-3, 14.378, 15.553, 1.217e4, 1.417e4, 10, 9},
        {1e-4, 19.173, 22.109, 962.7, 1185., 13, 12},
        {1e-5, 23.967, 29.861, 76.88, 108.3, 17, 14},
        {1e-6, 28.755, 39.238, 6.590, 10.16, 20, 16},
        {1e-7, 33.549, 50.900, .5769, 1.020, 23, 16},
        {1e-8, 38.344, 66.134, .05037, .1038, 27, 16},
        {1e-9, 43.144, 86.388, .004768, .01083, 30, 16},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        const struct dj_shape c = fitted(DJ_SPREAD, 0, 100000000, rows[i].p);
        const struct dj_shape b = fitted(DJ_BLOCKS, 0, 100000000, rows[i].p);
        assert_int_equal(c.k, rows[i].classic_k);
        assert_int_equal(b.k, rows[i].blocked_k);
        assert_between((double)c.bits / 1e8 - rows[i].classic_bits, -.0005001, .0005001);
        assert_between((double)b.bits / 1e8 - rows[i].blocked_bits, -.0005001, .0005001);
        assert_near(dj_shape_lost(&c, 1e8), rows[i].classic_lost, 5e-4);
        assert_near(dj_shape_lost(&b, 1e8), rows[i].blocked_lost, 5e-4);
    }
    assert_near(bits_per_key(DJ_BLOCKS, 11, 100000000, 1e-4), 22.110, 3e-5);
    assert_near(bits_per_key(DJ_TABLE, 0, 100000000, 1e-9), 80.0, 1e-6);
}

/* Putze, Sanders, Singler 2007: k independent bits in 512, a Poisson number of keys per block. */
static double independent_rate(double k, double keys_a_block)
{
    double weight = exp(-keys_a_block), sum = 0.0;
    for (double i = 1.0; i < 400.0; i += 1.0) {
        weight *= keys_a_block / i;
        sum += weight * pow(-expm1(k * i * log1p(-1.0 / 512.0)), k);
    }
    return sum;
}

static double independent_bits_per_key(double p)
{
    double most = 0.0; /* keys per block */
    for (double k = 1.0; k <= 40.0; k += 1.0) {
        double low = 0.0, high = 500.0;
        for (int i = 0; i < 50; i++) {
            const double mid = (low + high) / 2.0;
            *(independent_rate(k, mid) <= p ? &low : &high) = mid;
        }
        most = fmax(most, low);
    }
    return 512.0 / most;
}

/* The price of one bit in each of k lanes, as the SIMD code needs them. */
static void lanes_cost_less_than_two_percent(void **state)
{
    (void)state;
    static const double known[] = {9.896, 15.488, 21.914, 29.475, 38.513};
    for (size_t i = 0; i < DJ_ARRAY_LEN(known); i++) {
        const double p = pow(10.0, -2.0 - (double)i);
        const double ideal = independent_bits_per_key(p);
        assert_near(ideal, known[i], 1e-4);
        assert_between(bits_per_key(DJ_BLOCKS, 0, 10000000, p), ideal, 1.02 * ideal);
    }
}

/* No k, integer or not, beats log2(1/p) / ln 2 bits per key; an integer k comes close. */
static void classic_comes_close_to_its_lower_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++) {
        const double bound = -log(some_p[i]) / (log(2.0) * log(2.0));
        assert_between(bits_per_key(DJ_SPREAD, 0, 10000000, some_p[i]), bound, 1.01 * bound);
    }
}

static bool smaller_fails(struct dj_shape s, uint64_t n, double p)
{
    const uint64_t granule = s.layout == DJ_SPREAD ? 64 : DJ_BLOCK_BITS;
    if (s.bits == granule)
        return true; /* nothing smaller fits */
    s.bits -= granule;
    return dj_shape_rate(&s, (double)n) > p;
}

static void fit_is_minimal(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < DJ_ARRAY_LEN(bloom_layouts); kind++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_n); i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(some_p); j++) {
                if (some_p[j] <= dj_twins((double)some_n[i]))
                    continue;
                const struct dj_shape s = fitted(bloom_layouts[kind], 0, some_n[i], some_p[j]);
                assert_true(s.bits % (s.layout == DJ_SPREAD ? 64 : 512) == 0);
                assert_true(dj_shape_rate(&s, (double)some_n[i]) <= some_p[j]);
                assert_true(smaller_fails(s, some_n[i], some_p[j]));
            }
}

/* A set of n 64-bit hashes matches n / 2^64 of all keys that were never added. */
static void a_rate_below_that_of_twins_is_refused(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < DJ_ARRAY_LEN(all_layouts); kind++) {
        struct dj_shape s = {.layout = all_layouts[kind]};
        assert_true(dj_shape_fit(&s, 500000000, 3e-11));
        assert_false(dj_shape_fit(&s, 500000000, 2.7e-11)); /* 500 million hashes are 2.71e-11 of
                                                             * 2^64 */
    }
    struct dj_shape papers = {.layout = DJ_SPREAD, .no_twins = true};
    assert_true(dj_shape_fit(&papers, 500000000, 1e-12)); /* their k numbers have more bits */
}

/* A free k takes the fewest bits; no smaller k does with that few. */
static void fit_chooses_the_smallest_of_the_best_k(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < DJ_ARRAY_LEN(bloom_layouts); kind++)
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(some_p); j++) {
                const struct dj_shape best = fitted(bloom_layouts[kind], 0, some_n[i], some_p[j]);
                for (uint32_t k = 1; k <= (kind == 0 ? 64u : 16u); k++) {
                    struct dj_shape s = {best.layout, k, 0};
                    if (!dj_shape_fit(&s, some_n[i], some_p[j]))
                        continue;
                    assert_true(k < best.k ? s.bits > best.bits : s.bits >= best.bits);
                    assert_int_equal(s.k, k);
                    assert_true(smaller_fails(s, some_n[i], some_p[j]));
                }
            }
}

/* The smallest that reaches p, with the best k, for every width. */
static void spectral_sizes_are_the_smallest_that_reach_the_rate(void **state)
{
    (void)state;
    static const double some[] = {0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6};
    for (uint32_t bits = 4; bits <= 32; bits *= 2)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some); i++) {
            struct dj_shape s = {DJ_BLOCKS, 0, 0, bits};
            assert_true(dj_shape_fit(&s, 100000, some[i]));
            assert_int_equal(s.bits % DJ_BLOCK_BITS, 0);
            assert_true(dj_shape_rate(&s, 1e5) <= some[i]);
            struct dj_shape less = s;
            less.bits -= DJ_BLOCK_BITS;
            for (less.k = 1; less.k <= DJ_BLOCK_LANES; less.k++)
                assert_true(dj_shape_rate(&less, 1e5) > some[i]);
            struct dj_shape back = {DJ_BLOCKS, 0, s.bits, bits};
            assert_true(dj_shape_capacity(&back, some[i]) >= 100000);
        }
}

/* Counters anywhere in the body: as many as a classic filter has bits, and Bloom's formula. */
static void spread_counters_are_as_many_as_bits_of_a_classic_filter(void **state)
{
    (void)state;
    static const double some[] = {1e-1, 1e-2, 1e-3, 1e-6};
    for (uint32_t bits = 4; bits <= 32; bits *= 2)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some); i++) {
            const struct dj_shape c = fitted(DJ_SPREAD, 0, 100000, some[i]);
            struct dj_shape s = {DJ_SPREAD, 0, 0, bits};
            assert_true(dj_shape_fit(&s, 100000, some[i]));
            assert_int_equal(s.bits % DJ_BLOCK_BITS, 0);
            assert_int_equal(s.k, c.k);
            const uint64_t counters = s.bits / bits, a_line = DJ_BLOCK_BITS / bits;
            assert_true(counters >= c.bits - 63 && counters < c.bits + a_line);
            assert_true(dj_shape_rate(&s, 1e5) <= some[i]);
            const double formula = -1e5 * log(some[i]) / (log(2) * log(2)) * bits;
            assert_between((double)s.bits, formula * 0.999, formula * 1.01);
        }
    const struct dj_shape counters = {DJ_SPREAD, 7, 96000 * 8, 8}, same = {DJ_SPREAD, 7, 96000};
    for (double n = 1; n < 1e5; n *= 3) {
        assert_true(dj_shape_rate(&counters, n) == dj_shape_rate(&same, n));
        assert_true(dj_shape_lost(&counters, n) == dj_shape_lost(&same, n));
        assert_true(dj_shape_bits_sigma(&counters, n) == dj_shape_bits_sigma(&same, n));
        assert_near(dj_shape_keys(&counters, dj_shape_bits_set(&counters, n)), n, 1e-9);
    }
}

static void fit_of_exact_leaves_a_fifth_free(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < UINT64_C(1) << 46; n += 1 + n / 3) {
        const struct dj_shape s = fitted(DJ_TABLE, 0, n, 1e-3);
        const uint64_t slots = s.bits / 64;
        assert_int_equal(s.k, 1);
        assert_true(s.bits % 512 == 0 && slots >= 16);
        assert_true(4 * slots >= 5 * n);
        assert_true(slots == 16 || 4 * (slots - DJ_EXACT_LINE) < 5 * n);
    }
}

static void assert_refused(uint32_t kind, uint32_t k, uint64_t n, double p)
{
    struct dj_shape s = {kind, k, 12345};
    assert_false(dj_shape_fit(&s, n, p));
    assert_true(s.layout == kind && s.k == k && s.bits == 12345); /* nothing changed */
}

static void zero_keys_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++)
        assert_refused(all_layouts[i], 0, 0, 1e-3);
}

static void rates_outside_0_to_1_are_refused(void **state)
{
    (void)state;
    static const double odd[] = {0.0, -0.0, -1e-3, 1.0, 1.5, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++)
        for (size_t j = 0; j < DJ_ARRAY_LEN(odd); j++) {
            struct dj_shape s = {all_layouts[i], 0, 10240};
            assert_refused(all_layouts[i], 0, 1000, odd[j]);
            assert_true(dj_shape_capacity(&s, odd[j]) == 0);
        }
}

static void an_impossible_k_is_refused(void **state)
{
    (void)state;
    struct dj_shape s = {DJ_BLOCKS, 17, 10240};
    assert_refused(DJ_SPREAD, 65, 1000, 1e-3);
    assert_refused(DJ_BLOCKS, 17, 1000, 1e-3);
    assert_refused(DJ_TABLE, 2, 1000, 1e-3);
    assert_true(dj_shape_capacity(&s, 1e-3) == 0);
    dj_shape_best_k(&s, 1000);
    assert_int_equal(s.k, 17);
}

static void an_unknown_layout_is_refused(void **state)
{
    (void)state;
    struct dj_shape s = {DJ_NO_LAYOUT, 0, 10240};
    assert_refused(DJ_NO_LAYOUT, 0, 1000, 1e-3);
    assert_refused(99, 0, 1000, 1e-3);
    assert_false(dj_shape_round(&s));
    assert_true(dj_shape_capacity(&s, 1e-3) == 0);
    dj_shape_best_k(&s, 1000);
    assert_int_equal(s.k, 0);
}

static void sizes_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    const uint64_t most = UINT64_C(1) << 53;
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++) {
        assert_refused(all_layouts[i], 0, most, 1e-3);
        assert_refused(all_layouts[i], 0, most + 1, 0.999);
        assert_refused(all_layouts[i], 0, UINT64_MAX, 0.5);
    }
    assert_refused(DJ_SPREAD, 1, UINT64_C(1) << 40, 1e-5); /* one bit per key and a rate of 1e-5 */
    assert_refused(DJ_BLOCKS, 0, UINT64_C(1) << 40, 1e-30); /* 16 bits cannot reach this rate */
    assert_refused(DJ_TABLE, 0, UINT64_C(1) << 47, 1e-3);
    assert_refused(DJ_TABLE, 0, 1000, 1e-17); /* fingerprints have 64 bits */
    /* The largest capacity: it uses every bit of the largest body. */
    assert_true(fitted(DJ_TABLE, 0, (DJ_MAX_BITS / 64) / 5 * 4, 1e-3).bits <= DJ_MAX_BITS);
    assert_true(fitted(DJ_SPREAD, 0, most, 0.999).bits <= DJ_MAX_BITS);
    assert_true(fitted(DJ_BLOCKS, 0, most, 0.999).bits <= DJ_MAX_BITS);
}

/* --- Best k, capacity, rounding ----------------------------------------- */

static void best_k_has_the_lowest_rate(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (double per_key = 0.5; per_key < 100.0; per_key *= 1.5) {
            struct dj_shape s = {bloom_layouts[i], 0, 512 * (uint64_t)(per_key * 100.0)};
            const double n = 51200.0;
            dj_shape_best_k(&s, (uint64_t)n);
            for (uint32_t k = 1; k <= (i == 0 ? 64u : 16u); k++) {
                const struct dj_shape other = {s.layout, k, s.bits};
                const double least = dj_shape_rate(&s, n), rate = dj_shape_rate(&other, n);
                assert_true(k < s.k ? rate > least : rate >= least);
            }
        }
}

static void best_k_is_the_published_one(void **state)
{
    (void)state;
    struct dj_shape c = classic(0, 9600000), fixed = classic(3, 9600000), none = blocked(0, 9);
    struct dj_shape e = {DJ_TABLE, 0, 10240}, flooded = classic(0, 64);
    dj_shape_best_k(&c, 1000000);
    dj_shape_best_k(&fixed, 1000000);
    dj_shape_best_k(&e, 100);
    dj_shape_best_k(&none, 0);
    dj_shape_best_k(&flooded, 1000000);
    assert_int_equal(c.k, 7); /* 9.6 ln 2 = 6.65 */
    assert_int_equal(fixed.k, 3);
    assert_int_equal(e.k, 1);
    assert_int_equal(none.k, 16);
    assert_int_equal(flooded.k, 1); /* the rate is 1 for every k, so the smallest is chosen */
}

static void capacity_is_the_last_n_within_the_rate(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < DJ_ARRAY_LEN(bloom_layouts); kind++)
        for (uint64_t bits = 512; bits <= UINT64_C(1) << 46; bits *= 131072)
            for (size_t j = 0; j < DJ_ARRAY_LEN(some_p); j++)
                for (uint32_t k = 0; k <= 16; k += 4) {
                    struct dj_shape s = {bloom_layouts[kind], k, bits};
                    const uint64_t n = dj_shape_capacity(&s, some_p[j]);
                    assert_true(k == 0 ? s.k >= 1 : s.k == k);
                    assert_true(dj_shape_rate(&s, (double)n) <= some_p[j]);
                    assert_true(dj_shape_rate(&s, (double)(n + 1)) > some_p[j]);
                }
}

static void capacity_is_the_inverse_of_fit(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < DJ_ARRAY_LEN(all_layouts); kind++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_n); i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(some_p); j++) {
                struct dj_shape fit = {all_layouts[kind], 0, 0};
                if (!dj_shape_fit(&fit, some_n[i], some_p[j])) { /* 2^40 keys are 6e-8 of 2^64 */
                    assert_true(some_p[j] <= dj_twins((double)some_n[i]));
                    continue;
                }
                struct dj_shape s = {fit.layout, 0, fit.bits}, less = s;
                assert_true(dj_shape_capacity(&s, some_p[j]) >= some_n[i]);
                less.bits -= fit.layout == DJ_SPREAD ? 64 : 512;
                if (less.bits >= 1024)
                    assert_true(dj_shape_capacity(&less, some_p[j]) < some_n[i]);
            }
}

static void capacity_of_exact_is_four_slots_in_five(void **state)
{
    (void)state;
    struct dj_shape small = {DJ_TABLE, 0, 1024}, large = {DJ_TABLE, 1, 64 * 8000000};
    assert_true(dj_shape_capacity(&small, 1e-3) == 12);
    assert_int_equal(small.k, 1);
    assert_true(dj_shape_capacity(&large, 1e-3) == 6400000);
    assert_true(dj_shape_capacity(&large, pow(2.0, -54.0)) == 1024); /* the rate sets the limit */
    assert_true(dj_shape_capacity(&large, 1e-30) == 0);
}

static void capacity_stops_where_doubles_stop_counting(void **state)
{
    (void)state;
    struct dj_shape s = classic(1, DJ_MAX_BITS);
    assert_true(dj_shape_capacity(&s, 0.999999) == UINT64_C(1) << 53);
}

static void a_rate_that_one_key_exceeds_leaves_no_capacity(void **state)
{
    (void)state;
    struct dj_shape one = classic(1, 64), any = blocked(0, 1);
    assert_true(dj_shape_capacity(&one, 1e-3) == 0);
    assert_true(dj_shape_capacity(&any, 1e-30) == 0);
    assert_int_equal(any.k, 1);
}

static void bits_are_rounded_up_to_the_granule(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind;
        uint64_t bits, rounded;
    } rows[] = {
        {DJ_SPREAD, 0, 64},
        {DJ_SPREAD, 64, 64},
        {DJ_SPREAD, 65, 128},
        {DJ_BLOCKS, 0, 512},
        {DJ_BLOCKS, 512, 512},
        {DJ_BLOCKS, 513, 1024},
        {DJ_TABLE, 1, 1024},
        {DJ_TABLE, 1024, 1024},
        {DJ_TABLE, 1025, 1536},
        {DJ_SPREAD, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53},
        {DJ_BLOCKS, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        struct dj_shape s = {rows[i].kind, 1, rows[i].bits};
        assert_true(dj_shape_round(&s));
        assert_true(s.bits == rows[i].rounded);
    }
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++) {
        struct dj_shape over = {all_layouts[i], 1, DJ_MAX_BITS + 1};
        struct dj_shape wraps = {all_layouts[i], 1, UINT64_MAX};
        assert_false(dj_shape_round(&over));
        assert_false(dj_shape_round(&wraps));
        assert_true(wraps.bits == UINT64_MAX);
    }
}

static void extreme_numbers_of_keys_are_harmless(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++) {
        const struct dj_shape s = {all_layouts[i], 1, 10240};
        static const double nothing[] = {0.0, -1.0, -INFINITY, NAN};
        for (size_t j = 0; j < DJ_ARRAY_LEN(nothing); j++) {
            assert_true(dj_shape_rate(&s, nothing[j]) == 0.0);
            assert_true(dj_shape_lost(&s, nothing[j]) == 0.0);
            assert_true(dj_shape_bits_set(&s, nothing[j]) == 0.0);
            assert_true(dj_shape_bits_sigma(&s, nothing[j]) == 0.0);
            assert_true(dj_shape_keys(&s, nothing[j]) == 0.0);
        }
        assert_true(dj_shape_rate(&s, INFINITY) == 1.0);
        assert_true(isinf(dj_shape_lost(&s, INFINITY)));
        assert_true(dj_shape_bits_set(&s, INFINITY) >= 10240.0);
        assert_true(dj_shape_bits_sigma(&s, INFINITY) == 0.0);
    }
}

/* --- Lines of a key --------------------------------------------------------- */

/* The table in docs/math.md. */
static void the_math_page_lists_the_sizes_of_several_lines(void **state)
{
    static const struct {
        double p;
        uint32_t lines, k;
        double per_key;
    } rows[] = {
        {1e-1, 1, 3, 4.832},   {1e-2, 1, 6, 9.908},   {1e-3, 1, 9, 15.553},
        {1e-4, 2, 12, 19.817}, {1e-5, 2, 16, 25.278}, {1e-6, 2, 18, 31.106},
        {1e-7, 2, 20, 37.398}, {1e-8, 3, 24, 40.764}, {1e-9, 3, 27, 46.673},
    };
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        struct dj_shape s = {.layout = DJ_BLOCKS};
        const struct dj_key_lines any = {1, DJ_KEY_LINES};
        assert_true(dj_shape_fit_lines(&s, any, 100000000, rows[i].p));
        assert_int_equal(dj_shape_key_lines(&s), rows[i].lines);
        assert_int_equal(s.k, rows[i].k);
        assert_near((double)s.bits / 1e8, rows[i].per_key, 1e-3);
    }
}

static void blocked_stays_within_1_12_times_classic(void **state)
{
    static const uint64_t ns[] = {10000, 1000000, 100000000};
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(ns); i++)
        for (double e = 2.0; e <= 9.0; e += 1.0 / 16) {
            const double p = pow(10, -e), n = (double)ns[i];
            struct dj_shape s = {.layout = DJ_BLOCKS, .no_twins = true}, c = classic(0, 0);
            const struct dj_key_lines any = {1, DJ_KEY_LINES};
            assert_true(dj_shape_fit_lines(&s, any, ns[i], p) && dj_shape_fit(&c, ns[i], p));
            assert_true(dj_shape_rate(&s, n) <= p);
            if ((double)s.bits > 1.12 * (double)c.bits + 3 * DJ_BLOCK_BITS)
                fail_msg("%llu keys at %g: %u lines, %llu bits; classic %llu",
                         (unsigned long long)ns[i], p, dj_shape_key_lines(&s),
                         (unsigned long long)s.bits, (unsigned long long)c.bits);
        }
}

/* A further line saves a sixteenth of the memory, and the chosen one is the last that does. */
static void a_further_line_saves_a_sixteenth(void **state)
{
    const struct dj_key_lines any = {1, DJ_KEY_LINES};
    (void)state;
    for (double e = 1.0; e <= 11.0; e += 0.25) {
        const double p = pow(10, -e);
        struct dj_shape s = {.layout = DJ_BLOCKS, .no_twins = true};
        assert_true(dj_shape_fit_lines(&s, any, 1000000, p));
        const uint32_t lines = dj_shape_key_lines(&s);
        for (uint32_t other = 1; other <= DJ_KEY_LINES; other++) {
            struct dj_shape t = {.layout = DJ_BLOCKS, .no_twins = true};
            const struct dj_key_lines one = {other, other};
            assert_true(dj_shape_fit_lines(&t, one, 1000000, p));
            assert_int_equal(dj_shape_key_lines(&t), other);
            if (other + 1 == lines)
                assert_true(s.bits <= t.bits - t.bits / 16);
            if (other == lines + 1)
                assert_true(t.bits > s.bits - s.bits / 16);
        }
        /* The same rule for given bits: with one line less, a sixteenth is missing at most. */
        struct dj_shape by_n = {.layout = DJ_BLOCKS, .bits = s.bits, .no_twins = true},
                        by_p = by_n;
        dj_shape_best_lines(&by_n, any, 1000000);
        assert_true(dj_shape_rate(&by_n, 1e6) <= pow(p, 15.0 / 16));
        assert_true(dj_shape_capacity_lines(&by_p, any, p) >= 930000);
        assert_true(by_p.bits <= s.bits && by_n.bits <= s.bits);
    }
}

static void a_given_k_limits_the_lines(void **state)
{
    const struct dj_key_lines any = {1, DJ_KEY_LINES};
    static const struct {
        uint32_t k, lines;
    } rows[] = {{1, 1}, {9, 1}, {16, 1}, {18, 2}, {21, 3}, {32, 2}, {33, 3}, {48, 3}};
    static const uint32_t impossible[] = {17, 19, 34, 47, 49, 50, 64};
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        struct dj_shape s = {.layout = DJ_BLOCKS, .k = rows[i].k};
        assert_true(dj_shape_fewest_lines(&s, any));
        assert_int_equal(dj_shape_key_lines(&s), rows[i].lines);
    }
    for (size_t i = 0; i < DJ_ARRAY_LEN(impossible); i++) {
        struct dj_shape s = {.layout = DJ_BLOCKS, .k = impossible[i], .bits = 3 << 20};
        assert_false(dj_shape_fewest_lines(&s, any));
        assert_false(dj_shape_fit_lines(&s, any, 1000, 1e-6));
        assert_true(dj_shape_capacity_lines(&s, any, 1e-6) == 0);
        dj_shape_best_lines(&s, any, 1000);
        assert_true(s.k == impossible[i] && s.bits == 3 << 20 && !s.key_lines);
    }
}

/* 64 MiB and three lines: less than 1/64 is left, and the filter folds. */
static void three_lines_of_a_power_of_two_can_be_halved(void **state)
{
    const struct dj_key_lines three = {3, 3};
    struct dj_shape s = {.layout = DJ_BLOCKS, .bits = UINT64_C(1) << 29};
    (void)state;
    dj_shape_best_lines(&s, three, 10000000);
    assert_int_equal(s.bits % (UINT64_C(1536) << 11), 0);
    assert_in_range(s.bits, (UINT64_C(1) << 29) / 64 * 63, UINT64_C(1) << 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_math_page_lists_the_sizes_of_several_lines),
        cmocka_unit_test(blocked_stays_within_1_12_times_classic),
        cmocka_unit_test(a_further_line_saves_a_sixteenth),
        cmocka_unit_test(a_given_k_limits_the_lines),
        cmocka_unit_test(three_lines_of_a_power_of_two_can_be_halved),
        cmocka_unit_test(spectral_sizes_are_the_smallest_that_reach_the_rate),
        cmocka_unit_test(spread_counters_are_as_many_as_bits_of_a_classic_filter),
        cmocka_unit_test(the_math_page_lists_these_sizes),
        cmocka_unit_test(lanes_cost_less_than_two_percent),
        cmocka_unit_test(classic_comes_close_to_its_lower_bound),
        cmocka_unit_test(fit_is_minimal),
        cmocka_unit_test(a_rate_below_that_of_twins_is_refused),
        cmocka_unit_test(fit_chooses_the_smallest_of_the_best_k),
        cmocka_unit_test(fit_of_exact_leaves_a_fifth_free),
        cmocka_unit_test(zero_keys_are_refused),
        cmocka_unit_test(rates_outside_0_to_1_are_refused),
        cmocka_unit_test(an_impossible_k_is_refused),
        cmocka_unit_test(an_unknown_layout_is_refused),
        cmocka_unit_test(sizes_beyond_the_limit_are_refused),
        cmocka_unit_test(best_k_has_the_lowest_rate),
        cmocka_unit_test(best_k_is_the_published_one),
        cmocka_unit_test(capacity_is_the_last_n_within_the_rate),
        cmocka_unit_test(capacity_is_the_inverse_of_fit),
        cmocka_unit_test(capacity_of_exact_is_four_slots_in_five),
        cmocka_unit_test(capacity_stops_where_doubles_stop_counting),
        cmocka_unit_test(a_rate_that_one_key_exceeds_leaves_no_capacity),
        cmocka_unit_test(bits_are_rounded_up_to_the_granule),
        cmocka_unit_test(extreme_numbers_of_keys_are_harmless),
    };
    return cmocka_run_group_tests_name("unit.sizing", tests, NULL, NULL);
}
