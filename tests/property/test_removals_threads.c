/* test_removals_threads.c - the laws of a paired filter, in one thread and in several.
 *
 * A paired filter may miss a key, but only if the key tests positive in the deletions, which can
 * be queried alone.  So the laws are exact.  Compared with a model that knows every add, a key is:
 *
 *   found             if it was added and does not test positive in the second filter alone
 *   not found         if it tests positive in the second filter alone, whatever was added
 *   correct answers   add says "new", and remove "removed", exactly if a lookup just before
 *                     would have said no, and yes
 *   batch = loop      the same answers, the same bytes, the same counts
 *   files             sync, open = identity: bytes, counts, answers
 *   threads           adds, removals and lookups together: a key that no thread removes is found
 *                     unless the deletions claim it, and a removed key is gone */
#include "unit.h"

#include "calls.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "rng.h"
#include "scratch.h"
#include "sharing.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define NUMBERS 3000

/* Filters with almost no false answers and with many, and one with room for too few removals. */
static const struct {
    uint64_t capacity, deletions;
    double p;
} shapes[] = {{NUMBERS, 0, 1e-6}, {NUMBERS, 500, 0.02}, {NUMBERS / 4, 50, 0.2}, {1, 1, 0.5}};

static deja_options options(size_t i)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_PAIRED;
    opt.capacity = shapes[i].capacity;
    opt.deletions = shapes[i].deletions;
    opt.fp_rate = shapes[i].p;
    opt.hash = i % 2 ? DEJA_HASH_SIPHASH : DEJA_HASH_XXH3;
    opt.seed = 1 + i;
    return opt;
}

static deja_filter *paired_filter(size_t i)
{
    const deja_options opt = options(i);
    deja_filter *f;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

/* Queries the second filter alone, whose hashes are salted (docs/format.md). */
static bool deletions_claim(const deja_filter *f, uint64_t number)
{
    const struct dj_part *p = f->part[1];
    const deja_slice key = key_of(&number);
    uint64_t hash;
    uint8_t found;
    deja_filter_hash_batch(f, &key, 1, &hash);
    hash = dj_mix64(hash ^ p->salt);
    p->kind->body.contains(p, &hash, &hash, 1, &found);
    return found;
}

/* --- Against a model -------------------------------------------------------- */

static bool was_added[NUMBERS], was_removed[NUMBERS];

static void check_law(const deja_filter *f, uint64_t number)
{
    const bool found = deja_filter_contains(f, key_of(&number));
    const bool claimed = deletions_claim(f, number);
    assert_true(claimed || !was_removed[number]);
    assert_false(found && claimed);
    if (was_added[number] && !claimed)
        assert_true(found);
}

static void a_key_is_missed_only_if_the_deletions_contain_it(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *f = paired_filter(i);
        struct rng r = rng_seeded(30 + i);
        uint64_t removed = 0, refused = 0, hidden = 0, offered = 0;
        memset(was_added, 0, sizeof was_added);
        memset(was_removed, 0, sizeof was_removed);
        for (int step = 0; step < 20000; step++) {
            const uint64_t number = rng_below(&r, NUMBERS);
            const bool before = deja_filter_contains(f, key_of(&number));
            bool answer = false;
            if (rng_below(&r, 3)) {
                hidden += deletions_claim(f, number);
                assert_int_equal(deja_filter_add(f, key_of(&number), &answer, NULL), DEJA_OK);
                assert_int_equal(answer, !before);
                was_added[number] = true;
                offered++;
            } else {
                assert_int_equal(deja_filter_remove(f, key_of(&number), &answer, NULL), DEJA_OK);
                assert_int_equal(answer, before);
                was_removed[number] |= before;
                removed += before;
                refused += !before;
            }
            check_law(f, number);
        }
        for (uint64_t number = 0; number < NUMBERS; number++)
            check_law(f, number);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.offered, offered);
        assert_int_equal(s.removed, removed);
        assert_int_equal(s.deletions, removed);
        assert_int_equal(s.refused, refused);
        assert_int_equal(s.hidden, hidden);
        deja_filter_free(f);
    }
}

/* --- Batches ----------------------------------------------------------------- */

static uint64_t number[2 * NUMBERS];
static deja_slice keys[2 * NUMBERS];

static void draw_numbers(uint64_t seed)
{
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < 2 * NUMBERS; i++) {
        number[i] = rng_below(&r, NUMBERS);
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
    }
}

static void assert_same(const deja_filter *a, const deja_filter *b)
{
    const deja_stats x = stats_of(a), y = stats_of(b);
    for (uint32_t p = 0; p < 2; p++) {
        assert_memory_equal(a->part[p]->body, b->part[p]->body, a->part[p]->body_len);
        assert_int_equal(a->part[p]->keys, b->part[p]->keys);
    }
    assert_int_equal(x.removed, y.removed);
    assert_int_equal(x.refused, y.refused);
    assert_int_equal(x.hidden, y.hidden);
    assert_int_equal(x.offered, y.offered);
}

static void add_both_ways(deja_filter *loop, deja_filter *batch, size_t from, size_t to)
{
    static uint8_t answer[2 * NUMBERS];
    assert_int_equal(deja_filter_add_batch(batch, keys + from, to - from, answer, NULL, NULL),
                     DEJA_OK);
    for (size_t j = from; j < to; j++) {
        bool one;
        assert_int_equal(deja_filter_add(loop, keys[j], &one, NULL), DEJA_OK);
        assert_int_equal(one, answer[j - from]);
    }
}

static void remove_both_ways(deja_filter *loop, deja_filter *batch, size_t from, size_t to)
{
    static uint8_t answer[2 * NUMBERS];
    size_t done = 0;
    assert_int_equal(deja_filter_remove_batch(batch, keys + from, to - from, answer, &done, NULL),
                     DEJA_OK);
    assert_int_equal(done, to - from);
    for (size_t j = from; j < to; j++) {
        bool one;
        assert_int_equal(deja_filter_remove(loop, keys[j], &one, NULL), DEJA_OK);
        assert_int_equal(one, answer[j - from]);
    }
}

static void a_batch_is_a_loop_of_single_calls(void **state)
{
    static uint8_t found[2 * NUMBERS];
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *a = paired_filter(i), *b = paired_filter(i);
        draw_numbers(70 + i);
        if (i % 2)
            share(b);
        add_both_ways(a, b, 0, NUMBERS);
        remove_both_ways(a, b, 99, NUMBERS / 2);
        remove_both_ways(a, b, NUMBERS, NUMBERS + 65);
        add_both_ways(a, b, 50, 2 * NUMBERS);
        assert_same(a, b);
        deja_filter_contains_batch(b, keys, 2 * NUMBERS, found);
        for (size_t j = 0; j < 2 * NUMBERS; j++)
            assert_int_equal(found[j], deja_filter_contains(a, keys[j]));
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* --- Files -------------------------------------------------------------------- */

static void a_file_keeps_answers_and_counts(void **state)
{
    const char *path = scratch_path("removals"), *copy = scratch_path("copy");
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        const deja_options opt = options(i);
        deja_filter *f = NULL, *memory = paired_filter(i), *other = NULL;
        draw_numbers(90 + i);
        assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
        add_both_ways(memory, f, 0, NUMBERS);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        remove_both_ways(memory, f, 100, NUMBERS / 3);
        add_both_ways(memory, f, 0, 200);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_OK);
        assert_same(memory, f);
        assert_int_equal(deja_filter_remove(f, keys[0], NULL, NULL), DEJA_EINVAL); /* read-only */
        assert_int_equal(deja_filter_copy(f, copy, 0, &other, NULL), DEJA_OK);
        assert_same(memory, other);
        deja_filter_free(other);
        deja_filter_free(f);
        deja_filter_free(memory);
        unlink(path);
    }
}

/* The process is killed after removals that were not synced; the next writer recounts both
 * halves. */
static void counts_of_an_unclean_file_are_estimates(void **state)
{
    const char *path = scratch_path("unclean");
    const deja_options opt = options(0);
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    for (uint64_t n = 0; n < 2000; n++)
        assert_int_equal(deja_filter_add(f, key_of(&n), NULL, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    for (uint64_t n = 0; n < 500; n++)
        assert_int_equal(deja_filter_remove(f, key_of(&n), NULL, NULL), DEJA_OK);
    deja_filter_free(f);
    for (unsigned flags = 0; flags <= DEJA_OPEN_WRITE; flags += DEJA_OPEN_WRITE) {
        assert_int_equal(deja_filter_open(path, flags, NULL, &f, NULL), DEJA_OK);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.unclean, 1);
        assert_in_range(s.deletions, 490, 510);
        assert_in_range(s.keys, 1470, 1530);
        deja_filter_free(f);
    }
    unlink(path);
}

/* --- Threads ------------------------------------------------------------------ */

#define THREADS 4

struct member {
    deja_filter *f;
    atomic_int *ready;
    uint64_t seed, wrong;
    pthread_t thread;
};

/* All threads add and query all keys; every thread removes the odd keys that it finds. */
static void *work(void *arg)
{
    struct member *m = arg;
    struct rng r = rng_seeded(m->seed);
    atomic_fetch_add(m->ready, 1);
    while (atomic_load(m->ready) < THREADS)
        sched_yield();
    for (int step = 0; step < 3 * NUMBERS; step++) {
        const uint64_t n = rng_below(&r, NUMBERS);
        bool is_new, removed = false;
        m->wrong += deja_filter_add(m->f, key_of(&n), &is_new, NULL) != DEJA_OK;
        if (n % 2)
            m->wrong += deja_filter_remove(m->f, key_of(&n), &removed, NULL) != DEJA_OK;
        /* A removal is final: the thread that made it never finds the key again. */
        m->wrong += removed && deja_filter_contains(m->f, key_of(&n));
        (void)deja_filter_contains(m->f, key_of(&n));
    }
    return NULL;
}

static void threads_add_and_remove_together(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        deja_filter *f = paired_filter(i);
        struct member m[THREADS];
        atomic_int ready = 0;
        for (int t = 0; t < THREADS; t++) {
            m[t] = (struct member){.f = f, .ready = &ready, .seed = 100 * i + (uint64_t)t};
            assert_int_equal(pthread_create(&m[t].thread, NULL, work, &m[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_join(m[t].thread, NULL), 0);
            assert_int_equal(m[t].wrong, 0);
        }
        const deja_stats s = stats_of(f);
        assert_int_equal(s.offered, 3 * NUMBERS * THREADS);
        assert_int_equal(s.removed, s.deletions);
        for (uint64_t n = 0; n < NUMBERS; n++) {
            bool again;
            assert_int_equal(deja_filter_add(f, key_of(&n), &again, NULL), DEJA_OK);
            assert_int_equal(again, deletions_claim(f, n) || n >= NUMBERS);
            assert_int_equal(deja_filter_contains(f, key_of(&n)), !deletions_claim(f, n));
        }
        deja_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_missed_only_if_the_deletions_contain_it),
        cmocka_unit_test(a_batch_is_a_loop_of_single_calls),
        cmocka_unit_test(a_file_keeps_answers_and_counts),
        cmocka_unit_test(counts_of_an_unclean_file_are_estimates),
        cmocka_unit_test(threads_add_and_remove_together),
    };
    return cmocka_run_group_tests_name("property.removals_threads", tests, scratch_open,
                                       scratch_close);
}
