/* exp_spatiotemporal.c - several filters and two visits: tables 5.20 and 5.21.
 *
 * A URL is lost if F filters mistake it for seen on both visits: 2 F rounds with different salts,
 * of which the first four are for two filters and all six for three filters.  The other unit is
 * one filter with k F functions and the same memory, also on two visits.
 *
 * The thesis does not say whether its filters are incremental; the printed values match full
 * ones. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <string.h>

#define VISITS 2u
#define SIZES  4u /* M = 1.7 .. 3.0 */

static const uint32_t functions[] = {2, 3, 4};
/* The totals of two or three filters.  Twelve would be the last: on two visits it has a hit in
 * 10^8 queries or more. */
static const uint32_t one_functions[] = {4, 6, 8, 9};
#define LENGTH(a) (sizeof(a) / sizeof *(a))
#define CELLS     ((uint32_t)LENGTH(functions) * SIZES)
#define ONE_CELLS ((uint32_t)LENGTH(one_functions) * SIZES)
static const struct lab_bloom_spec several_spec = {DEJA_HASH_JENKINS, 1,
                                                   functions,         LENGTH(functions),
                                                   thesis_multiplier, SIZES},
                                   one_spec = {DEJA_HASH_JENKINS, 1,
                                               one_functions,     LENGTH(one_functions),
                                               thesis_multiplier, SIZES};
enum {
    SEVERAL, /* the table for two filters, then the one for three */
    ONE,
    N_UNITS
};

static void run(struct lab_task *t)
{
    struct lab_rounds r = {.rounds = t->unit == SEVERAL ? VISITS * 3 : VISITS};
    lab_rounds(t, t->unit == SEVERAL ? &several_spec : &one_spec, &r);
    if (t->unit == ONE) {
        memcpy(t->value, r.full[VISITS - 1], ONE_CELLS * sizeof *t->value);
        return;
    }
    memcpy(t->value, r.full[VISITS * 2 - 1], CELLS * sizeof *t->value);
    memcpy(t->value + CELLS, r.full[VISITS * 3 - 1], CELLS * sizeof *t->value);
}

/* The largest distance between F filters and a single one with as many functions, if there is
 * one, in standard deviations. */
static double apart(const struct lab_results *r, uint32_t filters)
{
    double worst = 0;
    for (uint32_t i = 0; i < CELLS * ONE_CELLS; i++) {
        const uint32_t cell = i / ONE_CELLS, control = i % ONE_CELLS, size = cell % SIZES;
        const double m = thesis_multiplier[size];
        const struct lab_bloom several = thesis_bloom(r, functions[cell / SIZES], VISITS * filters,
                                                      m, false),
                               one = thesis_bloom(r, one_functions[control / SIZES], VISITS, m,
                                                  false);
        if (one.k == several.k * filters && size == control % SIZES)
            worst = fmax(worst, thesis_apart(r, &several,
                                             lab_sum(r, SEVERAL, (filters - 2) * CELLS + cell),
                                             &one, lab_sum(r, ONE, control)));
    }
    return worst;
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const struct thesis_grid grids[] = {
        {"5.20", "Table 5.20: two filters, both visits, %", &several_spec, 2, VISITS, SEVERAL, 0},
        {"5.21", "Table 5.21: three filters, both visits, %", &several_spec, 3, VISITS, SEVERAL,
         CELLS},
        {"equal", "Equal memory: one filter with k F functions, both visits, %", &one_spec, 1,
         VISITS, ONE, 0}};
    for (size_t i = 0; i < LENGTH(grids); i++)
        thesis_grid(r, report, &grids[i]);
    thesis_draw(r, report, &grids[0], "5.20", "Table 5.20: two filters, lost on both visits");
    thesis_draw(r, report, &grids[1], "5.21", "Table 5.21: three filters, lost on both visits");
    lab_judge_rates(report, 0, 2);
    const double worst = fmax(apart(r, 2), apart(r, 3));
    lab_verdict(
        report, worst < LAB_FAR ? LAB_DIFFERS : LAB_NOTE,
        "The combination gains what its two visits gain, and nothing more: one filter with k F "
        "functions and the same memory loses as many URLs on two visits (largest difference %.1f "
        "sigma). The thesis reaches the same conclusion (section 7.1).",
        worst);
}

const struct lab_experiment exp_spatiotemporal = {
    .name = "spatiotemporal",
    .title = "Spatio-temporal strategy: several filters, two visits",
    .reproduces = "thesis, tables 5.20 and 5.21",
    .seconds = 9.5,
    .about =
        (const char *const[]){
            "F filters on each of two visits, with different salts on the second. The lab counts "
            "the URLs that all filters mistake for seen on both visits.",
            NULL},
    .units = N_UNITS,
    .values = 2 * CELLS,
    .run = run,
    .report = make_report,
};
