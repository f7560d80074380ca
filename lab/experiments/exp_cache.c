/* exp_cache.c - the lecture on compressed caches: a bitmap indexed by a perfect hash function, one
 * indexed by a universal hash function, a Bloom filter; deletion with two filters and with
 * counters; union; halving; and its budget of 2 MB (lab_budget.c).
 *
 * The lecture has a million malicious URLs of 50 characters and R = 10 n bits.  The perfect hash
 * function comes from libcmph (an optional dependency of the lab alone).  It is built for all 2 n
 * URLs, so that one bit per URL can record whether it is in the cache. */
#include "lab/engine/lab_perfect.h"
#include "lab/engine/lab_task.h"
#include "lab/experiments/lab_budget.h"
#include "lab/experiments/lab_cache.h"

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit == CACHE_PERFECT ? 5 : 1;
}

static deja_filter *new_filter(struct lab_task *t, uint32_t kind, uint32_t k, double bits,
                               uint64_t seed)
{
    deja_options opt = lab_options(t, kind);
    opt.hashes = k;
    /* An even number of cache lines, so that it can be halved. */
    opt.memory = ((uint64_t)((double)t->lab->keys.n * bits / 8) + 127) / 128 * 128;
    opt.seed = seed;
    if (deja_kind_can(kind, DEJA_CAN_COUNT)) { /* 4 bits instead of one */
        opt.counter_bits = 4;
        opt.memory *= 4;
    }
    return lab_filter(t, &opt);
}

/* How many of the URLs that were added are not found: must be 0. */
static double missed(struct lab_task *t, const deja_filter *f)
{
    const struct lab_keys *keys = &t->lab->keys;
    return (double)keys->n - lab_ask(t, f, keys->added, keys->n);
}

/* Fill and query; the bitmap is a filter with one hash function. */
static void run_bloom(struct lab_task *t, uint32_t k)
{
    const struct lab_keys *keys = &t->lab->keys;
    deja_filter *f = new_filter(t, DEJA_CLASSIC, k, CACHE_BITS, t->seed);
    (void)lab_add(t, f, keys->added, keys->n, NULL);
    t->value[CACHE_HITS] = lab_ask(t, f, keys->asked, keys->n);
    t->value[CACHE_MISSED] = missed(t, f);
    t->value[CACHE_BYTES] = (double)lab_stats(t, f).bytes;
}

static void run_perfect(struct lab_task *t)
{
    struct lab_perfect p = {0};
    if (t->run > 0) /* a function without errors needs no average */
        return;
    lab_checked(t, lab_perfect(t->lab, &p, t->err));
    t->value[CACHE_WRONG] = p.wrong;
    t->value[CACHE_STRANGERS] = p.strangers;
    t->value[CACHE_FUNCTION_BITS] = p.hash_bits;
    t->value[CACHE_STRANGERS_ASKED] = p.strangers_asked;
}

/* --- Deletion --------------------------------------------------------------------- */

/* Entries and deletions: a URL is present if the first has it and the second does not. */
static void run_paired(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t gone = k->n / 2;
    deja_filter *in = new_filter(t, DEJA_CLASSIC, CACHE_K, CACHE_BITS, t->seed);
    deja_filter *out = new_filter(t, DEJA_CLASSIC, CACHE_K, CACHE_BITS / 2, t->seed + 1);
    (void)lab_add(t, in, k->added, k->n, NULL);
    (void)lab_add(t, out, k->added, gone, NULL);
    /* Present, but the deletions report them: missed. */
    t->value[CACHE_LOST] = lab_ask(t, out, k->added + gone, k->n - gone);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < k->n; i++) {
        const bool found = deja_filter_contains(in, k->asked[i]);
        t->value[CACHE_ONE_FILTER] += found;
        t->value[CACHE_FALSE] += found && !deja_filter_contains(out, k->asked[i]);
    }
}

/* Add all URLs, then remove half of them: how many of the others are missed, and the number of
 * false positives. */
static void remove_half(struct lab_task *t, deja_filter *f)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t gone = k->n / 2;
    (void)lab_add(t, f, k->added, k->n, NULL);
    for (uint64_t i = 0; i < gone && lab_going(t); i++)
        lab_checked(t, deja_filter_remove(f, k->added[i], NULL, t->err));
    t->value[CACHE_LOST] = (double)(k->n - gone) - lab_ask(t, f, k->added + gone, k->n - gone);
    t->value[CACHE_FALSE] = lab_ask(t, f, k->asked, k->n);
}

/* The kind built for this: missed URLs, false positives, its own figures for both, and its
 * size. */
static void run_kind(struct lab_task *t)
{
    deja_options opt = lab_options(t, DEJA_PAIRED);
    opt.deletions = t->lab->keys.n / 2;
    opt.fp_rate = 0.01;
    deja_filter *f = lab_filter(t, &opt);
    remove_half(t, f);
    const deja_stats stats = lab_stats(t, f);
    t->value[CACHE_OWN_LOST] = stats.fn_now;
    t->value[CACHE_OWN_FALSE] = stats.fp_now;
    t->value[CACHE_BODY] = (double)stats.bits;
    t->value[CACHE_FUNCTIONS] = stats.hashes;
}

/* --- Union, halving ---------------------------------------------------------------- */

/* The union of two halves, compared with a filter that got everything. */
static void run_union(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t half = k->n / 2;
    deja_filter *f[3];
    for (int i = 0; i < 3; i++)
        f[i] = new_filter(t, DEJA_CLASSIC, CACHE_K, CACHE_BITS, t->seed);
    (void)lab_add(t, f[0], k->added, half, NULL);
    (void)lab_add(t, f[1], k->added + half, k->n - half, NULL);
    (void)lab_add(t, f[2], k->added, k->n, NULL);
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_merge(f[0], f[1], t->err));
    t->value[CACHE_HITS] = lab_ask(t, f[0], k->asked, k->n);
    t->value[CACHE_MISSED] = missed(t, f[0]);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < k->n; i++)
        t->value[CACHE_DIFFER] +=
            deja_filter_contains(f[0], k->asked[i]) != deja_filter_contains(f[2], k->asked[i]);
}

/* Twice the size, then halved: 10 bits per URL again. */
static void run_fold(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    deja_filter *f = new_filter(t, DEJA_CLASSIC, CACHE_K, 2 * CACHE_BITS, t->seed);
    (void)lab_add(t, f, k->added, k->n, NULL);
    t->value[CACHE_BEFORE] = lab_ask(t, f, k->asked, k->n);
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_fold(f, 1, t->err));
    t->value[CACHE_HITS] = lab_ask(t, f, k->asked, k->n);
    t->value[CACHE_MISSED] = missed(t, f);
}

static void run(struct lab_task *t)
{
    switch (t->unit) {
    case CACHE_NAIVE:
        run_bloom(t, 1);
        break;
    case CACHE_BLOOM:
        run_bloom(t, CACHE_K);
        break;
    case CACHE_PERFECT:
        run_perfect(t);
        break;
    case CACHE_PAIRED:
        run_paired(t);
        break;
    case CACHE_COUNTERS:
        remove_half(t, new_filter(t, DEJA_SPECTRAL, CACHE_K, CACHE_BITS, t->seed));
        break;
    case CACHE_KIND:
        run_kind(t);
        break;
    case CACHE_UNION:
        run_union(t);
        break;
    case CACHE_BUDGET:
        if (t->run == 0) /* sizes do not change, and a million queries are enough for its rate */
            lab_budget_run(t);
        break;
    default:
        run_fold(t);
    }
}

const struct lab_experiment exp_cache = {
    .name = "cache",
    .title = "A compressed cache",
    .reproduces = "lecture on compressed caches and Bloom filters",
    .seconds = 4.5,
    .about = (const char *const[]){"A million URLs in 10 bits each: in a bitmap indexed by a "
                                   "perfect hash function, which makes no mistakes; in one "
                                   "indexed by a universal hash function; and in a Bloom filter. "
                                   "Then the lecture's claims about deletion, union and halving, "
                                   "and a million URLs of 50 characters in 2 MB.",
                                   NULL},
    .units = CACHE_UNITS,
    .values = CACHE_VALUES,
    .weight = weight,
    .run = run,
    .report = lab_cache_report,
};
