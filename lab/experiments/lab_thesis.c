/* lab_thesis.c - code that the thesis experiments share; see lab_thesis.h. */
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <stdio.h>

const double thesis_multiplier[THESIS_SIZES] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
static const uint32_t functions[THESIS_K] = {3, 4, 5, 6, 7, 8, 9, 10};
const struct lab_bloom_spec thesis_spec = {DEJA_HASH_JENKINS, 1,           functions, THESIS_K,
                                           thesis_multiplier, THESIS_SIZES};

struct lab_bloom thesis_bloom(const struct lab_results *r, uint32_t k, uint32_t copies,
                              double multiplier, bool filling)
{
    return (struct lab_bloom){lab_n(r), k, copies, multiplier, filling};
}

static struct lab_cell *new_cell(struct lab_table *t, uint32_t filters, uint32_t k,
                                 double multiplier, const char *prefix,
                                 struct lab_printed *printed)
{
    char row[16], column[40];
    (void)snprintf(row, sizeof row, "%u HF", k);
    (void)snprintf(column, sizeof column, "%s%.1f M", prefix, multiplier);
    *printed = lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                       .table = t->id,
                                                       .filters = filters,
                                                       .hashes = k,
                                                       .multiplier = multiplier});
    struct lab_cell *c = lab_cell(t, row, column);
    c->filters = filters;
    return c;
}

void thesis_rate(struct lab_table *t, const struct lab_results *r, uint32_t unit, uint32_t index,
                 uint32_t filters, const struct lab_bloom *b, const char *prefix)
{
    struct lab_printed p;
    struct lab_cell *c = new_cell(t, filters, b->k, b->multiplier, prefix, &p);
    lab_cell_bloom(c, r, unit, index, b, &p);
}

struct lab_cell *thesis_number(struct lab_table *t, uint32_t filters, uint32_t k,
                               double multiplier, const char *unit, double mean)
{
    struct lab_printed p;
    struct lab_cell *c = new_cell(t, filters, k, multiplier, "", &p);
    lab_cell_plain(c, unit, mean, NAN);
    c->hashes = k;
    c->multiplier = multiplier;
    lab_cell_printed(c, &p);
    return c;
}

struct lab_table *thesis_grid(const struct lab_results *r, struct lab_report *report,
                              const struct thesis_grid *g)
{
    const struct lab_bloom_spec *s = g->spec;
    struct lab_table *t = lab_table(report, LAB_GRID, g->id, "hash functions", g->title);
    for (size_t i = 0; i < s->n_k * s->n_m; i++) {
        const struct lab_bloom b = thesis_bloom(r, s->k[i / s->n_m], g->filters * g->visits,
                                                s->multiplier[i % s->n_m], false);
        thesis_rate(t, r, g->unit, g->first + (uint32_t)i, g->filters, &b, "");
    }
    return t;
}

double thesis_apart(const struct lab_results *r, const struct lab_bloom *a, double hits_a,
                    const struct lab_bloom *b, double hits_b)
{
    const double sigma = hypot(lab_bloom_sigma(a), lab_bloom_sigma(b)) * a->n;
    return hits_a + hits_b < 20 ? NAN : fabs(hits_a - hits_b) / (sigma * sqrt(r->runs));
}
