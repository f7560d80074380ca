/* exp_frontier.c - beyond the papers: every kind on one chart.
 *
 * Bits per URL and time per query against the false positive rate, with the lower bound for any
 * structure: log2(1/p) bits.  A unit is one kind at one rate.  Kinds that this library does not
 * have are skipped, and new ones are included automatically. */
#include "lab/engine/lab_filter.h"
#include "lab/report/lab_report.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
#define RATES    (sizeof rates / sizeof rates[0])
#define MAX_KIND 32u
#define PARTS    5u

enum {
    BYTES,
    HITS,
    EXPECTED,
    FUNCTIONS,
    BODY_BITS,
    ADD_NS,
    ASK_NS,
    N_VALUES
};

struct subject {
    uint32_t kind;
    double rate;
};

/* exact has one rate; static has three widths, which rates below 1/256 and 1/65536 select. */
static bool takes(uint32_t kind, double rate)
{
    if (!deja_kind_name(kind))
        return false;
    if (kind == DEJA_EXACT)
        return rate == rates[RATES - 1];
    if (kind == DEJA_STATIC)
        return rate == 1e-2 || rate == 1e-4 || rate == 1e-6;
    return true;
}

static bool find(uint32_t unit, struct subject *s)
{
    for (uint32_t kind = 1; kind < MAX_KIND; kind++)
        for (size_t i = 0; i < RATES; i++)
            if (takes(kind, rates[i]) && unit-- == 0) {
                *s = (struct subject){kind, rates[i]};
                return true;
            }
    return false;
}

static uint32_t units(const struct lab *lab)
{
    struct subject s;
    uint32_t n = 0;
    (void)lab;
    while (find(n, &s))
        n++;
    return n;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return N_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 4.0 * (double)lab->keys.n;
}

static int ask(const struct lab *lab, const deja_filter *f, double *value, deja_error *err)
{
    const uint64_t some = lab->keys.n / PARTS;
    value[ASK_NS] = INFINITY;
    value[HITS] = 0;
    for (uint64_t p = 0; p < PARTS; p++) {
        double hits = 0;
        const double begin = clock_ns();
        const int rc = lab_ask(lab, f, lab->keys.asked + p * some, some, &hits, err);
        if (rc < 0)
            return rc;
        value[ASK_NS] = fmin(value[ASK_NS], (clock_ns() - begin) / (double)some);
        value[HITS] += hits;
    }
    return DEJA_OK;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_stats stats = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    struct subject s = {0};
    (void)find(task->unit, &s);
    opt.kind = s.kind;
    opt.capacity = lab->keys.n;
    opt.fp_rate = s.kind == DEJA_EXACT ? 0 : s.rate;
    opt.seed = task->seed;
    const double begin = clock_ns();
    int rc = lab_make_full(lab, &opt, &f, err);
    value[ADD_NS] = (clock_ns() - begin) / (double)lab->keys.n;
    if (rc == DEJA_OK)
        rc = ask(lab, f, value, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &stats, err);
    value[BYTES] = (double)stats.bytes;
    value[EXPECTED] = stats.fp_now;
    value[FUNCTIONS] = stats.hashes;
    value[BODY_BITS] = (double)stats.bits / stats.parts;
    deja_filter_free(f);
    return rc;
}

/* --- Report ------------------------------------------------------------------------------- */

static double fastest(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    double best = INFINITY;
    for (uint32_t run_ = 0; run_ < r->runs; run_++)
        best = fmin(best, lab_value(r, unit, run_, index));
    return best;
}

struct point {
    double bits, rate, ns;
};

static struct point point_of(const struct lab *lab, const struct lab_results *r, uint32_t unit)
{
    return (struct point){8 * lab_value(r, unit, 0, BYTES) / (double)lab->keys.n,
                          lab_sum(r, unit, EXPECTED) / r->runs, fastest(r, unit, ASK_NS)};
}

/* How far one filter is expected to be from its rate: due to the queries alone if each key has its
 * own number, and due to randomly set bits if keys share them. */
static double sigma_of(const struct lab *lab, const struct lab_results *r, uint32_t unit,
                       uint32_t kind, double asked)
{
    const double p = lab_sum(r, unit, EXPECTED) / r->runs, n = (double)lab->keys.n;
    const double bits = lab_value(r, unit, 0, BODY_BITS) / n;
    const uint32_t k = lab_value_count(lab_value(r, unit, 0, FUNCTIONS));
    if (kind == DEJA_EXACT || kind == DEJA_STATIC)
        return sqrt(p * (1 - p) / asked);
    if (kind != DEJA_CLASSIC)
        return lab_blocked_sigma(n, k, bits, asked, p);
    const struct lab_bloom b = {n, k, 1, bits / k, false};
    return lab_bloom_sigma_of(&b, asked, 1);
}

static void make_table(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report)
{
    struct lab_table *rate =
        lab_table(report, LAB_GRID, "rate", "kind", "Rates that were asked for and measured, %");
    struct lab_table *bits = lab_table(report, LAB_GRID, "bits", "kind", "Bits a URL");
    struct lab_table *time = lab_table(report, LAB_GRID, "ns", "kind", "Time, ns a URL");
    struct subject s;
    lab_caption(rate,
                "Theory: what the filter says of itself when it is full (deja info); for layered "
                "that is a bound, reached by URLs of known segments alone.");
    lab_caption(bits,
                "Theory: log2(1/p), the least that a rate of p allows, with the filter's own p.");
    lab_caption(time, "In batches, the fastest of several; for URLs that are not there.");
    for (uint32_t u = 0; find(u, &s); u++) {
        char label[40];
        const struct point p = point_of(lab, r, u);
        const double asked = (double)(lab->keys.n / PARTS * PARTS);
        (void)snprintf(label, sizeof label, "p = %g", s.rate);
        if (s.kind == DEJA_EXACT)
            (void)snprintf(label, sizeof label, "fingerprints");
        const struct lab_count count = {.hits = lab_sum(r, u, HITS),
                                        .trials = asked,
                                        .runs = r->runs,
                                        .rate = s.kind == DEJA_LAYERED ? NAN : p.rate,
                                        .sigma = sigma_of(lab, r, u, s.kind, asked)};
        lab_cell_rate(lab_cell(rate, deja_kind_name(s.kind), label), &count,
                      &(struct lab_printed){0});
        struct lab_cell *c = lab_cell(bits, deja_kind_name(s.kind), label);
        lab_cell_plain(c, "bit", p.bits, NAN);
        c->theory = -log2(p.rate);
        lab_cell_plain(lab_cell(time, deja_kind_name(s.kind), label), "ns", p.ns, NAN);
    }
}

/* One series per kind. */
static void draw(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_figure *bits =
        lab_figure(report, "bits", "Memory against rate", "rate of false positives", "bits a URL");
    struct lab_figure *time =
        lab_figure(report, "ns", "Time against rate", "rate of false positives", "ns a question");
    struct subject s;
    uint32_t last = 0;
    size_t a = 0, b = 0;
    unsigned colour = 0;
    bits->log_x = bits->log_y = time->log_x = true;
    (void)snprintf(bits->caption, sizeof bits->caption, "Dashes: the least that is possible");
    for (uint32_t u = 0; find(u, &s); u++) {
        const struct point p = point_of(lab, r, u);
        if (s.kind == DEJA_EXACT)
            continue; /* its rate is off the chart: see the table */
        if (s.kind != last) {
            a = lab_series(bits, LAB_LINE, colour, "%s", deja_kind_name(s.kind));
            b = lab_series(time, LAB_LINE, colour, "%s", deja_kind_name(s.kind));
            last = s.kind;
            colour++;
        }
        lab_point(bits, a, p.rate, p.bits);
        lab_point(time, b, p.rate, p.ns);
    }
    const size_t limit = lab_series(bits, LAB_DASHES, 7, "log2(1/p)");
    lab_point(bits, limit, 1e-1, -log2(1e-1));
    lab_point(bits, limit, 1e-7, -log2(1e-7));
}

static void judge(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct subject s;
    char text[600] = "";
    size_t len = 0;
    for (uint32_t u = 0; find(u, &s) && len < sizeof text; u++) {
        const struct point p = point_of(lab, r, u);
        if (s.rate == 1e-4 && s.kind != DEJA_EXACT)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%s %.2f", len > 0 ? ", " : "",
                                 deja_kind_name(s.kind), p.bits / -log2(p.rate));
    }
    lab_verdict(
        report, LAB_NOTE,
        "Memory beside the least possible, at p = 1e-4: %s times. A classic filter cannot do "
        "better than 1.44 times; static can, because it never changes.",
        text);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    make_table(lab, r, report);
    draw(lab, r, report);
    lab_judge_rates(report, 0, 1);
    judge(lab, r, report);
    return DEJA_OK;
}

const struct lab_experiment exp_frontier = {
    .name = "frontier",
    .title = "All kinds on one chart",
    .reproduces = "beyond the papers: bits, rate and time of every kind",
    .seconds = 9.5,
    .about =
        (const char *const[]){"Every kind of deja at rates from 0.1 to 1e-6: what it takes in "
                              "memory and in time, and "
                              "how close it comes to the least that information theory allows.",
                              NULL},
    .timed = true,
    .max_runs = 3,
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
