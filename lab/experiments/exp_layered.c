/* exp_layered.c - the multi-layer Bloom filter: figure 3 of its paper, and the results published
 * with it.
 *
 * A unit is one list size, as published: its lines are the first ones of the lab's URLs.  Sizes
 * larger than the number of URLs are skipped. */
#include "lab/engine/lab_halves.h"
#include "lab/report/lab_report.h"
#include <math.h>
#include <stdio.h>

static const struct size {
    uint64_t rows;
    const char *table;
    const char *note;
} sizes[] = {
    {34887, "results3", "Wikipedia film pages, with 819 repeats"},
    {293120, "times2", "filters sized for n / 2 and given n"},
    {304964, "results4", ""},
    {422420, "results2", ""},
    {1562978, "results1", "the DMOZ list"},
};
#define SIZES (sizeof sizes / sizeof sizes[0])

static uint32_t units(const struct lab *lab)
{
    uint32_t n = 0;
    while (n < SIZES && sizes[n].rows <= 2 * lab->keys.n)
        n++;
    return n > 0 ? n : 1;
}

/* The published length of the list or, with very few URLs, their number. */
static uint64_t rows_of(const struct lab *lab, uint32_t unit)
{
    return sizes[unit].rows <= 2 * lab->keys.n ? sizes[unit].rows : 2 * lab->keys.n;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return HALVES_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return 20.0 * (double)rows_of(lab, unit);
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct lab_halves how = {.delimiter = '/'};
    const int rc =
        lab_halves(lab, &how, lab->keys.added, rows_of(lab, task->unit), task->seed, value, err);
    return rc;
}

/* --- Report ---------------------------------------------------------------------------- */

struct column {
    const char *label;
    uint32_t value;
    const char *subject; /* as published; NULL: not published */
    double share;        /* the fraction of the divisor that was queried */
};

static void add_cell(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                     uint32_t unit, const struct column *column)
{
    char row[40];
    const double rows = (double)rows_of(lab, unit);
    const double asked = lab_value(r, unit, 0, HALVES_ASKED);
    const double arrays = column->value == HALVES_PLAIN ? 1 : lab_value(r, unit, 0, HALVES_ARRAYS);
    const bool plain = column->value == HALVES_PLAIN || column->value == HALVES_EQUAL;
    const struct lab_bloom b = lab_halves_plain(asked, arrays);
    const double over = column->share < 1 ? rows : asked;
    const struct lab_count count = {.hits = lab_sum(r, unit, column->value),
                                    .trials = over,
                                    .runs = r->runs,
                                    .rate = plain ? lab_bloom_rate(&b) * asked / over : NAN,
                                    .sigma = lab_halves_sigma(&b) * asked / over};
    struct lab_printed printed = {0};
    if (column->subject)
        printed = lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                          .table = sizes[unit].table,
                                                          .subject = column->subject,
                                                          .quantity = "false_positive",
                                                          .rows = sizes[unit].rows});
    (void)snprintf(row, sizeof row, "%.0f lines", rows);
    struct lab_cell *c = lab_cell(t, row, column->label);
    lab_cell_rate(c, &count, &(struct lab_printed){0});
    if (printed.found && rows == (double)sizes[unit].rows) {
        lab_cell_printed(c, &printed);
        (void)snprintf(c->note, sizeof c->note, "%s", sizes[unit].note);
    }
}

static void make_tables(const struct lab *lab, const struct lab_results *r,
                        struct lab_report *report)
{
    static const struct column as_printed[] = {{"Bloom filter", HALVES_PLAIN, "classic", 0.5},
                                               {"multi-layer", HALVES_LAYERED, "layered", 0.5}};
    static const struct column fair[] = {{"Bloom filter", HALVES_PLAIN, NULL, 1},
                                         {"multi-layer", HALVES_LAYERED, NULL, 1},
                                         {"Bloom, equal memory", HALVES_EQUAL, NULL, 1},
                                         {"kind layered", HALVES_KIND, NULL, 1}};
    struct lab_table *printed =
        lab_table(report, LAB_GRID, "figure 3", "list",
                  "Figure 3 as printed: hits in both filters, % of all lines");
    lab_caption(printed, "p = 0.05: 6.2352 bits a line of its half and k = 4 for each bit array. "
                         "Printed percentages are of other lists, which are not public or hold "
                         "repeats; * marks what is odd about one.");
    struct lab_table *rate = lab_table(report, LAB_GRID, "rate", "list",
                                       "The rate of a question, and at equal memory, %");
    lab_caption(rate,
                "Divided by the lines that were asked. Equal memory: that of all arrays of the "
                "multi-layer filter in one plain filter. Kind layered: deja's own, made for "
                "p = 0.05, which sizes each layer by what it holds.");
    for (uint32_t u = 0; u < r->units; u++) {
        for (size_t i = 0; i < 2; i++)
            add_cell(lab, r, printed, u, &as_printed[i]);
        for (size_t i = 0; i < 4; i++)
            add_cell(lab, r, rate, u, &fair[i]);
    }
}

static void draw(const struct lab *lab, const struct lab_results *r, struct lab_report *report)
{
    struct lab_figure *f = lab_figure(report, "3", "Figure 3: false positives by size of the list",
                                      "lines", "hits in both filters");
    const size_t plain = lab_series(f, LAB_LINE, 0, "Bloom filter");
    const size_t layered = lab_series(f, LAB_LINE, 1, "multi-layer");
    const size_t equal = lab_series(f, LAB_LINE, 2, "equal memory");
    const size_t printed = lab_series(f, LAB_POINTS, 0, "printed, Bloom");
    const size_t printed_layered = lab_series(f, LAB_POINTS, 1, "printed, layers");
    for (uint32_t u = 0; u < r->units; u++) {
        const double rows = (double)rows_of(lab, u);
        struct lab_printed_query q = {.source = "multilayer",
                                      .table = sizes[u].table,
                                      .subject = "classic",
                                      .quantity = "false_positive_count",
                                      .rows = sizes[u].rows};
        lab_point(f, plain, rows, lab_sum(r, u, HALVES_PLAIN) / r->runs);
        lab_point(f, layered, rows, lab_sum(r, u, HALVES_LAYERED) / r->runs);
        lab_point(f, equal, rows, lab_sum(r, u, HALVES_EQUAL) / r->runs);
        lab_point(f, printed, (double)sizes[u].rows, lab_printed(&q).value);
        q.subject = "layered";
        lab_point(f, printed_layered, (double)sizes[u].rows, lab_printed(&q).value);
    }
}

/* A plain filter cannot show more than half of its rate: the rest are lines in both halves, which
 * every filter rightly finds. */
static void judge_repeats(struct lab_report *report)
{
    struct lab_printed_query q = {.source = "multilayer",
                                  .table = "results1",
                                  .subject = "classic",
                                  .quantity = "false_positive"};
    const double plain = lab_printed(&q).value, repeats = plain - 50 * HALVES_RATE;
    q.subject = "layered";
    const double layered = lab_printed(&q).value;
    lab_verdict(
        report, LAB_DIFFERS,
        "For the DMOZ list the paper prints %.2f %% (plain) and %.2f %% (multi-layer). The plain "
        "filter cannot have more than %.2f %%: the other %.2f %% are most likely lines that stand "
        "in both halves and are no false positives at all. Without them, %.2f %% are left for the "
        "multi-layer filter.",
        plain, layered, 50 * HALVES_RATE, repeats, layered - repeats);
}

static void judge(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t last = r->units - 1;
    const double asked = lab_value(r, last, 0, HALVES_ASKED) * r->runs;
    const double plain = lab_sum(r, last, HALVES_PLAIN),
                 layered = lab_sum(r, last, HALVES_LAYERED);
    const double arrays = lab_value(r, last, 0, HALVES_ARRAYS);
    const struct lab_bloom same = lab_halves_plain(lab_value(r, last, 0, HALVES_ASKED), arrays);
    double missed = 0;
    for (uint32_t u = 0; u < r->units; u++)
        missed += lab_sum(r, u, HALVES_MISSED);
    lab_verdict(
        report, layered < plain ? LAB_AGREES : LAB_DIFFERS,
        "Counted as printed, and with bit arrays of the same size each: the multi-layer filter "
        "has %.3f %% hits of all lines where the plain one has %.2f %%. How much better it is "
        "depends on the list: on its depth, and on how often segments repeat.",
        50 * layered / asked, 50 * plain / asked);
    judge_repeats(report);
    lab_verdict(
        report, LAB_DIFFERS,
        "The claim that it is the better filter does not hold: it was given %.0f times the "
        "memory (%.0f bit arrays here, at least 3 in the paper). One plain filter with the "
        "same memory had %.0f false positives in %.0f questions, the multi-layer filter "
        "%.0f; the theory gives the plain one a rate of %.1e.",
        arrays, arrays, lab_sum(r, last, HALVES_EQUAL), asked, layered, lab_bloom_rate(&same));
    lab_verdict(
        report, LAB_DIFFERS,
        "The printed percentages are half of the rate: the paper divides by all lines where "
        "only half of them was asked. For p = 0.05 a plain filter then prints %.2f %%, as "
        "measured here.",
        50 * HALVES_RATE);
    lab_verdict(
        report, LAB_DIFFERS,
        "The paper's formula, the rate of one filter to the power of the layers, would be %.0e "
        "for the %.0f layers here; measured is %.1e. Layers are not independent: hosts and "
        "folders of one half are those of the other as well, so their layers say yes and only "
        "the last segment and the XOR decide.",
        pow(HALVES_RATE, arrays - 1), arrays - 1, layered / asked);
    lab_verdict(
        report, LAB_NOTE,
        "deja's kind layered, with layers as large as what they hold and a salt for each, had "
        "%.0f false positives with %.1f bits a line, where the paper's arrays take %.1f. A plain "
        "filter of %.1f bits has a rate of %.1e: layers are for questions about sites and "
        "folders, not for memory.",
        lab_sum(r, last, HALVES_KIND), lab_value(r, last, 0, HALVES_KIND_BITS),
        HALVES_BITS * arrays, lab_value(r, last, 0, HALVES_KIND_BITS),
        exp(-lab_value(r, last, 0, HALVES_KIND_BITS) * log(2) * log(2)));
    lab_verdict(report, missed == 0 ? LAB_AGREES : LAB_DIFFERS,
                "No line was missed by the filter that had it (%.0f cases).", missed);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    make_tables(lab, r, report);
    draw(lab, r, report);
    judge(r, report);
    if (r->units < SIZES)
        lab_verdict(
            report, LAB_NOTE,
            "%zu of the published sizes were left out: they need up to 1,562,978 URLs (2 n).",
            SIZES - (sizes[0].rows <= 2 * lab->keys.n ? r->units : 0));
    return DEJA_OK;
}

const struct lab_experiment exp_layered = {
    .name = "layered",
    .title = "Multi-layer Bloom filter",
    .reproduces = "multi-layer paper, figure 3 and its published results",
    .seconds = 2,
    .about =
        (const char *const[]){
            "One Bloom filter for each segment of a URL, and one more whose positions are the XOR "
            "of the segments' positions. The paper cuts a list in two halves, puts each into a "
            "filter, and asks half of the lines, drawn at random, of both: a hit in both is a "
            "false positive.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
