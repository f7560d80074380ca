/* test_counters.c - counters of every width: increments, decrements, limits, neighbors. */
#include "unit.h"

#include "core/bits/counters.h"
#include "core/math/sizing.h"
#include "deja.h"
#include "rng.h"
#include <math.h>
#include <string.h>

#define LINES 8
static const uint32_t widths[] = {4, 8, 16, 32};
static _Alignas(64) uint8_t body[LINES * DJ_BLOCK_BYTES];

static struct dj_counters fresh(uint32_t bits, uint32_t k)
{
    memset(body, 0, sizeof body);
    return (struct dj_counters){body, LINES, bits, k, dj_block_lane_sets(k)};
}

static uint32_t top(uint32_t bits)
{
    return UINT32_MAX >> (32 - bits);
}

/* Counter i of the body, as docs/format.md defines it. */
static uint32_t counter(const struct dj_counters *c, size_t i)
{
    const size_t at = i * c->bits;
    return (uint32_t)(dj_load64(body + at / 64 * 8) >> at % 64) & top(c->bits);
}

static void put(const struct dj_counters *c, size_t i, uint32_t value)
{
    const size_t at = i * c->bits;
    const uint64_t mask = (uint64_t)top(c->bits) << at % 64;
    const uint64_t old = dj_load64(body + at / 64 * 8);
    dj_store64(body + at / 64 * 8, (old & ~mask) | (uint64_t)value << at % 64);
}

static size_t n_counters(const struct dj_counters *c)
{
    return 8 * sizeof body / c->bits;
}

/* This machine's kernel and the portable one must agree. */
static struct dj_counters_sum survey(const struct dj_counters *c)
{
    const struct dj_counters_sum sum = dj_counters_best(c->bits)->survey(c);
    const struct dj_counters_sum portable = dj_counters_portable.survey(c);
    assert_memory_equal(&sum, &portable, sizeof sum);
    return sum;
}

/* --- Places --------------------------------------------------------------- */

static void a_key_has_k_different_counters_in_its_line(void **state)
{
    struct rng r = rng_seeded(1);
    for (size_t w = 0; w < 4; w++)
        for (uint32_t k = 1; k <= 16; k++)
            for (int i = 0; i < 200; i++) {
                const struct dj_counters c = fresh(widths[w], k);
                const uint64_t h = rng_next(&r);
                const size_t a_line = n_counters(&c) / LINES, line = dj_mulhi(h, LINES);
                assert_true(dj_counters_up(&c, h, false));
                uint32_t ones = 0;
                for (size_t at = 0; at < n_counters(&c); at++) {
                    const uint32_t value = counter(&c, at);
                    assert_true(value <= 1);
                    assert_true(value == 0 || at / a_line == line);
                    ones += value;
                }
                assert_int_equal(ones, k);
            }
}

/* Chi-squared with d = counters - 1 degrees of freedom: mean d, standard deviation sqrt(2 d). */
static void all_counters_are_used_equally_often(void **state)
{
    for (size_t w = 0; w < 4; w++)
        for (uint32_t k = 1; k <= 15; k += 7) {
            enum {
                KEYS = 100000
            };
            static uint32_t taken[LINES * 128];
            struct rng r = rng_seeded(k);
            memset(taken, 0, sizeof taken);
            struct dj_counters c = fresh(widths[w], k);
            for (int i = 0; i < KEYS; i++) {
                memset(body, 0, sizeof body);
                const uint64_t h = rng_next(&r);
                dj_counters_up(&c, h, false);
                const size_t a_line = n_counters(&c) / LINES;
                const size_t first = dj_mulhi(h, LINES) * a_line;
                for (size_t at = first; at < first + a_line; at++)
                    taken[at] += counter(&c, at);
            }
            const double n = (double)n_counters(&c), mean = KEYS * (double)k / n;
            double chi = 0;
            for (size_t at = 0; at < n_counters(&c); at++)
                chi += ((double)taken[at] - mean) * ((double)taken[at] - mean) / mean;
            assert_true(chi < n + 6 * sqrt(2 * n));
        }
}

/* --- Limits ---------------------------------------------------------------- */

static void counters_saturate_without_touching_their_neighbors(void **state)
{
    struct rng r = rng_seeded(2);
    for (size_t w = 0; w < 4; w++) {
        const struct dj_counters c = fresh(widths[w], 5);
        const uint64_t h = rng_next(&r);
        uint8_t before[sizeof body];
        bool gone;
        dj_counters_up(&c, h, false);
        for (size_t at = 0; at < n_counters(&c); at++)
            if (counter(&c, at)) /* two below the maximum */
                put(&c, at, top(widths[w]) - 2);
            else /* values that would show a carry or a borrow */
                put(&c, at, at % 2 ? 0 : top(widths[w]));
        assert_int_equal(dj_counters_min(&c, h), top(widths[w]) - 2);
        dj_counters_up(&c, h, false);
        memcpy(before, body, sizeof body);
        assert_int_equal(dj_counters_min(&c, h), top(widths[w]) - 1);
        assert_true(dj_counters_down(&c, h, &gone));
        assert_false(gone);
        dj_counters_up(&c, h, false);
        assert_memory_equal(body, before, sizeof body);
        dj_counters_up(&c, h, false);
        memcpy(before, body, sizeof body);
        for (int i = 0; i < 3; i++) {
            assert_false(dj_counters_up(&c, h, i % 2));
            assert_int_equal(dj_counters_min(&c, h), top(widths[w]));
            assert_false(dj_counters_down(&c, h, &gone)); /* a saturated counter does not change */
            assert_memory_equal(body, before, sizeof body);
        }
    }
}

static void removing_every_key_leaves_only_zeros(void **state)
{
    for (size_t w = 0; w < 4; w++)
        for (uint32_t k = 1; k <= 16; k++) {
            const struct dj_counters c = fresh(widths[w], k);
            const uint64_t h = k * DJ_GOLDEN;
            bool gone = false;
            const uint32_t times = widths[w] == 4 ? 14 : 200;
            for (uint32_t i = 0; i < times; i++) {
                assert_int_equal(dj_counters_min(&c, h), i);
                assert_int_equal(dj_counters_up(&c, h, false), i == 0);
            }
            for (uint32_t i = times; i > 0; i--) {
                assert_int_equal(dj_counters_min(&c, h), i);
                assert_true(dj_counters_down(&c, h, &gone));
                assert_int_equal(gone, i == 1);
            }
            assert_false(dj_counters_down(&c, h, &gone));
            for (size_t i = 0; i < sizeof body; i++)
                assert_int_equal(body[i], 0);
        }
}

/* A key with one counter at 0 was never added: nothing changes. */
static void removing_an_absent_key_is_refused(void **state)
{
    for (size_t w = 0; w < 4; w++) {
        const struct dj_counters c = fresh(widths[w], 4);
        const uint64_t h = 99 * DJ_GOLDEN;
        uint8_t before[sizeof body];
        bool gone, zeroed = false;
        dj_counters_up(&c, h, false);
        for (size_t at = 0; at < n_counters(&c); at++)
            if (counter(&c, at)) {
                put(&c, at, zeroed ? 3 : 0);
                zeroed = true;
            }
        memcpy(before, body, sizeof body);
        assert_false(dj_counters_down(&c, h, &gone));
        assert_memory_equal(body, before, sizeof body);
    }
}

/* A saturated counter stays; the others are decremented. */
static void a_saturated_counter_is_never_lowered(void **state)
{
    for (size_t w = 0; w < 4; w++) {
        const struct dj_counters c = fresh(widths[w], 4);
        const uint64_t h = 7 * DJ_GOLDEN;
        bool gone;
        size_t one = 0;
        dj_counters_up(&c, h, false);
        for (size_t at = 0; at < n_counters(&c); at++)
            one = counter(&c, at) ? at : one;
        put(&c, one, top(widths[w]));
        assert_true(dj_counters_down(&c, h, &gone));
        assert_true(gone);
        for (size_t at = 0; at < n_counters(&c); at++)
            assert_int_equal(counter(&c, at), at == one ? top(widths[w]) : 0);
    }
}

static void minimal_increase_raises_only_the_smallest(void **state)
{
    for (size_t w = 0; w < 4; w++) {
        const struct dj_counters c = fresh(widths[w], 3);
        const uint64_t h = 5 * DJ_GOLDEN;
        size_t place[3], n = 0;
        dj_counters_up(&c, h, true);
        for (size_t at = 0; at < n_counters(&c); at++)
            if (counter(&c, at))
                place[n++] = at;
        assert_int_equal(n, 3);
        put(&c, place[0], 4);
        put(&c, place[1], 9);
        put(&c, place[2], 4);
        assert_false(dj_counters_up(&c, h, true));
        assert_int_equal(counter(&c, place[0]), 5);
        assert_int_equal(counter(&c, place[1]), 9);
        assert_int_equal(counter(&c, place[2]), 5);
    }
}

/* --- All of them ----------------------------------------------------------- */

/* A body of more lines than a kernel adds up at once, all with the same counters. */
static void the_survey_of_a_large_body_is_exact(void **state)
{
    enum {
        MANY = 1000
    };
    static _Alignas(64) uint8_t large[MANY * DJ_BLOCK_BYTES];
    for (size_t w = 0; w < 4; w++)
        for (unsigned fill = 0; fill < 2; fill++) {
            const struct dj_counters c = {large, MANY, widths[w], 2, dj_block_lane_sets(2)};
            const uint64_t all = UINT64_C(8) * sizeof large / widths[w];
            memset(large, fill ? 0xff : 0, sizeof large);
            const struct dj_counters_sum sum = survey(&c);
            assert_int_equal(sum.used, fill * all);
            assert_int_equal(sum.saturated, fill * all);
            assert_int_equal(sum.largest, fill * top(widths[w]));
        }
}

static void the_survey_counts_the_counters(void **state)
{
    for (size_t w = 0; w < 4; w++) {
        const struct dj_counters c = fresh(widths[w], 2);
        struct dj_counters_sum sum = survey(&c);
        assert_int_equal(sum.used + sum.saturated + sum.largest, 0);
        put(&c, 0, 1);
        put(&c, 3, top(widths[w]) - 1);
        put(&c, n_counters(&c) - 1, 2);
        sum = survey(&c);
        assert_int_equal(sum.used, 3);
        assert_int_equal(sum.saturated, 0);
        assert_int_equal(sum.largest, top(widths[w]) - 1);
        put(&c, 5, top(widths[w]));
        sum = survey(&c);
        assert_int_equal(sum.used, 4);
        assert_int_equal(sum.saturated, 1);
        assert_int_equal(sum.largest, top(widths[w]));
    }
}

static void the_survey_agrees_with_reading_each_counter(void **state)
{
    struct rng r = rng_seeded(8);
    for (size_t w = 0; w < 4; w++)
        for (int trial = 0; trial < 300; trial++) {
            const struct dj_counters c = fresh(widths[w], 2);
            const uint64_t range = rng_below(&r, (uint64_t)top(widths[w]) + 1) >> trial % 8;
            uint64_t used = 0, saturated = 0, most = 0;
            for (size_t at = 0; at < n_counters(&c); at++) {
                const uint32_t value = rng_next(&r) % 3 ? (uint32_t)rng_below(&r, range + 1) : 0;
                put(&c, at, value);
                used += value != 0;
                saturated += value == top(widths[w]);
                most = value > most ? value : most;
            }
            const struct dj_counters_sum sum = survey(&c);
            assert_int_equal(sum.used, used);
            assert_int_equal(sum.saturated, saturated);
            assert_int_equal(sum.largest, most);
        }
}

/* Counters in use after some keys: mean and deviation over 4,000 bodies, compared with core/math.
 * The mean scatters by 1.6% of the deviation, the deviation by 1.1% of itself. */
static void the_number_of_counters_in_use_matches_theory(void **state)
{
    enum {
        BODIES = 4000,
        KEYS = 25
    };
    for (size_t w = 0; w < 4; w++)
        for (uint32_t k = 1; k <= 16; k += 5) {
            struct rng r = rng_seeded(100 * w + k);
            double sum = 0, squares = 0;
            for (int i = 0; i < BODIES; i++) {
                const struct dj_counters c = fresh(widths[w], k);
                for (int j = 0; j < KEYS; j++)
                    dj_counters_up(&c, rng_next(&r), false);
                const double used = (double)survey(&c).used;
                sum += used / BODIES;
                squares += used * used / BODIES;
            }
            const struct dj_shape s = {DJ_BLOCKS, k, 8 * sizeof body, widths[w]};
            const double sigma = dj_shape_bits_sigma(&s, KEYS);
            assert_true(fabs(sum - dj_shape_bits_set(&s, KEYS)) < 0.09 * sigma + 1e-9);
            assert_true(fabs(sqrt(squares - sum * sum) - sigma) < 0.08 * sigma + 1e-6);
            assert_true(fabs(dj_shape_keys(&s, dj_shape_bits_set(&s, KEYS)) - KEYS) < 1e-6);
        }
}

/* This machine's kernel and the portable one, on bodies from empty to saturated. */
static void kernels_give_the_same_answers_and_bytes(void **state)
{
    enum {
        PROBES = 3000
    };
    static uint64_t hash[PROBES];
    static uint8_t want[PROBES], got[PROBES], before[sizeof body], after[sizeof body];
    const struct dj_counters_kernel *best = dj_counters_best(4);
    struct rng r = rng_seeded(3);
    for (uint32_t k = 1; k <= 16; k++) {
        const struct dj_counters c = fresh(4, k);
        uint64_t yes = 0;
        for (size_t n = 1; n < PROBES; n *= 3) {
            rng_fill(&r, hash, PROBES);
            dj_counters_portable.contains(&c, hash, hash, PROBES, want);
            best->contains(&c, hash, hash, PROBES, got);
            assert_memory_equal(want, got, PROBES);
            for (int i = 0; i < PROBES; i++)
                yes += want[i];
            memcpy(before, body, sizeof body);
            dj_counters_portable.add(&c, hash, hash, n, want);
            memcpy(after, body, sizeof body);
            memcpy(body, before, sizeof body);
            best->add(&c, hash, hash, n, got);
            assert_memory_equal(want, got, n);
            assert_memory_equal(body, after, sizeof body);
        }
        assert_true(yes > 0);
        assert_true(k < 8 || survey(&c).saturated > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_k_different_counters_in_its_line),
        cmocka_unit_test(all_counters_are_used_equally_often),
        cmocka_unit_test(counters_saturate_without_touching_their_neighbors),
        cmocka_unit_test(removing_every_key_leaves_only_zeros),
        cmocka_unit_test(removing_an_absent_key_is_refused),
        cmocka_unit_test(a_saturated_counter_is_never_lowered),
        cmocka_unit_test(minimal_increase_raises_only_the_smallest),
        cmocka_unit_test(the_survey_agrees_with_reading_each_counter),
        cmocka_unit_test(the_number_of_counters_in_use_matches_theory),
        cmocka_unit_test(the_survey_counts_the_counters),
        cmocka_unit_test(the_survey_of_a_large_body_is_exact),
        cmocka_unit_test(kernels_give_the_same_answers_and_bytes),
    };
    return cmocka_run_group_tests_name("unit.counters", tests, NULL, NULL);
}
