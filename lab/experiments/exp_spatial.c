/* exp_spatial.c - the spatial strategy: F filters that must all agree.  Tables 5.17 to 5.19 and
 * figures A.1 to A.6.
 *
 * The first unit gives the tables: three rounds of all filters, each with different salts; the
 * URLs that the first F rounds agree on give the row of F.  While they fill, those with k = 3 .. 6
 * and M = 1.7, 2.0 give 5.17 and the figures.  The other unit computes what the thesis did not:
 * one filter with k F functions and the memory of all F. */
#include "lab/experiments/lab_rounds.h"
#include "lab/experiments/lab_thesis.h"
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

static struct lab_table *make_filling(const struct lab_results *r, struct lab_report *report)
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
    return t;
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

/* A cell of the comparison; one filter is in table 5.9 of the thesis. */
static struct lab_rate add_cell(const struct lab_results *r, struct lab_table *t, uint32_t unit,
                                uint32_t index, const struct lab_bloom *b)
{
    char row[24], column[16];
    const struct lab_printed p =
        lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                .table = "5.9",
                                                .filters = 1,
                                                .hashes = b->k,
                                                .multiplier = b->multiplier});
    (void)snprintf(row, sizeof row, "%u x %u HF", b->copies, b->k);
    (void)snprintf(column, sizeof column, "%.1f M", b->multiplier);
    struct lab_cell *c = lab_cell(t, row, column);
    c->filters = b->copies;
    lab_cell_bloom(c, r, unit, index, b, b->copies == 1 ? &p : NULL);
    return thesis_counted(r, unit, index, b);
}

/* The same memory and the same number of hash computations in one filter. */
static void compare(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "equal", "filters",
                                    "Equal memory: F filters compared with one, full, %");
    lab_caption(t, "One filter with k F functions and F m bits: the same memory, the same number "
                   "of hash computations.");
    struct lab_test test[PAIRS * THESIS_SIZES];
    for (uint32_t i = 0; i < PAIRS * THESIS_SIZES; i++) {
        const struct pair *p = &pairs[i / THESIS_SIZES];
        const uint32_t size = i % THESIS_SIZES;
        const double m = thesis_multiplier[size];
        const struct lab_bloom several = thesis_bloom(r, p->k, p->filters, m, false),
                               one = thesis_bloom(r, p->k * p->filters, 1, m, false);
        const struct lab_rate of_several =
            add_cell(r, t, TABLES, full_of(p->filters, p->k, size), &several);
        test[i] = lab_test_ratio(of_several, add_cell(r, t, EQUAL, i, &one), 1, LAB_TOLERANCE);
    }
    struct lab_claim *c = lab_judge(
        report, t, "thesis, 5.8, 6.4 and 7.1",
        "F filters of k functions and m bits are as good as one filter with k F functions and F m "
        "bits: with the same total, there is little or no gain.");
    thesis_answer_equal(&c->holds, test, PAIRS * THESIS_SIZES);
}

static struct lab_rate full_rate(const struct lab_results *r, uint32_t filters, uint32_t cell)
{
    const struct lab_bloom b = thesis_bloom(r, THESIS_K_MIN + cell / THESIS_SIZES, filters,
                                            thesis_multiplier[cell % THESIS_SIZES], false);
    return thesis_counted(r, TABLES, FULL + (filters - 1) * THESIS_CELLS + cell, &b);
}

static void judge_gain(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[2 * THESIS_CELLS];
    for (uint32_t i = 0; i < 2 * THESIS_CELLS; i++) {
        const uint32_t filters = 2 + i / THESIS_CELLS, cell = i % THESIS_CELLS;
        test[i] = lab_test_lower(full_rate(r, filters, cell), full_rate(r, filters - 1, cell));
    }
    const struct lab_test all = lab_test_family(test, 2 * THESIS_CELLS);
    struct lab_claim *c =
        lab_claim(report, "thesis, 5.8.2",
                  "More filters of the same size reduce the rate of false positives (at F times "
                  "the memory).");
    lab_answer(&c->holds, &all, "%",
               "in %u pairs of cells of tables 5.9, 5.18 and 5.19, one more filter has the lower "
               "rate (the numbers are a difference)",
               2 * THESIS_CELLS);
    lab_add_text(&c->holds,
                 "k = 3, M = 2: %s %% with one filter, %s %% with two, %s %% with three.",
                 thesis_percent(r, TABLES, full_of(1, 3, 1)).s,
                 thesis_percent(r, TABLES, full_of(2, 3, 1)).s,
                 thesis_percent(r, TABLES, full_of(3, 3, 1)).s);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_table *filling = make_filling(r, report);
    const struct lab_table *two =
        thesis_grid(r, report,
                    &(struct thesis_grid){"5.18", "Table 5.18: two filters, full, %", &thesis_spec,
                                          2, 1, TABLES, full_of(2, THESIS_K_MIN, 0)});
    const struct lab_table *three = thesis_grid(
        r, report,
        &(struct thesis_grid){"5.19", "Table 5.19: three filters, full, %", &thesis_spec, 3, 1,
                              TABLES, full_of(3, THESIS_K_MIN, 0)});
    (void)lab_judge(report, filling, "thesis, table 5.17",
                    "One, two and three filters while they fill. Theory: the mean of "
                    "(1 - e^(-x/M))^(k F) over the fill x.");
    (void)lab_judge(report, two, "thesis, table 5.18",
                    "Two full filters that must agree. Theory: (1 - e^(-1/M))^(2 k).");
    (void)lab_judge(report, three, "thesis, table 5.19",
                    "Three full filters that must agree. Theory: (1 - e^(-1/M))^(3 k).");
    judge_gain(r, report);
    compare(r, report);
    lab_remark(
        report,
        "Several filters can be on several machines, and each can be lost or replaced alone "
        "(thesis 6.4; deja with several --redis).");
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
