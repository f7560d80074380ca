/* exp_spatial.c - the spatial strategy: F filters that must all agree.  Tables 5.17 to 5.19 and
 * figures A.1 to A.6.
 *
 * The first unit gives the tables: three rounds of all filters, each with different salts; the
 * URLs that the first F rounds agree on give the row of F.  While they fill, those with k = 3 .. 6
 * and M = 1.7, 2.0 give 5.17 and the figures.  The other unit is what the thesis did not compute:
 * one filter with k F functions and the memory of all F. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <string.h>

#define FILTERS     3u /* at most */
#define CURVE_K_MAX 6u
#define CURVE_SIZES 2u /* M = 1.7 and 2.0: the first two */
#define CURVES      ((CURVE_K_MAX - THESIS_K_MIN + 1) * CURVE_SIZES)
enum {
    TABLES,
    EQUAL
};
enum {
    FULL = 0,
    FILLING = FILTERS * THESIS_CELLS
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

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return EQUAL + 1;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit == TABLES ? FILLING + FILTERS * CURVES * LAB_CURVE
                          : (uint32_t)PAIRS * THESIS_SIZES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    double positions = 0;
    if (unit == TABLES)
        return 110.0 * (double)lab->keys.n;
    for (size_t i = 0; i < PAIRS; i++)
        positions += one_k[i];
    return positions * (double)lab->keys.n;
}

static int run_tables(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    const struct lab_bloom_spec spec = thesis_table();
    struct lab_rounds r = {.rounds = FILTERS, .n_watched = CURVES};
    for (uint32_t i = 0; i < CURVES; i++)
        r.watched[i] = thesis_cell(THESIS_K_MIN + i / CURVE_SIZES, i % CURVE_SIZES);
    const int rc = lab_rounds(lab, &spec, seed, &r, err);
    for (uint32_t f = 0; f < FILTERS; f++) {
        memcpy(value + FULL + f * THESIS_CELLS, r.full[f], THESIS_CELLS * sizeof *value);
        memcpy(value + FILLING + f * CURVES * LAB_CURVE, r.filling[f],
               CURVES * LAB_CURVE * sizeof *value);
    }
    return rc;
}

static int run_equal(const struct lab *lab, uint64_t seed, double *value, deja_error *err)
{
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, 1,           one_k, PAIRS,
                                        thesis_multiplier, THESIS_SIZES};
    double hits[LAB_BANK] = {0};
    struct lab_bank bank;
    int rc = lab_bank_init(&bank, lab, &spec, seed, err);
    if (rc < 0)
        return rc;
    rc = lab_bank_add(&bank, lab->keys.added, lab->keys.n, NULL, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_bank_ask(&bank, lab->keys.asked, lab->keys.n, lab_count_seen, hits, err);
    memcpy(value, hits, PAIRS * THESIS_SIZES * sizeof *value);
    lab_bank_fini(&bank);
    return rc;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    return task->unit == TABLES ? run_tables(lab, task->seed, value, err)
                                : run_equal(lab, task->seed, value, err);
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
                t, r, TABLES, full_of(filters, k, i), filters,
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
                lab_cell_bloom(c, r, TABLES, curve_of(filters, k, i) + LAB_CURVE - 1, &b, &p);
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
                lab_curve_draw(f, r, TABLES, curve_of(filters, k, i), &b, k - THESIS_K_MIN);
            }
        }
}

/* A row of the comparison: filters of M = 1.7, 2.0 .., and the index of their hits. */
struct row {
    uint32_t filters, k, unit, first;
};

static struct row several_of(const struct pair *p)
{
    return (struct row){p->filters, p->k, TABLES, full_of(p->filters, p->k, 0)};
}

static struct row one_of(size_t pair)
{
    return (struct row){1, one_k[pair], EQUAL, (uint32_t)pair * THESIS_SIZES};
}

static struct lab_bloom bloom_of(const struct lab *lab, const struct row *row, uint32_t size)
{
    return (struct lab_bloom){(double)lab->keys.n, row->k, row->filters, thesis_multiplier[size],
                              false};
}

static void add_row(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                    const struct row *row)
{
    for (uint32_t i = 0; i < THESIS_SIZES; i++) {
        const struct lab_bloom b = bloom_of(lab, row, i);
        char name[40];
        (void)snprintf(name, sizeof name, "%u x %u HF", b.copies, b.k);
        struct lab_cell *c = lab_cell(t, name, thesis_m(b.multiplier).s);
        c->filters = b.copies;
        lab_cell_bloom(c, r, row->unit, row->first + i, &b, &(struct lab_printed){0});
    }
}

/* The largest distance between two rows of the same memory, in standard deviations; sizes at which
 * both together have too few hits are not counted in *compared. */
static double apart(const struct lab *lab, const struct lab_results *r, const struct row *x,
                    const struct row *y, uint32_t *compared)
{
    double worst = 0;
    for (uint32_t i = 0; i < THESIS_SIZES; i++) {
        const struct lab_bloom b = bloom_of(lab, x, i), d = bloom_of(lab, y, i);
        const double one = lab_sum(r, x->unit, x->first + i);
        const double other = lab_sum(r, y->unit, y->first + i);
        const double sigma = hypot(lab_bloom_sigma(&b), lab_bloom_sigma(&d)) * b.n;
        if (one + other < 20)
            continue;
        worst = fmax(worst, fabs(one - other) / (sigma * sqrt(r->runs)));
        ++*compared;
    }
    return worst;
}

/* The same memory and the same number of hash computations in one filter. */
static void compare(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "filters",
                                    "Equal memory: F filters against one, full, %");
    lab_caption(t,
                "One filter with k F functions and F m bits: the same memory, the same number of "
                "hash computations.");
    double worst = 0;
    uint32_t compared = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        const struct row several = several_of(&pairs[i]), one = one_of(i);
        add_row(lab, r, t, &several);
        add_row(lab, r, t, &one);
        worst = fmax(worst, apart(lab, r, &several, &one, &compared));
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
    .seconds = 17,
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
