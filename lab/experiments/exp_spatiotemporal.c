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

/* The table and the cell of F filters with k functions each, and the cell of one filter. */
struct pair {
    uint32_t filters, cell, one;
};

static struct lab_rate several_rate(const struct lab_results *r, const struct pair *p)
{
    const struct lab_bloom b = thesis_bloom(r, functions[p->cell / SIZES], VISITS * p->filters,
                                            thesis_multiplier[p->cell % SIZES], false);
    return thesis_counted(r, SEVERAL, (p->filters - 2) * CELLS + p->cell, &b);
}

static struct lab_rate one_rate(const struct lab_results *r, uint32_t cell)
{
    const struct lab_bloom b = thesis_bloom(r, one_functions[cell / SIZES], VISITS,
                                            thesis_multiplier[cell % SIZES], false);
    return thesis_counted(r, ONE, cell, &b);
}

static bool is_pair(const struct pair *p)
{
    return one_functions[p->one / SIZES] == functions[p->cell / SIZES] * p->filters &&
           p->one % SIZES == p->cell % SIZES;
}

static void judge_equal(const struct lab_results *r, struct lab_report *report,
                        const struct lab_table *one)
{
    struct lab_test test[2 * CELLS];
    size_t n = 0;
    for (uint32_t i = 0; i < 2 * CELLS * ONE_CELLS; i++) {
        const struct pair p = {2 + i / (CELLS * ONE_CELLS), i / ONE_CELLS % CELLS, i % ONE_CELLS};
        if (is_pair(&p))
            test[n++] = lab_test_ratio(several_rate(r, &p), one_rate(r, p.one), 1, LAB_TOLERANCE);
    }
    struct lab_claim *c = lab_judge(
        report, one, "thesis, 5.9, 6.5 and 7.1",
        "Several filters on two visits gain what the two visits gain: one filter with as many "
        "functions and the same memory loses as many URLs.");
    thesis_answer_equal(&c->holds, test, n);
}

/* The thesis compares k = 3, M = 1.7: with one filter on two visits (5.16), and with two. */
static void judge_gain(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) {
        const struct pair two = {2, i, 0}, three = {3, i, 0};
        test[i] = lab_test_lower(several_rate(r, &three), several_rate(r, &two));
    }
    const struct lab_test all = lab_test_family(test, CELLS);
    struct lab_claim *c = lab_claim(
        report, "thesis, 6.5",
        "The combination reduces the false positives further, the more filters, the more.");
    lab_answer(&c->holds, &all, "%",
               "in %u cells, three filters lose fewer URLs on both visits than two (the numbers "
               "are a difference)",
               CELLS);
    lab_add_text(&c->holds, "k = 2, M = 1.7: %s %% with two filters, %s %% with three.",
                 thesis_percent(r, SEVERAL, 0).s, thesis_percent(r, SEVERAL, CELLS).s);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const struct thesis_grid grids[] = {
        {"5.20", "Table 5.20: two filters, both visits, %", &several_spec, 2, VISITS, SEVERAL, 0},
        {"5.21", "Table 5.21: three filters, both visits, %", &several_spec, 3, VISITS, SEVERAL,
         CELLS},
        {"equal", "Equal memory: one filter with k F functions, both visits, %", &one_spec, 1,
         VISITS, ONE, 0}};
    const struct lab_table *table[LENGTH(grids)];
    for (size_t i = 0; i < LENGTH(grids); i++)
        table[i] = thesis_grid(r, report, &grids[i]);
    thesis_draw(r, report, &grids[0], "5.20", "Table 5.20: two filters, lost on both visits");
    thesis_draw(r, report, &grids[1], "5.21", "Table 5.21: three filters, lost on both visits");
    (void)lab_judge(report, table[0], "thesis, table 5.20",
                    "URLs lost on both visits with two filters. Theory: (1 - e^(-1/M))^(4 k).");
    (void)lab_judge(report, table[1], "thesis, table 5.21",
                    "URLs lost on both visits with three filters. Theory: (1 - e^(-1/M))^(6 k).");
    judge_gain(r, report);
    judge_equal(r, report, table[2]);
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
