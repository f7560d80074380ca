/* exp_unknown_n.c - an unknown number of URLs: thesis 7.2.1, left open there.
 *
 * Tests its two proposals: the temporal strategy on a scalable filter, which grows as URLs arrive;
 * and a filter that is much too large on the first visit and resized on the next to the number of
 * URLs that the first one saw.  For comparison: a filter that was guessed ten times too small, and
 * one sized with the exact number.
 *
 * Incremental on both visits: each URL is queried, then inserted. */
#include "lab/report/lab_report.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE  0.01
#define PIECE 4096u

static const struct plan {
    const char *label;
    uint32_t kind;
    double guess; /* capacity on the first visit, as a fraction of n */
    bool again;   /* the next visit has the same size; otherwise that of the URLs seen */
} plans[] = {
    {"known: n", DEJA_CLASSIC, 1, true},
    {"guessed: n / 10, kept", DEJA_CLASSIC, 0.1, true},
    {"guessed: n / 10, then resized", DEJA_CLASSIC, 0.1, false},
    {"guessed: 4 n, then resized", DEJA_CLASSIC, 4, false},
    {"scalable from n / 10", DEJA_SCALABLE, 0.1, false},
};
#define PLANS (sizeof plans / sizeof plans[0])

enum {
    BYTES,
    LOST,
    EXPECTED,
    BITS,
    HASHES,
    PER_VISIT
};
#define BOTH     (2 * PER_VISIT)
#define N_VALUES (2 * PER_VISIT + 1)

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return (uint32_t)PLANS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return N_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return (double)lab->keys.n * (plans[unit].kind == DEJA_SCALABLE ? 6 : 2);
}

/* Repeat some URLs before asking for the estimate.  Without any repeat, the filter knows that no
 * more URLs can be lost than those not reported as new.  That bound makes the estimate low: E
 * min(X, mu) is 0.4 standard deviations below the mean mu of X. */
static int meet_again(const struct lab_keys *k, deja_filter *f, deja_stats *stats, deja_error *err)
{
    uint8_t is_new[PIECE];
    size_t done = 0;
    const size_t some = k->n < PIECE ? (size_t)k->n : PIECE;
    const int rc = deja_filter_add_batch(f, k->added, some, is_new, &done, err);
    return rc < 0 ? rc : deja_filter_stats(f, DEJA_STATS_BODY, stats, err);
}

/* Fill the filter and mark in seen[] the URLs mistaken for seen; returns a status. */
static int visit(const struct lab *lab, deja_filter *f, uint8_t *seen, double *value,
                 deja_error *err)
{
    const struct lab_keys *k = &lab->keys;
    deja_stats stats = DEJA_STATS_INIT;
    double lost = 0;
    for (uint64_t at = 0; at < k->n; at += PIECE) {
        const size_t some = k->n - at < PIECE ? (size_t)(k->n - at) : PIECE;
        size_t done = 0;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        const int rc = deja_filter_add_batch(f, k->added + at, some, seen + at, &done, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < some; i++) {
            seen[at + i] = !seen[at + i];
            lost += seen[at + i];
        }
    }
    const int rc = meet_again(k, f, &stats, err);
    value[BYTES] = (double)stats.bytes;
    value[LOST] = lost;
    value[EXPECTED] = stats.lost;
    value[BITS] = (double)stats.bits;
    value[HASHES] = stats.hashes;
    return rc;
}

static int visit_twice(const struct lab *lab, const struct plan *p, deja_filter *f, uint8_t *first,
                       uint8_t *second, double *value, deja_error *err)
{
    deja_options next = DEJA_OPTIONS_INIT;
    int rc = visit(lab, f, first, value, err);
    if (p->again)
        next.capacity = (uint64_t)(p->guess * (double)lab->keys.n);
    if (rc == DEJA_OK)
        rc = deja_filter_rotate(f, &next, err);
    if (rc == DEJA_OK)
        rc = visit(lab, f, second, value + PER_VISIT, err);
    value[BOTH] = 0;
    for (uint64_t i = 0; rc == DEJA_OK && i < lab->keys.n; i++)
        value[BOTH] += first[i] & second[i];
    return rc;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct plan *p = &plans[task->unit];
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    uint8_t *seen = malloc(2 * lab->keys.n);
    if (!seen)
        return fail(err, DEJA_ENOMEM, "no memory for the marks of a visit");
    opt.kind = p->kind;
    opt.capacity = (uint64_t)(p->guess * (double)lab->keys.n);
    opt.fp_rate = RATE;
    opt.seed = task->seed;
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = visit_twice(lab, p, f, seen, seen + lab->keys.n, value, err);
    deja_filter_free(f);
    free(seen);
    return rc;
}

/* --- Report -------------------------------------------------------------------------- */

/* What one filter of that size loses while n URLs arrive; a series of filters reports it itself.
 * The count of the first visit, and so the size on the second, differs between runs. */
static struct lab_count expect(const struct lab *lab, const struct lab_results *r, uint32_t unit,
                               uint32_t visit_at)
{
    const double n = (double)lab->keys.n;
    struct lab_count c = {.trials = n, .runs = r->runs};
    double variance = 0;
    for (uint32_t run_ = 0; run_ < r->runs; run_++) {
        const double *value = lab_values(r, unit, run_) + visit_at;
        const uint32_t k = lab_value_count(value[HASHES]);
        const struct lab_bloom b = {n, k, 1, value[BITS] / (n * k), true};
        const bool series = plans[unit].kind == DEJA_SCALABLE;
        const double rate = series ? value[EXPECTED] / n : lab_bloom_rate(&b);
        const double sigma = series ? sqrt(rate * (1 - rate) / n) : lab_bloom_sigma(&b);
        c.rate += rate / r->runs;
        variance += sigma * sigma / r->runs;
    }
    c.sigma = sqrt(variance);
    return c;
}

static void add_lost(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                     uint32_t unit, uint32_t visit_at, const char *column)
{
    struct lab_count count = expect(lab, r, unit, visit_at);
    count.hits = lab_sum(r, unit, visit_at + LOST);
    lab_cell_rate(lab_cell(t, plans[unit].label, column), &count, &(struct lab_printed){0});
}

static void add_both(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                     uint32_t unit)
{
    const struct lab_count count = {.hits = lab_sum(r, unit, BOTH),
                                    .trials = (double)lab->keys.n,
                                    .runs = r->runs,
                                    .rate = NAN};
    lab_cell_rate(lab_cell(t, plans[unit].label, "both"), &count, &(struct lab_printed){0});
}

static void add_memory(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                       uint32_t unit, uint32_t index, const char *column)
{
    struct lab_cell *c = lab_cell(t, plans[unit].label, column);
    lab_cell_plain(c, "bit", 8 * lab_value(r, unit, 0, index) / (double)lab->keys.n, 0);
}

static double rate_of(const struct lab *lab, const struct lab_results *r, uint32_t unit,
                      uint32_t index)
{
    return 100 * lab_sum(r, unit, index) / ((double)lab->keys.n * r->runs);
}

static void judge(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    const double scalable1 = rate_of(lab, r, 4, LOST), scalable_both = rate_of(lab, r, 4, BOTH);
    lab_verdict(
        report, LAB_NOTE,
        "A filter that was guessed ten times too small loses %.0f %% of the URLs on a visit, "
        "and %.0f %% on both when it keeps its size: new salts do not help a full filter. "
        "Resized from what the first visit saw, the second one loses %.2f %%.",
        rate_of(lab, r, 1, LOST), rate_of(lab, r, 1, BOTH), rate_of(lab, r, 2, PER_VISIT + LOST));
    lab_verdict(
        report, LAB_AGREES,
        "The temporal strategy works on a scalable filter as the thesis hoped: it began at a "
        "tenth of the size, stayed below 1 %% (%.3f %% lost), and with new salts %.5f %% were "
        "lost on both visits, where chance makes it %.5f %% or more.",
        scalable1, scalable_both, scalable1 * rate_of(lab, r, 4, PER_VISIT + LOST) / 100);
    lab_verdict(
        report, LAB_AGREES,
        "Oversize, count, resize works as well: %.1f bits a URL on the first visit, %.1f on the "
        "second, and %.3f %% lost there. The price of not knowing is memory once, or for a "
        "scalable filter %.1f bits instead of %.1f, and more lookups, on the first visit only.",
        8 * lab_value(r, 3, 0, BYTES) / (double)lab->keys.n,
        8 * lab_value(r, 3, 0, PER_VISIT + BYTES) / (double)lab->keys.n,
        rate_of(lab, r, 3, PER_VISIT + LOST), 8 * lab_value(r, 4, 0, BYTES) / (double)lab->keys.n,
        8 * lab_value(r, 0, 0, BYTES) / (double)lab->keys.n);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    struct lab_table *memory = lab_table(report, LAB_GRID, "bits", "first visit",
                                         "Memory for the n URLs that came, bits a URL");
    struct lab_table *lost = lab_table(report, LAB_GRID, "lost", "first visit",
                                       "URLs taken for seen while they came, %");
    lab_caption(lost,
                "Asked for: at most 1 %% at capacity. Theory: what the filter itself tells at "
                "the end (deja info: lost).");
    for (uint32_t u = 0; u < PLANS; u++) {
        add_memory(lab, r, memory, u, BYTES, "first visit");
        add_memory(lab, r, memory, u, PER_VISIT + BYTES, "second visit");
        add_lost(lab, r, lost, u, 0, "first visit");
        add_lost(lab, r, lost, u, PER_VISIT, "second visit");
        add_both(lab, r, lost, u);
    }
    lab_judge_rates(report, 1, 1);
    judge(lab, r, report);
    return DEJA_OK;
}

const struct lab_experiment exp_unknown_n = {
    .name = "unknown-n",
    .title = "Unknown number of URLs",
    .reproduces = "thesis, section 7.2.1 (further work, left open there)",
    .seconds = 3,
    .about =
        (const char *const[]){
            "A filter has to be sized before the URLs come. The thesis proposes two ways out and "
            "leaves them untried: the temporal strategy on a scalable filter, and a first visit "
            "that is oversized and counted, so that the next one can be made to measure.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
