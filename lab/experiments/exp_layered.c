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
    {34887, "results3", "Wikipedia film pages, with 819 duplicates"},
    {293120, "times2", "filters sized for n / 2, filled with n"},
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

static double weight(const struct lab *lab, uint32_t unit)
{
    return (double)rows_of(lab, unit);
}

static void run(struct lab_task *t)
{
    lab_halves(t, &(struct lab_halves){.delimiter = '/'}, t->lab->keys.added,
               rows_of(t->lab, t->unit));
}

/* --- Report ---------------------------------------------------------------------------- */

struct column {
    const char *label;
    uint32_t value;
    const char *subject; /* as published; NULL: not published */
    double share;        /* the fraction of the divisor that was queried */
};

static struct lab_printed printed_of(uint32_t unit, const char *subject, const char *quantity)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = sizes[unit].table,
                                                   .subject = subject,
                                                   .quantity = quantity,
                                                   .rows = sizes[unit].rows});
}

static void add_cell(const struct lab_results *r, struct lab_table *t, uint32_t unit,
                     const struct column *column)
{
    char row[40];
    const uint64_t rows = rows_of(r->lab, unit);
    const double asked = lab_value(r, unit, 0, HALVES_ASKED);
    const double over = column->share < 1 ? (double)rows : asked;
    const double arrays = column->value == HALVES_PLAIN ? 1 : lab_value(r, unit, 0, HALVES_ARRAYS);
    const bool plain = column->value == HALVES_PLAIN || column->value == HALVES_EQUAL;
    const struct lab_bloom b = lab_halves_plain(asked, arrays);
    const struct lab_count count =
        lab_counted(r, unit, column->value, over, plain ? lab_bloom_rate(&b) * asked / over : NAN,
                    lab_halves_sigma(&b) * asked / over);
    (void)snprintf(row, sizeof row, "%llu lines", (unsigned long long)rows);
    struct lab_cell *c = lab_cell(t, row, column->label);
    lab_cell_rate(c, &count, NULL);
    if (column->subject && rows == sizes[unit].rows) {
        const struct lab_printed printed = printed_of(unit, column->subject, "false_positive");
        lab_cell_printed(c, &printed);
        if (printed.found)
            lab_note(c, "%s", sizes[unit].note);
    }
}

static void make_tables(const struct lab_results *r, struct lab_report *report)
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
    lab_caption(printed,
                "p = 0.05: 6.2352 bits per line of its half and k = 4 for each bit array. "
                "The printed percentages are from other lists, which are not public or "
                "contain duplicates; * marks an unusual value.");
    struct lab_table *rate = lab_table(report, LAB_GRID, "rate", "list",
                                       "False positive rate of a query, and at equal memory, %");
    lab_caption(rate,
                "Divided by the number of queried lines. Equal memory: one plain filter with "
                "the memory of all arrays of the multi-layer filter. Kind layered: deja's "
                "own, created for p = 0.05, which sizes each layer for its contents.");
    for (uint32_t u = 0; u < r->units; u++) {
        for (size_t i = 0; i < 2; i++)
            add_cell(r, printed, u, &as_printed[i]);
        for (size_t i = 0; i < 4; i++)
            add_cell(r, rate, u, &fair[i]);
    }
}

static void draw_series(const struct lab_results *r, struct lab_figure *f, const char *name,
                        unsigned color, uint32_t value, const char *subject)
{
    const bool plain = value != HALVES_LAYERED;
    const size_t theory = lab_series(f, LAB_DASHES, color, "%s", ""),
                 printed = lab_series(f, LAB_RINGS, color, "%s", ""),
                 measured = lab_series(f, LAB_POINTS, color, "%s", name);
    for (uint32_t u = 0; u < r->units; u++) {
        const double rows = (double)rows_of(r->lab, u), asked = lab_value(r, u, 0, HALVES_ASKED);
        const struct lab_bloom b =
            lab_halves_plain(asked, value == HALVES_EQUAL ? lab_value(r, u, 0, HALVES_ARRAYS) : 1);
        const struct lab_printed p =
            subject ? printed_of(u, subject, "false_positive_count") : (struct lab_printed){0};
        lab_point_hits(f, measured, rows, lab_sum(r, u, value), r->runs);
        lab_point(f, theory, rows, plain ? lab_bloom_rate(&b) * asked : NAN);
        lab_point(f, printed, (double)sizes[u].rows, p.found ? p.value : NAN);
    }
}

static void draw(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t last = r->units - 1;
    struct lab_figure *f = lab_figure(report, "3", "Figure 3: false positives by size of the list",
                                      "lines of the list", "hits in both filters per run", NULL);
    f->log_x = f->log_y = true;
    draw_series(r, f, "Bloom filter", LAB_COLOR_BLOOM, HALVES_PLAIN, "classic");
    draw_series(r, f, "multi-layer", LAB_COLOR_LAYERED, HALVES_LAYERED, "layered");
    draw_series(r, f, "Bloom filter, equal memory", LAB_COLOR_EQUAL, HALVES_EQUAL, NULL);
    lab_figure_caption(
        f,
        "With %.0f lines, the multi-layer filter has %s hits per run and the plain one %s; with "
        "the memory of all %.0f bit arrays, the plain one has %s. Printed values are for lists "
        "that contain duplicates or are not public.",
        (double)rows_of(r->lab, last), lab_number(lab_mean(r, last, HALVES_LAYERED)).s,
        lab_number(lab_mean(r, last, HALVES_PLAIN)).s, lab_value(r, last, 0, HALVES_ARRAYS),
        lab_number(lab_mean(r, last, HALVES_EQUAL)).s);
}

/* A plain filter cannot show more than half of its rate: the rest are lines in both halves, which
 * every filter rightly finds. */
static void judge_repeats(struct lab_report *report)
{
    const double plain = printed_of(SIZES - 1, "classic", "false_positive").value,
                 layered = printed_of(SIZES - 1, "layered", "false_positive").value,
                 repeats = plain - 50 * HALVES_RATE;
    lab_verdict(
        report, LAB_DIFFERS,
        "For the DMOZ list, the paper prints %.2f %% (plain) and %.2f %% (multi-layer). The plain "
        "filter cannot have more than %.2f %%: the other %.2f %% are most likely lines that occur "
        "in both halves, which are not false positives. Without them, %.2f %% remain for the "
        "multi-layer filter.",
        plain, layered, 50 * HALVES_RATE, repeats, layered - repeats);
}

static void judge(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t last = r->units - 1;
    const double asked = lab_value(r, last, 0, HALVES_ASKED) * r->runs,
                 arrays = lab_value(r, last, 0, HALVES_ARRAYS),
                 kind_bits = lab_value(r, last, 0, HALVES_KIND_BITS),
                 plain = lab_sum(r, last, HALVES_PLAIN),
                 layered = lab_sum(r, last, HALVES_LAYERED);
    const struct lab_bloom same = lab_halves_plain(lab_value(r, last, 0, HALVES_ASKED), arrays);
    double missed = 0;
    for (uint32_t u = 0; u < r->units; u++)
        missed += lab_sum(r, u, HALVES_MISSED);
    lab_verdict(
        report, layered < plain ? LAB_AGREES : LAB_DIFFERS,
        "Counted as printed, and with bit arrays of the same size: the multi-layer filter has "
        "%.3f %% hits of all lines, the plain one %.2f %%. How much better it is depends on the "
        "list: on the depth of its URLs, and on how often segments repeat.",
        50 * layered / asked, 50 * plain / asked);
    judge_repeats(report);
    lab_verdict(
        report, LAB_DIFFERS,
        "It is not the better filter, as the paper claims: it has %.0f times the memory (%.0f bit "
        "arrays here, at least 3 in the paper). One plain filter with the same memory had %.0f "
        "false positives in %.0f queries, the multi-layer filter %.0f; in theory, the rate of the "
        "plain one is %.1e.",
        arrays, arrays, lab_sum(r, last, HALVES_EQUAL), asked, layered, lab_bloom_rate(&same));
    lab_verdict(
        report, LAB_DIFFERS,
        "The printed percentages are half of the rate: the paper divides by all lines but queries "
        "only half of them. A plain filter with p = 0.05 then prints %.2f %%, as measured here.",
        50 * HALVES_RATE);
    lab_verdict(
        report, LAB_DIFFERS,
        "The paper's formula, the rate of one filter to the power of the number of layers, gives "
        "%.0e for the %.0f layers here; the measured rate is %.1e. Layers are not independent: "
        "both halves have the same hosts and folders, so the layers of these test positive, and "
        "only the last segment and the XOR decide.",
        pow(HALVES_RATE, arrays - 1), arrays - 1, layered / asked);
    lab_verdict(
        report, LAB_NOTE,
        "deja's kind layered, which sizes each layer for its contents and gives each its own salt, "
        "had %.0f false positives with %.1f bits per line; the paper's arrays take %.1f. A plain "
        "filter of %.1f bits has a rate of %.1e: use layers to query sites and folders, not to "
        "save memory.",
        lab_sum(r, last, HALVES_KIND), kind_bits, HALVES_BITS * arrays, kind_bits,
        exp(-kind_bits * log(2) * log(2)));
    lab_verdict(report, missed == 0 ? LAB_AGREES : LAB_DIFFERS,
                "No filter missed a line that was added to it (%.0f cases).", missed);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    make_tables(r, report);
    draw(r, report);
    judge(r, report);
    if (r->units < SIZES)
        lab_verdict(
            report, LAB_NOTE,
            "%zu of the published sizes were omitted: they need up to 1,562,978 URLs (2 n).",
            SIZES - (sizes[0].rows <= 2 * r->lab->keys.n ? r->units : 0));
}

const struct lab_experiment exp_layered = {
    .name = "layered",
    .title = "Multi-layer Bloom filter",
    .reproduces = "multi-layer paper, figure 3 and its published results",
    .seconds = 2,
    .about =
        (const char *const[]){
            "One Bloom filter for each segment of a URL, and one more whose positions are the XOR "
            "of the segments' positions. The paper splits a list into two halves, puts each into a "
            "filter, and queries both for half of the lines, drawn at random: a hit in both is a "
            "false positive.",
            NULL},
    .units_of = units,
    .values = HALVES_VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
