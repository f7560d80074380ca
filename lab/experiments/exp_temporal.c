/* exp_temporal.c - the temporal strategy: different salts on the next visit.  Table 5.16, figure
 * 5.1.
 *
 * One unit: two visits of all filters of 5.16.  Those with M = 2 and k = 3 .. 6 also give figure
 * 5.1: URLs lost on both visits while the filter fills. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <string.h>

#define VISITS     2u
#define CURVES     4u /* of figure 5.1: k = 3 .. 6 */
#define CURVE_SIZE 1u /* M = 2.0 */
enum {
    FULL = 0,
    FILLING = THESIS_CELLS,
    N_VALUES = FILLING + CURVES * LAB_CURVE
};

static void run(struct lab_task *t)
{
    struct lab_rounds r = {.rounds = VISITS, .n_watched = CURVES};
    for (uint32_t i = 0; i < CURVES; i++)
        r.watched[i] = thesis_cell(THESIS_K_MIN + i, CURVE_SIZE);
    lab_rounds(t, &thesis_spec, &r);
    memcpy(t->value + FULL, r.full[VISITS - 1], THESIS_CELLS * sizeof *t->value);
    memcpy(t->value + FILLING, r.filling[VISITS - 1], CURVES * LAB_CURVE * sizeof *t->value);
}

static void make_filling(const struct lab_results *r, struct lab_report *report)
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
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    const double one = pow(1 - exp(-0.5), 3);
    struct lab_table *t = thesis_grid(
        r, report,
        &(struct thesis_grid){"5.16", "Table 5.16: URLs lost on both visits, full filter, %",
                              &thesis_spec, 1, VISITS, 0, FULL});
    lab_caption(t, "Theory: the rate of one visit, squared.");
    make_filling(r, report);
    lab_judge_rates(report, 0, report->n_tables);
    lab_verdict(
        report, LAB_AGREES,
        "The strategy works as the thesis says: with new salts, the false positives of the "
        "second visit are independent of those of the first, so the rate of URLs lost on "
        "both is the square of the rate of one visit (k = 3, M = 2: %.2f %% becomes %.2f "
        "%%).",
        100 * one, 100 * one * one);
    lab_verdict(report, LAB_NOTE,
                "The filter itself does not improve: each visit loses as many pages as before. "
                "Only crawlers that return gain.");
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
