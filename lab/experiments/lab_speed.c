/* lab_speed.c - the report on time: tables, and what the papers say about time. */
#include "lab/experiments/lab_speed.h"
#include "lab/engine/lab_tails.h"
#include "lab/experiments/lab_near.h"
#include "lab/experiments/lab_shape.h"
#include "lab/experiments/lab_stairs.h"
#include "lab/report/lab_claim.h"
#include <math.h>
#include <stdio.h>

#define RUNS_MOST 3u /* of the experiment */
#define GROUPS    (SHAPE_FILTERS * RUNS_MOST)

const char *const speed_label[SPEED_OTHERS] = {"array, linear search",
                                               "sorted array, binary search",
                                               "hash table of strings",
                                               "classic, XXH3, 1 %",
                                               "blocked, 1 %",
                                               "exact",
                                               "scalable, 1 %",
                                               "one array, 5 % (paper)",
                                               "multi-layer, 5 % (paper)",
                                               "layered, 1 % (deja's own)"};
static const char *const way_name[SHAPE_WAYS] = {"one by one", "deja"};
static const char *const step_name[SHAPE_STEPS] = {"add", "query"};

/* The results, and tables A.1 to A.6 as printed: the means of their six sizes. */
struct speed {
    const struct lab_results *r;
    uint32_t runs;
    double printed[SHAPE_STEPS][SPEED_FILTERS][THESIS_K];
};

static double mean_printed(enum lab_shape_step step, uint32_t filters, uint32_t k)
{
    char id[8];
    double sum = 0;
    (void)snprintf(id, sizeof id, "A.%u",
                   filters + (step == SHAPE_ADD ? (unsigned)SPEED_FILTERS : 0));
    for (uint32_t i = 0; i < THESIS_SIZES; i++)
        sum += lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                       .table = id,
                                                       .filters = filters,
                                                       .hashes = k,
                                                       .multiplier = thesis_multiplier[i]})
                   .value;
    return sum / THESIS_SIZES;
}

static void speed_init(struct speed *s, const struct lab_results *r)
{
    s->r = r;
    s->runs = r->runs < RUNS_MOST ? r->runs : RUNS_MOST;
    for (uint32_t step = 0; step < SHAPE_STEPS; step++)
        for (uint32_t u = 0; u < SPEED_GRID; u++)
            s->printed[step][u / THESIS_K][u % THESIS_K] =
                mean_printed(step, speed_filters(u), speed_k(u));
}

static double printed_time(const struct speed *s, enum lab_shape_step step, uint32_t filters,
                           uint32_t k)
{
    return s->printed[step][filters - 1][k - THESIS_K_MIN];
}

/* --- Tables ------------------------------------------------------------------------------ */

/* A.1 to A.3 are queries with 1, 2, 3 filters, A.4 to A.6 are adds.  ns per URL are ms per million
 * URLs. */
static void make_grid(const struct lab_results *r, struct lab_report *report, uint32_t number)
{
    char id[8], title[80];
    const uint32_t filters = 1 + number % SPEED_FILTERS;
    const bool add = number >= SPEED_FILTERS;
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
        "Queries are for absent URLs, except in the two rows of the paper on layered filters: as "
        "there, they are for present ones. The linear search makes 100 queries and scales up, as "
        "in the thesis; adding to the sorted array means sorting it once.");
    for (uint32_t i = 0; i < SPEED_OTHERS; i++)
        for (uint32_t query = 0; query < 2; query++) {
            struct lab_cell *c = lab_cell(t, speed_label[i], query ? "query" : "add");
            lab_cell_plain(c, "ms", lab_least(r, SPEED_GRID + i, query), NAN);
            c->runs = r->runs;
            if (i == SPEED_LINEAR || i == SPEED_TABLE) {
                const struct lab_printed p = lab_printed(
                    &(struct lab_printed_query){.table = query ? "5.15" : "5.14",
                                                .subject = i == SPEED_LINEAR ? "array" : "table"});
                lab_cell_printed(c, &p);
            }
        }
}

/* --- Times of the mixed rounds --------------------------------------------------------------- */

static double round_time(const struct speed *data, uint32_t run, enum lab_shape_step step,
                         uint32_t subject, uint32_t round)
{
    return lab_value(data->r, SPEED_SHAPE, run, shape_value(step, subject, round));
}

/* The fastest round of a run. */
static double best_time(const struct speed *data, uint32_t run, enum lab_shape_step step,
                        uint32_t subject)
{
    double best = INFINITY;
    for (uint32_t round = 0; round < SHAPE_ROUNDS; round++)
        best = fmin(best, round_time(data, run, step, subject, round));
    return best;
}

/* The ratio of two subjects: one value per round, in which both were timed. */
static struct lab_estimate ratio_of(const struct speed *data, enum lab_shape_step step, uint32_t a,
                                    uint32_t b)
{
    double x[RUNS_MOST * SHAPE_ROUNDS];
    uint32_t n = 0;
    for (uint32_t run = 0; run < data->runs; run++)
        for (uint32_t round = 0; round < SHAPE_ROUNDS; round++)
            x[n++] = round_time(data, run, step, a, round) / round_time(data, run, step, b, round);
    return lab_sample(x, n);
}

/* --- A line or a staircase ---------------------------------------------------------------------- */

/* The times per filter of all runs; a group is one F in one run. */
struct times {
    double time[GROUPS * THESIS_K];
    struct lab_stairs_data data;
};

static void times_of(struct times *t, const struct speed *data, enum lab_shape_way way,
                     enum lab_shape_step step)
{
    uint32_t groups = 0;
    for (uint32_t run = 0; run < data->runs; run++)
        for (uint32_t f = 1; f <= SHAPE_FILTERS; f++, groups++)
            for (uint32_t i = 0; i < THESIS_K; i++)
                t->time[groups * THESIS_K + i] =
                    best_time(data, run, step, shape_subject(way, f, THESIS_K_MIN + i)) / f;
    t->data = (struct lab_stairs_data){t->time, groups};
}

static struct lab_stairs printed_stairs(const struct speed *data, enum lab_shape_step step)
{
    double time[SHAPE_FILTERS * THESIS_K];
    for (uint32_t f = 1; f <= SHAPE_FILTERS; f++)
        for (uint32_t i = 0; i < THESIS_K; i++)
            time[(f - 1) * THESIS_K + i] = printed_time(data, step, f, THESIS_K_MIN + i) / f;
    return lab_stairs(&(struct lab_stairs_data){time, SHAPE_FILTERS});
}

static void fit_row(struct lab_table *t, const char *row, const struct lab_stairs *s)
{
    lab_cell_plain(lab_cell(t, row, "line explains"), "%", 100 * s->line_share, NAN);
    lab_cell_plain(lab_cell(t, row, "staircase explains"), "%", 100 * s->stairs_share, NAN);
    lab_cell_plain(lab_cell(t, row, "both explain"), "%", 100 * s->both_share, NAN);
    lab_cell_plain(lab_cell(t, row, "growth in steps"), "%", 100 * s->steps, NAN);
    lab_cell_plain(lab_cell(t, row, "per function"), "ns", s->slope, NAN);
}

static void make_fits(const struct speed *data, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "fits", "times",
                                    "Time against k: a line, a staircase of eight, or both");
    lab_caption(t,
                "The share of the variance of time per filter, within each F, that a line in k "
                "and a staircase, ceil(k F / 8), explain; with both, the share of the growth that "
                "comes in steps; and the slope of the line.");
    for (uint32_t step = SHAPE_STEPS; step-- > 0;) {
        char row[56];
        for (uint32_t way = 0; way < SHAPE_WAYS; way++) {
            struct times times;
            times_of(&times, data, way, step);
            const struct lab_stairs s = lab_stairs(&times.data);
            (void)snprintf(row, sizeof row, "%s, %s", step_name[step], way_name[way]);
            fit_row(t, row, &s);
        }
        const struct lab_stairs s = printed_stairs(data, step);
        (void)snprintf(row, sizeof row, "%s, printed", step_name[step]);
        fit_row(t, row, &s);
    }
}

/* The residuals of one k, means over groups, in percent of the time. */
static void residual_cells(struct lab_table *t, const struct times *times,
                           const struct lab_stairs *s, uint32_t k, const char *name)
{
    double line = 0, steps = 0;
    char row[16], column[56];
    for (uint32_t g = 0; g < times->data.groups; g++) {
        const double time = times->time[g * THESIS_K + k - THESIS_K_MIN];
        line += 1 - lab_stairs_line_at(&times->data, s, g, k) / time;
        steps += 1 - lab_stairs_steps_at(&times->data, s, g, k) / time;
    }
    (void)snprintf(row, sizeof row, "%u HF", k);
    (void)snprintf(column, sizeof column, "%s: line", name);
    lab_cell_plain(lab_cell(t, row, column), "%", 100 * line / times->data.groups, NAN);
    (void)snprintf(column, sizeof column, "%s: staircase", name);
    lab_cell_plain(lab_cell(t, row, column), "%", 100 * steps / times->data.groups, NAN);
}

static void make_residuals(const struct speed *data, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "residuals", "hash functions",
                                    "Queries: what a line and a staircase leave unexplained, %");
    struct times times[SHAPE_WAYS];
    struct lab_stairs s[SHAPE_WAYS];
    for (uint32_t way = 0; way < SHAPE_WAYS; way++) {
        times_of(&times[way], data, way, SHAPE_QUERY);
        s[way] = lab_stairs(&times[way].data);
    }
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t way = 0; way < SHAPE_WAYS; way++)
            residual_cells(t, &times[way], &s[way], k, way_name[way]);
    lab_caption(t, "Measured minus fitted, in percent of the measured time; the mean of one, two "
                   "and three filters and of all runs. A model that fits leaves no pattern.");
}

/* --- Figures ----------------------------------------------------------------------------------- */

/* The mean of the best times of all runs. */
static double mean_time(const struct speed *data, enum lab_shape_way way, enum lab_shape_step step,
                        uint32_t filters, uint32_t k)
{
    double sum = 0;
    for (uint32_t run = 0; run < data->runs; run++)
        sum += best_time(data, run, step, shape_subject(way, filters, k));
    return sum / data->runs;
}

/* A measured point, divided by `scale`, with the 95% interval of the mean of several runs. */
static void draw_time(struct lab_figure *f, size_t series, double x, const struct speed *data,
                      enum lab_shape_way way, enum lab_shape_step step, uint32_t filters,
                      uint32_t k, double scale)
{
    double time[RUNS_MOST];
    for (uint32_t run = 0; run < data->runs; run++)
        time[run] = best_time(data, run, step, shape_subject(way, filters, k)) / scale;
    const struct lab_estimate e = lab_sample(time, data->runs);
    const double half = data->runs > 1 ? e.sigma * lab_student_beyond(0.025, e.df) : NAN;
    lab_point_between(f, series, x, e.value, e.value - half, e.value + half);
}

static void draw_way(struct lab_figure *f, const struct speed *data, enum lab_shape_way way,
                     unsigned color)
{
    struct times times;
    times_of(&times, data, way, SHAPE_QUERY);
    const struct lab_stairs s = lab_stairs(&times.data);
    const size_t dots = lab_series(f, LAB_POINTS, color, "%s",
                                   way == SHAPE_DEJA ? "deja, eight at once" : "one by one");
    const size_t line = lab_series(f, LAB_DASHES, color, "%s", "");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++) {
        draw_time(f, dots, k, data, way, SHAPE_QUERY, 1, k, 1);
        lab_point(f, line, k,
                  way == SHAPE_DEJA ? lab_stairs_steps_at(&times.data, &s, 0, k)
                                    : lab_stairs_line_at(&times.data, &s, 0, k));
    }
}

static void draw_stairs(const struct speed *data, struct lab_report *report)
{
    struct lab_figure *f = lab_figure(report, "stairs", "Time of a query by hash functions, F = 1",
                                      "hash functions (k)", "ns per URL", NULL);
    draw_way(f, data, SHAPE_ONE_BY_ONE, LAB_COLOR_BLOOM);
    draw_way(f, data, SHAPE_DEJA, LAB_COLOR_KIND);
    const size_t rings = lab_series(f, LAB_RINGS, LAB_COLOR_BLOOM, "printed, scaled");
    const double scale = mean_time(data, SHAPE_ONE_BY_ONE, SHAPE_QUERY, 1, THESIS_K_MIN) /
                         printed_time(data, SHAPE_QUERY, 1, THESIS_K_MIN);
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        lab_point(f, rings, k, scale * printed_time(data, SHAPE_QUERY, 1, k));
    lab_figure_caption(
        f,
        "One computation per function gives a line; deja computes eight functions at once, which "
        "gives a staircase with a step after k = 8 (with F filters: after k F = 8, 16, 24). Dashes are the fitted line and the fitted "
        "staircase. The printed times (A.1) are scaled so that k = 3 agrees: %.1f of their "
        "nanoseconds are one of ours.",
        1 / scale);
}

/* All k and F of one way, relative to k = 3 and F = 1. */
static void draw_all(struct lab_figure *f, const struct speed *data, enum lab_shape_way way,
                     enum lab_shape_step step, size_t dots)
{
    const double first = mean_time(data, way, step, 1, THESIS_K_MIN);
    for (uint32_t u = 0; u < SPEED_GRID; u++)
        draw_time(f, dots, speed_k(u) * speed_filters(u), data, way, step, speed_filters(u),
                  speed_k(u), first);
}

static void draw_shape(const struct speed *data, struct lab_report *report)
{
    struct lab_figure *f = lab_figure(
        report, "shape", "Time by hash computations, A.1 to A.6",
        "hash computations per URL (k F)", "time, relative to k F = 3",
        "Each series is divided by its own value at k = 3, F = 1. Time that is proportional to "
        "the number of computations is on the dashed line; deja's grows in steps of eight.");
    for (uint32_t step = 0; step < SHAPE_STEPS; step++) {
        const unsigned color = step == SHAPE_ADD ? LAB_COLOR_ADD : LAB_COLOR_QUERY;
        const size_t dots = lab_series(f, LAB_POINTS, color, "%s, one by one", step_name[step]),
                     rings = lab_series(f, LAB_RINGS, color, "%s, printed", step_name[step]);
        const double printed = printed_time(data, step, 1, THESIS_K_MIN);
        draw_all(f, data, SHAPE_ONE_BY_ONE, step, dots);
        for (uint32_t u = 0; u < SPEED_GRID; u++)
            lab_point(f, rings, speed_k(u) * speed_filters(u),
                      printed_time(data, step, speed_filters(u), speed_k(u)) / printed);
    }
    draw_all(f, data, SHAPE_DEJA, SHAPE_QUERY,
             lab_series(f, LAB_POINTS, LAB_COLOR_KIND, "query, deja"));
    const size_t line = lab_series(f, LAB_DASHES, LAB_COLOR_PLAIN, "proportional");
    lab_point(f, line, 3, 1);
    lab_point(f, line, 30, 10);
}

/* --- Claims about k and F --------------------------------------------------------------------- */

/* A share in whole percent; never "-0". */
static double percent(double share)
{
    return round(100 * share) + 0.0;
}

/* Both steps of one way: is less than half of the growth due to steps of eight? */
static struct lab_test grows_on_a_line(const struct speed *data, enum lab_shape_way way,
                                       struct lab_stairs s[SHAPE_STEPS])
{
    struct lab_test test[SHAPE_STEPS];
    for (uint32_t step = 0; step < SHAPE_STEPS; step++) {
        struct times times;
        times_of(&times, data, way, step);
        s[step] = lab_stairs(&times.data);
        test[step] = s[step].line;
    }
    return lab_test_all(test, SHAPE_STEPS);
}

/* From 3 to 10 functions, time grows by the printed factor, to within a quarter. */
static struct lab_test grows_as_printed(const struct speed *data, enum lab_shape_way way)
{
    struct lab_test test[SHAPE_STEPS * SHAPE_FILTERS];
    for (uint32_t i = 0; i < SHAPE_STEPS * SHAPE_FILTERS; i++) {
        const enum lab_shape_step step = i / SHAPE_FILTERS;
        const uint32_t f = 1 + i % SHAPE_FILTERS;
        test[i] = lab_test_near(ratio_of(data, step, shape_subject(way, f, THESIS_K_MAX),
                                         shape_subject(way, f, THESIS_K_MIN)),
                                printed_time(data, step, f, THESIS_K_MAX) /
                                    printed_time(data, step, f, THESIS_K_MIN),
                                0.25);
    }
    return lab_test_all(test, SHAPE_STEPS * SHAPE_FILTERS);
}

static void judge_line(const struct speed *data, struct lab_report *report, enum lab_shape_way way)
{
    struct lab_stairs s[SHAPE_STEPS];
    const struct lab_test holds = grows_on_a_line(data, way, s),
                          printed = grows_as_printed(data, way);
    const struct lab_stairs *q = &s[SHAPE_QUERY];
    struct lab_claim *c = lab_claim(
        report, "thesis, tables A.1-A.6", "%s%s",
        "\"Adding more hash functions causes the filter to be slower, since more hash values "
        "must be computed\": time grows linearly with k",
        way == SHAPE_DEJA ? ", also in deja, which computes eight hash values at once."
                          : ", with one hash computation per function as in the thesis.");
    lab_answer(
        &c->printed, &printed, "times",
        "from 3 to 10 functions, adds and queries of 1, 2 and 3 filters grow by the printed "
        "factor, to within a quarter");
    lab_answer(
        &c->holds, &holds, "%",
        "adds and queries: less than half of the growth is due to steps of eight functions");
    lab_add_text(&c->holds,
                 "Of the growth of queries, %.0f %% are due to steps, of adds %.0f %%. Alone, a "
                 "line explains %.1f %% of the variance of queries, a staircase %.1f %%; one more "
                 "function takes %.1f ns.",
                 percent(q->steps), percent(s[SHAPE_ADD].steps), 100 * q->line_share,
                 100 * q->stairs_share, q->slope);
}

/* F filters relative to one, at one k. */
static struct lab_estimate filters_of(const struct speed *data, enum lab_shape_way way,
                                      enum lab_shape_step step, uint32_t filters, uint32_t k)
{
    return ratio_of(data, step, shape_subject(way, filters, k), shape_subject(way, 1, k));
}

static double printed_filters(const struct speed *data, enum lab_shape_step step, uint32_t filters,
                              uint32_t k)
{
    return printed_time(data, step, filters, k) / printed_time(data, step, 1, k);
}

static void make_filters(const struct speed *data, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "filters", "hash functions",
                                    "Time with F filters, relative to one");
    lab_caption(t, "Means of all rounds, each of which times all filters in random order. Theory: "
                   "F. Printed: means of the six sizes of tables A.1 to A.6.");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t way = 0; way < SHAPE_WAYS; way++)
            for (uint32_t step = SHAPE_STEPS; step-- > 0;)
                for (uint32_t f = 2; f <= SHAPE_FILTERS; f++) {
                    char row[16], column[56];
                    (void)snprintf(row, sizeof row, "%u HF", k);
                    (void)snprintf(column, sizeof column, "%s, %s, F = %u", way_name[way],
                                   step_name[step], f);
                    struct lab_cell *c = lab_cell(t, row, column);
                    const struct lab_estimate e = filters_of(data, way, step, f, k);
                    lab_cell_plain(c, "times", e.value, e.sigma);
                    c->theory = f;
                    c->printed = printed_filters(data, step, f, k);
                    (void)snprintf(c->printed_text, sizeof c->printed_text, "%.2f", c->printed);
                }
}

/* All k, and 2 and 3 filters, for one step. */
#define FILTER_CELLS (2 * THESIS_K)

/* Multiples of the time of one filter: the mean of all k, and the smallest and the largest. */
struct multiple {
    double mean, least, most, printed;
};

static struct multiple multiple_of(const struct speed *data, enum lab_shape_way way,
                                   enum lab_shape_step step, uint32_t filters)
{
    struct multiple m = {0, INFINITY, 0, 0};
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++) {
        const double x = filters_of(data, way, step, filters, k).value;
        m.mean += x / THESIS_K;
        m.least = fmin(m.least, x);
        m.most = fmax(m.most, x);
        m.printed += printed_filters(data, step, filters, k) / THESIS_K;
    }
    return m;
}

static void judge_filters(const struct speed *data, struct lab_report *report,
                          enum lab_shape_way way)
{
    struct lab_test holds[SHAPE_STEPS * FILTER_CELLS], told[SHAPE_STEPS * FILTER_CELLS];
    for (uint32_t i = 0; i < SHAPE_STEPS * FILTER_CELLS; i++) {
        const enum lab_shape_step step = i / FILTER_CELLS;
        const uint32_t f = 2 + i % FILTER_CELLS / THESIS_K, k = THESIS_K_MIN + i % THESIS_K;
        const struct lab_estimate e = filters_of(data, way, step, f, k);
        holds[i] = lab_test_near(e, f, 0.15);
        told[i] = lab_test_near(e, printed_filters(data, step, f, k), 0.2);
    }
    const struct lab_test all = lab_test_family(holds, SHAPE_STEPS * FILTER_CELLS),
                          same = lab_test_family(told, SHAPE_STEPS * FILTER_CELLS);
    const struct multiple two = multiple_of(data, way, SHAPE_QUERY, 2),
                          three = multiple_of(data, way, SHAPE_QUERY, 3);
    struct lab_claim *c =
        lab_claim(report, "thesis, tables A.1-A.6", "F filters take F times as long as one, %s.",
                  way == SHAPE_DEJA ? "also in deja (eight hash values at once)"
                                    : "with one hash computation per function");
    lab_answer(&c->printed, &same, "times",
               "adds and queries of 2 and 3 filters take the printed multiples, at each k from 3 "
               "to 10, to within a fifth");
    lab_answer(&c->holds, &all, "times",
               "adds and queries of 2 and 3 filters take 2 and 3 times as long as of one, at each "
               "k from 3 to 10, to within 15 %%");
    lab_add_text(&c->holds,
                 "Queries take %.2f times as long with 2 filters (%.2f to %.2f, printed: %.2f), "
                 "and %.2f times with 3 (%.2f to %.2f, printed: %.2f).",
                 two.mean, two.least, two.most, two.printed, three.mean, three.least, three.most,
                 three.printed);
}

/* k = 9 instead of 3 takes three times the bits, and so does M = 5 instead of 1.7, nearly. */
static void judge_multiplier(const struct speed *data, struct lab_report *report)
{
    double more[SHAPE_STEPS * SPEED_FILTERS], times[SHAPE_STEPS * SPEED_FILTERS], hashes = 0;
    for (uint32_t i = 0; i < SHAPE_STEPS * SPEED_FILTERS; i++) {
        const uint32_t few = i % SPEED_FILTERS * THESIS_K, many = few + 6;
        const uint32_t small = i < SPEED_FILTERS ? 0 : THESIS_SIZES, large = small + 5;
        const double least = lab_least(data->r, few, small);
        times[i] = lab_least(data->r, few, large) / least;
        more[i] = lab_least(data->r, many, small) / least - times[i];
        hashes += lab_least(data->r, many, small) / least / (SHAPE_STEPS * SPEED_FILTERS);
    }
    const struct lab_test holds = lab_test_more(lab_sample(more, SHAPE_STEPS * SPEED_FILTERS), 0);
    struct lab_claim *c =
        lab_claim(report, "thesis, sections 5.6 and 7.1",
                  "\"Increasing the bit-size multiplier does not affect performance that much\": "
                  "it costs less time than more hash functions.");
    lab_answer(&c->holds, &holds, "times",
               "k = 9 instead of 3 adds more time than M = 5.0 instead of 1.7, with nearly the "
               "same number of bits (adds and queries of 1, 2 and 3 filters)");
    lab_add_text(&c->holds, "Time with M = 5.0 is %.2f times, with k = 9 %.2f times.",
                 lab_sample(times, SHAPE_STEPS * SPEED_FILTERS).value, hashes);
}

/* --- Other structures ---------------------------------------------------------------------------- */

static double printed_list(enum lab_shape_step step, const char *subject)
{
    return lab_printed(&(struct lab_printed_query){.source = "thesis",
                                                   .table = step == SHAPE_ADD ? "5.14" : "5.15",
                                                   .subject = subject})
        .value;
}

static void judge_table(const struct speed *data, struct lab_report *report)
{
    const uint32_t three = shape_subject(SHAPE_ONE_BY_ONE, 1, THESIS_K_MIN),
                   table = shape_other(SHAPE_TABLE);
    struct lab_test slower[SHAPE_STEPS], same[SHAPE_STEPS];
    double printed[SHAPE_STEPS];
    for (uint32_t step = 0; step < SHAPE_STEPS; step++) {
        const struct lab_estimate e = ratio_of(data, step, three, table);
        printed[step] = printed_time(data, step, 1, THESIS_K_MIN) / printed_list(step, "table");
        slower[step] = lab_test_more(e, 1);
        same[step] = lab_test_near(e, printed[step], 0.25);
    }
    const struct lab_test holds = lab_test_all(slower, SHAPE_STEPS),
                          told = lab_test_all(same, SHAPE_STEPS);
    struct lab_claim *c = lab_claim(report, "thesis, tables 5.14, 5.15, A.1 and A.4",
                                    "The Bloom filter is slower than the HashSet, because it "
                                    "computes several hash values.");
    lab_answer(
        &c->printed, &told, "times",
        "with three functions, it takes the printed multiple of the set's time, to within a "
        "quarter");
    lab_answer(&c->holds, &holds, "times",
               "with three functions, it takes longer than a hash table of strings, to add and to "
               "query");
    lab_add_text(&c->holds,
                 "Adds take %.2f times as long (printed: %.1f), queries %.2f times (%.1f).",
                 slower[SHAPE_ADD].estimate, printed[SHAPE_ADD], slower[SHAPE_QUERY].estimate,
                 printed[SHAPE_QUERY]);
}

static void judge_others(const struct speed *data, struct lab_report *report)
{
    const uint32_t table = shape_other(SHAPE_TABLE);
    const struct lab_test each[2] = {
        lab_test_less(ratio_of(data, SHAPE_QUERY, shape_other(SHAPE_CLASSIC), table), 1),
        lab_test_less(ratio_of(data, SHAPE_QUERY, shape_other(SHAPE_BLOCKED), table), 1)};
    const struct lab_test holds = lab_test_all(each, 2);
    struct lab_claim *c = lab_claim(report, "beyond the thesis",
                                    "A Bloom filter with one hash for all positions is faster "
                                    "than a hash table of strings.");
    lab_answer(&c->holds, &holds, "times",
               "classic with XXH3 and blocked, both at 1 %%, answer queries in less time");
    lab_add_text(&c->holds, "classic takes %.2f times as long, blocked %.2f times.",
                 each[0].estimate, each[1].estimate);
}

/* One value per run; a single run has no error. */
static struct lab_estimate per_run(const struct speed *data, uint32_t a, uint32_t b,
                                   uint32_t index)
{
    double x[RUNS_MOST];
    for (uint32_t run = 0; run < data->runs; run++)
        x[run] = lab_value(data->r, SPEED_GRID + a, run, index) /
                 lab_value(data->r, SPEED_GRID + b, run, index);
    return lab_sample(x, data->runs);
}

static double printed_seconds(const char *subject, uint32_t step)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = "times1",
                                                   .subject = subject,
                                                   .quantity = step == SPEED_ADD ? "insertion_time"
                                                                                 : "query_time"})
        .value;
}

/* Both query URLs that are present.  `lists` has the figures. */
static void judge_layers(const struct speed *data, struct lab_report *report)
{
    struct lab_test same[2], told[2];
    double printed[2];
    for (uint32_t step = 0; step < 2; step++) {
        const struct lab_estimate e = per_run(data, SPEED_LAYERS5, SPEED_PLAIN5, step);
        printed[step] = printed_seconds("layered", step) / printed_seconds("classic", step);
        same[step] = lab_test_near(e, 1, 0.2);
        told[step] = lab_test_near(e, printed[step], 0.25);
    }
    const struct lab_test holds = lab_test_all(same, 2), as_printed = lab_test_all(told, 2);
    struct lab_claim *c = lab_claim(report, "multi-layer paper, conclusion",
                                    "The multi-layer filter takes the same time as a Bloom "
                                    "filter.");
    lab_answer(&c->printed, &as_printed, "times",
               "insertion and query take the printed multiples, to within a quarter");
    lab_answer(&c->holds, &holds, "times", "the same time, to within a fifth");
    lab_add_text(&c->holds,
                 "Insertion takes %.2f times as long (printed: %.1f), a query %.2f times (%.1f).",
                 same[SPEED_ADD].estimate, printed[SPEED_ADD], same[SPEED_QUERY].estimate,
                 printed[SPEED_QUERY]);
}

void lab_speed_report(const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t number = 0; number < 2 * SPEED_FILTERS; number++)
        make_grid(r, report, number);
    make_others(r, report);
    struct speed data;
    speed_init(&data, r);
    make_fits(&data, report);
    make_residuals(&data, report);
    make_filters(&data, report);
    draw_stairs(&data, report);
    draw_shape(&data, report);
    for (uint32_t way = 0; way < SHAPE_WAYS; way++)
        judge_line(&data, report, way);
    for (uint32_t way = 0; way < SHAPE_WAYS; way++)
        judge_filters(&data, report, way);
    judge_multiplier(&data, report);
    judge_table(&data, report);
    judge_others(&data, report);
    judge_layers(&data, report);
}
