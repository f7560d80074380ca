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

/* The index of the points of k's curve; the last one is the total number lost. */
static uint32_t curve_of(uint32_t k)
{
    return FILLING + (k - THESIS_K_MIN) * LAB_CURVE;
}

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return 1;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return N_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 70.0 * (double)lab->keys.n;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct lab_bloom_spec spec = thesis_table();
    struct lab_rounds r = {.rounds = VISITS, .n_watched = CURVES};
    for (uint32_t i = 0; i < CURVES; i++)
        r.watched[i] = thesis_cell(THESIS_K_MIN + i, CURVE_SIZE);
    const int rc = lab_rounds(lab, &spec, task->seed, &r, err);
    memcpy(value + FULL, r.full[VISITS - 1], THESIS_CELLS * sizeof *value);
    memcpy(value + FILLING, r.filling[VISITS - 1], CURVES * LAB_CURVE * sizeof *value);
    return rc;
}

static void make_full(const struct lab *lab, const struct lab_results *r,
                      struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "5.16", "hash functions",
                  "Table 5.16: URLs that both visits take for seen, full filter, %");
    lab_caption(t, "Theory: the rate of one visit, squared.");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            thesis_rate(
                t, r, 0, FULL + thesis_cell(k, i), 1,
                &(struct lab_bloom){(double)lab->keys.n, k, VISITS, thesis_multiplier[i], false});
}

static void make_filling(const struct lab *lab, const struct lab_results *r,
                         struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "figure 5.1", "hash functions",
                  "Figure 5.1, its ends: URLs lost on both visits, incremental, %");
    struct lab_figure *f =
        lab_figure(report, "5.1", "Figure 5.1: lost on both visits while it fills",
                   "URLs inserted", "lost on both visits, % of n");
    lab_caption(t, "Printed: approximate, from the text about figure 5.1.");
    (void)snprintf(f->caption, sizeof f->caption, "M = 2.0; dashes: theory");
    for (uint32_t k = THESIS_K_MIN; k < THESIS_K_MIN + CURVES; k++) {
        const struct lab_bloom b = {(double)lab->keys.n, k, VISITS, thesis_multiplier[CURVE_SIZE],
                                    true};
        thesis_rate(t, r, 0, curve_of(k) + LAB_CURVE - 1, 1, &b);
        lab_curve_draw(f, r, 0, curve_of(k), &b, k - THESIS_K_MIN);
    }
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    const double one = pow(1 - exp(-0.5), 3);
    (void)err;
    make_full(lab, r, report);
    make_filling(lab, r, report);
    lab_judge_rates(report, 0, report->n_tables);
    lab_verdict(report, LAB_AGREES,
                "The strategy does what the thesis says: with new salts the second visit's false "
                "positives are independent of the first one's, so what both miss is the square of "
                "what one misses (k = 3, M = 2: %.2f %% becomes %.2f %%).",
                100 * one, 100 * one * one);
    lab_verdict(
        report, LAB_NOTE,
        "It is no better filter: each single visit still loses as many pages as before. The "
        "gain belongs to crawlers that come again.");
    return DEJA_OK;
}

const struct lab_experiment exp_temporal = {
    .name = "temporal",
    .title = "Temporal strategy: other salts on the next visit",
    .reproduces = "thesis, table 5.16 and figure 5.1",
    .seconds = 8.5,
    .about =
        (const char *const[]){
            "A crawler visits the same pages twice; the second visit begins with an empty filter "
            "and new salts (deja rotate). Counted are the URLs that both visits take for seen, "
            "and which are therefore never fetched.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
