/* exp_cache.c - the lecture on compressed caches: a bitmap indexed by a perfect hash function, one
 * indexed by a universal hash function, a Bloom filter; deletion with two filters and with
 * counters; union; halving.
 *
 * The lecture has a million malicious URLs of 50 characters and R = 10 n bits.  The perfect hash
 * function comes from libcmph (an optional dependency of the lab alone).  It is built for all 2 n
 * URLs, so that one bit per URL can record whether it is in the cache. */
#include "lab/engine/lab_perfect.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include <math.h>
#include <stdio.h>

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

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit == PERFECT ? 5 : 1;
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

/* Fill and query; the bitmap is a filter with one hash function. */
static void run_bloom(struct lab_task *t, uint32_t k)
{
    const struct lab_keys *keys = &t->lab->keys;
    deja_filter *f = new_filter(t, DEJA_CLASSIC, k, BITS, t->seed);
    (void)lab_add(t, f, keys->added, keys->n, NULL);
    t->value[0] = lab_ask(t, f, keys->asked, keys->n);
}

static void run_perfect(struct lab_task *t)
{
    struct lab_perfect p = {0};
    if (t->run > 0) /* a function without errors needs no average */
        return;
    lab_checked(t, lab_perfect(t->lab, &p, t->err));
    t->value[0] = p.wrong;
    t->value[1] = p.strangers;
    t->value[2] = p.hash_bits;
    t->value[3] = p.strangers_asked;
}

/* --- Deletion --------------------------------------------------------------------- */

/* Entries and deletions: a URL is present if the first has it and the second does not. */
static void run_paired(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t gone = k->n / 2;
    deja_filter *in = new_filter(t, DEJA_CLASSIC, HASHES, BITS, t->seed);
    deja_filter *out = new_filter(t, DEJA_CLASSIC, HASHES, BITS / 2, t->seed + 1);
    (void)lab_add(t, in, k->added, k->n, NULL);
    (void)lab_add(t, out, k->added, gone, NULL);
    /* Present, but the deletions report them: missed. */
    t->value[0] = lab_ask(t, out, k->added + gone, k->n - gone);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < k->n; i++)
        t->value[1] +=
            deja_filter_contains(in, k->asked[i]) && !deja_filter_contains(out, k->asked[i]);
}

/* Add all URLs, then remove half of them: value[0] is how many of the others are missed, value[1]
 * the number of false positives. */
static void remove_half(struct lab_task *t, deja_filter *f)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t gone = k->n / 2;
    (void)lab_add(t, f, k->added, k->n, NULL);
    for (uint64_t i = 0; i < gone && lab_going(t); i++)
        lab_checked(t, deja_filter_remove(f, k->added[i], NULL, t->err));
    t->value[0] = (double)(k->n - gone) - lab_ask(t, f, k->added + gone, k->n - gone);
    t->value[1] = lab_ask(t, f, k->asked, k->n);
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
    t->value[2] = stats.fn_now;
    t->value[3] = stats.fp_now;
    t->value[4] = (double)stats.bits;
    t->value[5] = stats.hashes;
}

/* --- Union, halving ---------------------------------------------------------------- */

/* The union of two halves, compared with a filter that got everything. */
static void run_union(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t half = k->n / 2;
    deja_filter *f[3];
    for (int i = 0; i < 3; i++)
        f[i] = new_filter(t, DEJA_CLASSIC, HASHES, BITS, t->seed);
    (void)lab_add(t, f[0], k->added, half, NULL);
    (void)lab_add(t, f[1], k->added + half, k->n - half, NULL);
    (void)lab_add(t, f[2], k->added, k->n, NULL);
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_merge(f[0], f[1], t->err));
    t->value[0] = lab_ask(t, f[0], k->asked, k->n);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < k->n; i++)
        t->value[1] +=
            deja_filter_contains(f[0], k->asked[i]) != deja_filter_contains(f[2], k->asked[i]);
}

/* Twice the size, then halved: 10 bits per URL again. */
static void run_fold(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    deja_filter *f = new_filter(t, DEJA_CLASSIC, HASHES, 2 * BITS, t->seed);
    (void)lab_add(t, f, k->added, k->n, NULL);
    t->value[1] = lab_ask(t, f, k->asked, k->n);
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_fold(f, 1, t->err));
    t->value[0] = lab_ask(t, f, k->asked, k->n);
    t->value[2] = (double)k->n - lab_ask(t, f, k->added, k->n);
}

static void run(struct lab_task *t)
{
    switch (t->unit) {
    case NAIVE:
        run_bloom(t, 1);
        break;
    case BLOOM:
        run_bloom(t, HASHES);
        break;
    case PERFECT:
        run_perfect(t);
        break;
    case PAIRED:
        run_paired(t);
        break;
    case COUNTERS:
        remove_half(t, new_filter(t, DEJA_SPECTRAL, HASHES, BITS, t->seed));
        break;
    case KIND:
        run_kind(t);
        break;
    case UNION:
        run_union(t);
        break;
    default:
        run_fold(t);
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

static void add_row(const struct lab_results *r, struct lab_table *t, const struct row *row)
{
    const double trials = lab_n(r) * row->share;
    const struct lab_bloom b = {lab_n(r), row->k, 1, (row->bits > 0 ? row->bits : BITS) / row->k,
                                false};
    const struct lab_count count =
        lab_counted(r, row->unit, row->index, trials, row->bits > 0 ? lab_bloom_rate(&b) : NAN,
                    lab_bloom_sigma(&b) * sqrt(b.n / trials));
    struct lab_cell *c = lab_cell(t, row->label, row->column);
    c->hashes = row->k;
    lab_note(c, "%s", row->note);
    lab_cell_rate(c, &count, NULL);
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
     "the lecture gives an upper bound"},
    {"two filters, half deleted", "missed", PAIRED, 0, HASHES, 0.5, BITS, NULL,
     "false negatives: false positives of the deletions"},
    {"two filters, half deleted", "false positives", PAIRED, 1, HASHES, 1, 0, NULL,
     "fewer than with one filter, as the lecture says"},
    {"counters, half deleted", "missed", COUNTERS, 0, HASHES, 0.5, 0, NULL, "must be 0"},
    {"counters, half deleted", "false positives", COUNTERS, 1, HASHES, 1, 0, NULL,
     "4 times the memory, in one cache line per URL"},
    {"union of two halves", "false positives", UNION, 0, HASHES, 1, BITS, NULL, ""},
    {"union of two halves", "answers that differ", UNION, 1, HASHES, 1, 0, NULL,
     "from the filter with all URLs: must be 0"},
    {"20 bits per URL", "false positives", FOLD, 1, HASHES, 1, 2 * BITS, NULL, "before halving"},
    {"halved to 10 bits", "false positives", FOLD, 0, HASHES, 1, BITS, NULL, ""},
    {"halved to 10 bits", "missed", FOLD, 2, HASHES, 1, 0, NULL, "must be 0"},
};

/* The filter's own figures are the theory: URLs are missed at the rate of the deletions, which are
 * n / 2, and false positives are those of the other filter that the deletions do not hide. */
static void add_kind(const struct lab_results *r, struct lab_table *t)
{
    for (uint32_t i = 0; i < 2; i++) {
        const double n = lab_n(r), gone = floor(n / 2), trials = i == 0 ? n - gone : n;
        const double rate = lab_mean(r, KIND, 2 + i);
        const double bits = lab_value(r, KIND, 0, 4) / (n + gone);
        const uint32_t k = lab_value_count(lab_value(r, KIND, 0, 5));
        const struct lab_count count = lab_counted(
            r, KIND, i, trials, rate, lab_blocked_sigma(i == 0 ? gone : n, k, bits, trials, rate));
        lab_cell_rate(
            lab_cell(t, "kind paired at 1 %, half deleted", i == 0 ? "missed" : "false positives"),
            &count, NULL);
    }
}

static void judge_perfect(const struct lab_results *r, struct lab_report *report)
{
    if (!lab_perfect_available()) {
        lab_verdict(report, LAB_NOTE,
                    "The bitmap indexed by a perfect hash function was omitted: this deja was "
                    "built without libcmph (Debian: libcmph-dev).");
        return;
    }
    const double bits = lab_value(r, PERFECT, 0, 2), asked = lab_value(r, PERFECT, 0, 3);
    struct lab_table *t = lab_table(report, LAB_LIST, "perfect", "bitmap and perfect hash",
                                    "Perfect hashing with a bitmap");
    const struct lab_count known = {
        .hits = lab_value(r, PERFECT, 0, 0), .trials = 2 * lab_n(r), .runs = 1, .rate = NAN};
    lab_cell_rate(lab_cell(t, "wrong answers", "URLs that it was built for"), &known, NULL);
    const struct lab_count others = {
        lab_value(r, PERFECT, 0, 1), asked, 1, NULL, 0.5, 0.5 / sqrt(asked)};
    struct lab_cell *c = lab_cell(t, "wrong answers", "any other URL");
    lab_note(c, "it maps to the bit of another URL");
    lab_cell_rate(c, &others, NULL);
    c = lab_cell(t, "memory", "per URL in the cache");
    lab_cell_plain(c, "bit", (bits + 1) * 2, 0);
    lab_note(c, "%.2f bits for the function and 1 for the bitmap, for each of 2 n URLs", bits);
    lab_verdict(
        report, LAB_DIFFERS,
        "\"Always completely accurate\" holds only for the URLs that the function was built for: "
        "for these there was no wrong answer, but it mistakes half of all others for cached. The "
        "function also needs memory: with its %.2f bits for each of the 2 n URLs, the cache needs "
        "%.1f bits per cached URL. The lecture rightly calls it theoretical.",
        bits, (bits + 1) * 2);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "cache", "structure",
                                    "A compressed cache of R = 10 n bits, %");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(r, t, &rows[i]);
    add_kind(r, t);
    lab_judge_rates(report, 0, 1);
    const double n = lab_n(r) * r->runs;
    const double naive = lab_sum(r, NAIVE, 0) / n, bloom = lab_sum(r, BLOOM, 0) / n;
    lab_verdict(
        report, LAB_AGREES,
        "The bitmap has %.2f %% false positives (lecture: 9.5 %%), the Bloom filter %.2f %% "
        "(lecture: at most 0.8 %%, 10 times fewer): %.1f times fewer. But the lecture is wrong to "
        "call the 9.5 %% the probability of \"at least one false positive\": it is the rate of "
        "every single query.",
        100 * naive, 100 * bloom, naive / bloom);
    judge_perfect(r, report);
    lab_verdict(
        report, LAB_AGREES,
        "As the lecture warns, two filters for deletion miss URLs that were not deleted: %.2f %% "
        "of them. Counters missed none of %.0f, as long as only URLs that were added are removed.",
        100 * lab_sum(r, PAIRED, 0) / (n / 2), n / 2);
    lab_verdict(
        report, lab_sum(r, UNION, 1) == 0 && lab_sum(r, FOLD, 2) == 0 ? LAB_AGREES : LAB_DIFFERS,
        "The union gives the same answers as a filter with all URLs (%.0f of %.0f differ), and a "
        "halved filter is as good as one created at that size.",
        lab_sum(r, UNION, 1), n);
    lab_verdict(
        report, LAB_AGREES,
        "\"1.44 times as much space as the best solution\": 10 bits at %.2f %% are %.2f times the "
        "%.2f bits that this rate requires.",
        100 * bloom, BITS / -log2(bloom), -log2(bloom));
}

const struct lab_experiment exp_cache = {
    .name = "cache",
    .title = "A compressed cache",
    .reproduces = "lecture on compressed caches and Bloom filters",
    .seconds = 4.5,
    .about = (const char *const[]){"A million URLs in 10 bits each: in a bitmap indexed by a "
                                   "perfect hash function, which makes no mistakes; in one "
                                   "indexed by a universal hash function; and in a Bloom filter. "
                                   "Then the lecture's claims about deletion, union and halving.",
                                   NULL},
    .units = N_UNITS,
    .values = VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
