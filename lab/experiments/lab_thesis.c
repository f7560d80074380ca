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

static struct lab_printed printed_of(const char *table, uint32_t filters, uint32_t k,
                                     double multiplier)
{
    return lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                   .table = table,
                                                   .filters = filters,
                                                   .hashes = k,
                                                   .multiplier = multiplier});
}

double thesis_printed(const char *table, uint32_t filters, const struct lab_bloom *b)
{
    const struct lab_printed p = printed_of(table, filters, b->k, b->multiplier);
    return p.found ? p.value : NAN;
}

static struct lab_cell *new_cell(struct lab_table *t, uint32_t filters, uint32_t k,
                                 double multiplier, const char *prefix,
                                 struct lab_printed *printed)
{
    char row[16], column[40];
    (void)snprintf(row, sizeof row, "%u HF", k);
    (void)snprintf(column, sizeof column, "%s%.1f M", prefix, multiplier);
    *printed = printed_of(t->id, filters, k, multiplier);
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

/* --- Figures ------------------------------------------------------------------ */

static void draw_k(const struct lab_results *r, struct lab_figure *f, const struct thesis_grid *g,
                   uint32_t row)
{
    const struct lab_bloom_spec *s = g->spec;
    const uint32_t k = s->k[row], copies = g->filters * g->visits;
    const unsigned color = LAB_COLOR_HASHES(k);
    const size_t theory = lab_series(f, LAB_DASHES, color, "%s", ""),
                 printed = lab_series(f, LAB_RINGS, color, "%s", ""),
                 measured = lab_series(f, LAB_POINTS, color, "k = %u", k);
    const double least = s->multiplier[0], most = s->multiplier[s->n_m - 1];
    for (double m = least; m < most + 0.05; m += 0.1) {
        const struct lab_bloom b = thesis_bloom(r, k, copies, m, false);
        lab_point(f, theory, k * m, 100 * lab_bloom_rate(&b));
    }
    for (uint32_t i = 0; i < s->n_m; i++) {
        const struct lab_bloom b = thesis_bloom(r, k, copies, s->multiplier[i], false);
        const uint32_t value = g->first + row * (uint32_t)s->n_m + i;
        lab_point_rate(f, measured, k * b.multiplier, lab_sum(r, g->unit, value), b.n * r->runs);
        lab_point(f, printed, k * b.multiplier, thesis_printed(g->id, g->filters, &b));
    }
}

/* What to notice: the best M at a given memory is smaller than any in the tables. */
static void describe(const struct lab_results *r, struct lab_figure *f,
                     const struct thesis_grid *g)
{
    const struct lab_bloom_spec *s = g->spec;
    const uint32_t k = s->k[s->n_k - 1], few = s->k[0], copies = g->filters * g->visits;
    const double bits = few * s->multiplier[s->n_m - 1];
    const struct lab_bloom a = thesis_bloom(r, few, copies, bits / few, false),
                           b = thesis_bloom(r, k, copies, bits / k, false);
    lab_figure_caption(
        f,
        "At equal memory, more functions win while M = m / (n k) is above 1.44: with %g bits per "
        "URL, theory gives %s %% for k = %u and %s %% for k = %u (M = %.2f).",
        bits, lab_number(100 * lab_bloom_rate(&a)).s, few, lab_number(100 * lab_bloom_rate(&b)).s,
        k, bits / k);
}

void thesis_draw(const struct lab_results *r, struct lab_report *report,
                 const struct thesis_grid *g, const char *id, const char *title)
{
    struct lab_figure *f = lab_figure(report, id, title, "bits per URL of each filter (k M)",
                                      "URLs mistaken for seen, %", NULL);
    f->log_y = true;
    for (uint32_t row = 0; row < g->spec->n_k; row++)
        draw_k(r, f, g, row);
    describe(r, f, g);
}

struct lab_rate thesis_counted(const struct lab_results *r, uint32_t unit, uint32_t index,
                               const struct lab_bloom *b)
{
    return (struct lab_rate){lab_sum(r, unit, index), lab_n(r) * r->runs,
                             lab_bloom_sigma(b) / sqrt(r->runs)};
}

struct lab_text thesis_percent(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    return lab_number(100 * lab_mean(r, unit, index) / lab_n(r));
}

struct lab_test thesis_test_fewer(const struct lab_results *r, uint32_t k, uint32_t size,
                                  uint32_t than_k, uint32_t than_size)
{
    const struct lab_bloom b = thesis_bloom(r, k, 1, thesis_multiplier[size], false);
    const struct lab_bloom than = thesis_bloom(r, than_k, 1, thesis_multiplier[than_size], false);
    return lab_test_lower(thesis_counted(r, 0, thesis_cell(k, size), &b),
                          thesis_counted(r, 0, thesis_cell(than_k, than_size), &than));
}

void thesis_answer_equal(struct lab_answer *a, const struct lab_test *pair, size_t n)
{
    const struct lab_test all = lab_test_family(pair, n);
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++)
        if (pair[i].outcome == LAB_YES) {
            least = fmin(least, pair[i].estimate);
            most = fmax(most, pair[i].estimate);
        }
    lab_answer(a, &all, "", "in %zu pairs with equal memory, the rates have the ratio 1", n);
    lab_say(a, LAB_NO, "%zu pairs differ: the number of filters makes a difference.", all.against);
    if (most > 0)
        lab_add_text(
            a,
            "Of the pairs, %zu have enough hits; where they agree, F filters have %.3f to "
            "%.3f times the rate of one.",
            all.decided, least, most);
}
