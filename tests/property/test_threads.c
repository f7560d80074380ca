/* test_threads.c - several threads add to and query one filter at the same time.
 *
 * No key may be lost, whichever thread added it.  If several threads add the same key at the same
 * time, at least one of them gets "new"; kinds that add it under a lock or to one slot answer so
 * exactly once.  A key whose add has returned is found by every thread
 * that knows of that return: each key has a flag, set after its add and read before a lookup.  Run
 * this under ThreadSanitizer as well. */
#include "unit.h"

#define EVERY .seed = 1,
#include "calls.h"
#include "kinds/kind.h"
#include "options.h"
#include "rng.h"
#include "sharing.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NUMBERS      12000
#define MOST_THREADS 4

/* Rates so low that there are no false positives: some thread must get "new" for every distinct
 * key. */
static const struct {
    const char *name;
    deja_options opt;
} kinds[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .capacity = NUMBERS, .fp_rate = 1e-9)},
    {"classic, murmur3, F 3", FIELDS(.kind = DEJA_CLASSIC, .capacity = NUMBERS, .fp_rate = 1e-9,
                                     .filters = 3, .hash = DEJA_HASH_MURMUR3)},
    {"blocked", FIELDS(.kind = DEJA_BLOCKED, .capacity = NUMBERS, .fp_rate = 1e-9)},
    {"blocked, F 2",
     FIELDS(.kind = DEJA_BLOCKED, .capacity = NUMBERS, .fp_rate = 1e-9, .filters = 2)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = NUMBERS)},
    {"exact with dates", FIELDS(.kind = DEJA_EXACT, .capacity = NUMBERS, .flags = DEJA_DATES)},
    {"spectral", FIELDS(.kind = DEJA_SPECTRAL, .capacity = NUMBERS, .fp_rate = 1e-8)},
    {"spectral, minimal increase, F 2",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = NUMBERS, .fp_rate = 1e-9, .filters = 2,
            .counter_bits = 8, .flags = DEJA_MINIMAL_INCREASE)},
    {"spectral, spread",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = NUMBERS, .fp_rate = 1e-8, .flags = DEJA_SPREAD)},
    {"spectral, spread, minimal increase, F 2",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = NUMBERS, .fp_rate = 1e-9, .filters = 2,
            .counter_bits = 16, .flags = DEJA_SPREAD | DEJA_MINIMAL_INCREASE)},
    {"paired", FIELDS(.kind = DEJA_PAIRED, .capacity = NUMBERS, .fp_rate = 1e-9)},
    {"window", FIELDS(.kind = DEJA_WINDOW, .capacity = 4 * NUMBERS, .fp_rate = 1e-9,
                      .generations = 7)}, /* turns, but forgets none of them */
    {"window by time", FIELDS(.kind = DEJA_WINDOW, .capacity = 4 * NUMBERS, .fp_rate = 1e-9,
                              .window_seconds = 1 << 20)},
    {"layered", FIELDS(.kind = DEJA_LAYERED, .capacity = NUMBERS, .fp_rate = 1e-9)},
    {"layered, mode paper", FIELDS(.kind = DEJA_LAYERED, .capacity = NUMBERS, .fp_rate = 1e-9,
                                   .flags = DEJA_LAYERED_PAPER)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 500, .fp_rate = 1e-9)},
    {"scalable of classic",
     FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC, .capacity = 500, .fp_rate = 1e-9)},
    {"scalable of exact",
     FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 500, .fp_rate = 1e-9)},
    {"scalable of exact with dates",
     FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 500, .fp_rate = 1e-9,
            .flags = DEJA_DATES)},
};

/* Whether a key is new to exactly one of several threads. */
static bool is_new_once(const deja_options *opt)
{
    return opt->kind == DEJA_EXACT || (opt->kind == DEJA_BLOCKED && opt->filters < 2);
}

/* --- Threads ------------------------------------------------------------ */

/* State that the threads share.  They count errors; only the main thread asserts. */
struct crew {
    deja_filter *f;
    int n_threads;
    atomic_int ready;
    void (*work)(struct crew *c, int me);
    _Atomic uint64_t failed;   /* calls that failed */
    _Atomic uint64_t lost;     /* keys not found by a thread that knew of them */
    _Atomic uint64_t told_new; /* answers "new" */
    _Atomic uint64_t offered;
};

struct member {
    struct crew *crew;
    int me;
    pthread_t thread;
};

/* Makes all threads start together, or the first would be done before the last has started. */
static void meet(struct crew *c)
{
    atomic_fetch_add(&c->ready, 1);
    while (atomic_load(&c->ready) < c->n_threads)
        sched_yield();
}

static void *run_member(void *arg)
{
    struct member *m = arg;
    meet(m->crew);
    m->crew->work(m->crew, m->me);
    return NULL;
}

static void run(struct crew *c, deja_filter *f, int n_threads, void (*work)(struct crew *, int))
{
    struct member member[MOST_THREADS];
    memset(c, 0, sizeof *c);
    c->f = f;
    c->n_threads = n_threads;
    c->work = work;
    for (int i = 0; i < n_threads; i++) {
        member[i] = (struct member){.crew = c, .me = i};
        assert_int_equal(pthread_create(&member[i].thread, NULL, run_member, &member[i]), 0);
    }
    for (int i = 0; i < n_threads; i++)
        assert_int_equal(pthread_join(member[i].thread, NULL), 0);
}

/* --- Adding and querying at the same time ------------------------------- */

static _Atomic uint8_t was_added[NUMBERS]; /* set when an add of the key has returned */
static _Atomic uint8_t new_to[NUMBERS];    /* how many threads got "new" for it */

#define PIECE 100

static void add_piece(struct crew *c, const uint64_t *number, size_t n)
{
    deja_slice keys[PIECE] = {{NULL, 0}};
    uint8_t is_new[PIECE] = {0};
    for (size_t i = 0; i < n; i++)
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
    if (deja_filter_add_batch(c->f, keys, n, is_new, NULL, NULL) != DEJA_OK) {
        atomic_fetch_add(&c->failed, 1);
        return;
    }
    atomic_fetch_add(&c->offered, n);
    for (size_t i = 0; i < n; i++) {
        atomic_fetch_add(&new_to[number[i]], is_new[i]);
        atomic_fetch_add(&c->told_new, is_new[i]);
        atomic_store_explicit(&was_added[number[i]], 1, memory_order_release);
    }
}

static void ask_piece(struct crew *c, const uint64_t *number, size_t n)
{
    deja_slice keys[PIECE] = {{NULL, 0}};
    uint8_t known[PIECE] = {0}, found[PIECE] = {0};
    for (size_t i = 0; i < n; i++) {
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
        known[i] = atomic_load_explicit(&was_added[number[i]], memory_order_acquire);
    }
    deja_filter_contains_batch(c->f, keys, n, found);
    for (size_t i = 0; i < n; i++)
        if (known[i] && !found[i])
            atomic_fetch_add(&c->lost, 1);
}

/* Every thread adds all keys, in its own order, and queries others in between. */
static void add_all(struct crew *c, int me)
{
    static const size_t sizes[] = {1, 2, 63, 64, 65, PIECE};
    struct rng r = rng_seeded((uint64_t)me + 1);
    static const uint64_t stride[MOST_THREADS] = {1, 7, 11, NUMBERS - 1}; /* all coprime to it */
    uint64_t at = rng_below(&r, NUMBERS);
    for (size_t left = NUMBERS, n; left; left -= n) {
        uint64_t number[PIECE];
        n = sizes[rng_below(&r, DJ_ARRAY_LEN(sizes))];
        n = n < left ? n : left;
        for (size_t i = 0; i < n; i++) {
            number[i] = at;
            at = (at + stride[me]) % NUMBERS;
        }
        add_piece(c, number, n);
        for (size_t i = 0; i < n; i++)
            number[i] = rng_below(&r, NUMBERS);
        ask_piece(c, number, n);
    }
}

static void forget_flags(void)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        atomic_store(&was_added[i], 0);
        atomic_store(&new_to[i], 0);
    }
}

static void assert_crew_is_content(const struct crew *c, const char *name)
{
    if (c->failed)
        fail_msg("%s, %d threads: %zu calls failed", name, c->n_threads, (size_t)c->failed);
    if (c->lost)
        fail_msg("%s, %d threads: %zu keys were not found", name, c->n_threads, (size_t)c->lost);
}

static void assert_all_there(const deja_filter *f, const char *name)
{
    for (uint64_t i = 0; i < NUMBERS; i++)
        if (atomic_load(&was_added[i]) && !deja_filter_contains(f, (deja_slice){&i, sizeof i}))
            fail_msg("%s: key %zu is gone", name, (size_t)i);
}

static void no_key_is_lost_and_every_key_is_new_to_some_thread(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (int threads = 1; threads <= MOST_THREADS; threads++) {
            struct crew c;
            deja_filter *f = new_filter(kinds[k].opt);
            forget_flags();
            run(&c, f, threads, add_all);
            assert_crew_is_content(&c, kinds[k].name);
            assert_all_there(f, kinds[k].name);
            const bool once = threads == 1 || is_new_once(&kinds[k].opt);
            for (size_t i = 0; i < NUMBERS; i++) {
                const unsigned times = atomic_load(&new_to[i]);
                if (times < 1 || (once && times > 1))
                    fail_msg("%s, %d threads: key %zu was new to %u", kinds[k].name, threads, i,
                             times);
            }
            deja_stats s = DEJA_STATS_INIT;
            assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
            assert_int_equal(s.offered, c.offered);
            assert_int_equal(s.offered, (uint64_t)threads * NUMBERS);
            assert_int_equal(s.keys, c.told_new);
            assert_true(s.keys >= NUMBERS && s.keys <= (uint64_t)threads * NUMBERS);
            deja_filter_free(f);
        }
}

/* A sanitizer detects a race or a use after free even if the timing is harmless. */
#if defined(DJ_TSAN) || defined(__SANITIZE_ADDRESS__)
enum {
    TRIES = 15,
    TABLES = 100
};
#else
enum {
    TRIES = 60,
    TABLES = 1000
};
#endif

/* --- From one writer to several ----------------------------------------- */

/* The first thread is well under way with plain stores when the others start to add.  Every
 * try uses a new filter; the moment differs. */
static atomic_uint delay;

static void join_in(struct crew *c, int me)
{
    enum {
        KEYS = 600
    };
    uint64_t number[PIECE];
    if (me > 0) {
        const unsigned turns = atomic_load(&delay) + (unsigned)me;
        for (volatile unsigned i = 0; i < turns * 20; i++)
            ;
    }
    for (uint64_t at = 0; at < KEYS; at += PIECE / 4) {
        for (uint64_t i = 0; i < PIECE / 4; i++)
            number[i] = (uint64_t)me * KEYS + at + i;
        add_piece(c, number, PIECE / 4);
    }
}

static void taking_over_from_a_sole_writer_loses_nothing(void **state)
{
    size_t shared = 0;
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (unsigned try = 0; try < TRIES; try++) {
            struct crew c;
            deja_options opt = kinds[k].opt;
            if (opt.kind != DEJA_SCALABLE) /* crowded: threads meet in blocks and lines */
                opt.capacity = MOST_THREADS * 600;
            deja_filter *f = new_filter(opt);
            forget_flags();
            atomic_store(&delay, try);
            run(&c, f, 2 + (int)(try % 3), join_in);
            assert_crew_is_content(&c, kinds[k].name);
            assert_all_there(f, kinds[k].name);
            assert_int_equal(c.told_new, (uint64_t)c.n_threads * 600);
            shared += dj_writer_is_shared(&f->writer);
            deja_filter_free(f);
        }
    assert_true(shared > 0);
}

/* --- Tables with more keys than slots ----------------------------------- */

/* Small tables, one after another.  For each, the threads line up and add, all at the same time,
 * nearly as many keys each as there are slots.  A plain table must refuse some; a growing one
 * must accept them all.  Accepted keys must be found: no key is lost silently. */
enum {
    RUSH_KEYS = 60,
    ROW = 10
}; /* ROW: numbers per key, at most */

static struct table {
    deja_filter *f;
    uint64_t hash[MOST_THREADS][RUSH_KEYS * ROW];
    uint8_t is_new[MOST_THREADS][RUSH_KEYS];
    size_t accepted[MOST_THREADS];
    int rc[MOST_THREADS];
    atomic_int ready;
} tables[TABLES];
static size_t n_tables; /* of these, in use */

static void rush_in(struct crew *c, int me)
{
    for (size_t i = 0; i < n_tables; i++) {
        struct table *t = &tables[i];
        atomic_fetch_add(&t->ready, 1);
        for (unsigned spin = 1; atomic_load(&t->ready) < c->n_threads; spin++)
            if (spin % 256 == 0) /* without it they collide more often */
                sched_yield();
        t->rc[me] = deja_filter_add_hashed(t->f, t->hash[me], RUSH_KEYS, t->is_new[me],
                                           &t->accepted[me], NULL);
    }
}

static void check_table(const struct table *t, int threads, bool must_take_all)
{
    for (int me = 0; me < threads; me++) {
        uint8_t found[RUSH_KEYS];
        if (must_take_all && t->rc[me] != DEJA_OK)
            fail_msg("table %zu: %s, after %zu keys", (size_t)(t - tables),
                     deja_strerror(t->rc[me]), t->accepted[me]);
        assert_true(t->rc[me] == DEJA_OK ? t->accepted[me] == RUSH_KEYS : t->rc[me] == DEJA_EFULL);
        deja_filter_contains_hashed(t->f, t->hash[me], t->accepted[me], found);
        for (size_t i = 0; i < t->accepted[me]; i++)
            if (!found[i])
                fail_msg("table %zu: thread %d added key %zu, which is absent",
                         (size_t)(t - tables), me, i);
    }
}

static void rush(deja_options opt, int threads)
{
    struct crew c;
    struct rng r = rng_seeded(5);
    n_tables = TABLES;
    for (size_t i = 0; i < n_tables; i++) {
        opt.capacity = 10 + i % 60;
        tables[i].f = new_filter(opt);
        if (i % 2)
            share(tables[i].f); /* without a first owner */
        atomic_store(&tables[i].ready, 0);
        rng_fill(&r, tables[i].hash[0], MOST_THREADS * RUSH_KEYS);
    }
    run(&c, NULL, threads, rush_in);
    for (size_t i = 0; i < n_tables; i++) {
        check_table(&tables[i], threads, opt.kind == DEJA_SCALABLE);
        deja_filter_free(tables[i].f);
    }
}

static void a_full_table_refuses_keys_and_never_drops_one(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_EXACT);
    const deja_options dated = FIELDS(.kind = DEJA_EXACT, .flags = DEJA_DATES);
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        rush(opt, threads);
        rush(dated, threads);
    }
}

static void a_growing_table_accepts_every_key_of_every_thread(void **state)
{
    const deja_options opt =
        FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .fp_rate = 1e-9);
    for (int threads = 2; threads <= MOST_THREADS; threads++)
        rush(opt, threads);
}

/* Random numbers; for layers, the rows of random URLs, several of which share a host. */
static void draw_hashes(const deja_filter *f, struct rng *r, uint64_t *hash)
{
    if (f->plan.kind->number != DEJA_LAYERED) {
        rng_fill(r, hash, RUSH_KEYS);
        return;
    }
    for (size_t i = 0; i < RUSH_KEYS; i++) {
        char url[64];
        const int len = snprintf(url, sizeof url, "h%u/%u/%llu", (unsigned)rng_below(r, 5),
                                 (unsigned)rng_below(r, 20), (unsigned long long)rng_next(r));
        const deja_slice key = {url, (size_t)len};
        deja_filter_hash_batch(f, &key, 1, hash + i * deja_filter_hash_words(f));
    }
}

/* All threads repeatedly add the same keys in the same order at the same time: for each key they
 * race for the same slot or the same bits.  At least one of them gets "new".  A table, which has
 * room for all keys, stores the key once. */
static void race(const char *name, deja_options opt, int threads)
{
    struct crew c;
    struct rng r = rng_seeded(6);
    n_tables = opt.kind == DEJA_EXACT ? TABLES : TABLES / 5;
    for (size_t i = 0; i < n_tables; i++) {
        tables[i].f = new_filter(opt);
        share(tables[i].f); /* or the first thread would run alone */
        atomic_store(&tables[i].ready, 0);
        draw_hashes(tables[i].f, &r, tables[i].hash[0]);
        for (int me = 1; me < threads; me++)
            memcpy(tables[i].hash[me], tables[i].hash[0], sizeof tables[i].hash[0]);
    }
    run(&c, NULL, threads, rush_in);
    for (size_t i = 0; i < n_tables; i++) {
        const struct table *t = &tables[i];
        for (size_t k = 0; k < RUSH_KEYS; k++) {
            unsigned times = 0;
            for (int me = 0; me < threads; me++)
                times += t->is_new[me][k];
            if (times < 1 || (times > 1 && is_new_once(&opt)))
                fail_msg("%s, %d threads: a key was new to %u", name, threads, times);
        }
        if (opt.kind == DEJA_EXACT)
            assert_int_equal(t->f->part[0]->kind->body.bits_set(t->f->part[0]), RUSH_KEYS);
        deja_filter_free(t->f);
    }
}

static void a_race_for_the_same_keys_has_a_winner(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++) {
        deja_options opt = kinds[k].opt;
        if (deja_hash_name(opt.hash)) /* these have more numbers per key than there is room for */
            continue;
        opt.capacity = 4 * RUSH_KEYS;
        for (int threads = 2; threads <= MOST_THREADS; threads++)
            race(kinds[k].name, opt, threads);
    }
}

/* --- Growing during queries --------------------------------------------- */

/* One thread makes the filter grow; the others keep querying until it is done.  A lock that lets
 * readers pass a waiting writer would block the growth forever: the readers then give up after
 * PATIENCE seconds, and the test fails. */
enum {
    PATIENCE = 300
};
static atomic_bool grown, gave_up;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ask_until_grown(struct crew *c, struct rng *r)
{
    enum {
        LOOKUPS = 2000
    };
    uint64_t hash[LOOKUPS];
    uint8_t found[LOOKUPS];
    rng_fill(r, hash, LOOKUPS);
    const double end = now() + PATIENCE;
    while (!atomic_load(&grown)) {
        deja_filter_contains_hashed(c->f, hash, LOOKUPS, found);
        if (now() > end) {
            atomic_store(&gave_up, true);
            return;
        }
    }
}

static void grow_or_ask(struct crew *c, int me)
{
    struct rng r = rng_seeded((uint64_t)me + 77);
    if (me > 0) {
        ask_until_grown(c, &r);
        return;
    }
    for (int i = 0; i < 20000; i++) {
        const uint64_t one = rng_next(&r);
        if (deja_filter_add_hashed(c->f, &one, 1, NULL, NULL, NULL) != DEJA_OK)
            atomic_fetch_add(&c->failed, 1);
    }
    atomic_store(&grown, true);
}

static void endless_lookups_do_not_stop_growth(void **state)
{
    struct crew c;
    const deja_options opt = FIELDS(.kind = DEJA_SCALABLE, .capacity = 100, .growth = 2);
    deja_filter *f = new_filter(opt);
    atomic_store(&grown, false);
    atomic_store(&gave_up, false);
    run(&c, f, MOST_THREADS, grow_or_ask);
    assert_int_equal(c.failed, 0);
    assert_false(gave_up);
    assert_true(f->n_parts > 5);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_lost_and_every_key_is_new_to_some_thread),
        cmocka_unit_test(taking_over_from_a_sole_writer_loses_nothing),
        cmocka_unit_test(a_full_table_refuses_keys_and_never_drops_one),
        cmocka_unit_test(a_growing_table_accepts_every_key_of_every_thread),
        cmocka_unit_test(a_race_for_the_same_keys_has_a_winner),
        cmocka_unit_test(endless_lookups_do_not_stop_growth),
    };
    return cmocka_run_group_tests_name("property.threads", tests, NULL, NULL);
}
