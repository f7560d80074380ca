/* exp_lists.c - figures 4 and 5 of the multi-layer paper: time to insert a list and to query half
 * of it, against the length of the list.
 *
 * The paper's text adds linear and binary search, its published files a hash table and an array.
 * A unit is one structure and one length, as published.  Seconds of another machine and language
 * cannot be reproduced.  What can: how time grows with the length, and how the structures compare.
 * lab_listed.c has the tables and figures; this file judges. */
#include "lab/engine/lab_halves.h"
#include "lab/experiments/lab_listed.h"
#include "lab/experiments/lab_near.h"
#include <math.h>
#include <stdlib.h>

static void run(struct lab_task *t)
{
    const deja_slice *line = t->lab->keys.added;
    const uint64_t rows = listed_rows(t->lab, t->unit / TIMED_KINDS);
    const enum lab_timed_kind which = t->unit % TIMED_KINDS;
    const struct lab_times time = lab_timed(t, which, line, rows);
    const uint64_t left = 2 * t->lab->keys.n - rows, absent = left < 100000 ? left : 100000;
    t->value[LISTED_ADD] = time.add;
    t->value[LISTED_QUERY] = time.query;
    t->value[LISTED_SORT] = time.sort;
    if (which != TIMED_SLOTS || t->rc < 0)
        return;
    t->value[LISTED_HITS] = lab_timed_slots_hits(t, line, rows, line + rows, absent);
    t->value[LISTED_ABSENT] = (double)absent;
}

/* --- How time grows ------------------------------------------------------------------- */

#define PAIRS (LISTED_SIZES * (LISTED_SIZES - 1) / 2)

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median: one time that other programs disturbed does not change it.  NAN: there are none. */
static double median(double *x, uint32_t n)
{
    qsort(x, n, sizeof *x, by_size);
    return n == 0 ? NAN : n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* The exponent e of time = c n^e for one line: the median slope of all pairs, on logarithms. */
static double exponent(const double *n, const double *time, uint32_t count)
{
    double slope[PAIRS];
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            slope[pairs++] = log(time[i] / time[j]) / log(n[i] / n[j]);
    return median(slope, pairs);
}

/* A number that each run yields; the runs are its sample. */
typedef double per_run(const struct lab_results *r, uint32_t run, const void *ctx);

static struct lab_estimate sample(const struct lab_results *r, per_run *fn, const void *ctx)
{
    double x[LISTED_RUNS];
    const uint32_t runs = r->runs < LISTED_RUNS ? r->runs : LISTED_RUNS;
    for (uint32_t run = 0; run < runs; run++)
        x[run] = fn(r, run, ctx);
    return lab_sample(x, runs);
}

struct line {
    enum lab_timed_kind which, to; /* to: for a ratio */
    enum lab_listed value;
};

static double growth_of_run(const struct lab_results *r, uint32_t run, const void *ctx)
{
    const struct line *l = ctx;
    double n[LISTED_SIZES], time[LISTED_SIZES];
    const uint32_t sizes = listed_sizes(r->lab);
    for (uint32_t i = 0; i < sizes; i++) {
        n[i] = (double)listed_rows(r->lab, i);
        time[i] = lab_value(r, i * TIMED_KINDS + l->which, run, l->value);
    }
    return exponent(n, time, sizes);
}

/* The same for the printed times of a structure; NAN: not printed. */
static double printed_growth(enum lab_timed_kind which, enum lab_listed value)
{
    double n[LISTED_SIZES], time[LISTED_SIZES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < LISTED_SIZES; i++) {
        const struct lab_printed p = listed_printed(i, which, value);
        if (p.found) {
            n[count] = (double)p.rows;
            time[count++] = p.value / listed_lines(i, which, value);
        }
    }
    return exponent(n, time, count);
}

/* What a text says about the time of one line: it hardly depends on the length n of the list, it
 * grows more slowly than n, or in proportion to n.  Each has a bound for the exponent.  Even a
 * constant number of steps takes longer in a list that does not fit into the processor's caches,
 * so the first bound is not 0. */
enum order {
    CONSTANT,
    SLOWER,
    LINEAR
};
static const struct {
    double bound;
    const char *text;
} order_of[] = {{0.5, "e < 0.5: constant except for caches"},
                {1, "e < 1: the time grows more slowly than the list"},
                {0.5, "e > 0.5: the time grows with the list"}};

static void judge_growth(const struct lab_results *r, struct lab_report *report,
                         const struct line *line, enum order order, const char *where,
                         const char *claim)
{
    const struct lab_estimate e = sample(r, growth_of_run, line);
    const struct lab_test test = order == LINEAR ? lab_test_more(e, order_of[order].bound)
                                                 : lab_test_less(e, order_of[order].bound);
    const uint32_t last = listed_sizes(r->lab) - 1;
    const double printed = printed_growth(line->which, line->value);
    struct lab_claim *c = lab_claim(report, where, "%s", claim);
    lab_answer(&c->holds, &test, "", "the time of a line is c n^e, %s", order_of[order].text);
    lab_add_text(&c->holds, "From %.0f to %.0f lines, it goes from %s to %s us.",
                 (double)listed_rows(r->lab, 0), (double)listed_rows(r->lab, last),
                 lab_number(listed_time(r, 0, line->which, line->value) / 1000).s,
                 lab_number(listed_time(r, last, line->which, line->value) / 1000).s);
    if (!isnan(printed))
        lab_add_text(&c->holds, "The printed times grow with n^%.2f.", printed);
}

static void judge_text(const struct lab_results *r, struct lab_report *report)
{
    static const struct {
        struct line line;
        enum order order;
        const char *where, *claim;
    } text[] = {
        {{TIMED_LINEAR, TIMED_LINEAR, LISTED_QUERY},
         LINEAR,
         "multi-layer, 1.1",
         "A linear search among a million lines needs a million comparisons."},
        {{TIMED_BINARY, TIMED_BINARY, LISTED_QUERY},
         SLOWER,
         "multi-layer, 1.1",
         "A binary search takes O(log n) time."},
        {{TIMED_BINARY, TIMED_BINARY, LISTED_ADD},
         LINEAR,
         "multi-layer, 1.1",
         "Insertion is costly for a binary search, because it expects sorted data."},
        {{TIMED_TABLE, TIMED_TABLE, LISTED_QUERY},
         CONSTANT,
         "multi-layer, 1.1",
         "A hash table has almost constant lookup time."},
        {{TIMED_SLOTS, TIMED_SLOTS, LISTED_QUERY},
         CONSTANT,
         "multi-layer, figure 4",
         "A query of the program's hash table takes almost constant time."},
        {{TIMED_LINE, TIMED_LINE, LISTED_QUERY},
         CONSTANT,
         "multi-layer, 3",
         "A query of a Bloom filter takes O(k) time."},
        {{TIMED_LINE, TIMED_LINE, LISTED_ADD},
         CONSTANT,
         "multi-layer, 3",
         "An insertion into a Bloom filter takes O(k) time."},
        {{TIMED_LAYERED, TIMED_LAYERED, LISTED_QUERY},
         CONSTANT,
         "multi-layer, figure 4",
         "A query of the multi-layer filter takes time for its hash functions, whatever the list."},
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        judge_growth(r, report, &text[i].line, text[i].order, text[i].where, text[i].claim);
}

/* --- How structures compare ------------------------------------------------------------ */

/* The time of one structure as a multiple of another's, median of all lengths. */
static double ratio_of_run(const struct lab_results *r, uint32_t run, const void *ctx)
{
    const struct line *l = ctx;
    double x[LISTED_SIZES];
    const uint32_t sizes = listed_sizes(r->lab);
    for (uint32_t i = 0; i < sizes; i++)
        x[i] = lab_value(r, i * TIMED_KINDS + l->which, run, l->value) /
               lab_value(r, i * TIMED_KINDS + l->to, run, l->value);
    return median(x, sizes);
}

static struct lab_estimate ratio(const struct lab_results *r, enum lab_timed_kind which,
                                 enum lab_timed_kind to, enum lab_listed value)
{
    const struct line line = {which, to, value};
    return sample(r, ratio_of_run, &line);
}

/* The same for the paper's own lists that have both times. */
static double printed_ratio(enum lab_timed_kind which, enum lab_timed_kind to,
                            enum lab_listed value)
{
    double x[LISTED_SIZES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < LISTED_SIZES; i++) {
        const struct lab_printed a = listed_printed(i, which, value),
                                 b = listed_printed(i, to, value);
        if (a.found && b.found)
            x[count++] = a.value / b.value;
    }
    return median(x, count);
}

/* Figures 4 and 5: the multi-layer filter takes longer; the conclusion: it takes the same time. */
static void judge_layers(const struct lab_results *r, struct lab_report *report,
                         enum lab_listed value)
{
    const bool add = value == LISTED_ADD;
    const struct lab_estimate e = ratio(r, TIMED_LAYERED, TIMED_LINE, value);
    const double printed = printed_ratio(TIMED_LAYERED, TIMED_LINE, value);
    const struct lab_test more = lab_test_more(e, 1), same = lab_test_near(e, 1, LAB_TOLERANCE),
                          like = lab_test_near(e, printed, LAB_TOLERANCE);
    struct lab_claim *c = lab_claim(
        report, add ? "multi-layer, figure 5" : "multi-layer, figure 4",
        "%s of the multi-layer filter takes longer than one of the Bloom filter, because more hash "
        "functions are computed.",
        add ? "An insertion" : "A query");
    lab_answer(&c->printed, &like, "",
               "the ratio of both times is the printed one, within a fifth");
    lab_add_text(&c->printed,
                 "Printed: %.1f times, median of three lists. The ratio depends on the number of "
                 "segments in a URL, and on the part of the time that is not hashing.",
                 printed);
    lab_answer(&c->holds, &more, "", "%s takes longer: the ratio of both times is more than 1",
               add ? "an insertion" : "a query");
    lab_add_text(&c->holds, "deja's own kind layered: %.1f times as long as the Bloom filter.",
                 ratio(r, TIMED_KIND, TIMED_LINE, value).value);
    c = lab_claim(report, "multi-layer, conclusion", "Both filters take the same time for %s.",
                  add ? "an insertion" : "a query");
    lab_answer(&c->holds, &same, "", "the ratio of both times is 1, within a fifth");
    lab_add_text(&c->holds, "The printed times of the same paper have a ratio of %.1f.", printed);
}

/* "Both versions are efficient in terms of search time in comparison with traditional
 * approaches." */
static void judge_traditional(const struct lab_results *r, struct lab_report *report)
{
    static const enum lab_timed_kind filter[] = {TIMED_LINE, TIMED_LAYERED},
                                     other[] = {TIMED_LINEAR, TIMED_BINARY, TIMED_TABLE};
    static const char *const name[] = {"a linear search", "a binary search", "a hash table"};
    for (size_t i = 0; i < 3; i++) {
        struct lab_test test[2];
        for (size_t j = 0; j < 2; j++)
            test[j] = lab_test_less(ratio(r, filter[j], other[i], LISTED_QUERY), 1);
        const struct lab_test both = lab_test_all(test, 2);
        struct lab_claim *c =
            lab_claim(report, "multi-layer, conclusion",
                      "Both filters are efficient in search time, compared with %s.", name[i]);
        lab_answer(&c->holds, &both, "",
                   "a query of either filter takes less time: the ratio is less than 1");
        lab_add_text(&c->holds,
                     "Bloom filter of whole lines: %s times as long, multi-layer "
                     "filter: %s times.",
                     lab_number(test[0].estimate).s, lab_number(test[1].estimate).s);
    }
}

/* --- The published program's hash table -------------------------------------------------- */

static void judge_flags(const struct lab_results *r, struct lab_report *report)
{
    struct lab_rate rate = {0, 0, 0};
    for (uint32_t i = 0; i < listed_sizes(r->lab); i++) {
        rate.hits += lab_sum(r, i * TIMED_KINDS + TIMED_SLOTS, LISTED_HITS);
        rate.trials += lab_sum(r, i * TIMED_KINDS + TIMED_SLOTS, LISTED_ABSENT);
    }
    /* Runs repeat the same lines in the same table: they count once. */
    rate.hits /= r->runs;
    rate.trials /= r->runs;
    const struct lab_test none = lab_test_never(rate.hits, rate.trials),
                          formula = lab_test_rate(rate, lab_timed_slots_rate(), LAB_TOLERANCE);
    struct lab_claim *c =
        lab_claim(report, "multi-layer, introduction",
                  "A hash table solves the problem of time, but still needs to store the items.");
    lab_answer(&c->holds, &none, "%",
               "the \"hash\" of the published program, whose times figures 4 and 5 show, reports "
               "no line that is not in it");
    lab_say(&c->holds, LAB_NO,
            "It stores no items: hash(line) mod m selects one of m = 6.2352 n flags. That is a "
            "Bloom filter with one hash function.");
    c = lab_claim(report, "multi-layer, analysis",
                  "The rate of a filter with k functions and m bits is (1 - e^(-k n / m))^k.");
    lab_answer(&c->holds, &formula, "%", "with k = 1 it is that of the program's \"hash\"");
}

static void judge_slots(struct lab_report *report)
{
    double wrong = 0, count = 0;
    for (uint32_t i = 0; i < LISTED_SIZES; i++) {
        const struct lab_printed p = listed_slots(i);
        if (!p.found)
            continue;
        count++;
        wrong += p.value != floor((double)p.rows * -log(0.05) / (log(2) * log(2)));
    }
    const struct lab_test test = lab_test_never(wrong, count);
    struct lab_claim *c = lab_claim(report, "multi-layer, results1 to results3",
                                    "m = -n ln p / (ln 2)^2 with p = 0.05: 6.2352 a line.");
    lab_answer(&c->printed, &test, "", "each of the %.0f printed sizes is this number", count);
}

/* --- All of it ------------------------------------------------------------------------------ */

static void judge(const struct lab_results *r, struct lab_report *report)
{
    judge_layers(r, report, LISTED_QUERY);
    judge_layers(r, report, LISTED_ADD);
    judge_text(r, report);
    judge_traditional(r, report);
    judge_flags(r, report);
    judge_slots(report);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    listed_tables(r, report);
    listed_figures(r, report);
    judge(r, report);
    lab_remark(report,
               "Seconds are of another machine (2021, Python) and include reading the file, so "
               "only their ratios and their growth are judged.");
}

static uint32_t units(const struct lab *lab)
{
    return listed_sizes(lab) * TIMED_KINDS;
}

static double weight(const struct lab *lab, uint32_t unit)
{
    return (double)listed_rows(lab, unit / TIMED_KINDS);
}

const struct lab_experiment exp_lists = {
    .name = "lists",
    .title = "Time and length of the list",
    .reproduces = "multi-layer paper, figures 4 and 5, and the search times published with it",
    .seconds = 5,
    .about =
        (const char *const[]){
            "The time to insert a list of URLs and to query half of its lines, for the structures "
            "that the multi-layer paper compares and for deja's own layered filter. The printed "
            "times are from another machine and language: how they grow with the list, and their "
            "ratios, can be compared.",
            NULL},
    .timed = true,
    .max_runs = LISTED_RUNS,
    .units_of = units,
    .values = LISTED_VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
