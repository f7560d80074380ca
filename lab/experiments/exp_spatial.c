/* exp_spatial.c - the spatial strategy: F filters that must all agree.  Tables 5.17 to 5.19 and
 * figures A.1 to A.6.
 *
 * The first unit gives the tables: three rounds of all filters, each with different salts; the
 * URLs that the first F rounds agree on give the row of F.  While they fill, those with k = 3 .. 6
 * and M = 1.7, 2.0 give 5.17 and the figures.  The other unit computes what the thesis did not:
 * one filter with k F functions and the memory of all F. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FILTERS     3u /* at most */
#define CURVE_K_MAX 6u
#define CURVE_SIZES 2u /* M = 1.7 and 2.0: the first two */
#define CURVES      ((CURVE_K_MAX - THESIS_K_MIN + 1) * CURVE_SIZES)
enum {
    TABLES,
    EQUAL,
    N_UNITS
};
enum {
    FULL = 0,
    FILLING = FILTERS * THESIS_CELLS,
    N_VALUES = FILLING + FILTERS * CURVES * LAB_CURVE
};

static uint32_t full_of(uint32_t filters, uint32_t k, uint32_t size)
{
    return FULL + (filters - 1) * THESIS_CELLS + thesis_cell(k, size);
}

/* The index of a curve's first point. */
static uint32_t curve_of(uint32_t filters, uint32_t k, uint32_t size)
{
    const uint32_t curve = (k - THESIS_K_MIN) * CURVE_SIZES + size;
    return FILLING + ((filters - 1) * CURVES + curve) * LAB_CURVE;
}

/* F filters with k functions each, and one with as many functions and bits. */
static const struct pair {
    uint32_t filters, k;
} pairs[] = {{2, 3}, {2, 4}, {2, 5}, {3, 3}};
#define PAIRS (sizeof pairs / sizeof pairs[0])
static const uint32_t one_k[PAIRS] = {2 * 3, 2 * 4, 2 * 5, 3 * 3};
static const struct lab_bloom_spec one_spec = {DEJA_HASH_JENKINS, 1,           one_k, PAIRS,
                                               thesis_multiplier, THESIS_SIZES};

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit == TABLES ? 110 : 33; /* hash computations per URL */
}

static void run(struct lab_task *t)
{
    struct lab_rounds r = {.rounds = FILTERS, .n_watched = CURVES};
    if (t->unit == EQUAL) {
        lab_bank_count(t, &one_spec, NULL, t->value);
        return;
    }
    for (uint32_t i = 0; i < CURVES; i++)
        r.watched[i] = thesis_cell(THESIS_K_MIN + i / CURVE_SIZES, i % CURVE_SIZES);
    lab_rounds(t, &thesis_spec, &r);
    for (uint32_t f = 0; f < FILTERS; f++) {
        memcpy(t->value + FULL + f * THESIS_CELLS, r.full[f], THESIS_CELLS * sizeof *t->value);
        memcpy(t->value + FILLING + f * CURVES * LAB_CURVE, r.filling[f],
               CURVES * LAB_CURVE * sizeof *t->value);
    }
}

/* --- Report --------------------------------------------------------------------- */

static void make_filling(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "5.17", "hash functions",
                                    "Table 5.17: one, two and three filters, incremental, %");
    for (uint32_t k = THESIS_K_MIN; k <= CURVE_K_MAX; k++)
        for (uint32_t i = 0; i < FILTERS * CURVE_SIZES; i++) {
            const uint32_t filters = 1 + i / CURVE_SIZES, size = i % CURVE_SIZES;
            const struct lab_bloom b = thesis_bloom(r, k, filters, thesis_multiplier[size], true);
            char prefix[16];
            (void)snprintf(prefix, sizeof prefix, "F = %u, ", filters);
            thesis_rate(t, r, TABLES, curve_of(filters, k, size) + LAB_CURVE - 1, filters, &b,
                        prefix);
        }
}

static void draw(const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t i = 0; i < FILTERS * CURVE_SIZES; i++) {
        const uint32_t filters = 1 + i / CURVE_SIZES, size = i % CURVE_SIZES;
        char id[16], title[96];
        (void)snprintf(id, sizeof id, "A.%u", i + 1);
        (void)snprintf(title, sizeof title, "Figure %s: %u filter%s, M = %.1f, incremental", id,
                       filters, filters == 1 ? "" : "s", thesis_multiplier[size]);
        struct lab_curve lines[CURVE_K_MAX - THESIS_K_MIN + 1];
        for (uint32_t k = THESIS_K_MIN; k <= CURVE_K_MAX; k++) {
            const struct lab_bloom b = thesis_bloom(r, k, filters, thesis_multiplier[size], true);
            lines[k - THESIS_K_MIN] = (struct lab_curve){TABLES, curve_of(filters, k, size), b,
                                                         thesis_printed("5.17", filters, &b)};
        }
        lab_curve_draw(lab_figure(report, id, title, "URLs inserted",
                                  "URLs mistaken for seen so far, % of n", NULL),
                       r, lines, sizeof lines / sizeof *lines);
    }
}

/* A cell of the comparison, and its hits. */
static double add_cell(const struct lab_results *r, struct lab_table *t, uint32_t unit,
                       uint32_t index, const struct lab_bloom *b)
{
    char row[24], column[16];
    (void)snprintf(row, sizeof row, "%u x %u HF", b->copies, b->k);
    (void)snprintf(column, sizeof column, "%.1f M", b->multiplier);
    struct lab_cell *c = lab_cell(t, row, column);
    c->filters = b->copies;
    lab_cell_bloom(c, r, unit, index, b, NULL);
    return lab_sum(r, unit, index);
}

/* The same memory and the same number of hash computations in one filter. */
static void compare(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "filters",
                                    "Equal memory: F filters compared with one, full, %");
    lab_caption(t, "One filter with k F functions and F m bits: the same memory, the same number "
                   "of hash computations.");
    double worst = 0;
    uint32_t compared = 0;
    for (uint32_t i = 0; i < PAIRS * THESIS_SIZES; i++) {
        const struct pair *p = &pairs[i / THESIS_SIZES];
        const uint32_t size = i % THESIS_SIZES;
        const double m = thesis_multiplier[size];
        const struct lab_bloom several = thesis_bloom(r, p->k, p->filters, m, false),
                               one = thesis_bloom(r, p->k * p->filters, 1, m, false);
        const double hits = add_cell(r, t, TABLES, full_of(p->filters, p->k, size), &several);
        const double apart = thesis_apart(r, &several, hits, &one, add_cell(r, t, EQUAL, i, &one));
        worst = fmax(worst, apart);
        compared += isnan(apart) ? 0 : 1;
    }
    lab_verdict(
        report, worst < LAB_FAR ? LAB_DIFFERS : LAB_NOTE,
        "The strategy has no gain of its own: F filters of k functions and m bits do as well as "
        "one filter with k F functions and F m bits, never better. In %u pairs with equal memory, "
        "the largest difference is %.1f sigma. The apparent gain of 5.18 and 5.19 over 5.9 comes "
        "from F times the memory. The thesis says so itself (5.8.1, 5.8.2).",
        compared, worst);
    lab_verdict(
        report, LAB_NOTE,
        "Its use is distribution: the F filters can be on F machines, and each of them can "
        "be lost or replaced alone.");
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    make_filling(r, report);
    thesis_grid(r, report,
                &(struct thesis_grid){"5.18", "Table 5.18: two filters, full, %", &thesis_spec, 2,
                                      1, TABLES, full_of(2, THESIS_K_MIN, 0)});
    thesis_grid(r, report,
                &(struct thesis_grid){"5.19", "Table 5.19: three filters, full, %", &thesis_spec,
                                      3, 1, TABLES, full_of(3, THESIS_K_MIN, 0)});
    lab_judge_rates(report, 0, report->n_tables);
    compare(r, report);
    draw(r, report);
}

const struct lab_experiment exp_spatial = {
    .name = "spatial",
    .title = "Spatial strategy: several filters",
    .reproduces = "thesis, tables 5.17-5.19 and figures A.1-A.6",
    .seconds = 17,
    .about =
        (const char *const[]){
            "F filters with different salts; a URL counts as seen if all of them report it. Each "
            "filter has m = n k M bits, so F of them have F times the memory of table 5.9.",
            NULL},
    .units = N_UNITS,
    .values = N_VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
