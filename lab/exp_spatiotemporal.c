/* exp_spatiotemporal.c - several filters and two visits: tables 5.20 and 5.21.
 *
 * The thesis does not say whether these are incremental; the printed values fit full filters.  The
 * last unit is one filter with k F functions and the same memory, on two visits as well. */
#include "lab_rounds.h"
#include "lab_thesis.h"
#include <math.h>
#include <string.h>

#define VISITS 2u
#define SIZES  4u /* M = 1.7 .. 3.0 */

static const struct setup {
    uint32_t filters;
    uint32_t k[4];
    uint32_t n_k;
} setups[] = {{2, {2, 3, 4}, 3}, {3, {2, 3, 4}, 3}, {1, {4, 6, 8, 9}, 4}};
/* Twelve functions would be the last: on two visits they have a hit in 10^8 questions or more. */
#define SETUPS (sizeof setups / sizeof setups[0])
enum { TWO, THREE, ONE }; /* filters: the units */

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return (uint32_t)SETUPS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return setups[unit].n_k * SIZES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    double positions = 0;
    for (uint32_t i = 0; i < setups[unit].n_k; i++)
        positions += setups[unit].filters * setups[unit].k[i];
    return 1.5 * positions * (double)lab->keys.n;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct setup *s = &setups[task->unit];
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, s->filters, s->k, s->n_k,
                                        thesis_multiplier, SIZES};
    struct lab_rounds r = {.rounds = VISITS};
    const int rc = lab_rounds(lab, &spec, task->seed, &r, err);
    memcpy(value, r.full[VISITS - 1], s->n_k * SIZES * sizeof *value);
    return rc;
}

static struct lab_bloom bloom_of(const struct lab *lab, uint32_t unit, uint32_t i, uint32_t size)
{
    return (struct lab_bloom){(double)lab->keys.n, setups[unit].k[i],
                              VISITS * setups[unit].filters, thesis_multiplier[size], false};
}

static void make_table(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, uint32_t unit)
{
    const struct setup *s = &setups[unit];
    struct lab_table *t =
        lab_table(report, LAB_GRID, unit == TWO ? "5.20" : "5.21", "hash functions",
                  unit == TWO ? "Table 5.20: two filters, both visits, %"
                              : "Table 5.21: three filters, both visits, %");
    for (uint32_t i = 0; i < s->n_k; i++)
        for (uint32_t j = 0; j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, unit, i, j);
            thesis_rate(t, r, unit, i * SIZES + j, s->filters, &b);
        }
}

/* The one filter with so many functions, or n_k. */
static uint32_t control_of(uint32_t functions)
{
    uint32_t i = 0;
    while (i < setups[ONE].n_k && setups[ONE].k[i] != functions)
        i++;
    return i;
}

/* How far F filters are from the one, at most, in standard deviations. */
static double apart(const struct lab *lab, const struct lab_results *r, uint32_t unit)
{
    const struct setup *s = &setups[unit];
    double worst = 0;
    for (uint32_t i = 0; i < s->n_k; i++) {
        const uint32_t control = control_of(s->filters * s->k[i]);
        for (uint32_t j = 0; control < setups[ONE].n_k && j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, unit, i, j),
                                   d = bloom_of(lab, ONE, control, j);
            const double several = lab_sum(r, unit, i * SIZES + j);
            const double one = lab_sum(r, ONE, control * SIZES + j);
            const double sigma = hypot(lab_bloom_sigma(&b), lab_bloom_sigma(&d)) * b.n;
            if (several + one >= 20) /* fewer hits tell nothing */
                worst = fmax(worst, fabs(several - one) / (sigma * sqrt(r->runs)));
        }
    }
    return worst;
}

static void compare(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "one filter",
                                    "Equal memory: one filter with k F functions, both visits, %");
    for (uint32_t i = 0; i < setups[ONE].n_k; i++)
        for (uint32_t j = 0; j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, ONE, i, j);
            struct lab_cell *c = lab_cell(t, thesis_k(b.k).s, thesis_m(b.multiplier).s);
            c->filters = 1;
            lab_cell_bloom(c, r, ONE, i * SIZES + j, &b, &(struct lab_printed){0});
        }
    const double worst = fmax(apart(lab, r, TWO), apart(lab, r, THREE));
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
    make_table(lab, r, report, TWO);
    make_table(lab, r, report, THREE);
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
