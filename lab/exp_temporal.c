/* exp_temporal.c - the temporal strategy: other salts on the next visit.  Table 5.16, figure 5.1.
 *
 * A unit is a row of 5.16.  For k = 3 .. 6 its filter with M = 2 also gives figure 5.1: URLs lost
 * on both visits while the filter filled. */
#include "lab_curve.h"
#include "lab_thesis.h"
#include "lab_visits.h"
#include <math.h>
#include <string.h>

#define CURVE_K_MAX 6u /* of figure 5.1 */
#define CURVE_SIZE  1u /* M = 2.0 */
enum { FULL = 0, FILLING = THESIS_SIZES, CURVE };

static uint32_t k_of(uint32_t unit)
{
    return THESIS_K_MIN + unit;
}

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return THESIS_K;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return k_of(unit) <= CURVE_K_MAX ? CURVE + LAB_CURVE : THESIS_SIZES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return 2.0 * (double)lab->keys.n * k_of(unit);
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, k_of(task->unit), 1, thesis_multiplier,
                                        THESIS_SIZES};
    const bool curve = k_of(task->unit) <= CURVE_K_MAX;
    struct lab_visits v = {.curve = curve ? value + CURVE : NULL, .watched = CURVE_SIZE};
    if (curve)
        memset(value + CURVE, 0, LAB_CURVE * sizeof *value);
    const int rc = lab_two_visits(lab, &spec, task->seed, &v, err);
    memcpy(value + FULL, v.full, THESIS_SIZES * sizeof *value);
    if (curve)
        value[FILLING] = v.filling;
    return rc;
}

static void make_full(const struct lab *lab, const struct lab_results *r,
                      struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "5.16", "hash functions",
                  "Table 5.16: URLs that both visits take for seen, full filter, %");
    lab_caption(t, "Theory: the rate of one visit, squared.");
    for (uint32_t unit = 0; unit < THESIS_K; unit++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            thesis_rate(t, r, unit, FULL + i, 1,
                        &(struct lab_bloom){(double)lab->keys.n, k_of(unit), 2,
                                            thesis_multiplier[i], false});
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
    for (uint32_t unit = 0; k_of(unit) <= CURVE_K_MAX; unit++) {
        const struct lab_bloom b = {(double)lab->keys.n, k_of(unit), 2,
                                    thesis_multiplier[CURVE_SIZE], true};
        thesis_rate(t, r, unit, FILLING, 1, &b);
        lab_curve_draw(f, r, unit, CURVE, &b, unit);
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
    .about =
        (const char *const[]){
            "A crawler visits the same pages twice; the second visit begins with an empty filter "
            "and "
            "new salts (deja rotate). Counted are the URLs that both visits take for seen, and "
            "which are therefore never fetched.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
