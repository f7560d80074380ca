/* test_spread.c - counters anywhere in an array, against a plain array of numbers.
 *
 * The model keeps each counter in a number of its own and finds the counters of a key as
 * docs/format/bodies.md says.  Small arrays make keys share counters, and select one counter twice. */
#include "unit.h"

#include "core/bits/spread.h"
#include "rng.h"
#include <math.h>
#include <string.h>

#define LINES 8
#define MOST  (LINES * 128) /* counters */
static const uint32_t widths[] = {4, 8, 16, 32};
static _Alignas(64) uint8_t body[LINES * DJ_BLOCK_BYTES];

struct model {
    struct dj_counters c;
    uint64_t n;
    uint32_t top, value[MOST];
};

static struct model fresh(uint32_t bits, uint32_t k)
{
    memset(body, 0, sizeof body);
    return (struct model){.c = {.body = body, .n_lines = LINES, .bits = bits, .k = k},
                          .n = 8 * sizeof body / bits,
                          .top = UINT32_MAX >> (32 - bits)};
}

/* Counter i of the body: little-endian, the first in the low bits. */
static uint32_t counter(const struct model *m, size_t i)
{
    const size_t at = i * m->c.bits;
    return (uint32_t)(dj_load64(body + at / 64 * 8) >> at % 64) & m->top;
}

static void put(struct model *m, size_t i, uint32_t value)
{
    const size_t at = i * m->c.bits;
    const uint64_t mask = (uint64_t)m->top << at % 64;
    dj_store64(body + at / 64 * 8,
               (dj_load64(body + at / 64 * 8) & ~mask) | (uint64_t)value << at % 64);
    m->value[i] = value;
}

static uint64_t place(const struct model *m, uint64_t hash, uint32_t i)
{
    return dj_mulhi(dj_mix64(hash + (i + UINT64_C(1)) * DJ_GOLDEN), m->n);
}

/* The different counters of a key. */
static uint32_t places(const struct model *m, uint64_t hash, uint64_t at[DJ_SPREAD_MOST])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->c.k; i++) {
        uint32_t j = 0;
        at[n] = place(m, hash, i);
        while (at[j] != at[n])
            j++;
        n += j == n;
    }
    return n;
}

static uint32_t least_of(const struct model *m, uint64_t hash)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->c.k; i++) {
        const uint32_t value = m->value[place(m, hash, i)];
        least = value < least ? value : least;
    }
    return least;
}

static void model_add(struct model *m, uint64_t hash, bool minimal)
{
    uint64_t at[DJ_SPREAD_MOST];
    const uint32_t n = places(m, hash, at), least = least_of(m, hash);
    for (uint32_t i = 0; i < n; i++)
        if (m->value[at[i]] < m->top && (!minimal || m->value[at[i]] == least))
            m->value[at[i]]++;
}

static void model_remove(struct model *m, uint64_t hash)
{
    uint64_t at[DJ_SPREAD_MOST];
    const uint32_t n = places(m, hash, at), least = least_of(m, hash);
    for (uint32_t i = 0; i < n && least > 0 && least < m->top; i++)
        m->value[at[i]] -= m->value[at[i]] < m->top;
}

static void check_all(const struct model *m)
{
    for (size_t i = 0; i < m->n; i++)
        assert_int_equal(counter(m, i), m->value[i]);
}

/* --- Single keys ------------------------------------------------------------ */

static void counters_are_those_of_the_model(void **state)
{
    static const uint32_t some_k[] = {1, 2, 3, 7, 10, 16, 40, 64};
    struct rng r = rng_seeded(1);
    for (size_t w = 0; w < 4; w++)
        for (size_t j = 0; j < DJ_ARRAY_LEN(some_k); j++)
            for (int minimal = 0; minimal < 2; minimal++) {
                struct model m = fresh(widths[w], some_k[j]);
                for (int step = 0; step < 400; step++) {
                    const uint64_t h = DJ_GOLDEN * rng_below(&r, 40);
                    const uint32_t least = least_of(&m, h);
                    uint8_t is_new;
                    bool gone = false;
                    if (minimal || rng_next(&r) % 3) {
                        dj_spread_add(&m.c, &h, &h, 1, minimal, &is_new);
                        model_add(&m, h, minimal);
                        assert_int_equal(is_new, least == 0);
                    } else {
                        const bool removed = dj_spread_down(&m.c, h, &gone);
                        model_remove(&m, h);
                        assert_int_equal(removed, least > 0 && least < m.top);
                        assert_int_equal(gone, least == 1);
                    }
                    assert_int_equal(dj_spread_min(&m.c, h), least_of(&m, h));
                }
                check_all(&m);
            }
}

/* With 16 counters, most keys with k = 16 select one twice; it goes up and down by one. */
static void a_counter_that_a_key_selects_twice_counts_once(void **state)
{
    struct rng r = rng_seeded(2);
    int repeats = 0;
    for (int i = 0; i < 300; i++) {
        struct model m = fresh(32, 16);
        m.c.n_lines = 1;
        m.n = 16;
        const uint64_t h = rng_next(&r);
        uint64_t at[DJ_SPREAD_MOST];
        uint8_t is_new;
        bool gone = false;
        const uint32_t n = places(&m, h, at);
        repeats += n < 16;
        dj_spread_add(&m.c, &h, &h, 1, false, &is_new);
        dj_spread_add(&m.c, &h, &h, 1, false, &is_new);
        for (uint32_t j = 0; j < n; j++)
            assert_int_equal(counter(&m, at[j]), 2);
        assert_int_equal(dj_spread_min(&m.c, h), 2);
        assert_true(dj_spread_down(&m.c, h, &gone) && !gone);
        assert_true(dj_spread_down(&m.c, h, &gone) && gone);
        check_all(&m); /* zeros */
    }
    assert_true(repeats > 290);
}

static void counters_saturate_without_touching_their_neighbors(void **state)
{
    struct rng r = rng_seeded(3);
    for (size_t w = 0; w < 4; w++) {
        struct model m = fresh(widths[w], 5);
        const uint64_t h = rng_next(&r);
        uint64_t at[DJ_SPREAD_MOST];
        uint8_t is_new;
        bool gone;
        for (size_t i = 0; i < m.n; i++) /* values that would show a carry or a borrow */
            put(&m, i, i % 2 ? 0 : m.top);
        for (uint32_t n = places(&m, h, at); n--;)
            put(&m, at[n], m.top - 2);
        for (int i = 0; i < 4; i++) {
            dj_spread_add(&m.c, &h, &h, 1, i % 2, &is_new);
            model_add(&m, h, i % 2);
            check_all(&m);
        }
        assert_int_equal(dj_spread_min(&m.c, h), m.top);
        assert_false(dj_spread_down(&m.c, h, &gone)); /* a saturated counter does not change */
        check_all(&m);
    }
}

/* Chi-squared with d = counters - 1 degrees of freedom: mean d, standard deviation sqrt(2 d). */
static void all_counters_are_used_equally_often(void **state)
{
    enum {
        KEYS = 20000,
        K = 10
    };
    for (size_t w = 0; w < 4; w++) {
        static uint32_t taken[MOST];
        struct rng r = rng_seeded(4 + w);
        struct model m = fresh(widths[w], 1);
        memset(taken, 0, sizeof taken);
        for (int i = 0; i < KEYS; i++) {
            const uint64_t h = rng_next(&r);
            for (uint32_t j = 0; j < K; j++)
                taken[place(&m, h, j)]++;
        }
        const double n = (double)m.n, mean = KEYS * (double)K / n;
        double chi = 0;
        for (size_t i = 0; i < m.n; i++)
            chi += ((double)taken[i] - mean) * ((double)taken[i] - mean) / mean;
        assert_true(fabs(chi - n) < 6 * sqrt(2 * n));
    }
}

/* --- Batches ------------------------------------------------------------------- */

#define KEYS 200

/* Every number of keys, k and fill, so that lookups end in every round. */
static void a_batch_is_a_loop_of_single_calls(void **state)
{
    static uint64_t hash[2 * KEYS], ahead[2 * KEYS];
    uint8_t is_new[KEYS], found[2 * KEYS];
    struct rng r = rng_seeded(5);
    for (uint32_t k = 1; k <= DJ_SPREAD_MOST; k += k < 20 ? 1 : 11)
        for (size_t n = 1; n <= KEYS; n += 1 + n / 3) {
            struct model m = fresh(widths[n % 4], k);
            for (size_t i = 0; i < 2 * KEYS; i++)
                hash[i] = rng_next(&r), ahead[i] = rng_next(&r);
            dj_spread_prefetch(&m.c, hash, n, true);
            dj_spread_add(&m.c, hash, n % 2 ? ahead : hash, n, false, is_new);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(is_new[i], least_of(&m, hash[i]) == 0);
                model_add(&m, hash[i], false);
            }
            check_all(&m);
            dj_spread_prefetch(&m.c, hash, 2 * KEYS, false);
            dj_spread_contains(&m.c, hash, n % 2 ? ahead : hash, 2 * KEYS, found);
            for (size_t i = 0; i < 2 * KEYS; i++)
                assert_int_equal(found[i], least_of(&m, hash[i]) > 0);
            check_all(&m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_those_of_the_model),
        cmocka_unit_test(a_counter_that_a_key_selects_twice_counts_once),
        cmocka_unit_test(counters_saturate_without_touching_their_neighbors),
        cmocka_unit_test(all_counters_are_used_equally_often),
        cmocka_unit_test(a_batch_is_a_loop_of_single_calls),
    };
    return cmocka_run_group_tests_name("unit.spread", tests, NULL, NULL);
}
