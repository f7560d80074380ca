/* exp_frontier.c - beyond the papers: every kind on one chart.
 *
 * Bits per URL and time per query against the false positive rate, with the lower bound for any
 * structure: log2(1/p) bits.  A unit is one kind at one rate.  New kinds are included
 * automatically. */
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include "tools/base/clock.h"
#include <math.h>
#include <stdio.h>

static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
#define RATES (sizeof rates / sizeof rates[0])
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

/* A kind that stores fingerprints has one rate, whatever is requested. */
static bool stores_fingerprints(uint32_t kind)
{
    return deja_kind_can(kind, DEJA_CAN_FILL);
}

/* A static filter has three widths, which rates below 1/256 and 1/65536 select. */
static bool takes(uint32_t kind, double rate)
{
    if (stores_fingerprints(kind))
        return rate == rates[RATES - 1];
    return !deja_kind_can(kind, DEJA_CAN_BUILD) || rate == 1e-2 || rate == 1e-4 || rate == 1e-6;
}

static bool find(uint32_t unit, struct subject *s)
{
    for (uint32_t kind = 0; (kind = deja_kind_next(kind));)
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

static void run(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    struct subject s = {0};
    (void)find(t->unit, &s);
    deja_options opt = lab_options(t, s.kind);
    opt.fp_rate = stores_fingerprints(s.kind) ? 0 : s.rate;
    const double begin = clock_ns();
    deja_filter *f = lab_full(t, &opt);
    t->value[ADD_NS] = (clock_ns() - begin) / (double)k->n;
    t->value[ASK_NS] = lab_fastest(t, lab_ask_step, f, k->asked, k->n, &t->value[HITS]);
    const deja_stats stats = lab_stats(t, f);
    t->value[BYTES] = (double)stats.bytes;
    t->value[EXPECTED] = stats.fp_now;
    t->value[FUNCTIONS] = stats.hashes;
    t->value[BODY_BITS] = stats.parts > 0 ? (double)stats.bits / stats.parts : 0;
}

/* --- Report ------------------------------------------------------------------------------- */

struct point {
    double bits, rate, ns;
};

static struct point point_of(const struct lab_results *r, uint32_t unit)
{
    return (struct point){8 * lab_value(r, unit, 0, BYTES) / lab_n(r), lab_mean(r, unit, EXPECTED),
                          lab_least(r, unit, ASK_NS)};
}

/* How far one filter is expected to be from its rate: due to the queries alone if each key has its
 * own number, and due to randomly set bits if keys share them. */
static double sigma_of(const struct lab_results *r, uint32_t unit, uint32_t kind, double asked)
{
    const double p = lab_mean(r, unit, EXPECTED), n = lab_n(r);
    const double bits = lab_value(r, unit, 0, BODY_BITS) / n;
    const uint32_t k = lab_value_count(lab_value(r, unit, 0, FUNCTIONS));
    if (stores_fingerprints(kind) || deja_kind_can(kind, DEJA_CAN_BUILD))
        return sqrt(p * (1 - p) / asked);
    if (kind != DEJA_CLASSIC) /* all others keep the bits of a key in one block */
        return lab_blocked_sigma(n, k, bits, asked, p);
    const struct lab_bloom b = {n, k, 1, bits / k, false};
    return lab_bloom_sigma_of(&b, asked, 1);
}

static const struct lab_table *make_table(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *rate =
        lab_table(report, LAB_GRID, "rate", "kind", "Rates: requested and measured, %");
    struct lab_table *bits = lab_table(report, LAB_GRID, "bits", "kind", "Bits per URL");
    struct lab_table *time = lab_table(report, LAB_GRID, "ns", "kind", "Time of a query, ns");
    const double asked = (double)(r->lab->keys.n / LAB_PARTS * LAB_PARTS);
    struct subject s;
    lab_caption(rate, "Theory: the full filter's own estimate (deja info). For layered it is an "
                      "upper bound, which only URLs made of known segments reach.");
    lab_caption(bits, "Theory: log2(1/p), the lower bound for a rate of p, with the filter's own "
                      "p.");
    lab_caption(time, "Absent URLs, in batches; the fastest of several measurements.");
    for (uint32_t u = 0; find(u, &s); u++) {
        char label[40];
        const char *name = deja_kind_name(s.kind);
        const struct point p = point_of(r, u);
        (void)snprintf(label, sizeof label, "p = %g", s.rate);
        if (stores_fingerprints(s.kind))
            (void)snprintf(label, sizeof label, "fingerprints");
        const struct lab_count count =
            lab_counted(r, u, HITS, asked, deja_kind_can(s.kind, DEJA_CAN_LAYER) ? NAN : p.rate,
                        sigma_of(r, u, s.kind, asked));
        lab_cell_rate(lab_cell(rate, name, label), &count, NULL);
        struct lab_cell *c = lab_cell(bits, name, label);
        lab_cell_plain(c, "bit", p.bits, NAN);
        c->theory = -log2(p.rate);
        lab_cell_plain(lab_cell(time, name, label), "ns", p.ns, NAN);
    }
    return rate;
}

/* A kind's place among the kinds: its color in both figures, whichever of them are drawn. */
static unsigned color_of(uint32_t kind)
{
    unsigned color = 0;
    for (uint32_t k = 0; (k = deja_kind_next(k)) && k != kind;)
        color++;
    return color;
}

/* The kind with the least bits or time per query at a rate of about 1e-4. */
static uint32_t least(const struct lab_results *r, bool time, double *value)
{
    struct subject s;
    uint32_t best = 0;
    *value = INFINITY;
    for (uint32_t u = 0; find(u, &s); u++) {
        const struct point p = point_of(r, u);
        if (s.rate != 1e-4 || stores_fingerprints(s.kind) || !((time ? p.ns : p.bits) < *value))
            continue;
        *value = time ? p.ns : p.bits;
        best = s.kind;
    }
    return best;
}

static void say_least(const struct lab_results *r, struct lab_figure *bits,
                      struct lab_figure *time)
{
    double value;
    const char *name = deja_kind_name(least(r, false, &value));
    lab_figure_caption(bits,
                       "The closer to the dashed line, the less memory is wasted. Created for a "
                       "rate of 1e-4, %s needs the least: %s bits per URL.",
                       name ? name : "none", lab_number(value).s);
    name = deja_kind_name(least(r, true, &value));
    lab_figure_caption(time,
                       "Queries of absent URLs on this machine. Created for a rate of 1e-4, %s is "
                       "the fastest: %s ns.",
                       name ? name : "none", lab_number(value).s);
}

/* One series per kind. */
static void draw(const struct lab_results *r, struct lab_report *report)
{
    struct lab_figure *bits = lab_figure(report, "bits", "Memory by rate", "false positive rate",
                                         "memory, bits per URL", NULL);
    struct lab_figure *time = lab_figure(report, "ns", "Time by rate", "false positive rate",
                                         "time per query, ns", NULL);
    struct subject s;
    uint32_t last = 0;
    size_t a = 0, b = 0;
    bits->log_x = bits->log_y = time->log_x = time->log_y = true;
    for (uint32_t u = 0; find(u, &s); u++) {
        const struct point p = point_of(r, u);
        if (stores_fingerprints(s.kind))
            continue; /* its rate is off the chart: see the table */
        if (s.kind != last) {
            a = lab_series(bits, LAB_LINE, color_of(s.kind), "%s", deja_kind_name(s.kind));
            b = lab_series(time, LAB_LINE, color_of(s.kind), "%s", deja_kind_name(s.kind));
            last = s.kind;
        }
        lab_point(bits, a, p.rate, p.bits);
        lab_point(time, b, p.rate, p.ns);
    }
    const size_t limit = lab_series(bits, LAB_DASHES, LAB_COLOR_PLAIN, "lower bound, log2(1/p)");
    lab_point(bits, limit, 1e-1, -log2(1e-1));
    lab_point(bits, limit, 1e-7, -log2(1e-7));
    say_least(r, bits, time);
}

/* "blocked 1.62, classic 1.44": bits relative to the bound. */
static void list_ratios(const struct lab_results *r, char *text, size_t cap)
{
    struct subject s;
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t u = 0; find(u, &s) && len < cap; u++) {
        const struct point p = point_of(r, u);
        if (s.rate == 1e-4 && !stores_fingerprints(s.kind))
            len += (size_t)snprintf(text + len, cap - len, "%s%s %.2f", len > 0 ? ", " : "",
                                    deja_kind_name(s.kind), p.bits / -log2(p.rate));
    }
}

#define SUBJECTS 128 /* more than there are */

static void judge_bound(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[SUBJECTS];
    char ratios[600];
    struct subject s;
    uint32_t n = 0;
    for (; n < SUBJECTS && find(n, &s); n++) {
        const struct point p = point_of(r, n);
        test[n] = lab_test_more((struct lab_estimate){p.bits, 0, 0}, -log2(p.rate));
    }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c = lab_claim(report, "beyond the papers",
                                    "No structure needs fewer than log2(1/p) bits per URL.");
    list_ratios(r, ratios, sizeof ratios);
    lab_answer(&c->holds, &all, "bit", "each of %u filters takes more bits than the bound", n);
    lab_add_text(&c->holds, "Memory relative to the bound, at p = 1e-4: %s.", ratios);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_table *rates_table = make_table(r, report);
    draw(r, report);
    (void)lab_judge(
        report, rates_table, "beyond the papers",
        "Every kind has the false positive rate that it estimates itself (deja info).");
    judge_bound(r, report);
}

const struct lab_experiment exp_frontier = {
    .name = "frontier",
    .title = "All kinds on one chart",
    .reproduces = "beyond the papers: bits, rate and time of every kind",
    .seconds = 9.5,
    .about = (const char *const[]){"Every kind of deja at rates from 0.1 to 1e-6: its memory, its "
                                   "speed, and how close it comes to the lower bound of "
                                   "information theory.",
                                   NULL},
    .timed = true,
    .max_runs = 3,
    .units_of = units,
    .values = N_VALUES,
    .run = run,
    .report = make_report,
};
