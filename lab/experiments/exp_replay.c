/* exp_replay.c - beyond the papers: what does a false positive cost a crawl?
 *
 * A page that the filter mistakes for seen is lost, and so is every page that can be reached only
 * through it.  A unit crawls one site with one filter, breadth-first, in three visits, which use
 * different hash functions.  Theory: the dominator tree of the site (lab_reach.h), with the
 * filter's own estimate of its rate while it fills. */
#include "lab/engine/lab_reach.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_claim.h"
#include "lab/report/lab_report.h"
#include "tools/base/mix.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VISITS      3u
#define CHECKPOINTS 64u /* readings of the rate during a visit */
#define SITE_SEED   UINT64_C(0x73697465)
#define BOUND_ABOVE 0.05 /* at higher rates, the theory is only a lower bound */

static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_SCALABLE};
static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define RATES (sizeof rates / sizeof rates[0])
#define UNITS (KINDS * RATES)

enum {
    PAGES,                        /* in reach */
    LINKS,                        /* of the site */
    DEPTH,                        /* mean number of dominators of a page */
    LOST,                         /* false positives of each visit */
    MISSED = LOST + VISITS,       /* pages that each visit did not fetch */
    ALL = MISSED + VISITS,        /* missed by the first visit, by the first two, ... */
    EXPECTED_LOST = ALL + VISITS, /* by the theory: for LOST, MISSED and ALL */
    EXPECTED_MISSED = EXPECTED_LOST + VISITS,
    EXPECTED_ALL = EXPECTED_MISSED + VISITS,
    SIGMA_ALL = EXPECTED_ALL + VISITS,
    N_VALUES = SIGMA_ALL + VISITS
};

static uint32_t kind_of(uint32_t unit)
{
    return kinds[unit / RATES];
}

static double rate_of(uint32_t unit)
{
    return rates[unit % RATES];
}

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return deja_kind_can(kind_of(unit), DEJA_CAN_GROW) ? 2 : 1;
}

/* --- The crawl --------------------------------------------------------------------- */

struct crawl {
    struct lab_task *t;
    const struct lab_graph *site;
    struct lab_reach reach;
    deja_filter *filter;
    uint32_t *queue;
    uint8_t *offered, *missed, *all; /* of each node: in this visit; in all visits */
    double *rate[VISITS];            /* of the filter, at each arrival */
    uint32_t arrivals, last_reading;
};

static void prepare(struct crawl *c)
{
    const size_t nodes = c->site->nodes;
    deja_options opt = lab_options(c->t, kind_of(c->t->unit));
    opt.capacity = c->reach.n;
    if (deja_kind_can(opt.kind, DEJA_CAN_GROW))
        opt.capacity = c->reach.n / 10 + 1;
    opt.fp_rate = rate_of(c->t->unit);
    c->filter = lab_filter(c->t, &opt);
    c->queue = lab_alloc(c->t, nodes * sizeof *c->queue);
    c->offered = lab_alloc(c->t, nodes);
    c->missed = lab_alloc(c->t, nodes);
    c->all = lab_alloc(c->t, nodes);
    for (uint32_t v = 0; v < VISITS; v++)
        c->rate[v] = lab_alloc(c->t, (nodes + 1) * sizeof *c->rate[v]);
}

/* Reads the rate, and interpolates since the last reading.  Offers are numbered from 1. */
static void read_rate(struct crawl *c, double *rate)
{
    const uint32_t from = c->last_reading, to = c->arrivals;
    const double begin = rate[from], end = lab_stats(c->t, c->filter).fp_now;
    for (uint32_t i = from + 1; i <= to; i++)
        rate[i] = begin + (end - begin) * (i - from) / (to - from);
    c->last_reading = to;
}

/* Offers a link to the filter; true if it reports the page as new. */
static bool offer(struct crawl *c, uint32_t visit, uint32_t node)
{
    const deja_slice url = c->site->url ? c->site->url[node] : c->t->lab->keys.added[node - 1];
    bool is_new = false;
    if (++c->arrivals % (c->reach.n / CHECKPOINTS + 1) == 0)
        read_rate(c, c->rate[visit]);
    lab_checked(c->t, deja_filter_add(c->filter, url, &is_new, c->t->err));
    c->t->value[LOST + visit] += !is_new;
    return is_new;
}

/* Each page is offered once: a second link to it finds it in the filter, or finds the same false
 * positive. */
static void crawl(struct crawl *c, uint32_t visit)
{
    const struct lab_graph *g = c->site;
    uint32_t n = 0;
    memset(c->offered, 0, g->nodes);
    memset(c->missed, 1, g->nodes);
    c->arrivals = c->last_reading = 0;
    c->queue[n++] = 0;
    for (uint32_t at = 0; at < n && lab_going(c->t); at++) {
        const uint32_t from = c->queue[at];
        c->missed[from] = 0;
        for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++) {
            const uint32_t to = g->to[i];
            if (to > 0 && !c->offered[to] && offer(c, visit, to))
                c->queue[n++] = to;
            c->offered[to] = 1;
        }
    }
}

static void count_missed(struct crawl *c, uint32_t visit)
{
    double *value = c->t->value;
    for (uint32_t i = 1; i < c->reach.n; i++) {
        const uint32_t node = c->reach.order[i];
        c->all[node] = c->missed[node] && (visit == 0 || c->all[node]);
        value[MISSED + visit] += c->missed[node];
        value[ALL + visit] += c->all[node];
    }
}

/* The rate at each arrival is that of the page with this number in a crawl without losses.  Pages
 * that never arrived come after all others. */
static void end_visit(struct crawl *c, uint32_t visit)
{
    double *rate = c->rate[visit];
    read_rate(c, rate);
    for (uint32_t i = c->arrivals + 1; i < c->reach.n; i++)
        rate[i] = rate[i - 1];
    for (uint32_t i = 1; i <= c->arrivals; i++)
        c->t->value[EXPECTED_LOST + visit] += rate[i];
    count_missed(c, visit);
}

static void expect(struct crawl *c)
{
    struct lab_task *t = c->t;
    const double *const rate[] = {c->rate[0], c->rate[1], c->rate[2]};
    for (uint32_t v = 0; v < VISITS && t->rc == DEJA_OK; v++) {
        struct lab_missed one = {0}, all = {0};
        lab_checked(t, lab_reach_missed(&c->reach, rate + v, 1, &one, t->err));
        lab_checked(t, lab_reach_missed(&c->reach, rate, v + 1, &all, t->err));
        t->value[EXPECTED_MISSED + v] = one.mean;
        t->value[EXPECTED_ALL + v] = all.mean;
        t->value[SIGMA_ALL + v] = all.sigma;
    }
}

static void visit_all(struct crawl *c)
{
    struct lab_task *t = c->t;
    const deja_options next = DEJA_OPTIONS_INIT;
    for (uint32_t visit = 0; visit < VISITS && lab_going(t); visit++) {
        if (visit > 0)
            lab_checked(t, deja_filter_rotate(c->filter, &next, t->err));
        crawl(c, visit);
        end_visit(c, visit);
    }
}

static void crawl_site(struct lab_task *t, const struct lab_graph *site)
{
    struct crawl c = {.t = t, .site = site};
    lab_checked(t, lab_reach_make(&c.reach, site, t->err));
    if (t->rc == DEJA_OK)
        prepare(&c);
    if (t->rc == DEJA_OK)
        visit_all(&c);
    if (t->rc == DEJA_OK)
        expect(&c);
    if (t->rc == DEJA_OK) {
        t->value[PAGES] = c.reach.n - 1;
        t->value[LINKS] = (double)lab_graph_links(site);
        t->value[DEPTH] = c.reach.depth;
    }
    lab_reach_fini(&c.reach);
}

static void sizes(const struct lab *lab, char *text, size_t cap)
{
    (void)snprintf(text, cap, "%s", "the site of --graph");
    if (!lab->graph)
        (void)snprintf(text, cap, "a site with %s pages", num_count(lab->keys.n / 10).s);
}

/* Each run has another generated site. */
static void run(struct lab_task *t)
{
    const struct lab *lab = t->lab;
    struct lab_graph made = {0};
    if (!lab->graph)
        lab_checked(t, lab_graph_make(&made, (uint32_t)(lab->keys.n / 10),
                                      mix64(lab->seed ^ SITE_SEED) + t->run, t->err));
    if (t->rc == DEJA_OK)
        crawl_site(t, lab->graph ? lab->graph : &made);
    lab_graph_fini(&made);
}

/* --- Report ------------------------------------------------------------------------ */

/* The pages missed by all of the first `visits`, in all runs. */
static struct lab_count missed_by(const struct lab_results *r, uint32_t unit, uint32_t visits)
{
    const double pages = lab_mean(r, unit, PAGES);
    const uint32_t i = visits - 1;
    struct lab_count c =
        lab_counted(r, unit, ALL + i, pages, lab_mean(r, unit, EXPECTED_ALL + i) / pages, 0);
    double variance = 0;
    for (uint32_t run_ = 0; run_ < r->runs; run_++) {
        const double sigma = lab_value(r, unit, run_, SIGMA_ALL + i) / pages;
        variance += sigma * sigma / r->runs;
    }
    c.sigma = sqrt(variance);
    return c;
}

static double sum_of_visits(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    double sum = 0;
    for (uint32_t v = 0; v < VISITS; v++)
        sum += lab_sum(r, unit, index + v);
    return sum;
}

struct label {
    char s[40];
};

static struct label label_of(uint32_t unit)
{
    struct label l;
    (void)snprintf(l.s, sizeof l.s, "%s, p = %g", deja_kind_name(kind_of(unit)), rate_of(unit));
    return l;
}

/* A bound is shown, but nothing is expected to be near it. */
static void put_missed(struct lab_cell *c, uint32_t unit, struct lab_count count)
{
    const double rate = count.rate;
    const bool bound = rate_of(unit) > BOUND_ABOVE;
    if (bound)
        count.rate = NAN;
    lab_cell_rate(c, &count, NULL);
    if (bound)
        c->theory = 100 * rate;
}

static void make_missed(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "missed", "filter",
                                    "Pages missed by every visit, % of those in reach");
    lab_caption(t, "A page is missed if the filter mistakes it for seen, or all paths to it lead "
                   "through such pages. Theory: the dominator tree of the site, a lower bound for "
                   "p = 0.1.");
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t v = 1; v <= VISITS; v++) {
            char column[24];
            const struct lab_count count = missed_by(r, u, v);
            (void)snprintf(column, sizeof column, v > 1 ? "%u visits" : "%u visit", v);
            put_missed(lab_cell(t, label_of(u).s, column), u, count);
        }
}

static void make_cost(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "cost", "filter", "Cost of a false positive, in pages missed");
    lab_caption(t, "Missed: pages not fetched in a visit, for each page that the filter mistook "
                   "for seen. Theory: by the dominator tree.");
    for (uint32_t u = 0; u < UNITS; u++) {
        const double lost = sum_of_visits(r, u, LOST);
        struct lab_cell *c = lab_cell(t, label_of(u).s, "lost in a visit");
        lab_cell_plain(c, "pages", lost / (VISITS * r->runs), NAN);
        c->theory = sum_of_visits(r, u, EXPECTED_LOST) / (VISITS * r->runs);
        c = lab_cell(t, label_of(u).s, "missed for each");
        lab_cell_plain(c, "pages", lost > 0 ? sum_of_visits(r, u, MISSED) / lost : NAN, NAN);
        c->theory = sum_of_visits(r, u, EXPECTED_MISSED) / sum_of_visits(r, u, EXPECTED_LOST);
    }
}

/* The points of a kind, of the middle of the list. */
static void draw(const struct lab_results *r, struct lab_report *report)
{
    struct lab_figure *f =
        lab_figure(report, "missed", "Pages missed by a crawl", "false positive rate at capacity",
                   "pages missed by all visits, %", NULL);
    f->log_x = f->log_y = true;
    for (uint32_t v = 1; v <= VISITS; v++) {
        const size_t line = lab_series(f, LAB_DASHES, v - 1, "%s", "");
        const size_t dots = lab_series(f, LAB_POINTS, v - 1, v > 1 ? "%u visits" : "%u visit", v);
        for (uint32_t u = RATES; u < 2 * RATES; u++) {
            const struct lab_count c = missed_by(r, u, v);
            lab_point(f, line, rate_of(u), 100 * c.rate);
            lab_point_rate(f, dots, rate_of(u), c.hits, c.trials * c.runs);
        }
    }
    const size_t alone = lab_series(f, LAB_LINE, LAB_COLOR_PLAIN, "lost pages alone, 1 visit");
    for (uint32_t u = RATES; u < 2 * RATES; u++)
        lab_point(f, alone, rate_of(u),
                  100 * lab_mean(r, u, EXPECTED_LOST) / lab_mean(r, u, PAGES));
    lab_figure_caption(f,
                       "Kind %s, %s. The gray line counts only the pages that the filter mistook "
                       "for seen; the distance to it is what they take along. Dashes: theory. The "
                       "intervals assume independent pages, but pages are missed in groups.",
                       deja_kind_name(kinds[1]),
                       r->lab->graph ? r->lab->graph->source : "generated sites");
}

/* The cost of a lost page, from each visit of each run that lost any. */
static struct lab_estimate cost_of(const struct lab_results *r, uint32_t unit)
{
    double cost[VISITS * 64];
    uint32_t n = 0;
    for (uint32_t run_ = 0; run_ < r->runs; run_++)
        for (uint32_t v = 0; v < VISITS && n < sizeof cost / sizeof *cost; v++) {
            const double lost = lab_value(r, unit, run_, LOST + v);
            if (lost > 0)
                cost[n++] = lab_value(r, unit, run_, MISSED + v) / lost;
        }
    return lab_sample(cost, n);
}

static void judge_cost(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t unit = RATES + 1;
    const struct lab_estimate cost = cost_of(r, unit);
    const struct lab_test test = lab_test_equal(cost, 1, LAB_TOLERANCE);
    struct lab_claim *c = lab_claim(report, "all papers",
                                    "A false positive costs one page: the papers count the URLs "
                                    "that the filter mistakes for seen.");
    lab_answer(&c->holds, &test, "pages", "a crawl misses one page for each (%s)",
               label_of(unit).s);
    lab_say(
        &c->holds, LAB_NO,
        "Each page that the filter mistook for seen cost the crawl %.1f pages: itself, and those "
        "that it reached only through it. If all pages were equally likely to be lost, it would "
        "be %.1f; but most are lost when the filter is full, and pages found late lead to few "
        "others.",
        cost.value, lab_mean(r, unit, DEPTH));
    lab_say(&c->holds, LAB_YES, "Hardly any page of this site is reached only through another.");
}

/* The scatter of few events is far from normal, so a cell needs enough of them. */
#define ENOUGH 4.0 /* standard deviations by which the expected number is above 0 */

static void judge_theory(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[UNITS * VISITS];
    size_t n = 0;
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t v = 1; v <= VISITS; v++) {
            const struct lab_count c = missed_by(r, u, v);
            const double sigma = c.sigma / sqrt(c.runs);
            const struct lab_estimate share = {c.hits / (c.trials * c.runs), sigma, 0};
            if (rate_of(u) < BOUND_ABOVE && c.rate > ENOUGH * sigma)
                test[n++] = lab_test_equal(share, c.rate, LAB_TOLERANCE);
        }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c =
        lab_claim(report, "beyond the papers",
                  "What a crawl misses follows from the rate of the filter and the dominator tree "
                  "of the site; visits with different hash functions miss pages independently.");
    lab_answer(&c->holds, &all, "%", "%zu cells with p of at most %g equal theory", n, rates[1]);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    make_missed(r, report);
    make_cost(r, report);
    draw(r, report);
    judge_cost(r, report);
    judge_theory(r, report);
    lab_remark(report, "The site: %s, %.0f pages in reach, %.0f links.",
               r->lab->graph ? r->lab->graph->source : "generated for each run; on average",
               lab_mean(r, 0, PAGES), lab_mean(r, 0, LINKS));
}

const struct lab_experiment exp_replay = {
    .name = "replay",
    .title = "Replay a crawl: what a false positive costs",
    .reproduces = "beyond the papers: pages that a crawl misses",
    .seconds = 1.5,
    .about =
        (const char *const[]){
            "A crawler that mistakes a page for seen never fetches it, and never sees its links. "
            "The lab crawls a site with a filter, as deja crawl does, and counts all pages that "
            "the crawl misses: in one visit, and in all of two or three visits with different "
            "hash functions.",
            "The site is a generated one with n / 10 pages, or that of --graph: the folder of a "
            "finished crawl, or a file with one link per line.",
            NULL},
    .max_runs = 10,
    .units = UNITS,
    .values = N_VALUES,
    .weight = weight,
    .sizes = sizes,
    .run = run,
    .report = make_report,
};
