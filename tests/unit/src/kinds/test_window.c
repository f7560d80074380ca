/* test_window.c - the keys that a window remembers and forgets, and the effect of time.
 *
 * The promises are those at the top of window.c, compared with an exact list of adds.  By keys:
 * every key of the last N adds is found.  By time: every key of the last T seconds.  Keys older
 * than all generations are gone, up to the rate. */
#include "unit.h"

#include "bodies.h"
#include "calls.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"
#include "kinds/window.h"
#include "numbered.h"
#include "options.h"
#include "plans.h"
#include "rng.h"
#include "scratch.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static deja_options options(uint64_t n, uint32_t generations, uint64_t seconds)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_WINDOW;
    opt.capacity = n;
    opt.generations = generations;
    opt.window_seconds = seconds;
    opt.fp_rate = 1e-9; /* low, so that false positives do not disturb */
    opt.seed = 7;
    return opt;
}

static deja_filter *new_window(uint64_t n, uint32_t generations, uint64_t seconds)
{
    return new_filter(options(n, generations, seconds));
}

static uint64_t count_range(const deja_filter *f, uint64_t from, uint64_t to)
{
    return to - from - missing(f, from, to);
}

/* --- By keys -------------------------------------------------------------- */

/* A stream with many repeats.  last[key] is the number of the last add of that key. */
static void the_last_n_adds_are_found(void **state)
{
    enum {
        KEYS = 400,
        ADDS = 6000
    };
    for (uint32_t generations = 1; generations <= 7; generations++)
        for (uint64_t n = 1; n < 200; n = 2 * n + 5) {
            deja_filter *f = new_window(n, generations, 0);
            struct rng r = rng_seeded(n + generations);
            static uint64_t last[KEYS];
            memset(last, 0, sizeof last);
            for (uint64_t at = 1; at <= ADDS; at++) {
                /* Waves: sometimes a few keys repeat, sometimes all occur. */
                const uint64_t key = rng_below(&r, at / 500 % 2 ? 20 : KEYS);
                const bool seen = last[key] && at - last[key] <= n;
                const bool is_new = add(f, key);
                if (seen && is_new)
                    fail_msg("G %u, N %zu: key %zu of %zu adds ago is new", generations, (size_t)n,
                             (size_t)key, (size_t)(at - last[key]));
                last[key] = at;
                for (uint64_t k = 0; at % 97 == 0 && k < KEYS; k++)
                    if (last[k] && at - last[k] < n && !has(f, k))
                        fail_msg("G %u, N %zu: key %zu is forgotten", generations, (size_t)n,
                                 (size_t)k);
            }
            deja_filter_free(f);
        }
}

/* Distinct keys only: a generation takes q of them; G full ones stay while one fills. */
static void keys_older_than_all_generations_are_gone(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        const uint64_t n = 700, quota = (n + generations - 1) / generations;
        deja_filter *f = new_window(n, generations, 0);
        for (uint64_t at = 0; at < 10 * n; at++) {
            assert_true(add(f, at));
            const uint64_t in_newest = at % quota + 1, turns = at / quota;
            const uint64_t kept = (turns < generations ? turns : generations) * quota + in_newest;
            if (at % 131 == 0 || in_newest == quota) {
                assert_int_equal(count_range(f, at + 1 - kept, at + 1), kept);
                assert_int_equal(count_range(f, 0, at + 1 - kept), 0);
                assert_int_equal(stats_of(f).window_keys, kept);
                assert_int_equal(stats_of(f).turns, turns);
            }
        }
        deja_filter_free(f);
    }
}

static void seeing_a_key_again_renews_it(void **state)
{
    deja_filter *f = new_window(100, 2, 0);
    add(f, 1);
    for (uint64_t i = 0; i < 2000; i++) {
        assert_true(add(f, 1000 + i));
        if (i % 90 == 0)
            assert_false(add(f, 1));
    }
    assert_true(has(f, 1));
    deja_filter_free(f);
}

static void a_lookup_does_not_renew_a_key(void **state)
{
    deja_filter *f = new_window(100, 1, 0);
    add(f, 1);
    for (uint64_t i = 0; i < 200; i++) {
        add(f, 1000 + i);
        (void)has(f, 1);
    }
    assert_false(has(f, 1));
    deja_filter_free(f);
}

static void repeats_do_not_fill_a_generation(void **state)
{
    deja_filter *f = new_window(100, 1, 0);
    add_keys(f, 0, 50);
    for (int i = 0; i < 1000; i++)
        add_keys(f, 0, 50);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.turns, 0);
    assert_int_equal(s.window_keys, 50);
    assert_int_equal(s.keys, 50);
    assert_int_equal(s.offered, 50 * 1001);
    deja_filter_free(f);
}

/* Batches of any length leave the bodies, counts and answers of single calls. */
static void a_batch_equals_single_calls(void **state)
{
    enum {
        ADDS = 20000
    };
    static uint64_t hash[ADDS];
    static uint8_t want[ADDS], got[ADDS];
    for (uint32_t generations = 1; generations <= 7; generations += 2) {
        deja_filter *a = new_window(1500, generations, 0), *b = new_window(1500, generations, 0);
        struct rng r = rng_seeded(generations);
        for (size_t i = 0; i < ADDS; i++)
            hash[i] = dj_mix64(1 + rng_below(&r, 1 + i / 2));
        for (size_t i = 0; i < ADDS; i++)
            assert_int_equal(deja_filter_add_hashed(a, hash + i, 1, want + i, NULL, NULL),
                             DEJA_OK);
        for (size_t i = 0; i < ADDS;) {
            const size_t left = ADDS - i, most = (size_t)rng_below(&r, 4000);
            const size_t n = most < left ? most : left;
            size_t done;
            assert_int_equal(deja_filter_add_hashed(b, hash + i, n, got + i, &done, NULL),
                             DEJA_OK);
            assert_int_equal(done, n);
            i += n;
        }
        assert_memory_equal(want, got, ADDS);
        assert_true(bodies_equal(a->part[0], b->part[0]));
        assert_int_equal(a->window.turns, b->window.turns);
        for (uint32_t l = 0; l <= generations; l++)
            assert_int_equal(a->window.keys[l], b->window.keys[l]);
        assert_int_equal(a->part[0]->keys, b->part[0]->keys);
        deja_filter_contains_hashed(b, hash, ADDS, got);
        for (size_t i = 0; i < ADDS; i++) {
            deja_filter_contains_hashed(a, hash + i, 1, want + i);
            assert_int_equal(want[i], got[i]);
        }
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* --- By time -------------------------------------------------------------- */

static void set_clock(deja_filter *f, uint64_t seconds)
{
    assert_int_equal(deja_filter_set_clock(f, seconds, NULL), DEJA_OK);
}

/* Keys at random times, pauses of every length; last[key] is the second of its last add. */
static void the_last_t_seconds_are_found_and_older_keys_are_gone(void **state)
{
    enum {
        KEYS = 300,
        ADDS = 5000
    };
    for (uint32_t generations = 1; generations <= 7; generations++)
        for (uint64_t seconds = 1; seconds < 1000; seconds = 4 * seconds + 3) {
            deja_filter *f = new_window(2000, generations, seconds);
            const uint64_t step = (seconds + generations - 1) / generations;
            struct rng r = rng_seeded(seconds + generations);
            static uint64_t last[KEYS];
            uint64_t now = 1000000000;
            memset(last, 0, sizeof last);
            for (int at = 0; at < ADDS; at++) {
                const uint64_t pause = at % 10 ? 1 : at % 500 ? seconds / 3 + 1 : 3 * seconds;
                now += rng_below(&r, pause + 1);
                set_clock(f, now);
                const uint64_t key = rng_below(&r, KEYS), age = now - last[key];
                const bool is_new = add(f, key);
                if (last[key] && age <= seconds && is_new)
                    fail_msg("G %u, T %zu: key of %zu s ago is new", generations, (size_t)seconds,
                             (size_t)age);
                if ((!last[key] || age >= step + seconds) && !is_new)
                    fail_msg("G %u, T %zu: key of %zu s ago is seen", generations, (size_t)seconds,
                             (size_t)age);
                last[key] = now;
            }
            deja_filter_free(f);
        }
}

static void an_idle_window_forgets_too(void **state)
{
    deja_filter *f = new_window(1000, 2, 100); /* generations of 50 s: gone after 150 */
    set_clock(f, 5000);
    add_keys(f, 0, 10);
    set_clock(f, 5049);
    add_keys(f, 10, 20);
    set_clock(f, 5149);
    assert_int_equal(count_range(f, 0, 20), 20);
    assert_int_equal(stats_of(f).window_keys, 20);
    set_clock(f, 5150);
    assert_int_equal(count_range(f, 0, 20), 0);
    assert_int_equal(stats_of(f).window_keys, 0);
    assert_true(stats_of(f).fp_now <= 0);
    add(f, 99);
    assert_int_equal(stats_of(f).window_keys, 1);
    deja_filter_free(f);
}

static void a_clock_that_goes_back_forgets_nothing(void **state)
{
    deja_filter *f = new_window(1000, 1, 100);
    set_clock(f, 10000);
    add_keys(f, 0, 10);
    set_clock(f, 10100); /* the next generation */
    add_keys(f, 10, 20);
    set_clock(f, 9000);
    assert_int_equal(count_range(f, 0, 20), 20);
    add_keys(f, 20, 30);
    assert_int_equal(stats_of(f).turns, 1);
    set_clock(f, 10199);
    assert_int_equal(count_range(f, 0, 30), 30);
    deja_filter_free(f);
}

/* The system's clock is earlier than the start of the newest generation, for example after it was
 * set wrongly: time continues from that start, at the pace of the clock. */
static void time_continues_after_the_system_clock_is_set_back(void **state)
{
    deja_filter *f = new_window(1000, 1, 100);
    const uint64_t future = (uint64_t)time(NULL) + 1000000;
    set_clock(f, future);
    add_keys(f, 0, 10);
    set_clock(f, 0);
    assert_int_equal(count_range(f, 0, 10), 10);
    add(f, 10);
    assert_in_range(f->clock.ahead, 1000000 - 100, 1000000);
    assert_in_range(dj_window_now(f), future, future + 60);
    assert_int_equal(count_range(f, 0, 11), 11);
    deja_filter_free(f);
}

static void more_keys_than_planned_are_reported(void **state)
{
    deja_options opt = options(1000, 1, 60);
    opt.fp_rate = 0.01;
    deja_filter *f = new_filter(opt);
    set_clock(f, 1000);
    add_keys(f, 0, 1000);
    assert_int_equal(stats_of(f).crowded, 0);
    assert_true(stats_of(f).fp_now < 0.01);
    add_keys(f, 1000, 4000);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.crowded, 1);
    assert_int_equal(s.turns, 0);
    assert_true(s.fp_now > 0.05);
    assert_int_equal(count_range(f, 0, 4000), 4000);
    deja_filter_free(f);
}

static void only_a_window_has_a_clock(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.capacity = 10;
    deja_filter *f = new_filter(opt);
    assert_int_equal(deja_filter_set_clock(f, 5, NULL), DEJA_ENOTSUP);
    deja_filter_free(f);
    f = new_window(10, 1, 10);
    assert_int_equal(deja_filter_set_clock(f, UINT64_MAX, NULL), DEJA_EINVAL);
    deja_filter_free(f);
}

/* --- Stats ------------------------------------------------------------------ */

static void stats_describe_every_generation(void **state)
{
    deja_filter *f = new_window(300, 3, 0);
    set_clock(f, 1000);
    add_keys(f, 0, 250);
    set_clock(f, 1100);
    add_keys(f, 240, 260); /* ten of them are renewed, so they are new to their generation */
    const deja_stats s = stats_of(f);
    assert_int_equal(s.generations, 3);
    assert_int_equal(s.turns, 2);
    assert_int_equal(s.window_keys, 260);
    assert_int_equal(s.keys, 260);
    assert_int_equal(s.offered, 270);
    const uint64_t keys[] = {60, 100, 100, 0}, age[] = {100, 100, 100, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s.generation_keys[i], keys[i]);
        assert_int_equal(s.generation_age[i], age[i]);
    }
    assert_true(fabs(s.distinct - 260) < 15);
    assert_int_equal(s.bits, 4 * dj_window_generation(&f->part[0]->shape, 4).bits);
    deja_filter_free(f);
}

/* A key in two generations is one key. */
static void distinct_counts_a_renewed_key_once(void **state)
{
    deja_options opt = options(20000, 1, 1000);
    opt.fp_rate = 0.001;
    deja_filter *f = new_filter(opt);
    set_clock(f, 5000);
    add_keys(f, 0, 10000);
    set_clock(f, 6000);
    add_keys(f, 0, 10000);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.window_keys, 20000);
    assert_true(fabs(s.distinct - 10000) < 300);
    deja_filter_free(f);
}

/* --- Files ------------------------------------------------------------------ */

static deja_filter *create_window(const char *path, uint64_t n, uint32_t generations,
                                  uint64_t seconds)
{
    const deja_options opt = options(n, generations, seconds);
    return create_file(path, DEJA_CREATE_REPLACE, &opt);
}

static void a_reopened_file_continues_where_it_was(void **state)
{
    for (uint64_t seconds = 0; seconds <= 90; seconds += 90) {
        const char *path = scratch_path("goes_on.deja");
        deja_filter *f = create_window(path, 300, 3, seconds);
        deja_filter *m = new_window(300, 3, seconds);
        uint64_t now = 100000;
        for (uint64_t round = 0; round < 30; round++, now += 7) {
            set_clock(f, now);
            set_clock(m, now);
            add_keys(f, 37 * round, 37 * round + 50);
            add_keys(m, 37 * round, 37 * round + 50);
            sync_file(f);
            deja_filter_free(f);
            assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
            f = open_file(path, DEJA_OPEN_WRITE);
            set_clock(f, now);
            assert_true(bodies_equal(f->part[0], m->part[0]));
            assert_int_equal(f->window.turns, m->window.turns);
            const deja_stats a = stats_of(f), b = stats_of(m);
            assert_memory_equal(a.generation_keys, b.generation_keys, sizeof a.generation_keys);
            assert_memory_equal(a.generation_age, b.generation_age, sizeof a.generation_age);
            assert_int_equal(a.keys, b.keys);
            assert_true(a.lost == b.lost && a.fp_now == b.fp_now && a.distinct == b.distinct);
        }
        deja_filter_free(f);
        deja_filter_free(m);
    }
}

/* A file written while the clock was ahead, or crafted: its keys expire as if added now, not only
 * once the clock has caught up. */
static void a_file_from_the_future_restarts_from_now(void **state)
{
    static const uint64_t ahead[] = {1, 3600, UINT64_C(1) << 39};
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        const char *path = scratch_path("future.deja");
        deja_stats o = DEJA_STATS_INIT;
        deja_stats s = DEJA_STATS_INIT;
        deja_filter *f = create_window(path, 1000, 2, 100);
        set_clock(f, 5000 + ahead[i]);
        add_keys(f, 0, 10);
        sync_file(f);
        deja_filter_free(f);
        f = open_file(path, DEJA_OPEN_WRITE);
        set_clock(f, 5000);
        assert_int_equal(deja_filter_stats(f, 0, &o, NULL), DEJA_OK);
        assert_int_equal(o.clock_behind, ahead[i]);
        assert_int_equal(count_range(f, 0, 10), 10);
        add_keys(f, 10, 20);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL),
                         DEJA_OK); /* reported until the file is closed */
        assert_int_equal(s.clock_behind, ahead[i]);
        assert_int_equal(s.generation_age[0], 0);
        sync_file(f);
        deja_filter_free(f);
        f = open_file(path, DEJA_OPEN_WRITE);
        set_clock(f, 5099); /* within T = 100 s of the adds: no key has expired */
        assert_int_equal(deja_filter_stats(f, 0, &o, NULL), DEJA_OK);
        assert_int_equal(o.clock_behind, 0);
        assert_int_equal(count_range(f, 0, 20), 20);
        set_clock(f, 5150);
        assert_int_equal(count_range(f, 0, 20), 0);
        add_keys(f, 20, 30);
        set_clock(f, 5249);
        assert_int_equal(count_range(f, 20, 30), 10);
        deja_filter_free(f);
        unlink(path);
    }
}

/* The writer turns several times while a reader has the file open.  By time, the reader must learn
 * when the generations began. */
static void a_reader_follows_the_writer(void **state)
{
    for (uint64_t seconds = 0; seconds <= 100; seconds += 100) {
        const char *path = scratch_path("follows.deja");
        deja_filter *f = create_window(path, 100, 1, seconds);
        sync_file(f);
        deja_filter *r = open_file(path, 0);
        for (uint64_t round = 0; round < 10; round++) {
            set_clock(f, 1000 + 100 * round);
            set_clock(r, 1000 + 100 * round);
            add_keys(f, 100 * round, 100 * round + 100);
            assert_int_equal(count_range(r, 100 * round, 100 * round + 100), 100);
            const uint64_t before = round ? 100 * (round - 1) : 0;
            assert_int_equal(count_range(r, before, 100 * round), 100 * round - before);
            assert_int_equal(count_range(r, 0, before), 0);
        }
        deja_filter_free(r);
        deja_filter_free(f);
    }
}

static void a_copy_of_a_window_is_the_same_window(void **state)
{
    deja_filter *f = new_window(200, 2, 0), *copy;
    add_keys(f, 0, 1234);
    assert_int_equal(
        deja_filter_copy(f, scratch_path("copy.deja"), DEJA_CREATE_REPLACE, &copy, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(copy, NULL), DEJA_OK);
    deja_filter_free(copy);
    copy = open_file(scratch_path("copy.deja"), DEJA_OPEN_WRITE);
    for (uint64_t key = 1234; key < 1700; key++)
        assert_int_equal(add(f, key), add(copy, key));
    assert_true(bodies_equal(f->part[0], copy->part[0]));
    deja_filter_free(f);
    deja_filter_free(copy);
}

/* A turn whose checkpoint fails has not happened.  If a later step fails, the next add finishes
 * it. */
static int checkpoints_left;
static int failing_checkpoint(deja_filter *f)
{
    (void)f;
    return checkpoints_left-- > 0 ? DEJA_OK : DEJA_EIO;
}

static void a_failed_turn_is_repeated(void **state)
{
    for (int good = 0; good < 2; good++) {
        deja_filter *f = new_window(100, 1, 0);
        struct dj_owner_ops ops = *f->owner;
        const struct dj_owner_ops *owner = f->owner;
        bool is_new;
        add_keys(f, 0, 200); /* both generations are full */
        ops.checkpoint = failing_checkpoint;
        f->owner = &ops;
        checkpoints_left = good;
        const uint64_t key = 1000;
        assert_int_equal(deja_filter_add(f, (deja_slice){&key, sizeof key}, &is_new, NULL),
                         DEJA_EIO);
        assert_int_equal(count_range(f, 100, 200), 100);
        assert_int_equal(count_range(f, 0, 100), good ? 0 : 100);
        assert_int_equal(f->window.turns, good ? 2 : 1);
        assert_int_equal(f->window.clearing, good != 0);
        f->owner = owner;
        assert_true(add(f, key));
        assert_int_equal(f->window.turns, 2);
        assert_false(f->window.clearing);
        assert_int_equal(count_range(f, 0, 100), 0);
        assert_int_equal(count_range(f, 100, 200), 100);
        deja_filter_free(f);
    }
}

static void unsupported_operations_are_refused(void **state)
{
    deja_filter *a = new_window(100, 1, 0), *b = new_window(100, 1, 0);
    deja_error err = {0, ""};
    bool removed;
    uint64_t count;
    double common;
    assert_int_equal(deja_filter_overlap(a, b, &common, NULL, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "window filters cannot be compared"));
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_remove(a, (deja_slice){"x", 1}, &removed, NULL), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_count(a, (deja_slice){"x", 1}, &count, NULL), DEJA_ENOTSUP);
    deja_filter_free(a);
    deja_filter_free(b);
}

/* A generous size gives a rate hardly above that of twins.  Each generation's share of it must
 * still be possible. */
static void a_window_with_ample_memory_rotates(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        deja_options opt = options(1, generations, 0);
        opt.fp_rate = 0;
        opt.memory = 65536;
        deja_filter *f = new_filter(opt);
        deja_error err = {0, ""};
        if (deja_filter_rotate(f, NULL, &err) < 0)
            fail_msg("%u generations: %s", generations, err.text);
        deja_filter_free(f);
    }
}

static void the_next_visit_has_the_same_window(void **state)
{
    deja_filter *f = new_window(300, 2, 500);
    set_clock(f, 5000);
    add_keys(f, 0, 100);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.visit, 2);
    assert_int_equal(s.capacity, 300);
    assert_int_equal(s.generations, 2);
    assert_int_equal(s.window_seconds, 500);
    assert_int_equal(s.window_keys, 0);
    assert_int_equal(s.last_distinct, 100);
    assert_int_equal(count_range(f, 0, 100), 0);
    add_keys(f, 0, 100);
    assert_int_equal(count_range(f, 0, 100), 100);
    assert_int_equal(dj_window_now(f), 5000); /* the caller's clock stays */
    deja_filter_free(f);
}

/* --- Sizes ---------------------------------------------------------------- */

static void all_generations_together_stay_below_p(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        const struct dj_plan plan = resolved(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                                     .fp_rate = 1e-3, .generations = generations));
        const struct dj_shape s = dj_window_generation(&plan.shape, generations + 1);
        const double rate = dj_shape_rate(&s, (double)dj_generations_quota(&plan));
        assert_true(dj_generations_quota(&plan) * generations >= 100001);
        assert_true(rate * (generations + 1) <= 1e-3);
        assert_true(plan.shape.bits % (DJ_BLOCK_BITS * (generations + 1)) == 0);
        const deja_plan told = plan_of(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                               .fp_rate = 1e-3, .generations = generations));
        assert_int_equal(told.generations, generations);
        assert_int_equal(told.bits, plan.shape.bits);
        assert_true(told.fp_rate <= 1e-3 && told.fp_rate > 0.9e-3);
        assert_true(told.lost > 0 && told.lost < 100);
    }
}

static void memory_determines_the_keys_or_the_rate(void **state)
{
    const deja_plan keys =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .fp_rate = 0.01));
    assert_int_equal(keys.generations, 1);
    assert_in_range(keys.bytes, (1 << 20) - 128, 1 << 20);
    assert_true(keys.fp_rate <= 0.01);
    assert_in_range(keys.capacity, 350000, 380000);
    const deja_plan rate =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .capacity = keys.capacity));
    assert_true(rate.fp_rate <= keys.fp_rate * 1.0001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_n_adds_are_found),
        cmocka_unit_test(keys_older_than_all_generations_are_gone),
        cmocka_unit_test(seeing_a_key_again_renews_it),
        cmocka_unit_test(a_lookup_does_not_renew_a_key),
        cmocka_unit_test(repeats_do_not_fill_a_generation),
        cmocka_unit_test(a_batch_equals_single_calls),
        cmocka_unit_test(the_last_t_seconds_are_found_and_older_keys_are_gone),
        cmocka_unit_test(an_idle_window_forgets_too),
        cmocka_unit_test(a_clock_that_goes_back_forgets_nothing),
        cmocka_unit_test(time_continues_after_the_system_clock_is_set_back),
        cmocka_unit_test(a_file_from_the_future_restarts_from_now),
        cmocka_unit_test(more_keys_than_planned_are_reported),
        cmocka_unit_test(only_a_window_has_a_clock),
        cmocka_unit_test(stats_describe_every_generation),
        cmocka_unit_test(distinct_counts_a_renewed_key_once),
        cmocka_unit_test(a_reopened_file_continues_where_it_was),
        cmocka_unit_test(a_reader_follows_the_writer),
        cmocka_unit_test(a_copy_of_a_window_is_the_same_window),
        cmocka_unit_test(a_failed_turn_is_repeated),
        cmocka_unit_test(unsupported_operations_are_refused),
        cmocka_unit_test(a_window_with_ample_memory_rotates),
        cmocka_unit_test(the_next_visit_has_the_same_window),
        cmocka_unit_test(all_generations_together_stay_below_p),
        cmocka_unit_test(memory_determines_the_keys_or_the_rate),
    };
    return cmocka_run_group_tests_name("unit.window", tests, scratch_open, scratch_close);
}
