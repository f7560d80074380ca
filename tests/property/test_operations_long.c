/* test_operations_long.c - a hundred million random operations on every class of filter.
 *
 * There are a hundred thousand URLs, each with a flag that is set when an add of it has returned.
 * Threads add and query at random, singly or in batches; the filter must answer "seen" for every
 * key whose flag was set before the call.  The hundred million operations of a class are spread
 * over all its variants: single and batch calls, every instruction set, one to four threads.
 *
 * With one thread the flags reveal false positives too: a key is "seen" although its flag is not
 * set.  As the filter never exceeds its capacity, their number is at most binomial with the
 * requested rate; with five deviations a correct filter fails for one seed in 3.5 million, and
 * the seeds are fixed. */
#include "unit.h"

#define EVERY .seed = 1,
#include "binom.h"
#include "kinds/kind.h"
#include "options.h"
#include "rng.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPERATIONS   UINT64_C(100000000) /* for each class */
#define KEYS         100000
#define MOST_THREADS 4
#define BATCH        300

static char *text;
static deja_slice key[KEYS];
static _Atomic uint8_t was_added[KEYS];

static int make_keys(void **state)
{
    enum {
        LONGEST = 64
    };
    size_t at = 0;
    text = malloc((size_t)KEYS * LONGEST);
    if (!text)
        return -1;
    struct rng r = rng_seeded(3);
    for (size_t i = 0; i < KEYS; i++) {
        const int len = snprintf(text + at, LONGEST, "http://www%u.example.org/%0*zu.html",
                                 (unsigned)rng_below(&r, 50), (int)rng_below(&r, 30), i);
        key[i] = (deja_slice){text + at, (size_t)len};
        at += (size_t)len;
    }
    return 0;
}

static int free_keys(void **state)
{
    free(text);
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- One thread --------------------------------------------------------- */

struct worker {
    deja_filter *f;
    pthread_t thread;
    struct rng r;
    uint64_t operations;
    bool batch;
    /* results */
    uint64_t failed, forgotten, asked_absent, false_positive, told_new;
};

/* Random keys, and what was known about each before the call. */
struct draw {
    size_t n;
    uint32_t number[BATCH];
    deja_slice key[BATCH];
    bool known[BATCH];
    uint8_t answer[BATCH];
};

static void draw_keys(struct worker *w, struct draw *d)
{
    d->n = w->batch ? 1 + (size_t)rng_below(&w->r, BATCH) : 1;
    for (size_t i = 0; i < d->n; i++) {
        d->number[i] = (uint32_t)rng_below(&w->r, KEYS);
        d->key[i] = key[d->number[i]];
        d->known[i] = atomic_load_explicit(&was_added[d->number[i]], memory_order_acquire);
    }
}

static void weigh(struct worker *w, const struct draw *d, size_t i, bool seen)
{
    /* Twice in one batch: the flag is set by now, although it was not before the call. */
    const bool known = d->known[i] || atomic_load(&was_added[d->number[i]]);
    w->forgotten += d->known[i] && !seen;
    w->asked_absent += !known;
    w->false_positive += !known && seen;
}

static void ask(struct worker *w, struct draw *d)
{
    if (w->batch)
        deja_filter_contains_batch(w->f, d->key, d->n, d->answer);
    else
        d->answer[0] = deja_filter_contains(w->f, d->key[0]);
    for (size_t i = 0; i < d->n; i++)
        weigh(w, d, i, d->answer[i]);
}

static void add(struct worker *w, struct draw *d)
{
    size_t done = 1;
    bool is_new = false;
    const int rc = w->batch ? deja_filter_add_batch(w->f, d->key, d->n, d->answer, &done, NULL)
                            : deja_filter_add(w->f, d->key[0], &is_new, NULL);
    if (!w->batch)
        d->answer[0] = is_new;
    if (rc != DEJA_OK || done != d->n) {
        w->failed++;
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        weigh(w, d, i, !d->answer[i]);
        w->told_new += d->answer[i];
        atomic_store_explicit(&was_added[d->number[i]], 1, memory_order_release);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct draw d;
    for (uint64_t done = 0; done < w->operations; done += d.n) {
        draw_keys(w, &d);
        if (rng_next(&w->r) >> 63)
            add(w, &d);
        else
            ask(w, &d);
    }
    return NULL;
}

/* --- One run ------------------------------------------------------------ */

struct variant {
    const char *name;
    deja_options opt;
    const struct dj_block_kernel *kernel; /* NULL: the default */
    bool batch;
    int threads;
    uint64_t operations;
};

static deja_filter *new_filter(const struct variant *v)
{
    deja_filter *f;
    deja_error err = {0, ""};
    if (deja_filter_new(&v->opt, &f, &err) != DEJA_OK)
        fail_msg("%s: %s", v->name, err.text);
    for (uint32_t i = 0; v->kernel && i < f->n_parts; i++)
        f->part[i]->kernel = v->kernel;
    return f;
}

static struct worker run_threads(const struct variant *v, deja_filter *f)
{
    static struct worker worker[MOST_THREADS];
    struct worker sum = {0};
    for (int i = 0; i < v->threads; i++) {
        worker[i] = (struct worker){.f = f,
                                    .r = rng_seeded((uint64_t)i + 100),
                                    .operations = v->operations / (uint64_t)v->threads,
                                    .batch = v->batch};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < v->threads; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        sum.failed += worker[i].failed;
        sum.forgotten += worker[i].forgotten;
        sum.asked_absent += worker[i].asked_absent;
        sum.false_positive += worker[i].false_positive;
        sum.told_new += worker[i].told_new;
    }
    return sum;
}

static void run(const struct variant *v)
{
    deja_filter *f = new_filter(v);
    deja_stats s = DEJA_STATS_INIT;
    for (size_t i = 0; i < KEYS; i++)
        atomic_store_explicit(&was_added[i], 0, memory_order_relaxed);
    const double start = now();
    const struct worker w = run_threads(v, f);
    const double took = now() - start;
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    print_message("    %-20s %-8s %-6s %d thread%s  %9zu operations  %6.1f M/s  "
                  "%6zu false positives of %zu\n",
                  v->name, v->kernel ? v->kernel->name : "", v->batch ? "batch" : "single",
                  v->threads, v->threads > 1 ? "s" : " ", (size_t)v->operations,
                  (double)v->operations / took / 1e6, (size_t)w.false_positive,
                  (size_t)w.asked_absent);
    assert_int_equal(w.failed, 0);
    assert_int_equal(w.forgotten, 0);
    assert_int_equal(s.keys, w.told_new);
    if (v->threads == 1 && f->plan.part_kind->number == DEJA_EXACT)
        assert_int_equal(w.false_positive, 0);
    if (v->threads == 1)
        assert_true(binom_at_most_rate(w.false_positive, w.asked_absent, f->plan.fp_rate, 5));
    for (size_t i = 0; i < KEYS; i++)
        if (atomic_load_explicit(&was_added[i], memory_order_relaxed))
            assert_true(deja_filter_contains(f, key[i]));
    deja_filter_free(f);
}

/* --- All variants of a class -------------------------------------------- */

/* Parts that are added during a run use the best kernel: the kernel of growing filters cannot be
 * chosen. */
static size_t n_kernels(const deja_options *opt)
{
    size_t n = 0;
    while (opt->kind == DEJA_BLOCKED && dj_block_at(n))
        n++;
    return n ? n : 1;
}

static void run_class(const char *name, deja_options opt)
{
    const size_t kernels = n_kernels(&opt);
    for (size_t kernel = 0; kernel < kernels; kernel++)
        for (int batch = 0; batch <= 1; batch++)
            for (int threads = 1; threads <= MOST_THREADS; threads++) {
                const struct variant v = {
                    .name = name,
                    .opt = opt,
                    .kernel = opt.kind == DEJA_BLOCKED ? dj_block_at(kernel) : NULL,
                    .batch = batch,
                    .threads = threads,
                    .operations = OPERATIONS / (kernels * 2 * MOST_THREADS),
                };
                run(&v);
            }
}

static void classic_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_CLASSIC, .capacity = KEYS, .fp_rate = 1e-3);
    run_class("classic", opt);
}

static void spatial_murmur3_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_CLASSIC, .capacity = KEYS, .fp_rate = 1e-3,
                                    .filters = 2, .hash = DEJA_HASH_MURMUR3);
    run_class("classic murmur3 F 2", opt);
}

static void blocked_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_BLOCKED, .capacity = KEYS, .fp_rate = 1e-3);
    run_class("blocked", opt);
}

static void spatial_blocked_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_BLOCKED, .capacity = KEYS, .fp_rate = 1e-3,
                                    .filters = 2, .hash = DEJA_HASH_SIPHASH);
    run_class("blocked siphash F 2", opt);
}

static void exact_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_EXACT, .capacity = KEYS);
    run_class("exact", opt);
}

static void scalable_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_SCALABLE, .capacity = 2000, .fp_rate = 1e-3);
    run_class("scalable", opt);
}

static void scalable_classic_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt = FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC,
                                    .capacity = 2000, .fp_rate = 1e-3);
    run_class("scalable of classic", opt);
}

static void scalable_exact_survives_a_hundred_million_operations(void **state)
{
    const deja_options opt =
        FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 2000);
    run_class("scalable of exact", opt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_survives_a_hundred_million_operations),
        cmocka_unit_test(spatial_murmur3_survives_a_hundred_million_operations),
        cmocka_unit_test(blocked_survives_a_hundred_million_operations),
        cmocka_unit_test(spatial_blocked_survives_a_hundred_million_operations),
        cmocka_unit_test(exact_survives_a_hundred_million_operations),
        cmocka_unit_test(scalable_survives_a_hundred_million_operations),
        cmocka_unit_test(scalable_classic_survives_a_hundred_million_operations),
        cmocka_unit_test(scalable_exact_survives_a_hundred_million_operations),
    };
    return cmocka_run_group_tests_name("property.operations_long", tests, make_keys, free_keys);
}
