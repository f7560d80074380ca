/* exp_speed.c - timing: tables 5.14, 5.15 and A.1 to A.6; figures 4 and 5 of the multi-layer
 * paper.
 *
 * Times of 2010 (Java) and of 2021 (Python) cannot be reproduced.  Their shape can: time against
 * k, against M, against F, and compared with a hash table.
 *
 * A unit is one k and F with all six sizes.  Nine tenths of its keys are hashed once and inserted
 * into all filters.  Then each filter alone is timed with the last tenth, in several parts, of
 * which the fastest counts, and queried for as many other keys.  So the filters are as full and as
 * large as the paper's, and the time is spent on hashing and memory access. */
#include "bench/bench_subject.h"
#include "lab/engine/lab_baseline.h"
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/experiments/lab_thesis.h"
#include "tools/base/clock.h"
#include <math.h>
#include <stdio.h>

#define FILTERS 3u
#define GRID    (FILTERS * THESIS_K)
#define SEARCH  100u /* queries of the list, as in the thesis */
enum {               /* times of a unit of other structures */
    ADD,
    QUERY
};

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

static uint32_t k_of(uint32_t unit)
{
    return THESIS_K_MIN + unit % THESIS_K;
}

static uint32_t filters_of(uint32_t unit)
{
    return 1 + unit / THESIS_K;
}

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit < GRID ? k_of(unit) * filters_of(unit) : 7;
}

/* --- The thesis' filters -------------------------------------------------------------- */

static void run_grid(struct lab_task *t)
{
    const uint32_t k = k_of(t->unit);
    const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, filters_of(t->unit), &k, 1,
                                        thesis_multiplier, THESIS_SIZES};
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t timed = keys->n / 10, before = keys->n - timed;
    struct lab_bank *bank = lab_bank(t, &spec);
    lab_bank_add(bank, keys->added, before, NULL, NULL);
    for (size_t i = 0; i < THESIS_SIZES && lab_going(t); i++) {
        deja_filter *f = bank->filter[i];
        t->value[i] = lab_fastest(t, lab_add_step, f, keys->added + before, timed, NULL);
        t->value[THESIS_SIZES + i] = lab_fastest(t, lab_ask_step, f, keys->asked, timed, NULL);
    }
}

/* --- Other structures ------------------------------------------------------------------- */

struct list {
    deja_slice *item;
    uint64_t n;
    bool sorted;
};

static double search_list(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct list *l = ctx;
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += l->sorted ? lab_binary_has(l->item, l->n, keys[i])
                           : lab_linear_has(l->item, l->n, keys[i]);
    return (double)found;
}

static void run_list(struct lab_task *t, bool sorted)
{
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t n = keys->n, asked = sorted ? n / 10 : n < SEARCH ? n : SEARCH;
    struct list l = {lab_alloc(t, n * sizeof *l.item), n, sorted};
    double found = 0;
    if (!l.item)
        return;
    const double begin = clock_ns();
    for (uint64_t i = 0; i < n; i++)
        l.item[i] = keys->added[i];
    if (sorted)
        lab_sort(l.item, n);
    t->value[ADD] = (clock_ns() - begin) / (double)n;
    t->value[QUERY] = lab_fastest(t, search_list, &l, keys->asked, asked, &found);
    if (found > 0)
        lab_failed(t, DEJA_EINVAL, "a list contains a URL that was never added to it");
}

static double ask_layers(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += lab_mlbf_has(ctx, keys[i]);
    return (double)found;
}

/* The multi-layer paper's filters: one array for whole URLs, or one per segment. */
static void run_layers(struct lab_task *t, bool layered)
{
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t n = keys->n, m = (uint64_t)(HALVES_BITS * (double)n);
    struct lab_mlbf f;
    double found = 0;
    const struct lab_mlbf_how how = {layered ? LAB_MLBF_LAYERED : LAB_MLBF_LINE, '/', 0};
    lab_checked(t, lab_mlbf_init(&f, m, HALVES_K, t->seed, &how, t->err));
    const double begin = clock_ns();
    for (uint64_t i = 0; i < n && t->rc == DEJA_OK; i++)
        if (lab_mlbf_add(&f, keys->added[i]) < 0)
            lab_failed(t, DEJA_ENOMEM, "out of memory for a layer");
    t->value[ADD] = (clock_ns() - begin) / (double)n;
    t->value[QUERY] = lab_fastest(t, ask_layers, &f, keys->added, n, &found);
    lab_mlbf_fini(&f);
    if (found != (double)(n / LAB_PARTS * LAB_PARTS))
        lab_failed(t, DEJA_EINVAL, "a multi-layer filter misses a URL that was added to it");
}

struct subject {
    const struct bench_subject *calls;
    void *self;
    uint8_t *answer;
};

static void check_call(struct lab_task *t, int rc)
{
    if (rc < 0)
        lab_failed(t, rc, "%s: %s", other_label[t->unit - GRID], deja_strerror(rc));
}

static double ask_subject(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    bench_call *contains =
        s->calls->contains_batch ? s->calls->contains_batch : s->calls->contains_one;
    check_call(t, contains(s->self, keys, n, s->answer));
    return 0;
}

static void run_subject(struct lab_task *t, const struct bench_subject *calls, uint32_t kind)
{
    const struct lab_keys *keys = &t->lab->keys;
    struct subject s = {calls, NULL, lab_alloc(t, keys->n)};
    if (s.answer && !(s.self = calls->open(kind, keys->n, 0.01, t->err)))
        lab_checked(t, DEJA_ENOMEM);
    const double begin = clock_ns();
    if (t->rc == DEJA_OK)
        check_call(t, (calls->add_batch ? calls->add_batch : calls->add_one)(s.self, keys->added,
                                                                             keys->n, s.answer));
    t->value[ADD] = (clock_ns() - begin) / (double)keys->n;
    t->value[QUERY] = lab_fastest(t, ask_subject, &s, keys->asked, keys->n, NULL);
    calls->close(s.self);
}

static void run(struct lab_task *t)
{
    static const uint32_t kind[N_OTHERS] = {[CLASSIC] = DEJA_CLASSIC,
                                            [BLOCKED] = DEJA_BLOCKED,
                                            [EXACT] = DEJA_EXACT,
                                            [SCALABLE] = DEJA_SCALABLE};
    const uint32_t which = t->unit - GRID;
    if (t->unit < GRID)
        run_grid(t);
    else if (which == LINEAR || which == BINARY)
        run_list(t, which == BINARY);
    else if (which == PLAIN5 || which == LAYERS5)
        run_layers(t, which == LAYERS5);
    else
        run_subject(t, which == TABLE ? &bench_table : &bench_filter, kind[which]);
}

/* --- Report ------------------------------------------------------------------------------ */

/* A.1 to A.3 are queries with 1, 2, 3 filters, A.4 to A.6 are adds.  ns per URL are ms per million
 * URLs. */
static void make_grid(const struct lab_results *r, struct lab_report *report, uint32_t number)
{
    char id[8], title[80];
    const uint32_t filters = 1 + number % FILTERS;
    const bool add = number >= FILTERS;
    (void)snprintf(id, sizeof id, "A.%u", number + 1);
    (void)snprintf(title, sizeof title, "Table %s: time to %s 1,000,000 URLs, %u filter%s, ms", id,
                   add ? "add" : "query", filters, filters == 1 ? "" : "s");
    struct lab_table *t = lab_table(report, LAB_GRID, id, "hash functions", title);
    for (uint32_t i = 0; i < THESIS_CELLS; i++) {
        const uint32_t row = i / THESIS_SIZES, size = i % THESIS_SIZES;
        const double ms =
            lab_least(r, (filters - 1) * THESIS_K + row, (add ? 0 : THESIS_SIZES) + size);
        thesis_number(t, filters, THESIS_K_MIN + row, thesis_multiplier[size], "ms", ms)->runs =
            r->runs;
    }
}

static void make_others(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "5.14 5.15", "structure",
                                    "Tables 5.14 and 5.15, and other kinds: 1,000,000 URLs, ms");
    lab_caption(
        t,
        "Queries are for absent URLs, except in the last two rows: as in the paper "
        "on layered filters, they are for present ones. The linear search makes 100 queries and scales up, as in the "
        "thesis; adding to the sorted array means sorting it once.");
    for (uint32_t i = 0; i < N_OTHERS; i++)
        for (uint32_t query = 0; query < 2; query++) {
            struct lab_cell *c = lab_cell(t, other_label[i], query ? "query" : "add");
            lab_cell_plain(c, "ms", lab_least(r, GRID + i, query), NAN);
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

/* Time against k F, relative to one filter with three functions. */
static void draw_times(struct lab_report *report, struct lab_figure *f, bool add, bool printed)
{
    const uint32_t first = add ? FILTERS : 0;
    const double unit_time = mean_time(report->table[first], THESIS_K_MIN, printed);
    const size_t s =
        lab_series(f, printed ? LAB_RINGS : LAB_POINTS, add ? LAB_COLOR_ADD : LAB_COLOR_QUERY,
                   "%s, %s", add ? "add" : "query", printed ? "printed" : "measured");
    for (uint32_t u = 0; u < GRID; u++)
        lab_point(f, s, k_of(u) * filters_of(u),
                  mean_time(report->table[first + filters_of(u) - 1], k_of(u), printed) /
                      unit_time);
}

static void draw(struct lab_report *report)
{
    const uint32_t few = THESIS_K_MIN, many = FILTERS * THESIS_K_MAX;
    struct lab_figure *f =
        lab_figure(report, "shape", "Time by hash computations, A.1 to A.6",
                   "hash computations per URL (k F)", "time, relative to k = 3, F = 1", NULL);
    for (int series = 0; series < 4; series++)
        draw_times(report, f, series >= 2, series % 2 == 1);
    const size_t line = lab_series(f, LAB_DASHES, LAB_COLOR_PLAIN, "proportional");
    lab_point(f, line, few, 1);
    lab_point(f, line, many, (double)many / few);
    lab_figure_caption(
        f,
        "Each series is divided by its own value at k = 3, F = 1. From %u to %u computations, "
        "measured queries take %.1f times as long, printed ones %.1f times; proportional would be "
        "%.0f times.",
        few, many,
        mean_time(report->table[FILTERS - 1], THESIS_K_MAX, false) /
            mean_time(report->table[0], few, false),
        mean_time(report->table[FILTERS - 1], THESIS_K_MAX, true) /
            mean_time(report->table[0], few, true),
        (double)many / few);
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
        "times as long as one of a plain filter (printed: %.1f), an insertion %.1f times (printed: "
        "%.1f). The paper concludes that both take the same time, which contradicts its own "
        "figures.",
        lab_least(r, GRID + LAYERS5, QUERY) / lab_least(r, GRID + PLAIN5, QUERY),
        printed_seconds("layered", "query_time") / printed_seconds("classic", "query_time"),
        lab_least(r, GRID + LAYERS5, ADD) / lab_least(r, GRID + PLAIN5, ADD),
        printed_seconds("layered", "insertion_time") /
            printed_seconds("classic", "insertion_time"));
}

/* The time with several filters, relative to one, at k = 6. */
static double several(const struct lab_report *report, uint32_t filters, bool printed)
{
    return mean_time(report->table[filters - 1], 6, printed) /
           mean_time(report->table[0], 6, printed);
}

static void judge(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_line query = line_of(report, 0, false), printed = line_of(report, 0, true);
    const struct lab_line add = line_of(report, FILTERS, false);
    const bool clean = query.r2 > 0.9 && add.r2 > 0.9;
    const double table = lab_least(r, GRID + TABLE, QUERY),
                 blocked = lab_least(r, GRID + BLOCKED, QUERY),
                 classic3 = mean_time(report->table[0], 3, false), two = several(report, 2, false),
                 three = several(report, 3, false);
    lab_verdict(
        report, clean ? LAB_AGREES : LAB_NOTE,
        "%s: a line explains %.1f %% of the variance of our queries, %.1f %% of our adds and "
        "%.1f %% of the printed queries. One computation takes %.0f ns here and %.0f ns there; "
        "machine and language differ, so only the shape is compared.",
        clean ? "Time grows linearly with the number of hash computations k F, as the thesis says"
              : "Other programs disturbed the measurement too much to show whether time grows "
                "linearly with k F; run it again",
        100 * query.r2, 100 * add.r2, 100 * printed.r2, query.b, printed.b);
    lab_verdict(
        report, fabs(two - 2) < 0.5 && fabs(three - 3) < 0.75 ? LAB_AGREES : LAB_NOTE,
        "F filters cost F times as much as one, says the thesis: at k = 6, queries take %.2f and "
        "%.2f times as long with 2 and 3 filters (printed: %.2f and %.2f).",
        two, three, several(report, 2, true), several(report, 3, true));
    lab_verdict(
        report, classic3 > table ? LAB_AGREES : LAB_DIFFERS,
        "\"Not faster than the HashSet\": a query of the thesis' filter with three salted "
        "functions takes %.1f times as long as one of a hash table of strings (printed: %.1f "
        "times), because it hashes the URL k times.",
        classic3 / table, mean_time(report->table[0], 3, true) / 176);
    lab_verdict(
        report, blocked < table ? LAB_DIFFERS : LAB_NOTE,
        "This does not hold for all Bloom filters: with one hash for all positions and one cache "
        "line per URL, blocked takes %.2f times as long as the hash table; classic with XXH3 takes "
        "%.2f times as long.",
        blocked / table, lab_least(r, GRID + CLASSIC, QUERY) / table);
    judge_layers(r, report);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t number = 0; number < 2 * FILTERS; number++)
        make_grid(r, report, number);
    make_others(r, report);
    draw(report);
    judge(r, report);
}

const struct lab_experiment exp_speed = {
    .name = "speed",
    .title = "Speed",
    .reproduces = "thesis, tables 5.14, 5.15, A.1-A.6; multi-layer paper, figures 4 and 5",
    .seconds = 38,
    .about =
        (const char *const[]){
            "The time to add and to query a million URLs, in milliseconds. The printed times are "
            "from another machine, another language and another decade: only ratios can be "
            "compared. The lab reports the fastest run, which other programs disturbed least.",
            NULL},
    .timed = true,
    .max_runs = 3,
    .units = GRID + N_OTHERS,
    .values = 2 * THESIS_SIZES, /* per grid unit: adds, then queries */
    .weight = weight,
    .run = run,
    .report = make_report,
};
