/* lab_layers.c - tables and figure of `layered`; see lab_layers.h. */
#include "lab/experiments/lab_layers.h"
#include <math.h>
#include <stdio.h>

static const uint64_t rows_of[LAYERS_LISTS] = {34887, 293120, 304964, 422420, 1562978};

const struct layers_published layers_published[LAYERS_PUBLISHED] = {
    {"results", 1515223, LAYERS_LISTS},
    {"results", 1562978, 4},
    {"results1", 1562978, 4},
    {"results2", 422420, 3},
    {"results3", 34887, 0},
    {"results4", 304964, 2},
    {"times1", 1562978, 4},
    {"times2", 293120, 1},
    {"times3", 34887, 0},
};

uint32_t layers_lists(const struct lab *lab)
{
    uint32_t n = 0;
    while (n < LAYERS_LISTS && rows_of[n] <= 2 * lab->keys.n)
        n++;
    return n > 0 ? n : 1;
}

uint64_t layers_rows(const struct lab *lab, uint32_t list)
{
    return rows_of[list] <= 2 * lab->keys.n ? rows_of[list] : 2 * lab->keys.n;
}

struct lab_printed layers_printed(const struct layers_published *p, const char *subject,
                                  const char *quantity)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = p->table,
                                                   .subject = subject,
                                                   .quantity = quantity,
                                                   .rows = p->rows});
}

/* --- Rates and their theory --------------------------------------------------------------- */

struct lab_rate layers_rate(const struct lab_results *r, uint32_t unit, uint32_t value)
{
    const double sigma = layers_theory(r, unit, value).sigma / sqrt(r->runs);
    return (struct lab_rate){lab_sum(r, unit, value), lab_sum(r, unit, HALVES_ASKED),
                             isnan(sigma) ? 0 : sigma};
}

/* The model's prediction: structural false positives, others, and their variance. */
static struct layers_theory of_model(const struct lab_results *r, uint32_t unit, uint32_t model)
{
    const double asked = lab_mean(r, unit, HALVES_ASKED);
    return (struct layers_theory){(lab_mean(r, unit, model) + lab_mean(r, unit, model + 1)) /
                                      asked,
                                  sqrt(lab_mean(r, unit, model + 2)) / asked};
}

struct layers_theory layers_theory(const struct lab_results *r, uint32_t unit, uint32_t value)
{
    const double asked = lab_value(r, unit, 0, HALVES_ASKED);
    if (value == HALVES_ONE)
        return of_model(r, unit, HALVES_ONE_SURE);
    if (value == HALVES_LAYERED)
        return of_model(r, unit, HALVES_LAYERED_SURE);
    if (value != HALVES_PLAIN && value != HALVES_EQUAL)
        return (struct layers_theory){NAN, NAN};
    const struct lab_bloom b =
        lab_halves_plain(asked, value == HALVES_PLAIN ? 1 : lab_value(r, unit, 0, HALVES_ARRAYS));
    return (struct layers_theory){lab_bloom_rate(&b), lab_halves_sigma(&b)};
}

/* --- Figure 3 as printed --------------------------------------------------------------------- */

/* `counts`: hits instead of a percentage of all lines. */
static void add_printed(const struct lab_results *r, struct lab_table *t,
                        const struct layers_published *p, uint32_t value, bool counts)
{
    char row[56];
    const bool plain = value == HALVES_PLAIN;
    const bool ours = p->list < layers_lists(r->lab) && layers_rows(r->lab, p->list) == p->rows;
    const struct lab_printed printed = layers_printed(
        p, plain ? "classic" : "layered", counts ? "false_positive_count" : "false_positive");
    (void)snprintf(row, sizeof row, "%s, %llu lines", p->table, (unsigned long long)p->rows);
    struct lab_cell *c = lab_cell(t, row,
                                  plain ? counts ? "Bloom (program), lines" : "Bloom (program), %"
                                  : counts ? "multi-layer, lines"
                                           : "multi-layer, %");
    if (ours && !counts) {
        /* Half of the lines are queried: rates are half as large. */
        const struct layers_theory theory = layers_theory(r, p->list, value);
        const struct lab_count count =
            lab_counted(r, p->list, value, (double)p->rows, theory.rate / 2, theory.sigma / 2);
        lab_cell_rate(c, &count, &printed);
        return;
    }
    lab_cell_plain(c, counts ? "lines" : "%", ours ? lab_mean(r, p->list, value) : NAN, NAN);
    c->runs = ours ? r->runs : 0;
    lab_cell_printed(c, &printed);
}

static void make_printed(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "figure 3", "file and list",
                  "Figure 3 and all published counts: hits in both filters, % of all lines");
    lab_caption(t, "p = 0.05: 6.2352 bits per line of its half and k = 4 for each bit array. The "
                   "printed values are of other lists, which are not public or contain lines "
                   "twice; only half of the lines were queried.");
    for (size_t i = 0; i < LAYERS_PUBLISHED; i++)
        for (uint32_t column = 0; column < 4; column++)
            add_printed(r, t, &layers_published[i],
                        column % 2 == 0 ? HALVES_PLAIN : HALVES_LAYERED, column >= 2);
}

/* --- Rates of a query --------------------------------------------------------------------------- */

static const struct {
    const char *label;
    uint32_t value;
} filter[] = {{"Bloom, whole lines (program)", HALVES_PLAIN},
              {"Bloom, segments (Alg. 1, 2)", HALVES_ONE},
              {"multi-layer (Alg. 3, 4)", HALVES_LAYERED},
              {"Bloom, equal memory", HALVES_EQUAL},
              {"kind layered", HALVES_KIND},
              {"kind layered, paper mode", HALVES_PAPER}};
#define FILTERS (sizeof filter / sizeof filter[0])

static void name_list(const struct lab_results *r, uint32_t unit, char *label, size_t cap)
{
    if (unit == layers_lists(r->lab))
        (void)snprintf(label, cap, "%.0f recombined", lab_value(r, unit, 0, HALVES_ASKED));
    else
        (void)snprintf(label, cap, "%llu lines", (unsigned long long)layers_rows(r->lab, unit));
}

static void make_rates(const struct lab_results *r, struct lab_report *report)
{
    char row[40];
    struct lab_table *t = lab_table(report, LAB_GRID, "rate", "list",
                                    "False positive rate of a query, and at equal memory, %");
    lab_caption(t, "Divided by the number of queried lines. The program hashes a line whole; "
                   "Algorithms 1 and 2 as printed insert its segments into one array. Equal "
                   "memory: one plain filter with the memory of all arrays. Recombined: the site "
                   "of one line with the path of another. Kind layered is deja's own, for p = "
                   "0.05; in paper mode with the paper's k and m.");
    for (uint32_t unit = 0; unit < r->units; unit++)
        for (size_t i = 0; i < FILTERS && lab_value(r, unit, 0, HALVES_ASKED) > 0; i++) {
            const struct layers_theory theory = layers_theory(r, unit, filter[i].value);
            const struct lab_count count =
                lab_counted(r, unit, filter[i].value, lab_value(r, unit, 0, HALVES_ASKED),
                            theory.rate, theory.sigma);
            name_list(r, unit, row, sizeof row);
            lab_cell_rate(lab_cell(t, row, filter[i].label), &count, NULL);
        }
}

/* --- Structure and chance ------------------------------------------------------------------------- */

static void add_parts(const struct lab_results *r, struct lab_table *t, uint32_t unit,
                      const char *name, uint32_t value, uint32_t model)
{
    char row[40], column[56];
    const double asked = lab_value(r, unit, 0, HALVES_ASKED), sure = lab_sum(r, unit, model);
    struct lab_count count = lab_counted(r, unit, model, asked, NAN, NAN);
    name_list(r, unit, row, sizeof row);
    (void)snprintf(column, sizeof column, "%s: structural", name);
    lab_cell_rate(lab_cell(t, row, column), &count, NULL);
    const struct layers_theory all = layers_theory(r, unit, value);
    count = lab_counted(r, unit, value, asked, all.rate - sure / r->runs / asked, all.sigma);
    count.hits -= sure;
    (void)snprintf(column, sizeof column, "%s: by chance", name);
    lab_cell_rate(lab_cell(t, row, column), &count, NULL);
}

static void make_parts(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "parts", "list",
                                    "Structural false positives, and those by chance, %");
    lab_caption(t, "Structural: exact sets of segments report these lines as well, so no hash "
                   "function and no memory avoids them. By chance: the rest, compared with what "
                   "follows from the number of segments in each array.");
    for (uint32_t unit = 0; unit < r->units; unit++)
        if (lab_value(r, unit, 0, HALVES_ASKED) > 0) {
            add_parts(r, t, unit, "Alg. 1, 2", HALVES_ONE, HALVES_ONE_SURE);
            add_parts(r, t, unit, "Alg. 3, 4", HALVES_LAYERED, HALVES_LAYERED_SURE);
        }
}

void layers_tables(const struct lab_results *r, struct lab_report *report)
{
    make_printed(r, report);
    make_rates(r, report);
    make_parts(r, report);
}

/* --- Figure 3 --------------------------------------------------------------------------------------- */

static void draw_theory(const struct lab_results *r, struct lab_figure *f, uint32_t value,
                        unsigned color)
{
    const size_t line = lab_series(f, LAB_DASHES, color, "%s", "");
    for (uint32_t u = 0; u < layers_lists(r->lab); u++)
        lab_point(f, line, (double)layers_rows(r->lab, u),
                  layers_theory(r, u, value).rate * lab_value(r, u, 0, HALVES_ASKED));
}

static void draw_measured(const struct lab_results *r, struct lab_figure *f, uint32_t value,
                          unsigned color, const char *name)
{
    const size_t at = lab_series(f, LAB_POINTS, color, "%s", name);
    for (uint32_t u = 0; u < layers_lists(r->lab); u++) {
        const double hits = lab_sum(r, u, value), lines = (double)layers_rows(r->lab, u);
        lab_point_between(f, at, lines, hits > 0 ? hits / r->runs : NAN,
                          lab_poisson_low(hits) / r->runs, lab_poisson_high(hits) / r->runs);
    }
}

static void draw_printed(struct lab_figure *f, const char *subject, unsigned color,
                         const char *name)
{
    const size_t at = lab_series(f, LAB_RINGS, color, "printed, %s", name);
    for (size_t i = 0; i < LAYERS_PUBLISHED; i++)
        lab_point(f, at, (double)layers_published[i].rows,
                  layers_printed(&layers_published[i], subject, "false_positive_count").value);
}

void layers_figure(const struct lab_results *r, struct lab_report *report)
{
    struct lab_figure *f = lab_figure(report, "3", "Figure 3: false positives by size of the list",
                                      "lines in the list", "lines that both filters report", NULL);
    f->log_x = f->log_y = true;
    for (size_t i = 0; i < FILTERS; i++) {
        static const unsigned color[FILTERS] = {LAB_COLOR_BLOOM,   LAB_COLORS + LAB_COLOR_BLOOM,
                                                LAB_COLOR_LAYERED, LAB_COLOR_EQUAL,
                                                LAB_COLOR_KIND,    LAB_COLORS + LAB_COLOR_KIND};
        if (filter[i].value == HALVES_EQUAL)
            continue; /* far below the axis */
        draw_theory(r, f, filter[i].value, color[i]);
        draw_measured(r, f, filter[i].value, color[i], filter[i].label);
    }
    draw_printed(f, "classic", LAB_COLOR_BLOOM, "Bloom");
    draw_printed(f, "layered", LAB_COLOR_LAYERED, "multi-layer");
    lab_figure_caption(f, "Lines are theory. The printed values (open marks) are of other lists, "
                          "in which some lines occur in both halves: every filter reports those.");
}
