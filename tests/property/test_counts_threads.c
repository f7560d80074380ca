/* test_counts_threads.c - the laws of removal and counting, in one thread and in several.
 *
 *   never too small   while nothing is saturated and no absent key was removed, a count is at
 *                     least the number of adds minus the number of removals
 *   all gone          when everything was removed, every byte of the body is 0
 *   power cut         sectors from different moments: keys that stayed in are found
 *   batch = loop      the same answers and the same bytes
 *   threads           no add or removal of several threads is lost
 *   other kinds       every kind without counters reports that and changes nothing */
#include "unit.h"

#include "calls.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "rng.h"
#include "sharing.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define NUMBERS 1500

static const struct {
    uint32_t bits, filters, flags;
} shapes[] = {
    {4, 1, 0},
    {8, 1, 0},
    {16, 1, 0},
    {32, 1, 0},
    {4, 2, 0},
    {32, 3, 0},
    {4, 1, DEJA_SPREAD},
    {8, 1, DEJA_SPREAD},
    {16, 2, DEJA_SPREAD},
    {32, 1, DEJA_SPREAD},
};
#define SPREAD_4 6 /* the first of these with DEJA_SPREAD */

static deja_filter *spectral_filter(size_t i, double p, uint32_t flags)
{
    deja_filter *f;
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.counter_bits = shapes[i].bits;
    opt.filters = shapes[i].filters;
    opt.capacity = NUMBERS;
    opt.fp_rate = p;
    opt.flags = flags | shapes[i].flags;
    opt.seed = 1 + i;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

static bool is_empty(const deja_filter *f)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < f->n_parts; i++)
        for (uint64_t at = 0; at < f->part[i]->body_len; at++)
            any |= f->part[i]->body[at];
    return any == 0;
}

/* --- Against a model -------------------------------------------------------- */

static uint32_t truth[NUMBERS];

static void check_count(const deja_filter *f, uint64_t number)
{
    uint64_t count = 0;
    assert_int_equal(deja_filter_count(f, key_of(&number), &count, NULL), DEJA_OK);
    assert_true(count >= truth[number]);
    assert_int_equal(deja_filter_contains(f, key_of(&number)), count > 0);
}

/* Adds keys and removes present ones; 4-bit counters would saturate where many keys share a
 * counter, so few keys occur often. */
static void counts_are_never_below_the_truth(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *f = spectral_filter(i, 0.01, 0);
        struct rng r = rng_seeded(10 + i);
        uint64_t removals = 0;
        memset(truth, 0, sizeof truth);
        for (int step = 0; step < 20000; step++) {
            const uint64_t number = rng_below(&r, NUMBERS);
            const bool add = truth[number] == 0 || (truth[number] < 3 && rng_next(&r) % 2);
            bool answer = false;
            if (add)
                assert_int_equal(deja_filter_add(f, key_of(&number), NULL, NULL), DEJA_OK);
            else
                assert_int_equal(deja_filter_remove(f, key_of(&number), &answer, NULL), DEJA_OK);
            assert_int_equal(answer, !add); /* a key that is present can be removed */
            truth[number] += add ? 1u : UINT32_MAX;
            removals += !add;
            check_count(f, number);
        }
        assert_int_equal(stats_of(f).saturated, 0);
        for (uint64_t number = 0; number < NUMBERS; number++)
            check_count(f, number);
        assert_int_equal(stats_of(f).removed, removals);
        for (uint64_t number = 0; number < NUMBERS; number++)
            for (; truth[number]; truth[number]--) {
                bool removed = false;
                assert_int_equal(deja_filter_remove(f, key_of(&number), &removed, NULL), DEJA_OK);
                assert_true(removed);
            }
        assert_true(is_empty(f));
        assert_int_equal(stats_of(f).refused, 0);
        deja_filter_free(f);
    }
}

/* Saturated counters keep their value: no key that was added and not removed is missed. */
static void check_saturated(size_t i)
{
    deja_filter *f = spectral_filter(i, 0.2, 0);
    struct rng r = rng_seeded(77);
    memset(truth, 0, sizeof truth);
    for (int step = 0; step < 60000; step++) {
        const uint64_t x = rng_below(&r, NUMBERS), number = x * x / NUMBERS; /* some often */
        bool removed = false;
        if (truth[number] == 0 || rng_next(&r) % 3) {
            assert_int_equal(deja_filter_add(f, key_of(&number), NULL, NULL), DEJA_OK);
            truth[number]++;
        } else {
            assert_int_equal(deja_filter_remove(f, key_of(&number), &removed, NULL), DEJA_OK);
            truth[number] -= removed ? 1 : 0;
        }
    }
    const deja_stats s = stats_of(f);
    assert_true(s.saturated > 100);
    assert_int_equal(s.largest, 15);
    for (uint64_t number = 0; number < NUMBERS; number++) {
        uint64_t count = 0;
        assert_int_equal(deja_filter_count(f, key_of(&number), &count, NULL), DEJA_OK);
        assert_true(count >= (truth[number] < 15 ? truth[number] : 15));
    }
    deja_filter_free(f);
}

static void no_key_is_missed_next_to_saturated_counters(void **state)
{
    check_saturated(0);
    check_saturated(SPREAD_4);
}

static void removing_an_absent_key_is_refused(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *f = spectral_filter(i, 1e-3, 0), *same = spectral_filter(i, 1e-3, 0);
        uint64_t refused = 0;
        for (uint64_t number = 0; number < NUMBERS; number++) {
            assert_int_equal(deja_filter_add(f, key_of(&number), NULL, NULL), DEJA_OK);
            assert_int_equal(deja_filter_add(same, key_of(&number), NULL, NULL), DEJA_OK);
        }
        for (uint64_t number = NUMBERS; number < 3 * NUMBERS; number++) {
            bool removed = true;
            if (deja_filter_contains(f, key_of(&number)))
                continue; /* the caller must avoid removing a false positive */
            assert_int_equal(deja_filter_remove(f, key_of(&number), &removed, NULL), DEJA_OK);
            assert_false(removed);
            refused++;
        }
        assert_int_equal(stats_of(f).refused, refused);
        for (uint32_t p = 0; p < f->n_parts; p++)
            assert_memory_equal(f->part[p]->body, same->part[p]->body, f->part[p]->body_len);
        assert_int_equal(stats_of(f).keys, stats_of(same).keys);
        deja_filter_free(f);
        deja_filter_free(same);
    }
}

/* --- A power cut ----------------------------------------------------------------- */

/* Sectors from different moments since the last sync, as an interrupted write-back leaves them:
 * keys that were present at the sync and not removed since are found. */
static void keys_that_stayed_are_found_in_a_torn_body(void **state)
{
    enum {
        MOMENTS = 6,
        SECTOR = 512,
        MOST = 1 << 21
    };
    static uint8_t moment[MOMENTS][MOST];
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        if (shapes[i].filters > 1)
            continue;
        deja_filter *f = spectral_filter(i, 0.02, 0);
        uint8_t *body = f->part[0]->body;
        const size_t len = (size_t)f->part[0]->body_len;
        struct rng r = rng_seeded(500 + i);
        assert_true(len <= MOST);
        for (uint64_t n = 0; n < NUMBERS; n++)
            assert_int_equal(deja_filter_add(f, key_of(&n), NULL, NULL), DEJA_OK);
        for (int m = 0; m < MOMENTS; m++) { /* odd keys are removed; others are added and removed
                                             * again */
            memcpy(moment[m], body, len);
            for (uint64_t n = 1 + 200 * (uint64_t)m; n < 200 * ((uint64_t)m + 1); n += 2)
                assert_int_equal(deja_filter_remove(f, key_of(&n), NULL, NULL), DEJA_OK);
            for (uint64_t n = NUMBERS; n < NUMBERS + 300; n++)
                assert_int_equal(m % 2 ? deja_filter_remove(f, key_of(&n), NULL, NULL)
                                       : deja_filter_add(f, key_of(&n), NULL, NULL),
                                 DEJA_OK);
        }
        for (int trial = 0; trial < 50; trial++) {
            for (size_t at = 0; at < len; at += SECTOR) {
                const size_t piece = len - at < SECTOR ? len - at : SECTOR;
                memcpy(body + at, moment[rng_below(&r, MOMENTS)] + at, piece);
            }
            for (uint64_t n = 0; n < NUMBERS; n += 2)
                assert_true(deja_filter_contains(f, key_of(&n)));
        }
        deja_filter_free(f);
    }
}

/* --- Batches ----------------------------------------------------------------- */

static uint64_t number[2 * NUMBERS];
static deja_slice keys[2 * NUMBERS];

static void a_batch_is_a_loop_of_single_calls(void **state)
{
    static uint8_t removed[2 * NUMBERS];
    static uint64_t counts[2 * NUMBERS];
    for (size_t i = 0; i < 2 * NUMBERS; i++) {
        number[i] = DJ_LE64(i * 7 % NUMBERS);
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
    }
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *a = spectral_filter(i, 0.05, 0), *b = spectral_filter(i, 0.05, 0);
        if (i % 2)
            share(b);
        assert_int_equal(deja_filter_add_batch(a, keys, NUMBERS, NULL, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(b, keys, NUMBERS, NULL, NULL, NULL), DEJA_OK);
        size_t done = 0;
        assert_int_equal(
            deja_filter_remove_batch(b, keys + 99, 2 * NUMBERS - 99, removed, &done, NULL),
            DEJA_OK);
        assert_int_equal(done, 2 * NUMBERS - 99);
        for (size_t j = 99; j < 2 * NUMBERS; j++) {
            bool answer;
            assert_int_equal(deja_filter_remove(a, keys[j], &answer, NULL), DEJA_OK);
            assert_int_equal(answer, removed[j - 99]);
        }
        for (uint32_t p = 0; p < a->n_parts; p++) {
            assert_memory_equal(a->part[p]->body, b->part[p]->body, a->part[p]->body_len);
            assert_int_equal(a->part[p]->keys, b->part[p]->keys);
        }
        assert_int_equal(deja_filter_count_batch(a, keys, 2 * NUMBERS, counts, NULL), DEJA_OK);
        for (size_t j = 0; j < 2 * NUMBERS; j++) {
            uint64_t count;
            assert_int_equal(deja_filter_count(b, keys[j], &count, NULL), DEJA_OK);
            assert_int_equal(count, counts[j]);
        }
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* --- Threads ------------------------------------------------------------------ */

#define THREADS 4
#define ROUNDS  3

struct member {
    deja_filter *f;
    atomic_int *ready;
    bool removes;
    uint64_t failed;
    pthread_t thread;
};

/* Every thread adds every key several times; a remover removes all of its own adds except one. */
static void *work(void *arg)
{
    struct member *m = arg;
    atomic_fetch_add(m->ready, 1);
    while (atomic_load(m->ready) < THREADS)
        sched_yield();
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t n = 0; n < NUMBERS; n++) {
            bool removed = true;
            int rc = deja_filter_add(m->f, key_of(&n), NULL, NULL);
            if (rc == DEJA_OK && m->removes && round > 0)
                rc = deja_filter_remove(m->f, key_of(&n), &removed, NULL);
            m->failed += rc != DEJA_OK || !removed;
        }
    return NULL;
}

static void run_together(deja_filter *f, bool removes)
{
    struct member m[THREADS];
    atomic_int ready = 0;
    for (int i = 0; i < THREADS; i++) {
        m[i] = (struct member){.f = f, .ready = &ready, .removes = removes};
        assert_int_equal(pthread_create(&m[i].thread, NULL, work, &m[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(m[i].thread, NULL), 0);
        assert_int_equal(m[i].failed, 0);
    }
}

static void no_add_and_no_removal_of_several_threads_is_lost(void **state)
{
    for (size_t i = 1; i < DJ_ARRAY_LEN(shapes); i++) {
        if (shapes[i].bits == 4) /* it would saturate */
            continue;
        deja_filter *f = spectral_filter(i, 0.01, 0);
        run_together(f, true);
        for (uint64_t n = 0; n < NUMBERS; n++) {
            uint64_t count;
            assert_int_equal(deja_filter_count(f, key_of(&n), &count, NULL), DEJA_OK);
            assert_true(count >= THREADS);
        }
        for (uint64_t n = 0; n < NUMBERS; n++)
            for (int t = 0; t < THREADS; t++) {
                bool removed = false;
                assert_int_equal(deja_filter_remove(f, key_of(&n), &removed, NULL), DEJA_OK);
                assert_true(removed);
            }
        assert_true(is_empty(f)); /* neither too few nor too many */
        deja_filter_free(f);
    }
}

static void minimal_increase_loses_no_add_of_several_threads(void **state)
{
    for (size_t i = 1; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *f = spectral_filter(i, 0.01, DEJA_MINIMAL_INCREASE);
        run_together(f, false);
        for (uint64_t n = 0; n < NUMBERS; n++) {
            uint64_t count;
            assert_int_equal(deja_filter_count(f, key_of(&n), &count, NULL), DEJA_OK);
            assert_true(count >= THREADS * ROUNDS);
        }
        deja_filter_free(f);
    }
}

/* --- Kinds without counters ----------------------------------------------------- */

static void kinds_without_counters_refuse_to_count(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT, DEJA_SCALABLE};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        deja_options opt = DEJA_OPTIONS_INIT;
        deja_filter *f;
        uint64_t count = 7;
        uint64_t counts = 7;
        size_t done = 7;
        bool removed = true;
        const uint64_t n = 1;
        opt.kind = kinds[i];
        opt.capacity = 100;
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add(f, key_of(&n), NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_remove(f, key_of(&n), &removed, NULL), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_remove_batch(f, keys, 1, NULL, &done, NULL), DEJA_ENOTSUP);
        assert_int_equal(done, 0);
        assert_int_equal(deja_filter_count(f, key_of(&n), &count, NULL), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_count_batch(f, keys, 1, &counts, NULL), DEJA_ENOTSUP);
        assert_true(removed && count == 7 && counts == 7);
        assert_true(deja_filter_contains(f, key_of(&n)));
        assert_int_equal(stats_of(f).refused, 0);
        deja_filter_free(f);
    }
}

static void minimal_increase_excludes_removal(void **state)
{
    deja_filter *f = spectral_filter(1, 0.01, DEJA_MINIMAL_INCREASE);
    const uint64_t n = 1;
    bool removed = true;
    assert_int_equal(deja_filter_add(f, key_of(&n), NULL, NULL), DEJA_OK);
    assert_int_equal(deja_filter_remove(f, key_of(&n), &removed, NULL), DEJA_ENOTSUP);
    assert_true(deja_filter_contains(f, key_of(&n)));
    assert_int_equal(stats_of(f).flags, DEJA_MINIMAL_INCREASE);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_never_below_the_truth),
        cmocka_unit_test(no_key_is_missed_next_to_saturated_counters),
        cmocka_unit_test(removing_an_absent_key_is_refused),
        cmocka_unit_test(keys_that_stayed_are_found_in_a_torn_body),
        cmocka_unit_test(a_batch_is_a_loop_of_single_calls),
        cmocka_unit_test(no_add_and_no_removal_of_several_threads_is_lost),
        cmocka_unit_test(minimal_increase_loses_no_add_of_several_threads),
        cmocka_unit_test(kinds_without_counters_refuse_to_count),
        cmocka_unit_test(minimal_increase_excludes_removal),
    };
    return cmocka_run_group_tests_name("property.counts_threads", tests, NULL, NULL);
}
