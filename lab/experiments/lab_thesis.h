/* lab_thesis.h - what the experiments of the thesis share: their sizes and labels.
 *
 * Goytil, Lundberg, "A novel spatio-temporal scheme for reducing the rate of false positives in
 * Bloom Filter based URL-caching", 2010. */
#ifndef LAB_EXPERIMENTS_LAB_THESIS_H
#define LAB_EXPERIMENTS_LAB_THESIS_H
#include "lab/engine/lab_bank.h"
#include "lab/report/lab_report.h"
#include <stdio.h>

/* k = 3 .. 10 and six multipliers, tables 5.9 to A.6. */
#define THESIS_K_MIN 3u
#define THESIS_K_MAX 10u
#define THESIS_K     (THESIS_K_MAX - THESIS_K_MIN + 1)
#define THESIS_SIZES 6u
static const double thesis_multiplier[THESIS_SIZES] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
static const uint32_t thesis_functions[THESIS_K] = {3, 4, 5, 6, 7, 8, 9, 10};
/* All combinations for one filter: the bank's members are the cells of a table, row by row. */
#define THESIS_CELLS (THESIS_K * THESIS_SIZES)
static inline struct lab_bloom_spec thesis_table(void)
{
    return (struct lab_bloom_spec){.hash = DEJA_HASH_JENKINS,
                                   .filters = 1,
                                   .k = thesis_functions,
                                   .n_k = THESIS_K,
                                   .multiplier = thesis_multiplier,
                                   .n_m = THESIS_SIZES};
}
static inline uint32_t thesis_cell(uint32_t k, uint32_t size)
{
    return (k - THESIS_K_MIN) * THESIS_SIZES + size;
}

struct thesis_label {
    char s[16];
};
static inline struct thesis_label thesis_k(uint32_t k)
{
    struct thesis_label l;
    (void)snprintf(l.s, sizeof l.s, "%u HF", k);
    return l;
}
static inline struct thesis_label thesis_m(double multiplier)
{
    struct thesis_label l;
    (void)snprintf(l.s, sizeof l.s, "%.1f M", multiplier);
    return l;
}

/* The printed value of a table from 5.9 on. */
static inline struct lab_printed thesis_printed(const char *table, uint32_t filters, uint32_t k,
                                                double multiplier)
{
    return lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                   .table = table,
                                                   .filters = filters,
                                                   .hashes = k,
                                                   .multiplier = multiplier});
}

/* A grid of rates: a cell for row k and column M.  `index` is the value of the unit. */
static inline void thesis_rate(struct lab_table *t, const struct lab_results *r, uint32_t unit,
                               uint32_t index, uint32_t filters, const struct lab_bloom *b)
{
    const struct lab_printed p = thesis_printed(t->id, filters, b->k, b->multiplier);
    struct lab_cell *c = lab_cell(t, thesis_k(b->k).s, thesis_m(b->multiplier).s);
    c->filters = filters;
    lab_cell_bloom(c, r, unit, index, b, &p);
}

#endif
