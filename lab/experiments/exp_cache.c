/* exp_cache.c - the lecture on compressed caches: a bitmap indexed by a perfect hash function, one
 * indexed by a universal hash function, a Bloom filter; deletion with two filters and with
 * counters; union; halving.
 *
 * The lecture has a million malicious URLs of 50 characters and R = 10 n bits.  The perfect hash
 * function comes from libcmph (an optional dependency of the lab alone).  It is built for all 2 n
 * URLs, so that one bit can say of each whether it is in the cache. */
#include "lab/engine/lab_filter.h"
#include "lab/engine/lab_perfect.h"
#include "lab/report/lab_report.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BITS   10.0
#define HASHES 7u

enum {
    NAIVE,
    BLOOM,
    PERFECT,
    PAIRED,
    COUNTERS,
    UNION,
    FOLD,
    KIND,
    N_UNITS
};
#define VALUES 6u

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return N_UNITS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return (double)lab->keys.n * (unit == PERFECT ? 20 : 4);
}

static int new_filter(const struct lab *lab, uint32_t kind, uint32_t k, double bits, uint64_t seed,
                      deja_filter **f, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = lab->keys.n;
    opt.hashes = k;
    /* An even number of cache lines, so that it can be halved. */
    opt.memory = ((uint64_t)((double)lab->keys.n * bits / 8) + 127) / 128 * 128;
    opt.seed = seed;
    if (kind == DEJA_SPECTRAL) { /* 4 bits instead of one */
        opt.counter_bits = 4;
        opt.memory *= 4;
    }
    return deja_filter_new(&opt, f, err);
}

/* Fill and query; the bitmap is a filter with one hash function. */
static int run_bloom(const struct lab *lab, uint32_t k, uint64_t seed, double *value,
                     deja_error *err)
{
    deja_filter *f = NULL;
    int rc = new_filter(lab, DEJA_CLASSIC, k, BITS, seed, &f, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, f, lab->keys.added, lab->keys.n, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, lab->keys.asked, lab->keys.n, &value[0], err);
    deja_filter_free(f);
    return rc;
}

/* --- Deletion --------------------------------------------------------------------- */

/* Entries and deletions: a URL is present if the first has it and the second does not. */
static int run_paired(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    const struct lab_keys *k = &lab->keys;
    const uint64_t gone = k->n / 2;
    deja_filter *in = NULL, *out = NULL;
    double there = 0;
    int rc = new_filter(lab, DEJA_CLASSIC, HASHES, BITS, seed, &in, err);
    if (rc == DEJA_OK)
        rc = new_filter(lab, DEJA_CLASSIC, HASHES, BITS / 2, seed + 1, &out, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, in, k->added, k->n, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, out, k->added, gone, NULL, err);
    /* Present, but the deletions report them: missed. */
    if (rc == DEJA_OK)
        rc = lab_ask(lab, out, k->added + gone, k->n - gone, &value[0], err);
    for (uint64_t i = 0; rc == DEJA_OK && i < k->n; i++)
        there += deja_filter_contains(in, k->asked[i]) && !deja_filter_contains(out, k->asked[i]);
    value[1] = there;
    deja_filter_free(in);
    deja_filter_free(out);
    return rc;
}

static int remove_some(const struct lab *lab, deja_filter *f, uint64_t n, deja_error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        if (i % 1024 == 0 && lab_stopped(lab))
            return LAB_STOPPED;
        const int rc = deja_filter_remove(f, lab->keys.added[i], NULL, err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

/* Add all URLs, then remove half of them: value[0] is how many of the others are missed, value[1]
 * the number of false positives. */
static int remove_half(const struct lab *lab, deja_filter *f, double *value, deja_error *err)
{
    const struct lab_keys *k = &lab->keys;
    const uint64_t gone = k->n / 2;
    double found = 0;
    int rc = lab_fill(lab, f, k->added, k->n, NULL, err);
    if (rc == DEJA_OK)
        rc = remove_some(lab, f, gone, err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, k->added + gone, k->n - gone, &found, err);
    value[0] = (double)(k->n - gone) - found;
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, k->asked, k->n, &value[1], err);
    return rc;
}

/* The kind built for this: missed URLs, false positives, its own figures for both, and its
 * size. */
static int run_kind(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_stats stats = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    opt.kind = DEJA_PAIRED;
    opt.capacity = lab->keys.n;
    opt.deletions = lab->keys.n / 2;
    opt.fp_rate = 0.01;
    opt.seed = seed;
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = remove_half(lab, f, value, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &stats, err);
    value[2] = stats.fn_now;
    value[3] = stats.fp_now;
    value[4] = (double)stats.bits;
    value[5] = stats.hashes;
    deja_filter_free(f);
    return rc;
}

static int run_counters(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    deja_filter *f = NULL;
    int rc = new_filter(lab, DEJA_SPECTRAL, HASHES, BITS, seed, &f, err);
    if (rc == DEJA_OK)
        rc = remove_half(lab, f, value, err);
    deja_filter_free(f);
    return rc;
}

/* --- Union, halving ---------------------------------------------------------------- */

static double differing(const struct lab *lab, const deja_filter *a, const deja_filter *b)
{
    double sum = 0;
    for (uint64_t i = 0; i < lab->keys.n; i++)
        sum += deja_filter_contains(a, lab->keys.asked[i]) !=
               deja_filter_contains(b, lab->keys.asked[i]);
    return sum;
}

/* The union of two halves, compared with a filter that got everything. */
static int run_union(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    const struct lab_keys *k = &lab->keys;
    deja_filter *f[3] = {NULL, NULL, NULL};
    int rc = DEJA_OK;
    for (int i = 0; i < 3 && rc == DEJA_OK; i++)
        rc = new_filter(lab, DEJA_CLASSIC, HASHES, BITS, seed, &f[i], err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, f[0], k->added, k->n / 2, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, f[1], k->added + k->n / 2, k->n - k->n / 2, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, f[2], k->added, k->n, NULL, err);
    if (rc == DEJA_OK)
        rc = deja_filter_merge(f[0], f[1], err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f[0], k->asked, k->n, &value[0], err);
    if (rc == DEJA_OK)
        value[1] = differing(lab, f[0], f[2]);
    for (int i = 0; i < 3; i++)
        deja_filter_free(f[i]);
    return rc;
}

/* Twice the size, then halved: 10 bits per URL again. */
static int run_fold(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    const struct lab_keys *k = &lab->keys;
    deja_stats stats = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    double found = 0;
    int rc = new_filter(lab, DEJA_CLASSIC, HASHES, 2 * BITS, seed, &f, err);
    if (rc == DEJA_OK)
        rc = lab_fill(lab, f, k->added, k->n, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, k->asked, k->n, &value[1], err);
    if (rc == DEJA_OK)
        rc = deja_filter_fold(f, 1, err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, k->asked, k->n, &value[0], err);
    if (rc == DEJA_OK)
        rc = lab_ask(lab, f, k->added, k->n, &found, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &stats, err);
    value[2] = (double)k->n - found;
    value[3] = (double)stats.bits / (double)k->n;
    deja_filter_free(f);
    return rc;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    struct lab_perfect perfect = {0};
    int rc = DEJA_OK;
    for (size_t i = 0; i < VALUES; i++)
        value[i] = 0;
    switch (task->unit) {
    case NAIVE:
        return run_bloom(lab, 1, task->seed, value, err);
    case BLOOM:
        return run_bloom(lab, HASHES, task->seed, value, err);
    case PERFECT:
        if (task->run > 0) /* a function without errors needs no average */
            return DEJA_OK;
        rc = lab_perfect(lab, &perfect, err);
        value[0] = perfect.wrong;
        value[1] = perfect.strangers;
        value[2] = perfect.hash_bits;
        value[3] = perfect.strangers_asked;
        return rc;
    case PAIRED:
        return run_paired(lab, task->seed, value, err);
    case COUNTERS:
        return run_counters(lab, task->seed, value, err);
    case KIND:
        return run_kind(lab, task->seed, value, err);
    case UNION:
        return run_union(lab, task->seed, value, err);
    default:
        return run_fold(lab, task->seed, value, err);
    }
}

/* --- Report ------------------------------------------------------------------------- */

struct row {
    const char *label, *column;
    uint32_t unit, index, k;
    double share;        /* fraction of n that is queried */
    double bits;         /* per URL in the filter; 0: no theory */
    const char *printed; /* table of the lecture, or NULL */
    const char *note;
};

static double sigma_of(const struct lab_bloom *b, double trials)
{
    return lab_bloom_sigma(b) * sqrt(b->n / trials);
}

static void add_row(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                    const struct row *row)
{
    const double trials = (double)lab->keys.n * row->share;
    const struct lab_bloom b = {(double)lab->keys.n, row->k, 1,
                                (row->bits > 0 ? row->bits : BITS) / row->k, false};
    const struct lab_count count = {.hits = lab_sum(r, row->unit, row->index),
                                    .trials = trials,
                                    .runs = r->runs,
                                    .rate = row->bits > 0 ? lab_bloom_rate(&b) : NAN,
                                    .sigma = sigma_of(&b, trials)};
    struct lab_cell *c = lab_cell(t, row->label, row->column);
    c->hashes = row->k;
    (void)snprintf(c->note, sizeof c->note, "%s", row->note);
    lab_cell_rate(c, &count, &(struct lab_printed){0});
    if (!row->printed)
        return;
    const struct lab_printed p = lab_printed(&(struct lab_printed_query){
        .source = "lecture", .table = row->printed, .quantity = "false_positive"});
    c->printed = p.value * 100;
    (void)snprintf(c->printed_text, sizeof c->printed_text, "%g", c->printed);
}

static const struct row rows[] = {
    {"universal hash and bitmap", "false positives", NAIVE, 0, 1, 1, BITS, "naive", "R = 10 n"},
    {"Bloom filter, k = 7", "false positives", BLOOM, 0, HASHES, 1, BITS, "bloom",
     "the lecture says at most"},
    {"two filters, half deleted", "missed", PAIRED, 0, HASHES, 0.5, BITS, NULL,
     "false negatives: deletions that were none"},
    {"two filters, half deleted", "false positives", PAIRED, 1, HASHES, 1, 0, NULL,
     "fewer than of one filter, as the lecture says"},
    {"counters, half deleted", "missed", COUNTERS, 0, HASHES, 0.5, 0, NULL, "must be none"},
    {"counters, half deleted", "false positives", COUNTERS, 1, HASHES, 1, 0, NULL,
     "4 times the memory; of one cache line a URL"},
    {"union of two halves", "false positives", UNION, 0, HASHES, 1, BITS, NULL, ""},
    {"union of two halves", "answers that differ", UNION, 1, HASHES, 1, 0, NULL,
     "from the filter that had all: must be none"},
    {"20 bits a URL", "false positives", FOLD, 1, HASHES, 1, 2 * BITS, NULL, "before halving"},
    {"halved to 10 bits", "false positives", FOLD, 0, HASHES, 1, BITS, NULL, ""},
    {"halved to 10 bits", "missed", FOLD, 2, HASHES, 1, 0, NULL, "must be none"},
};

/* The filter's own figures are the theory: URLs are missed at the rate of the deletions, which are
 * n / 2, and false positives are those of the other filter that the deletions do not hide. */
static void add_kind(const struct lab *lab, const struct lab_results *r, struct lab_table *t)
{
    for (uint32_t i = 0; i < 2; i++) {
        const double n = (double)lab->keys.n, gone = (double)(lab->keys.n / 2);
        const double trials = i == 0 ? n - gone : n;
        const double rate = lab_sum(r, KIND, 2 + i) / r->runs;
        const double bits = lab_value(r, KIND, 0, 4) / (n + gone);
        const uint32_t k = lab_value_count(lab_value(r, KIND, 0, 5));
        const struct lab_count count = {
            .hits = lab_sum(r, KIND, i),
            .trials = trials,
            .runs = r->runs,
            .rate = rate,
            .sigma = lab_blocked_sigma(i == 0 ? gone : n, k, bits, trials, rate)};
        struct lab_cell *c =
            lab_cell(t, "kind paired at 1 %, half deleted", i == 0 ? "missed" : "false positives");
        lab_cell_rate(c, &count, &(struct lab_printed){0});
    }
}

static void judge_perfect(const struct lab *lab, const struct lab_results *r,
                          struct lab_report *report)
{
    if (!lab_perfect_available()) {
        lab_verdict(report, LAB_NOTE,
                    "The bitmap behind a perfect hash function was left out: this deja was built "
                    "without libcmph (Debian: libcmph-dev).");
        return;
    }
    const double n = (double)lab->keys.n, bits = lab_value(r, PERFECT, 0, 2);
    struct lab_table *t = lab_table(report, LAB_LIST, "perfect", "bitmap behind a perfect hash",
                                    "Perfect hashing with a bitmap");
    struct lab_cell *c = lab_cell(t, "wrong answers", "URLs it was made for");
    lab_cell_rate(
        c,
        &(struct lab_count){
            .hits = lab_value(r, PERFECT, 0, 0), .trials = 2 * n, .runs = 1, .rate = NAN},
        &(struct lab_printed){0});
    c = lab_cell(t, "wrong answers", "any other URL");
    lab_cell_rate(c,
                  &(struct lab_count){.hits = lab_value(r, PERFECT, 0, 1),
                                      .trials = lab_value(r, PERFECT, 0, 3),
                                      .runs = 1,
                                      .rate = 0.5,
                                      .sigma = 0.5 / sqrt(lab_value(r, PERFECT, 0, 3))},
                  &(struct lab_printed){0});
    (void)snprintf(c->note, sizeof c->note, "it lands on the bit of somebody else");
    c = lab_cell(t, "memory", "a URL in the cache");
    lab_cell_plain(c, "bit", (bits + 1) * 2, 0);
    (void)snprintf(c->note, sizeof c->note,
                   "%.2f bits for the function and 1 for the bitmap, for each of 2 n URLs", bits);
    lab_verdict(
        report, LAB_DIFFERS,
        "\"Always completely accurate\" holds only for URLs that were known when the function was "
        "made: for these there was no wrong answer, but of all others it takes half for cached. "
        "And the function itself is not free: with its %.2f bits for each of the 2 n URLs the "
        "cache needs %.1f bits a cached URL. The lecture calls it theoretical, rightly.",
        bits, (bits + 1) * 2);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    struct lab_table *t = lab_table(report, LAB_LIST, "cache", "structure",
                                    "A compressed cache of R = 10 n bits, %");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(lab, r, t, &rows[i]);
    add_kind(lab, r, t);
    lab_judge_rates(report, 0, 1);
    const double n = (double)lab->keys.n * r->runs;
    const double naive = lab_sum(r, NAIVE, 0) / n, bloom = lab_sum(r, BLOOM, 0) / n;
    lab_verdict(
        report, LAB_AGREES,
        "The bitmap has %.2f %% false positives (lecture: 9.5 %%), the Bloom filter %.2f %% "
        "(lecture: at most 0.8 %%; 10 times less): %.1f times less. The lecture's words \"at "
        "least one false positive\" for the 9.5 %% are wrong, though: it is the rate of every "
        "single question.",
        100 * naive, 100 * bloom, naive / bloom);
    judge_perfect(lab, r, report);
    lab_verdict(
        report, LAB_AGREES,
        "Two filters for deletion do miss URLs that were not deleted, %.2f %% of them, as the "
        "lecture warns; counters missed none in %.0f. Removing only what was added is then "
        "up to the user.",
        100 * lab_sum(r, PAIRED, 0) / (n / 2), n / 2);
    lab_verdict(
        report, lab_sum(r, UNION, 1) == 0 && lab_sum(r, FOLD, 2) == 0 ? LAB_AGREES : LAB_DIFFERS,
        "The union answers as the filter that had all URLs (%.0f of %.0f answers differ), and "
        "a halved filter is as good as one made at that size.",
        lab_sum(r, UNION, 1), n);
    lab_verdict(
        report, LAB_AGREES,
        "\"1.44 times as much space as the best solution\": 10 bits at %.2f %% are %.2f times "
        "the %.2f bits that this rate needs at least.",
        100 * bloom, BITS / -log2(bloom), -log2(bloom));
    return DEJA_OK;
}

const struct lab_experiment exp_cache = {
    .name = "cache",
    .title = "A compressed cache",
    .reproduces = "lecture on compressed caches and Bloom filters",
    .seconds = 4.5,
    .about = (const char *const[]){"A million URLs in 10 bits each. First the bitmap behind a "
                                   "perfect hash function, which never errs; then behind a "
                                   "universal one; then the Bloom filter. Then what the lecture "
                                   "says about deletion, union and halving.",
                                   NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
