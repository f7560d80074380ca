/* exp_speed.c - timing: tables 5.14, 5.15 and A.1 to A.6; figures 4 and 5 of the multi-layer
 * paper.
 *
 * Times of 2010 (Java) and of 2021 (Python) cannot be reproduced.  Their shape can: time against
 * k, against M, against F, and compared with a hash table.
 *
 * A unit is one k and F with all six sizes.  Nine tenths of its keys are hashed once and inserted
 * into all filters.  Then each filter alone is timed with the last tenth, in three parts of which
 * the fastest counts, and queried for as many other keys.  So the filters are as full and as large
 * as the paper's, and the time is that of hashing and memory access. */
#include "bench/bench_subject.h"
#include "lab/engine/lab_baseline.h"
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/experiments/lab_thesis.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS   5u
#define FILTERS 3u
#define GRID    (FILTERS * THESIS_K)
#define SEARCH  100u /* queries of the list, as in the thesis */

enum {
    LINEAR,
    BINARY,
    TABLE,
    CLASSIC,
    BLOCKED,
    EXACT,
    SCALABLE,
    PLAIN5,
    LAYERS5,
    N_OTHERS
};
static const char *const other_label[N_OTHERS] = {"array, linear search",
                                                  "sorted array, binary search",
                                                  "hash table of strings",
                                                  "classic, XXH3, 1 %",
                                                  "blocked, 1 %",
                                                  "exact",
                                                  "scalable, 1 %",
                                                  "one array, 5 % (paper)",
                                                  "multi-layer, 5 % (paper)"};

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return GRID + N_OTHERS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit < GRID ? 2 * THESIS_SIZES : 2; /* add, query */
}

static uint32_t k_of(uint32_t unit)
{
    return THESIS_K_MIN + unit % THESIS_K;
}

static uint32_t filters_of(uint32_t unit)
{
    return 1 + unit / THESIS_K;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    return (double)lab->keys.n * (unit < GRID ? 1.2 * k_of(unit) * filters_of(unit) : 8);
}

/* --- The thesis' filters -------------------------------------------------------------- */

/* Fastest of the parts, ns per key. */
static double fastest(double best, double begin, uint64_t n)
{
    return fmin(best, (clock_ns() - begin) / (double)n);
}

static int time_filter(const struct lab *lab, deja_filter *f, uint64_t from, double *add,
                       double *query, deja_error *err)
{
    const uint64_t some = (lab->keys.n - from) / PARTS;
    uint8_t *answer = malloc(some + 1);
    int rc = answer ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for answers");
    *add = *query = INFINITY;
    for (uint64_t p = 0; p < PARTS && rc == DEJA_OK; p++) {
        size_t done = 0;
        const double begin = clock_ns();
        rc = deja_filter_add_batch(f, lab->keys.added + from + p * some, some, answer, &done, err);
        *add = fastest(*add, begin, some);
    }
    for (uint64_t p = 0; p < PARTS && rc == DEJA_OK; p++) {
        const double begin = clock_ns();
        deja_filter_contains_batch(f, lab->keys.asked + p * some, some, answer);
        *query = fastest(*query, begin, some);
    }
    free(answer);
    return rc;
}

static int run_grid(const struct lab *lab, const struct lab_task *task, double *value,
                    deja_error *err)
{
    const uint32_t k = k_of(task->unit);
    const struct lab_bloom_spec spec = {
        DEJA_HASH_JENKINS, filters_of(task->unit), &k, 1, thesis_multiplier, THESIS_SIZES};
    const uint64_t from = lab->keys.n - lab->keys.n / 10;
    struct lab_bank bank;
    int rc = lab_bank_init(&bank, lab, &spec, task->seed, err);
    if (rc < 0)
        return rc;
    rc = lab_bank_add(&bank, lab->keys.added, from, NULL, NULL, err);
    for (size_t i = 0; i < THESIS_SIZES && rc == DEJA_OK; i++)
        rc = time_filter(lab, bank.filter[i], from, &value[i], &value[THESIS_SIZES + i], err);
    lab_bank_fini(&bank);
    return rc;
}

/* --- Other structures ------------------------------------------------------------------- */

static int run_lists(const struct lab *lab, uint32_t which, double *value, deja_error *err)
{
    const uint64_t n = lab->keys.n;
    const uint64_t asked = which == LINEAR ? (n < SEARCH ? n : SEARCH) : n / 10;
    deja_slice *list = malloc(n * sizeof *list);
    uint64_t found = 0;
    if (!list)
        return fail(err, DEJA_ENOMEM, "no memory for a list");
    double begin = clock_ns();
    for (uint64_t i = 0; i < n; i++)
        list[i] = lab->keys.added[i];
    if (which == BINARY)
        lab_sort(list, n);
    value[0] = (clock_ns() - begin) / (double)n;
    begin = clock_ns();
    for (uint64_t i = 0; i < asked; i++)
        found += which == LINEAR ? lab_linear_has(list, n, lab->keys.asked[i])
                                 : lab_binary_has(list, n, lab->keys.asked[i]);
    value[1] = (clock_ns() - begin) / (double)asked;
    free(list);
    return found == 0 ? DEJA_OK : fail(err, DEJA_EINVAL, "a list found what is not in it");
}

/* The multi-layer paper's filters: one array for whole URLs, or one per segment. */
static int run_layers(const struct lab *lab, bool layered, uint64_t seed, double *value,
                      deja_error *err)
{
    const uint64_t n = lab->keys.n, m = (uint64_t)(HALVES_BITS * (double)n);
    struct lab_mlbf f;
    uint64_t found = 0;
    /* No URL has this byte, so there is one segment: the filter of Algorithms 1 and 2. */
    int rc = lab_mlbf_init(&f, m, HALVES_K, seed, layered ? '/' : '\n', 0, err);
    double begin = clock_ns();
    for (uint64_t i = 0; i < n && rc == DEJA_OK; i++)
        rc = lab_mlbf_add(&f, lab->keys.added[i]);
    value[0] = (clock_ns() - begin) / (double)n;
    value[1] = INFINITY;
    for (uint64_t p = 0; p < PARTS && rc == DEJA_OK; p++) {
        begin = clock_ns();
        for (uint64_t i = 0; i < n / PARTS; i++)
            found += lab_mlbf_has(&f, lab->keys.added[p * (n / PARTS) + i]);
        value[1] = fastest(value[1], begin, n / PARTS);
    }
    lab_mlbf_fini(&f);
    if (rc == DEJA_OK && found != n / PARTS * PARTS)
        return fail(err, DEJA_EINVAL, "a multi-layer filter misses what is in it");
    return rc;
}

static int run_subject(const struct lab *lab, const struct bench_subject *s, uint32_t kind,
                       double *value, deja_error *err)
{
    const uint64_t n = lab->keys.n;
    uint8_t *answer = malloc(n);
    void *self = s->open(kind, n, 0.01, err);
    int rc = self && answer ? DEJA_OK : DEJA_ENOMEM;
    bench_call *add = s->add_batch ? s->add_batch : s->add_one;
    bench_call *contains = s->contains_batch ? s->contains_batch : s->contains_one;
    const double begin = clock_ns();
    if (rc == DEJA_OK)
        rc = add(self, lab->keys.added, n, answer);
    value[0] = (clock_ns() - begin) / (double)n;
    value[1] = INFINITY;
    for (uint64_t p = 0; p < PARTS && rc == DEJA_OK; p++) {
        const double part = clock_ns();
        rc = contains(self, lab->keys.asked + p * (n / PARTS), n / PARTS, answer);
        value[1] = fastest(value[1], part, n / PARTS);
    }
    if (self)
        s->close(self);
    free(answer);
    return rc < 0 ? fail(err, rc, "%s: %s", s->name, deja_strerror(rc)) : DEJA_OK;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    static const uint32_t kind[N_OTHERS] = {[CLASSIC] = DEJA_CLASSIC,
                                            [BLOCKED] = DEJA_BLOCKED,
                                            [EXACT] = DEJA_EXACT,
                                            [SCALABLE] = DEJA_SCALABLE};
    if (task->unit < GRID)
        return run_grid(lab, task, value, err);
    const uint32_t which = task->unit - GRID;
    if (which == LINEAR || which == BINARY)
        return run_lists(lab, which, value, err);
    if (which == PLAIN5 || which == LAYERS5)
        return run_layers(lab, which == LAYERS5, task->seed, value, err);
    return run_subject(lab, which == TABLE ? &bench_table : &bench_filter, kind[which], value,
                       err);
}

/* --- Report ------------------------------------------------------------------------------ */

#define MS 1.0 /* ns per URL are ms per million URLs */

/* Other programs may use the machine as well: the fastest run was disturbed least. */
static double best(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < r->runs; i++)
        least = fmin(least, lab_value(r, unit, i, index));
    return least;
}

/* A.1 to A.3 are queries with 1, 2, 3 filters, A.4 to A.6 are adds. */
static void make_grid(const struct lab_results *r, struct lab_report *report, uint32_t number)
{
    char id[8], title[80];
    const uint32_t filters = 1 + number % FILTERS;
    const bool add = number >= FILTERS;
    (void)snprintf(id, sizeof id, "A.%u", number + 1);
    (void)snprintf(title, sizeof title, "Table %s: time to %s 1,000,000 URLs, %u filter%s, ms", id,
                   add ? "add" : "query", filters, filters == 1 ? "" : "s");
    struct lab_table *t = lab_table(report, LAB_GRID, id, "hash functions", title);
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++) {
            const uint32_t unit = (filters - 1) * THESIS_K + k - THESIS_K_MIN;
            const struct lab_printed p = thesis_printed(id, filters, k, thesis_multiplier[i]);
            struct lab_cell *c = lab_cell(t, thesis_k(k).s, thesis_m(thesis_multiplier[i]).s);
            lab_cell_plain(c, "ms", MS * best(r, unit, (add ? 0 : THESIS_SIZES) + i), NAN);
            c->runs = r->runs;
            c->filters = filters;
            c->hashes = k;
            c->multiplier = thesis_multiplier[i];
            lab_cell_printed(c, &p);
        }
}

static void make_others(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "5.14 5.15", "structure",
                                    "Tables 5.14 and 5.15, and other kinds: 1,000,000 URLs, ms");
    lab_caption(t, "Queries are for URLs that are not there; in the two last rows, as in their "
                   "paper, for URLs that are. The linear search is 100 questions, "
                   "scaled up, as in the thesis; adding to the sorted array is sorting it once.");
    for (uint32_t i = 0; i < N_OTHERS; i++)
        for (uint32_t query = 0; query < 2; query++) {
            struct lab_cell *c = lab_cell(t, other_label[i], query ? "query" : "add");
            lab_cell_plain(c, "ms", MS * best(r, GRID + i, query), NAN);
            c->runs = r->runs;
            if (i == LINEAR || i == TABLE) {
                const struct lab_printed p = lab_printed(&(struct lab_printed_query){
                    .table = query ? "5.15" : "5.14", .subject = i == LINEAR ? "array" : "table"});
                lab_cell_printed(c, &p);
            }
        }
}

/* Mean over the six sizes, measured or printed. */
static double mean_time(const struct lab_table *t, uint32_t k, bool printed)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->cell[i].hashes == k)
            sum += printed ? t->cell[i].printed : t->cell[i].mean;
    return sum / THESIS_SIZES;
}

/* Time against k F: a line fitted to the 24 means of three tables. */
static struct lab_line line_of(const struct lab_report *report, uint32_t first, bool printed)
{
    double x[GRID], y[GRID];
    for (uint32_t unit = 0; unit < GRID; unit++) {
        x[unit] = k_of(unit) * filters_of(unit);
        y[unit] = mean_time(report->table[first + filters_of(unit) - 1], k_of(unit), printed);
    }
    return lab_fit(x, y, GRID);
}

static void draw(const struct lab_report *from, struct lab_report *report)
{
    struct lab_figure *f =
        lab_figure(report, "shape", "Time against hash computations, A.1 to A.6",
                   "hash computations a URL (k F)", "time, of that at k F = 3");
    (void)snprintf(f->caption, sizeof f->caption,
                   "Each series divided by its own value at k = 3, F = 1");
    for (uint32_t series = 0; series < 4; series++) {
        const bool printed = series % 2 == 1, add = series >= 2;
        const size_t s = lab_series(f, LAB_POINTS, series, "%s, %s", add ? "add" : "query",
                                    printed ? "printed" : "measured");
        const uint32_t first = add ? FILTERS : 0;
        const double unit_time = mean_time(from->table[first], THESIS_K_MIN, printed);
        for (uint32_t u = 0; u < GRID; u++)
            lab_point(f, s, k_of(u) * filters_of(u),
                      mean_time(from->table[first + filters_of(u) - 1], k_of(u), printed) /
                          unit_time);
    }
    const size_t line = lab_series(f, LAB_DASHES, 7, "proportional");
    lab_point(f, line, 3, 1);
    lab_point(f, line, 30, 10);
}

static double printed_seconds(const char *subject, const char *quantity)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = "times1",
                                                   .subject = subject,
                                                   .quantity = quantity})
        .value;
}

/* Figures 4 and 5 of the multi-layer paper; both query URLs that are present. */
static void judge_layers(const struct lab_results *r, struct lab_report *report)
{
    lab_verdict(
        report, LAB_DIFFERS,
        "Figures 4 and 5 of the multi-layer paper: a query of the multi-layer filter takes %.1f "
        "times that of one filter (printed: %.1f), an insertion %.1f times (printed: %.1f). Its "
        "conclusion that both take the same time contradicts its own figures.",
        best(r, GRID + LAYERS5, 1) / best(r, GRID + PLAIN5, 1),
        printed_seconds("layered", "query_time") / printed_seconds("classic", "query_time"),
        best(r, GRID + LAYERS5, 0) / best(r, GRID + PLAIN5, 0),
        printed_seconds("layered", "insertion_time") /
            printed_seconds("classic", "insertion_time"));
}

static void judge(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_line query = line_of(report, 0, false), printed = line_of(report, 0, true);
    const struct lab_line add = line_of(report, FILTERS, false);
    const bool clean = query.r2 > 0.9 && add.r2 > 0.9;
    const double table = best(r, GRID + TABLE, 1),
                 classic3 = mean_time(report->table[0], 3, false);
    lab_verdict(
        report, clean ? LAB_AGREES : LAB_NOTE,
        "%s: a line explains %.1f %% of the variance of our queries, %.1f %% of our adds and "
        "%.1f %% of the printed queries. One computation is %.0f ns here and %.0f ns there; "
        "the machine and the language are others, so only the shape is compared.",
        clean ? "Time grows linearly with the number of hash computations k F, as the thesis says"
              : "Others used the machine too much to tell whether time grows linearly with k F; "
                "run it again",
        100 * query.r2, 100 * add.r2, 100 * printed.r2, query.b, printed.b);
    const double two =
                     mean_time(report->table[1], 6, false) / mean_time(report->table[0], 6, false),
                 three =
                     mean_time(report->table[2], 6, false) / mean_time(report->table[0], 6, false);
    lab_verdict(
        report, fabs(two - 2) < 0.5 && fabs(three - 3) < 0.75 ? LAB_AGREES : LAB_NOTE,
        "F filters cost F times as much as one, by the thesis: at k = 6, queries take %.2f and "
        "%.2f times as long with 2 and 3 filters (printed: %.2f and %.2f).",
        two, three, mean_time(report->table[1], 6, true) / mean_time(report->table[0], 6, true),
        mean_time(report->table[2], 6, true) / mean_time(report->table[0], 6, true));
    lab_verdict(
        report, classic3 > table ? LAB_AGREES : LAB_DIFFERS,
        "\"Not faster than the HashSet\": the thesis' filter with three salted functions takes "
        "%.1f times as long for a query as a hash table of strings (printed: %.1f times). The "
        "reason is hashing the URL k times.",
        classic3 / table, mean_time(report->table[0], 3, true) / 176);
    lab_verdict(
        report, best(r, GRID + BLOCKED, 1) < table ? LAB_DIFFERS : LAB_NOTE,
        "It does not hold for Bloom filters as such: with one hash for all positions and one "
        "cache line a URL, blocked takes %.2f times the time of the hash table, classic with "
        "XXH3 %.2f times.",
        best(r, GRID + BLOCKED, 1) / table, best(r, GRID + CLASSIC, 1) / table);
    judge_layers(r, report);
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)lab, (void)err;
    for (uint32_t number = 0; number < 2 * FILTERS; number++)
        make_grid(r, report, number);
    make_others(r, report);
    draw(report, report);
    judge(r, report);
    return DEJA_OK;
}

const struct lab_experiment exp_speed = {
    .name = "speed",
    .title = "Speed",
    .reproduces = "thesis, tables 5.14, 5.15, A.1-A.6; multi-layer paper, figures 4 and 5",
    .seconds = 38,
    .about =
        (const char *const[]){
            "How long a million URLs take, to add and to ask for, in milliseconds. The printed "
            "times are of another machine, another language and another decade: only ratios can "
            "be compared. The fastest of the runs counts: other programs on the machine disturb "
            "the rest.",
            NULL},
    .timed = true,
    .max_runs = 3,
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
