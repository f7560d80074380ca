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
#define CELLS     (LENGTH(functions) * SIZES)
#define ONE_CELLS (LENGTH(one_functions) * SIZES)
enum {
    SEVERAL,
    ONE
}; /* units */

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return ONE + 1;
}

/* SEVERAL: the table of two filters, then that of three. */
static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit == SEVERAL ? 2 * CELLS : ONE_CELLS;
}

static uint32_t several_at(uint32_t filters, size_t i, uint32_t size)
{
    return (uint32_t)((filters - 2) * CELLS + i * SIZES) + size;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return (unit == SEVERAL ? 60.0 : 80.0) * (double)lab->keys.n;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const bool several = task->unit == SEVERAL;
    const struct lab_bloom_spec spec = {
        .hash = DEJA_HASH_JENKINS,
        .filters = 1,
        .k = several ? functions : one_functions,
        .n_k = several ? LENGTH(functions) : LENGTH(one_functions),
        .multiplier = thesis_multiplier,
        .n_m = SIZES,
    };
    struct lab_rounds r = {.rounds = several ? VISITS * 3 : VISITS};
    const int rc = lab_rounds(lab, &spec, task->seed, &r, err);
    if (several) {
        memcpy(value, r.full[VISITS * 2 - 1], CELLS * sizeof *value);
        memcpy(value + CELLS, r.full[VISITS * 3 - 1], CELLS * sizeof *value);
    } else {
        memcpy(value, r.full[VISITS - 1], ONE_CELLS * sizeof *value);
    }
    return rc;
}

static struct lab_bloom bloom_of(const struct lab *lab, uint32_t filters, uint32_t k,
                                 uint32_t size)
{
    return (struct lab_bloom){(double)lab->keys.n, k, VISITS * filters, thesis_multiplier[size],
                              false};
}

static void make_table(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, uint32_t filters)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, filters == 2 ? "5.20" : "5.21", "hash functions",
                  filters == 2 ? "Table 5.20: two filters, both visits, %"
                               : "Table 5.21: three filters, both visits, %");
    for (size_t i = 0; i < LENGTH(functions); i++)
        for (uint32_t j = 0; j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, filters, functions[i], j);
            thesis_rate(t, r, SEVERAL, several_at(filters, i, j), filters, &b);
        }
}

/* The index of the single filter with k functions, or the number of them if there is none. */
static size_t control_of(uint32_t k)
{
    size_t i = 0;
    while (i < LENGTH(one_functions) && one_functions[i] != k)
        i++;
    return i;
}

/* The largest distance between F filters and the single one, in standard deviations. */
static double apart(const struct lab *lab, const struct lab_results *r, uint32_t filters)
{
    double worst = 0;
    for (size_t i = 0; i < LENGTH(functions); i++) {
        const size_t control = control_of(filters * functions[i]);
        for (uint32_t j = 0; control < LENGTH(one_functions) && j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, filters, functions[i], j),
                                   d = bloom_of(lab, 1, one_functions[control], j);
            const double several = lab_sum(r, SEVERAL, several_at(filters, i, j));
            const double one = lab_sum(r, ONE, (uint32_t)control * SIZES + j);
            const double sigma = hypot(lab_bloom_sigma(&b), lab_bloom_sigma(&d)) * b.n;
            if (several + one >= 20) /* fewer hits show nothing */
                worst = fmax(worst, fabs(several - one) / (sigma * sqrt(r->runs)));
        }
    }
    return worst;
}

static void compare(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "one filter",
                                    "Equal memory: one filter with k F functions, both visits, %");
    for (uint32_t i = 0; i < LENGTH(one_functions); i++)
        for (uint32_t j = 0; j < SIZES; j++) {
            const struct lab_bloom b = bloom_of(lab, 1, one_functions[i], j);
            struct lab_cell *c = lab_cell(t, thesis_k(b.k).s, thesis_m(b.multiplier).s);
            c->filters = 1;
            lab_cell_bloom(c, r, ONE, i * SIZES + j, &b, &(struct lab_printed){0});
        }
    const double worst = fmax(apart(lab, r, 2), apart(lab, r, 3));
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
    .seconds = 9.5,
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
