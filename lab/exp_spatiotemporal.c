/* exp_spatiotemporal.c - several filters and two visits: tables 5.20 and 5.21.
 *
 * The thesis does not say whether these are incremental; the printed values fit full filters.  The
 * last units are one filter with k F functions and the same memory, on two visits as well. */
#include "lab_thesis.h"
#include "lab_visits.h"
#include <math.h>
#include <string.h>

#define SIZES 4u /* M = 1.7 .. 3.0 */
#define K_MIN 2u
#define K_MAX 4u
#define PER_F (K_MAX - K_MIN + 1)

static const struct setup {
    uint32_t filters, k;
} setups[] = {{2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3}, {3, 4}, /* the tables */
              {1, 4}, {1, 6}, {1, 8}, {1, 9}, {1, 12}};
#define SETUPS (sizeof setups / sizeof setups[0])
#define PAPER  6u /* of them, the tables' */

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return (uint32_t)SETUPS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return SIZES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return 2.0 * (double)lab->keys.n * setups[unit].filters * setups[unit].k;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct setup *s = &setups[task->unit];
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, s->k, s->filters, thesis_multiplier,
                                        SIZES};
    struct lab_visits v = {.watched = SIZE_MAX};
    const int rc = lab_two_visits(lab, &spec, task->seed, &v, err);
    memcpy(value, v.full, SIZES * sizeof *value);
    return rc;
}

static void make_table(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, uint32_t filters)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, filters == 2 ? "5.20" : "5.21", "hash functions",
                  filters == 2 ? "Table 5.20: two filters, both visits, %"
                               : "Table 5.21: three filters, both visits, %");
    for (uint32_t k = K_MIN; k <= K_MAX; k++)
        for (uint32_t i = 0; i < SIZES; i++)
            thesis_rate(t, r, (filters - 2) * PER_F + k - K_MIN, i, filters,
                        &(struct lab_bloom){(double)lab->keys.n, k, 2 * filters,
                                            thesis_multiplier[i], false});
}

static uint32_t control_of(uint32_t functions)
{
    uint32_t unit = PAPER;
    while (unit + 1 < SETUPS && setups[unit].k != functions)
        unit++;
    return unit;
}

static void compare(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "one filter",
                                    "Equal memory: one filter with k F functions, both visits, %");
    double worst = 0;
    for (uint32_t u = PAPER; u < SETUPS; u++)
        for (uint32_t i = 0; i < SIZES; i++) {
            const struct lab_bloom b = {(double)lab->keys.n, setups[u].k, 2, thesis_multiplier[i],
                                        false};
            struct lab_cell *c = lab_cell(t, thesis_k(b.k).s, thesis_m(b.multiplier).s);
            c->filters = 1;
            lab_cell_bloom(c, r, u, i, &b, &(struct lab_printed){0});
        }
    for (uint32_t u = 0; u < PAPER; u++)
        for (uint32_t i = 0; i < SIZES; i++) {
            const struct lab_bloom b = {(double)lab->keys.n, setups[u].k, 2 * setups[u].filters,
                                        thesis_multiplier[i], false};
            const double a = lab_sum(r, u, i);
            const double d = lab_sum(r, control_of(setups[u].filters * setups[u].k), i);
            if (a + d >= 20)
                worst =
                    fmax(worst, fabs(a - d) / (lab_bloom_sigma(&b) * b.n * sqrt(2.0 * r->runs)));
        }
    lab_verdict(
        report, worst < LAB_FAR ? LAB_DIFFERS : LAB_NOTE,
        "The combination is worth its two visits and nothing more: one filter with k F "
        "functions and the same memory loses as many URLs on two visits (largest difference "
        "%.1f sigma). The thesis comes to the same conclusion (section 7.1).",
        worst);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    make_table(lab, r, report, 2);
    make_table(lab, r, report, 3);
    lab_judge_rates(report, 0, report->n_tables);
    compare(lab, r, report);
    return DEJA_OK;
}

const struct lab_experiment exp_spatiotemporal = {
    .name = "spatiotemporal",
    .title = "Spatio-temporal strategy: several filters, two visits",
    .reproduces = "thesis, tables 5.20 and 5.21",
    .about =
        (const char *const[]){"F filters on each of two visits, with other salts on the "
                              "second. Counted are the URLs that all filters take for seen on "
                              "both visits.",
                              NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
