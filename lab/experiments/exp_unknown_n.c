/* exp_unknown_n.c - an unknown number of URLs: thesis 7.2.1, left open there.
 *
 * Tests its two proposals: the temporal strategy on a scalable filter, which grows as URLs arrive;
 * and a filter that is much too large on the first visit and resized on the next to the number of
 * URLs that the first one saw.  For comparison: a filter whose size was guessed ten times too
 * small, and one sized with the exact number.
 *
 * Incremental on both visits: each URL is queried, then inserted. */
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include <math.h>

#define RATE    0.01
#define REPEATS 4096u

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

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return deja_kind_can(plans[unit].kind, DEJA_CAN_GROW) ? 3 : 1;
}

/* Fill the filter and mark in seen the URLs mistaken for seen.
 *
 * Some URLs are repeated before the filter gives its estimate.  Without any repeat, the filter
 * knows that no more URLs can be lost than those not reported as new.  That bound makes the
 * estimate low: E min(X, mu) is 0.4 standard deviations below the mean mu of X. */
static void visit(struct lab_task *t, deja_filter *f, uint8_t *seen, double *value)
{
    const struct lab_keys *k = &t->lab->keys;
    value[LOST] = lab_add(t, f, k->added, k->n, seen);
    (void)lab_add(t, f, k->added, k->n < REPEATS ? k->n : REPEATS, NULL);
    const deja_stats stats = lab_stats(t, f);
    value[BYTES] = (double)stats.bytes;
    value[EXPECTED] = stats.lost;
    value[BITS] = (double)stats.bits;
    value[HASHES] = stats.hashes;
}

static void run(struct lab_task *t)
{
    const struct plan *p = &plans[t->unit];
    const uint64_t n = t->lab->keys.n;
    deja_options opt = lab_options(t, p->kind), next = DEJA_OPTIONS_INIT;
    uint8_t *first = lab_alloc(t, n), *second = lab_alloc(t, n);
    opt.capacity = (uint64_t)(p->guess * (double)n);
    opt.fp_rate = RATE;
    next.capacity = p->again ? opt.capacity : 0;
    deja_filter *f = lab_filter(t, &opt);
    visit(t, f, first, t->value);
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_rotate(f, &next, t->err));
    visit(t, f, second, t->value + PER_VISIT);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < n; i++)
        t->value[BOTH] += first[i] & second[i];
}

/* --- Report -------------------------------------------------------------------------- */

/* What one filter of that size loses while n URLs arrive; a series of filters reports it itself.
 * The count of the first visit, and so the size on the second, differs between runs. */
static struct lab_count expect(const struct lab_results *r, uint32_t unit, uint32_t visit_at)
{
    const double n = lab_n(r);
    struct lab_count c = lab_counted(r, unit, visit_at + LOST, n, 0, 0);
    double variance = 0;
    for (uint32_t run_ = 0; run_ < r->runs; run_++) {
        const double *value = lab_values(r, unit, run_) + visit_at;
        const uint32_t k = lab_value_count(value[HASHES]);
        const struct lab_bloom b = {n, k, 1, value[BITS] / (n * k), true};
        const bool series = deja_kind_can(plans[unit].kind, DEJA_CAN_GROW);
        const double rate = series ? value[EXPECTED] / n : lab_bloom_rate(&b);
        const double sigma = series ? sqrt(rate * (1 - rate) / n) : lab_bloom_sigma(&b);
        c.rate += rate / r->runs;
        variance += sigma * sigma / r->runs;
    }
    c.sigma = sqrt(variance);
    return c;
}

static double bits_of(const struct lab_results *r, uint32_t unit, uint32_t visit_at)
{
    return 8 * lab_value(r, unit, 0, visit_at + BYTES) / lab_n(r);
}

static double percent_of(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    return 100 * lab_mean(r, unit, index) / lab_n(r);
}

static void judge(const struct lab_results *r, struct lab_report *report)
{
    const double scalable1 = percent_of(r, 4, LOST);
    lab_verdict(
        report, LAB_NOTE,
        "A filter that was guessed ten times too small loses %.0f %% of the URLs on a visit, and "
        "%.0f %% on both visits if it keeps its size: new salts do not help a full filter. If it "
        "is resized to the number of URLs of the first visit, the second visit loses %.2f %%.",
        percent_of(r, 1, LOST), percent_of(r, 1, BOTH), percent_of(r, 2, PER_VISIT + LOST));
    lab_verdict(
        report, LAB_AGREES,
        "The temporal strategy works on a scalable filter, as the thesis hoped: it started at a "
        "tenth of the size and stayed below 1 %% (%.3f %% lost). With new salts, %.5f %% were lost "
        "on both visits; chance alone gives at least %.5f %%.",
        scalable1, percent_of(r, 4, BOTH), scalable1 * percent_of(r, 4, PER_VISIT + LOST) / 100);
    lab_verdict(
        report, LAB_AGREES,
        "Oversizing, counting and resizing also works: %.1f bits per URL on the first visit, %.1f "
        "on the second, which loses %.3f %%. Not knowing n costs memory once; with a scalable "
        "filter, it costs %.1f bits instead of %.1f, and more lookups, on the first visit only.",
        bits_of(r, 3, 0), bits_of(r, 3, PER_VISIT), percent_of(r, 3, PER_VISIT + LOST),
        bits_of(r, 4, 0), bits_of(r, 0, 0));
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const char *const column[] = {"first visit", "second visit"};
    struct lab_table *memory =
        lab_table(report, LAB_GRID, "bits", "first visit", "Memory for the n URLs, bits per URL");
    struct lab_table *lost = lab_table(report, LAB_GRID, "lost", "first visit",
                                       "URLs mistaken for seen while the filter fills, %");
    lab_caption(lost, "Requested: at most 1 %% at capacity. Theory: the filter's own estimate at "
                      "the end (deja info: lost).");
    for (uint32_t u = 0; u < PLANS; u++) {
        for (uint32_t v = 0; v < 2; v++) {
            const struct lab_count count = expect(r, u, v * PER_VISIT);
            lab_cell_rate(lab_cell(lost, plans[u].label, column[v]), &count, NULL);
            lab_cell_plain(lab_cell(memory, plans[u].label, column[v]), "bit",
                           bits_of(r, u, v * PER_VISIT), 0);
        }
        const struct lab_count both = lab_counted(r, u, BOTH, lab_n(r), NAN, 0);
        lab_cell_rate(lab_cell(lost, plans[u].label, "both"), &both, NULL);
    }
    lab_judge_rates(report, 1, 1);
    judge(r, report);
}

const struct lab_experiment exp_unknown_n = {
    .name = "unknown-n",
    .title = "Unknown number of URLs",
    .reproduces = "thesis, section 7.2.1 (further work, left open there)",
    .seconds = 3,
    .about =
        (const char *const[]){
            "A filter must be sized before the URLs arrive. The thesis proposes two solutions and "
            "does not test them: the temporal strategy on a scalable filter, and a first visit "
            "with an oversized filter that counts the URLs, so that the next one has the right "
            "size.",
            NULL},
    .units = PLANS,
    .values = N_VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
