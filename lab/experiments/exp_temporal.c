/* exp_temporal.c - the temporal strategy: different salts on the next visit.  Table 5.16, figure
 * 5.1.
 *
 * One unit: two visits of all filters of 5.16.  Those with M = 2 and k = 3 .. 6 also give figure
 * 5.1: URLs lost on both visits while the filter fills. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VISITS     2u
#define CURVES     4u /* of figure 5.1: k = 3 .. 6 */
#define CURVE_SIZE 1u /* M = 2.0 */
enum {
    FULL = 0, /* on both visits */
    FILLING = THESIS_CELLS,
    FIRST = FILLING + CURVES * LAB_CURVE, /* on each visit alone */
    SECOND = FIRST + THESIS_CELLS,
    N_VALUES = SECOND + THESIS_CELLS
};

static void run(struct lab_task *t)
{
    struct lab_rounds r = {.rounds = VISITS, .n_watched = CURVES};
    for (uint32_t i = 0; i < CURVES; i++)
        r.watched[i] = thesis_cell(THESIS_K_MIN + i, CURVE_SIZE);
    lab_rounds(t, &thesis_spec, &r);
    memcpy(t->value + FULL, r.full[VISITS - 1], THESIS_CELLS * sizeof *t->value);
    memcpy(t->value + FILLING, r.filling[VISITS - 1], CURVES * LAB_CURVE * sizeof *t->value);
    memcpy(t->value + FIRST, r.alone[0], THESIS_CELLS * sizeof *t->value);
    memcpy(t->value + SECOND, r.alone[VISITS - 1], THESIS_CELLS * sizeof *t->value);
}

static struct lab_table *make_filling(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "figure 5.1", "hash functions",
                  "Figure 5.1, end points: URLs lost on both visits, incremental, %");
    struct lab_figure *f =
        lab_figure(report, "5.1", "Figure 5.1: lost on both visits while the filter fills",
                   "URLs inserted (M = 2.0)", "URLs lost on both visits, % of n", NULL);
    struct lab_curve lines[CURVES];
    lab_caption(t, "Printed: approximate, from the text about figure 5.1.");
    for (uint32_t i = 0; i < CURVES; i++) {
        const uint32_t curve = FILLING + i * LAB_CURVE;
        const struct lab_bloom b =
            thesis_bloom(r, THESIS_K_MIN + i, VISITS, thesis_multiplier[CURVE_SIZE], true);
        thesis_rate(t, r, 0, curve + LAB_CURVE - 1, 1, &b, ""); /* the last point is the total */
        lines[i] = (struct lab_curve){0, curve, b, thesis_printed(t->id, 1, &b)};
    }
    lab_curve_draw(f, r, lines, CURVES);
    return t;
}

/* --- Claims ----------------------------------------------------------------------- */

#define EXAMPLE 0u /* the thesis discusses k = 3, M = 1.7: the first cell */

static struct lab_rate rate_of(const struct lab_results *r, uint32_t first, uint32_t cell,
                               uint32_t visits)
{
    const struct lab_bloom b = thesis_bloom(r, THESIS_K_MIN + cell / THESIS_SIZES, visits,
                                            thesis_multiplier[cell % THESIS_SIZES], false);
    return thesis_counted(r, 0, first + cell, &b);
}

static void add_example(struct lab_answer *a, const struct lab_results *r)
{
    lab_add_text(a,
                 "k = 3, M = 1.7: %s %% on the first visit, %s %% on the second, %s %% on both.",
                 thesis_percent(r, 0, FIRST + EXAMPLE).s, thesis_percent(r, 0, SECOND + EXAMPLE).s,
                 thesis_percent(r, 0, FULL + EXAMPLE).s);
}

static struct lab_test printed_as(const struct lab_results *r, uint32_t first, double percent,
                                  uint32_t visits)
{
    const double trials = 1e8, half = 0.00005; /* 100 runs; four digits */
    const struct lab_rate ours = rate_of(r, first, EXAMPLE, visits);
    return lab_test_printed(ours, percent / 100, half / 100, trials,
                            ours.sigma * sqrt(ours.trials / trials), LAB_TOLERANCE);
}

static void judge_gain(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test fewer[THESIS_CELLS];
    for (uint32_t i = 0; i < THESIS_CELLS; i++)
        fewer[i] = lab_test_lower(rate_of(r, FULL, i, VISITS), rate_of(r, FIRST, i, 1));
    const struct lab_test printed[] = {printed_as(r, FIRST, 8.7927, 1),
                                       printed_as(r, FULL, 0.7687, VISITS)};
    const struct lab_test reproduced = lab_test_family(printed, 2),
                          all = lab_test_family(fewer, THESIS_CELLS);
    struct lab_claim *c = lab_claim(
        report, "thesis, 5.7.2 and 6.3",
        "With 3 functions and M = 1.7, a second visit reduces the false positives from 8.7927 %% "
        "to 0.7687 %%, a significant improvement; other configurations give similar results.");
    lab_answer(&c->printed, &reproduced, "%", "the measured rates are these two");
    add_example(&c->printed, r);
    lab_answer(
        &c->holds, &all, "%",
        "in %u cells, fewer URLs are lost on both visits than on the first (the numbers are "
        "a difference)",
        THESIS_CELLS);
    add_example(&c->holds, r);
}

/* Given the hits of each visit, those of both are hypergeometric if the visits are independent,
 * whatever the rates: a test that does not need the theory. */
static void judge_independence(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[THESIS_CELLS];
    double *hits = malloc(3 * r->runs * sizeof *hits);
    if (!hits) {
        report->failed = true;
        return;
    }
    for (uint32_t i = 0; i < THESIS_CELLS; i++) {
        for (uint32_t run_ = 0; run_ < r->runs; run_++) {
            hits[run_] = lab_value(r, 0, run_, FIRST + i);
            hits[r->runs + run_] = lab_value(r, 0, run_, SECOND + i);
            hits[2 * r->runs + run_] = lab_value(r, 0, run_, FULL + i);
        }
        test[i] = lab_test_independent(hits, hits + r->runs, hits + 2 * r->runs, lab_n(r), r->runs,
                                       LAB_TOLERANCE);
    }
    free(hits);
    const struct lab_test all = lab_test_family(test, THESIS_CELLS);
    struct lab_claim *c =
        lab_claim(report, "thesis, 4.2",
                  "With other salts, the second visit has its false positives on other URLs.");
    lab_answer(&c->holds, &all, "%",
               "in %u cells, the losses of the two visits are independent: both lose as many URLs "
               "as chance alone lets them share",
               THESIS_CELLS);
    lab_say(&c->holds, LAB_NO, "In %zu cells, the visits do not lose URLs independently.",
            all.against);
    add_example(&c->holds, r);
    lab_add_text(&c->holds, "By chance, %s %% are expected on both.",
                 lab_number(100 * test[EXAMPLE].expected).s);
}

/* A filter that had no hit on the first visit was not queried on the second. */
static void judge_second(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[THESIS_CELLS];
    for (uint32_t i = 0; i < THESIS_CELLS; i++)
        test[i] =
            lab_test_ratio(rate_of(r, SECOND, i, 1), rate_of(r, FIRST, i, 1), 1, LAB_TOLERANCE);
    uint32_t n = 0;
    while (n < THESIS_CELLS && lab_sum(r, 0, FIRST + n) >= 100 * r->runs)
        n++;
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c = lab_claim(
        report, "beyond the thesis",
        "The filter itself does not improve: the second visit alone loses as many URLs as "
        "the first. Only crawlers that return gain.");
    lab_answer(&c->holds, &all, "",
               "in %u cells with enough hits, the rates of the two visits have the ratio 1", n);
    add_example(&c->holds, r);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = thesis_grid(
        r, report,
        &(struct thesis_grid){"5.16", "Table 5.16: URLs lost on both visits, full filter, %",
                              &thesis_spec, 1, VISITS, 0, FULL});
    lab_caption(t, "Theory: the rate of one visit, squared.");
    struct lab_table *filling = make_filling(r, report);
    (void)lab_judge(report, t, "thesis, table 5.16",
                    "URLs lost on both visits, with a full filter. Theory: the square of the rate "
                    "of one visit, (1 - e^(-1/M))^(2 k).");
    (void)lab_judge(report, filling, "thesis, figure 5.1",
                    "URLs lost on both visits while the filter fills: about 0.064 %%, 0.0077 %%, "
                    "0.001 %% and 0.00012 %% with 3 to 6 functions.");
    judge_gain(r, report);
    judge_independence(r, report);
    judge_second(r, report);
}

const struct lab_experiment exp_temporal = {
    .name = "temporal",
    .title = "Temporal strategy: different salts on the next visit",
    .reproduces = "thesis, table 5.16 and figure 5.1",
    .seconds = 8.5,
    .about =
        (const char *const[]){
            "A crawler visits the same pages twice; the second visit starts with an empty filter "
            "and new salts (deja rotate). The lab counts the URLs that both visits mistake for "
            "seen: these are never fetched.",
            NULL},
    .units = 1,
    .values = N_VALUES,
    .run = run,
    .report = make_report,
};
