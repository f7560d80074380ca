/* exp_spatial.c - the spatial strategy: F filters that all have to agree.  Tables 5.17 to 5.19 and
 * figures A.1 to A.6.
 *
 * Units: F = 2, 3 with every k give 5.18 and 5.19, and while they fill, 5.17 and A.3 to A.6;
 * F = 1 with k = 3 .. 6 gives the rest of 5.17, A.1 and A.2.  The last units are what the thesis
 * did not count out: one filter with k F functions and the memory of all F. */
#include "lab_curve.h"
#include "lab_thesis.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_K_MAX 6u
#define CURVE_SIZES 2u /* M = 1.7 and 2.0: the first two */
enum { FULL = 0, FILLING = THESIS_SIZES, CURVES = FILLING + CURVE_SIZES };

struct setup {
    uint32_t filters, k;
    bool full, filling;
};

/* One filter with as many functions and bits as F filters with k. */
static const struct setup controls[] = {
    {1, 6, true, false}, {1, 8, true, false}, {1, 9, true, false}, {1, 10, true, false}};
#define CONTROLS 4u
#define SEVERAL  (2 * THESIS_K)                   /* F = 2, 3       */
#define ONE      (CURVE_K_MAX - THESIS_K_MIN + 1) /* F = 1, filling */

static struct setup setup_of(uint32_t unit)
{
    if (unit < SEVERAL) {
        const uint32_t k = THESIS_K_MIN + unit % THESIS_K;
        return (struct setup){2 + unit / THESIS_K, k, true, k <= CURVE_K_MAX};
    }
    if (unit < SEVERAL + ONE)
        return (struct setup){1, THESIS_K_MIN + unit - SEVERAL, false, true};
    return controls[unit - SEVERAL - ONE];
}

static uint32_t unit_of(uint32_t filters, uint32_t k)
{
    return filters == 1 ? SEVERAL + k - THESIS_K_MIN : (filters - 2) * THESIS_K + k - THESIS_K_MIN;
}

static uint32_t control_of(uint32_t functions)
{
    for (uint32_t i = 0; i < CONTROLS; i++)
        if (controls[i].k == functions)
            return SEVERAL + ONE + i;
    return UINT32_MAX;
}

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return SEVERAL + ONE + CONTROLS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return setup_of(unit).filling ? CURVES + CURVE_SIZES * LAB_CURVE : THESIS_SIZES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    const struct setup s = setup_of(unit);
    return (double)lab->keys.n * s.k * s.filters * (s.full ? 1 : 0.5);
}

struct filling {
    double *value;
    uint64_t n;
};

static void count_filling(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct filling *f = ctx;
    if (filter < CURVE_SIZES)
        lab_curve_count(f->value + CURVES + filter * LAB_CURVE, f->n, first, seen, n);
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct setup s = setup_of(task->unit);
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, s.k, s.filters, thesis_multiplier,
                                        s.full ? THESIS_SIZES : CURVE_SIZES};
    struct filling filling = {value, lab->keys.n};
    double full[LAB_BANK] = {0};
    struct lab_bank bank;
    memset(value, 0, values(lab, task->unit) * sizeof *value);
    int rc = lab_bank_init(&bank, lab, &spec, task->seed, err);
    if (rc < 0)
        return rc;
    rc = lab_bank_add(&bank, lab->keys.added, lab->keys.n, s.filling ? count_filling : NULL,
                      &filling, err);
    if (rc == DEJA_OK && s.full)
        rc = lab_bank_ask(&bank, lab->keys.asked, lab->keys.n, lab_count_seen, full, err);
    memcpy(value + FULL, full, THESIS_SIZES * sizeof *value);
    for (uint32_t i = 0; s.filling && i < CURVE_SIZES; i++) {
        lab_curve_sum(value + CURVES + i * LAB_CURVE);
        value[FILLING + i] = value[CURVES + (i + 1) * LAB_CURVE - 1];
    }
    lab_bank_fini(&bank);
    return rc;
}

/* --- Report --------------------------------------------------------------------- */

static void make_full(const struct lab *lab, const struct lab_results *r,
                      struct lab_report *report, uint32_t filters)
{
    struct lab_table *t = lab_table(
        report, LAB_GRID, filters == 2 ? "5.18" : "5.19", "hash functions",
        filters == 2 ? "Table 5.18: two filters, full, %" : "Table 5.19: three filters, full, %");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            thesis_rate(
                t, r, unit_of(filters, k), FULL + i, filters,
                &(struct lab_bloom){(double)lab->keys.n, k, filters, thesis_multiplier[i], false});
}

static void make_filling(const struct lab *lab, const struct lab_results *r,
                         struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "5.17", "hash functions",
                                    "Table 5.17: one, two and three filters, incremental, %");
    for (uint32_t k = THESIS_K_MIN; k <= CURVE_K_MAX; k++)
        for (uint32_t filters = 1; filters <= 3; filters++)
            for (uint32_t i = 0; i < CURVE_SIZES; i++) {
                const struct lab_bloom b = {(double)lab->keys.n, k, filters, thesis_multiplier[i],
                                            true};
                const struct lab_printed p = thesis_printed("5.17", filters, k, b.multiplier);
                char column[40];
                (void)snprintf(column, sizeof column, "F = %u, %s", filters,
                               thesis_m(b.multiplier).s);
                struct lab_cell *c = lab_cell(t, thesis_k(k).s, column);
                c->filters = filters;
                lab_cell_bloom(c, r, unit_of(filters, k), FILLING + i, &b, &p);
            }
}

static void draw(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t filters = 1; filters <= 3; filters++)
        for (uint32_t i = 0; i < CURVE_SIZES; i++) {
            char id[16], title[96];
            (void)snprintf(id, sizeof id, "A.%u", 2 * (filters - 1) + i + 1);
            (void)snprintf(title, sizeof title, "Figure %s: %u filter%s, M = %.1f, incremental",
                           id, filters, filters == 1 ? "" : "s", thesis_multiplier[i]);
            struct lab_figure *f =
                lab_figure(report, id, title, "URLs inserted", "taken for seen so far, % of n");
            (void)snprintf(f->caption, sizeof f->caption, "Dashes: theory");
            for (uint32_t k = THESIS_K_MIN; k <= CURVE_K_MAX; k++) {
                const struct lab_bloom b = {(double)lab->keys.n, k, filters, thesis_multiplier[i],
                                            true};
                lab_curve_draw(f, r, unit_of(filters, k), CURVES + i * LAB_CURVE, &b,
                               k - THESIS_K_MIN);
            }
        }
}

/* The same memory and the same number of hash computations in one filter. */
static void compare(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    static const struct {
        uint32_t filters, k;
    } pair[] = {{2, 3}, {2, 4}, {2, 5}, {3, 3}};
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "filters",
                                    "Equal memory: F filters against one, full, %");
    lab_caption(t,
                "One filter with k F functions and F m bits: the same memory, the same number of "
                "hash computations.");
    double worst = 0;
    uint32_t compared = 0;
    for (size_t j = 0; j < sizeof pair / sizeof pair[0]; j++)
        for (uint32_t one = 0; one < 2; one++)
            for (uint32_t i = 0; i < THESIS_SIZES; i++) {
                const uint32_t functions = pair[j].filters * pair[j].k;
                const uint32_t unit =
                    one ? control_of(functions) : unit_of(pair[j].filters, pair[j].k);
                const struct lab_bloom b = {(double)lab->keys.n, one ? functions : pair[j].k,
                                            one ? 1 : pair[j].filters, thesis_multiplier[i],
                                            false};
                char row[40];
                (void)snprintf(row, sizeof row, "%u x %u HF", b.copies, b.k);
                struct lab_cell *c = lab_cell(t, row, thesis_m(b.multiplier).s);
                c->filters = b.copies;
                lab_cell_bloom(c, r, unit, FULL + i, &b, &(struct lab_printed){0});
                if (!one)
                    continue;
                const uint32_t other = unit_of(pair[j].filters, pair[j].k);
                const double a = lab_sum(r, other, FULL + i), d = lab_sum(r, unit, FULL + i);
                if (a + d < 20)
                    continue;
                worst =
                    fmax(worst, fabs(a - d) / (lab_bloom_sigma(&b) * b.n * sqrt(2.0 * r->runs)));
                compared++;
            }
    lab_verdict(
        report, worst < LAB_FAR ? LAB_DIFFERS : LAB_NOTE,
        "The strategy has no gain of its own: F filters of k functions and m bits do as well "
        "as one filter with k F functions and F m bits, never better. In %u pairs at equal "
        "memory the largest difference is %.1f sigma. What looks like a gain in 5.18 and "
        "5.19 beside 5.9 is F times the memory. The thesis sees this itself (5.8.1, 5.8.2).",
        compared, worst);
    lab_verdict(
        report, LAB_NOTE,
        "What remains is a matter of place: the F filters can live on F machines, and each of "
        "them can be lost or renewed alone.");
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    make_filling(lab, r, report);
    make_full(lab, r, report, 2);
    make_full(lab, r, report, 3);
    lab_judge_rates(report, 0, report->n_tables);
    compare(lab, r, report);
    draw(lab, r, report);
    return DEJA_OK;
}

const struct lab_experiment exp_spatial = {
    .name = "spatial",
    .title = "Spatial strategy: several filters",
    .reproduces = "thesis, tables 5.17-5.19 and figures A.1-A.6",
    .about =
        (const char *const[]){
            "F filters with different salts; a URL counts as seen when all of them say so. Each "
            "filter has m = n k M bits, so F of them have F times the memory of table 5.9.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
