/* lab_memory.c - the report on memory: tables 5.10 to 5.13, and the rule of the lecture notes. */
#include "lab/experiments/lab_memory.h"
#include "lab/experiments/lab_near.h"
#include "lab/report/lab_claim.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MILLION 1000000.0
#define KIB     1024.0
#define CELLS   (MEMORY_GRIDS * THESIS_CELLS)
#define PAGE    4.0  /* KiB */
#define MUCH    10.0 /* times: "significantly", "much" */

static const char *const grid_id[MEMORY_GRIDS] = {"5.10", "5.11", "5.12"};

/* --- Tables 5.10 to 5.12 ------------------------------------------------------------- */

/* The cells of the three tables, in KiB. */
struct cells {
    double measured[CELLS], theory[CELLS], printed[CELLS];
};

static void make_grid(const struct lab_results *r, struct lab_report *report, uint32_t grid,
                      struct cells *cells)
{
    static const char *const title[] = {"Table 5.10: one filter, KiB",
                                        "Table 5.11: two filters, KiB",
                                        "Table 5.12: three filters, KiB"};
    struct lab_table *t =
        lab_table(report, LAB_GRID, grid_id[grid], "hash functions", title[grid]);
    lab_caption(t, "Measured: the pages of 4 KiB that a process with these filters, each for a "
                   "million URLs, has written. Theory: F n k M bits. Printed: objects of Java.");
    for (uint32_t i = 0; i < THESIS_CELLS; i++) {
        const uint32_t k = THESIS_K_MIN + i / THESIS_SIZES, at = grid * THESIS_CELLS + i;
        const double m = thesis_multiplier[i % THESIS_SIZES];
        struct lab_cell *c =
            thesis_number(t, grid + 1, k, m, "KiB", lab_value(r, grid, 0, i) / KIB);
        c->error = 0;
        c->theory = (grid + 1) * MILLION * k * m / 8 / KIB;
        cells->measured[at] = c->mean;
        cells->theory[at] = c->theory;
        cells->printed[at] = c->printed;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *x, size_t n)
{
    double sorted[CELLS];
    for (size_t i = 0; i < n; i++)
        sorted[i] = x[i];
    qsort(sorted, n, sizeof *sorted, compare);
    return sorted[n / 2];
}

/* "The bit array is the only thing that consumes memory": each cell is its bits, to within a few
 * pages that every process writes. */
static struct lab_test only_bits(const struct cells *c)
{
    struct lab_test test[CELLS];
    for (size_t i = 0; i < CELLS; i++)
        test[i] = lab_test_near((struct lab_estimate){c->measured[i], PAGE, 0}, c->theory[i], 0.1);
    return lab_test_family(test, CELLS);
}

/* Do printed and measured sizes differ by the same in all cells of a table?  What remains is
 * rounding and whole pages. */
struct constant {
    double more[MEMORY_GRIDS]; /* KiB that the printed values are above ours */
    struct lab_test test;
    size_t worst; /* the cell that is furthest off */
};

static struct constant same_excess(const struct cells *c)
{
    struct constant s = {.worst = 0};
    struct lab_test test[CELLS];
    double more[CELLS], furthest = 0;
    for (size_t i = 0; i < CELLS; i++)
        more[i] = c->printed[i] - c->measured[i];
    for (size_t g = 0; g < MEMORY_GRIDS; g++)
        s.more[g] = median(more + g * THESIS_CELLS, THESIS_CELLS);
    for (size_t i = 0; i < CELLS; i++) {
        const double expected = c->measured[i] + s.more[i / THESIS_CELLS];
        const double off = fabs(c->printed[i] - expected);
        test[i] = lab_test_equal((struct lab_estimate){c->printed[i], PAGE, 0}, expected, 0.1);
        s.worst = off > furthest ? i : s.worst;
        furthest = fmax(off, furthest);
    }
    s.test = lab_test_family(test, CELLS);
    return s;
}

static void judge_bits(struct lab_report *report, const struct cells *c)
{
    const struct lab_test bits = only_bits(c);
    const struct constant s = same_excess(c);
    const size_t w = s.worst, cell = w % THESIS_CELLS;
    struct lab_claim *claim =
        lab_claim(report, "thesis, tables 5.10-5.12",
                  "\"The only thing that consumes memory in the Bloom filter is the bit array of "
                  "size m\" = n k M.");
    lab_answer(&claim->printed, &s.test, "KiB",
               "the printed sizes of a table are ours and a constant");
    lab_add_text(&claim->printed,
                 "Printed sizes are %.0f, %.0f and %.0f KiB above ours (median of each table): "
                 "objects of Java.",
                 s.more[0], s.more[1], s.more[2]);
    lab_say(&claim->printed, LAB_NO,
            "Furthest off is %s, %u HF %.1f M: it prints %.0f; with our %.0f KiB, %.0f would fit.",
            grid_id[w / THESIS_CELLS], THESIS_K_MIN + (unsigned)(cell / THESIS_SIZES),
            thesis_multiplier[cell % THESIS_SIZES], c->printed[w], c->measured[w],
            c->measured[w] + s.more[w / THESIS_CELLS]);
    lab_answer(&claim->holds, &bits, "KiB", "each filter takes F n k M bits, to within a tenth");
    lab_say(&claim->holds, LAB_OPEN,
            "This system does not report which pages a process has written "
            "(/proc/self/smaps_rollup).");
    lab_add_text(&claim->holds, "The median of the differences is %.0f KiB.",
                 median(c->measured, CELLS) - median(c->theory, CELLS));
}

/* "If you increase to two filters, the memory will increase by a factor of 2." */
static void judge_filters(struct lab_report *report, const struct cells *c)
{
    double ratio[2][THESIS_CELLS], printed[2][THESIS_CELLS];
    struct lab_test test[2], told[2];
    for (size_t f = 0; f < 2; f++) {
        for (size_t i = 0; i < THESIS_CELLS; i++) {
            ratio[f][i] = c->measured[(f + 1) * THESIS_CELLS + i] / c->measured[i];
            printed[f][i] = c->printed[(f + 1) * THESIS_CELLS + i] / c->printed[i];
        }
        const struct lab_estimate e = lab_sample(ratio[f], THESIS_CELLS);
        test[f] = lab_test_near(e, (double)f + 2, 0.05);
        told[f] = lab_test_near(e, median(printed[f], THESIS_CELLS), 0.05);
    }
    const struct lab_test holds = lab_test_all(test, 2), same = lab_test_all(told, 2);
    struct lab_claim *claim = lab_claim(report, "thesis, tables 5.10-5.12",
                                        "Memory grows \"approximately linear, based on the number "
                                        "of filters\": two take twice as much.");
    lab_answer(&claim->printed, &same, "times",
               "two and three filters take the printed multiples of one, to within 5 %%");
    lab_add_text(&claim->printed, "Printed: %.2f and %.2f times (medians).",
                 median(printed[0], THESIS_CELLS), median(printed[1], THESIS_CELLS));
    lab_answer(&claim->holds, &holds, "times",
               "two and three filters take 2 and 3 times as much as one, to within 5 %%");
    lab_add_text(&claim->holds, "Measured: %.3f and %.3f times.",
                 lab_sample(ratio[0], THESIS_CELLS).value,
                 lab_sample(ratio[1], THESIS_CELLS).value);
}

/* --- Table 5.13 ------------------------------------------------------------------------ */

static double value(const struct lab_results *r, uint32_t subject, enum lab_memory_value which)
{
    return lab_value(r, MEMORY_GRIDS, 0, subject * MEMORY_VALUES + which);
}

/* The number of a structure in the list. */
static uint32_t subject_of(uint32_t kind, double rate)
{
    uint32_t i = 0;
    while (i < MEMORY_SUBJECTS - 1 &&
           (memory_subjects[i].kind != kind || memory_subjects[i].rate != rate))
        i++;
    return i;
}
enum {
    ARRAY,
    SET,
    TABLE
};

static struct lab_printed printed_size(const char *subject)
{
    return lab_printed(&(struct lab_printed_query){.table = "5.13", .subject = subject});
}

static void subject_row(const struct lab_results *r, struct lab_table *t, uint32_t i)
{
    const struct memory_subject *s = &memory_subjects[i];
    struct lab_cell *c = lab_cell(t, s->label, "pages of 4 KiB");
    lab_cell_plain(c, "byte", value(r, i, MEMORY_RESIDENT) / lab_n(r), 0);
    c->theory = value(r, i, MEMORY_ASKED) / lab_n(r);
    lab_note(c, "%s", s->note);
    if (s->printed) {
        c->printed = printed_size(s->printed).value * KIB / MILLION;
        (void)snprintf(c->printed_text, sizeof c->printed_text, "%.1f", c->printed);
    }
    lab_cell_plain(lab_cell(t, s->label, "with huge pages"), "byte",
                   value(r, i, MEMORY_HUGE) / lab_n(r), 0);
    lab_cell_plain(lab_cell(t, s->label, "from malloc"), "byte",
                   value(r, i, MEMORY_ALLOCATED) / lab_n(r), 0);
}

static void make_subjects(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "5.13", "structure",
                                    "Table 5.13 and other structures: bytes per URL");
    lab_caption(
        t,
        "The lab's %.0f URLs of %.1f bytes on average. Measured: pages that the process has "
        "written, of 4 KiB, and as deja runs by default, with huge pages of 2 MiB for large "
        "arrays; and what malloc has handed out (bodies of 1 MiB and more come from the system "
        "directly). Theory: what the structure asks for. Printed: the thesis' kilobytes for a "
        "million URLs in Java, where a string has two bytes per character and a header.",
        lab_n(r), r->lab->keys.mean_len);
    for (uint32_t i = 0; i < MEMORY_SUBJECTS; i++)
        subject_row(r, t, i);
}

/* A ratio of two measured sizes, each known to within a page. */
static struct lab_estimate ratio_of(double a, double b)
{
    const double page = PAGE * KIB;
    return (struct lab_estimate){a / b, a / b * hypot(page / a, page / b), 0};
}

static void judge_lists(const struct lab_results *r, struct lab_report *report)
{
    const double filter = value(r, subject_of(DEJA_CLASSIC, 0.01), MEMORY_RESIDENT);
    const double array = value(r, ARRAY, MEMORY_RESIDENT), set = value(r, SET, MEMORY_RESIDENT);
    const struct lab_printed p = lab_printed(&(struct lab_printed_query){
        .source = "thesis", .table = "5.10", .filters = 1, .hashes = 5, .multiplier = 2.0});
    const double printed = printed_size("table").value / p.value;
    const struct lab_test less[2] = {lab_test_more(ratio_of(array, filter), MUCH),
                                     lab_test_more(ratio_of(set, filter), MUCH)};
    const struct lab_test holds = lab_test_all(less, 2);
    const struct lab_test same = lab_test_near(ratio_of(set, filter), printed, 0.2);
    struct lab_claim *claim = lab_claim(report, "thesis, table 5.13",
                                        "\"The Bloom filter consumes significantly less memory "
                                        "than the ArrayList and HashSet.\"");
    lab_answer(&claim->printed, &same, "times",
               "the set takes the printed multiple of the filter, to within a fifth");
    lab_add_text(&claim->printed,
                 "Printed: the HashSet takes %.0f times as much as a filter with about 1 %% (5 HF "
                 "2.0 M); the strings of Java are larger.",
                 printed);
    lab_answer(&claim->holds, &holds, "times",
               "array and set take more than %.0f times as much as a filter at 1 %%", MUCH);
    lab_add_text(&claim->holds,
                 "Per URL, the array takes %.1f bytes, the set %.1f, the filter %.2f, and exact, "
                 "which loses practically no page, %.1f.",
                 array / lab_n(r), set / lab_n(r), filter / lab_n(r),
                 value(r, subject_of(DEJA_EXACT, 0), MEMORY_RESIDENT) / lab_n(r));
}

/* --- The rule of the notes ------------------------------------------------------------------ */

/* m / n much smaller than the key's bits + log n: the bits of a table of the keys, by the rule. */
static double table_bits(const struct lab_results *r)
{
    return 8 * r->lab->keys.mean_len + log2(lab_n(r));
}

static void judge_rule(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[MEMORY_SUBJECTS];
    const double rule = table_bits(r);
    size_t n = 0;
    struct lab_table *t =
        lab_table(report, LAB_LIST, "rule", "structure",
                  "The rule of the notes: bits per URL, and how many times fewer");
    lab_caption(t,
                "A Bloom filter is good if m / n is much smaller than the key's bits and log n: "
                "here %.1f bits (8 x %.1f + log2 n), which is the theory of the first rows. The "
                "others: the rule divided by the filter's bits (theory), and the hash set divided "
                "by the filter, both measured.",
                rule, r->lab->keys.mean_len);
    for (uint32_t i = 0; i < MEMORY_SUBJECTS; i++) {
        const double bytes = value(r, i, MEMORY_RESIDENT);
        const bool filter = memory_subjects[i].kind != 0;
        struct lab_cell *c = lab_cell(t, memory_subjects[i].label, "bits per URL");
        lab_cell_plain(c, "bit", 8 * bytes / lab_n(r), 0);
        if (!filter) {
            c->theory = rule;
            continue;
        }
        const double by_rule = rule / (8 * value(r, i, MEMORY_ASKED) / lab_n(r));
        const struct lab_estimate saved = ratio_of(value(r, SET, MEMORY_RESIDENT), bytes);
        c = lab_cell(t, memory_subjects[i].label, "times fewer than the set");
        lab_cell_plain(c, "times", saved.value, saved.sigma);
        c->theory = by_rule;
        test[n++] = lab_test_more(saved, by_rule * 0.9);
    }
    const struct lab_test holds = lab_test_family(test, n);
    struct lab_claim *claim = lab_claim(
        report, "lecture notes",
        "A Bloom filter is good when m / n is much smaller than the key's bits + log n.");
    lab_answer(&claim->holds, &holds, "times",
               "a filter saves at least as much, compared with a measured hash set, as the rule "
               "says (to within a tenth)");
    lab_add_text(&claim->holds,
                 "The rule gives a table %.1f bits per URL; the array of strings takes %.1f, the "
                 "set %.1f, the table with open addressing %.1f. `deja plan --key-length` applies "
                 "the rule to other keys.",
                 rule, 8 * value(r, ARRAY, MEMORY_RESIDENT) / lab_n(r),
                 8 * value(r, SET, MEMORY_RESIDENT) / lab_n(r),
                 8 * value(r, TABLE, MEMORY_RESIDENT) / lab_n(r));
}

void lab_memory_report(const struct lab_results *r, struct lab_report *report)
{
    struct cells cells;
    for (uint32_t grid = 0; grid < MEMORY_GRIDS; grid++)
        make_grid(r, report, grid, &cells);
    make_subjects(r, report);
    judge_bits(report, &cells);
    judge_filters(report, &cells);
    judge_lists(r, report);
    judge_rule(r, report);
}
