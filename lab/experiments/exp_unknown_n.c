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
#include <stdlib.h>

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
    {"scalable from n / 10, then resized", DEJA_SCALABLE, 0.1, false},
    {"scalable from n / 10, twice", DEJA_SCALABLE, 0.1, true},
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
#define BOTH   (2 * PER_VISIT)
/* The losses of each visit, and of both, in equal parts of the URLs: the rate rises within a visit,
 * so only URLs that arrived at about the same time can be expected to be lost independently. */
#define STRATA 100u
enum {
    FIRST = BOTH + 1,
    SECOND = FIRST + STRATA,
    SHARED = SECOND + STRATA,
    N_VALUES = SHARED + STRATA
};

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
    for (uint64_t i = 0; t->rc == DEJA_OK && i < n; i++) {
        const uint64_t stratum = i * STRATA / n;
        t->value[FIRST + stratum] += first[i];
        t->value[SECOND + stratum] += second[i];
        t->value[SHARED + stratum] += first[i] & second[i];
        t->value[BOTH] += first[i] & second[i];
    }
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

/* --- Claims ---------------------------------------------------------------------------- */

enum {
    KNOWN,
    KEPT,
    RESIZED,
    OVERSIZED,
    SCALABLE,
    TWICE
};

static struct lab_rate lost(const struct lab_results *r, uint32_t unit, uint32_t visit_at)
{
    return (struct lab_rate){lab_sum(r, unit, visit_at + LOST), lab_n(r) * r->runs, 0};
}

/* The losses of both visits in each part of the URLs, as if it were a run. */
static struct lab_test independent(const struct lab_results *r, uint32_t unit)
{
    const uint32_t n = STRATA * r->runs;
    struct lab_test t = {.p = NAN};
    double *hits = malloc(3 * n * sizeof *hits);
    for (uint32_t i = 0; hits && i < 3 * n; i++)
        hits[i] = lab_value(r, unit, i / STRATA % r->runs, FIRST + i / n * STRATA + i % STRATA);
    if (hits)
        t = lab_test_independent(hits, hits + n, hits + 2 * n, lab_n(r) / STRATA, n,
                                 LAB_TOLERANCE);
    free(hits);
    return t;
}

static void judge_scalable(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_test same = independent(r, TWICE);
    struct lab_claim *c = lab_claim(
        report, "thesis, 7.2.1",
        "The temporal strategy should be tested with a scalable Bloom filter, to see if the same "
        "reduction in false positive probability applies.");
    lab_answer(
        &c->holds, &same, "%",
        "the visits lose URLs independently, also in scalable filters: both lose as many as "
        "chance lets them share, in each of %u parts of the URLs",
        STRATA);
    lab_add_text(&c->holds,
                 "%.3f %% lost on the first visit, %.3f %% on the second, %.5f %% on both.",
                 percent_of(r, TWICE, LOST), percent_of(r, TWICE, PER_VISIT + LOST),
                 percent_of(r, TWICE, BOTH));

    const struct lab_test kept = lab_test_at_most(lost(r, SCALABLE, 0), RATE);
    c = lab_claim(
        report, "thesis, 7.2.1",
        "A scalable filter grows with the number of URLs and keeps the rate acceptable.");
    lab_answer(&c->holds, &kept, "%",
               "started at a tenth of the size, it loses at most the requested %g %%", 100 * RATE);
    lab_add_text(&c->holds,
                 "The first visit takes %.1f bits per URL; a filter that knows n, %.1f.",
                 bits_of(r, SCALABLE, 0), bits_of(r, KNOWN, 0));
}

static void judge_sizes(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_test resized = lab_test_at_most(lost(r, OVERSIZED, PER_VISIT), RATE);
    struct lab_claim *c =
        lab_claim(report, "thesis, 7.2.1",
                  "Oversize the filter on the first visit, count the URLs, and size the next one "
                  "accordingly.");
    lab_answer(&c->holds, &resized, "%", "the resized filter loses at most the requested %g %%",
               100 * RATE);
    lab_add_text(&c->holds, "%.1f bits per URL on the first visit, %.1f on the second.",
                 bits_of(r, OVERSIZED, 0), bits_of(r, OVERSIZED, PER_VISIT));

    const struct lab_test memory =
        lab_test_more((struct lab_estimate){bits_of(r, OVERSIZED, 0), 0, 0}, bits_of(r, KNOWN, 0));
    c = lab_claim(report, "thesis, 7.2.1",
                  "If the filter is too large on the first visit, it uses a lot of memory that is "
                  "not utilized.");
    lab_answer(&c->holds, &memory, "bit",
               "a filter for 4 n URLs takes more bits per URL than one for n");

    const struct lab_rate small = lost(r, KEPT, 0);
    const double rate = small.hits / small.trials;
    const struct lab_test grows = lab_test_more(
        (struct lab_estimate){rate, sqrt(rate * (1 - rate) / small.trials), 0}, RATE);
    c = lab_claim(report, "thesis, 7.2.1",
                  "If the filter is too small, the probability of a false positive grows.");
    lab_answer(&c->holds, &grows, "%",
               "a filter for n / 10 URLs loses more than the requested %g %%", 100 * RATE);
    lab_add_text(
        &c->holds,
        "New salts do not help a full filter: %.1f %% are lost on both visits if it keeps "
        "its size. Resized to the URLs that the first visit saw, the second loses %.2f %%.",
        percent_of(r, KEPT, BOTH), percent_of(r, RESIZED, PER_VISIT + LOST));
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const char *const column[] = {"first visit", "second visit"};
    struct lab_table *memory =
        lab_table(report, LAB_GRID, "bits", "first visit", "Memory for the n URLs, bits per URL");
    struct lab_table *lost_table = lab_table(report, LAB_GRID, "lost", "first visit",
                                             "URLs mistaken for seen while the filter fills, %");
    lab_caption(lost_table,
                "Requested: at most 1 %% at capacity. Theory: the filter's own estimate at "
                "the end (deja info: lost).");
    for (uint32_t u = 0; u < PLANS; u++) {
        for (uint32_t v = 0; v < 2; v++) {
            const struct lab_count count = expect(r, u, v * PER_VISIT);
            lab_cell_rate(lab_cell(lost_table, plans[u].label, column[v]), &count, NULL);
            lab_cell_plain(lab_cell(memory, plans[u].label, column[v]), "bit",
                           bits_of(r, u, v * PER_VISIT), 0);
        }
        const struct lab_count both = lab_counted(r, u, BOTH, lab_n(r), NAN, 0);
        lab_cell_rate(lab_cell(lost_table, plans[u].label, "both"), &both, NULL);
    }
    (void)lab_judge(
        report, lost_table, "beyond the thesis",
        "Each filter loses as many URLs as it estimates itself at the end (deja info).");
    judge_scalable(r, report);
    judge_sizes(r, report);
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
