/* lab_evolved.c - the report of the experiment `evolved`: tables, figures and claims.
 *
 * The measure of everything is a random function: with n URLs in m buckets, it has
 * n - m (1 - (1 - 1/m)^n) collisions, and its standard deviation is known (lab_evolve.h).  The
 * best of many random functions has fewer, without having learned anything; so the report also
 * states what the best of as many as programs were tried would have. */
#include "lab/experiments/lab_evolved.h"
#include "lab/engine/lab_evolve.h"
#include <math.h>
#include <stdio.h>

static const struct {
    const char *id, *name;
} lists[EVOLVED_LISTS] = {
    {"lab", "URLs of the lab"},
    {"pages", "numbered pages of one site"},
    {"sections", "numbered pages in five sections"},
};

/* --- Theory ----------------------------------------------------------------------- */

/* A random function: new URLs after those of the first visit are the collisions of all of them,
 * less those of the first. */
static struct lab_random_function random_function(double n, enum evolved_count which)
{
    const double buckets = n * EVOLVED_BUCKETS;
    const struct lab_random_function one = lab_random_function(n, buckets);
    if (which != EVOLVED_AMONG)
        return one;
    const struct lab_random_function both = lab_random_function(2 * n, buckets);
    /* A bucket that is empty after the first visit stays empty with this probability. */
    const double stays = exp(n * log1p(-1 / buckets));
    const double variance = both.sigma * both.sigma + (1 - 2 * stays) * one.sigma * one.sigma;
    return (struct lab_random_function){both.collisions - one.collisions, sqrt(variance)};
}

/* The sum of all runs, with what a random function would give. */
struct measured {
    double collisions, keys; /* keys: how many could collide */
    double expected, sigma;  /* of collisions */
};

static struct measured measure(const struct lab_results *r, uint32_t unit, uint32_t index,
                               enum evolved_count which)
{
    struct measured m = {0};
    double variance = 0;
    for (uint32_t run = 0; run < r->runs; run++) {
        const double n = lab_value(r, unit, run, EVOLVED_KEYS);
        const struct lab_random_function f = random_function(n, which);
        m.collisions += lab_value(r, unit, run, index);
        m.keys += n;
        m.expected += f.collisions;
        variance += f.sigma * f.sigma;
    }
    m.sigma = sqrt(variance);
    return m;
}

static struct measured measure_function(const struct lab_results *r, uint32_t unit,
                                        size_t function, enum evolved_count which)
{
    return measure(r, unit, (uint32_t)(EVOLVED_COUNTED + function * EVOLVED_COUNTS + which),
                   which);
}

/* The collisions of the best of as many random functions as programs were judged, per key. */
static double best_random(const struct lab_results *r, uint32_t unit)
{
    double sum = 0, keys = 0;
    for (uint32_t run = 0; run < r->runs; run++) {
        const double n = lab_value(r, unit, run, EVOLVED_KEYS);
        const struct lab_random_function f = random_function(n, EVOLVED_FIRST);
        sum += lab_best_random(&f, lab_value(r, unit, run, EVOLVED_TRIED));
        keys += n;
    }
    return sum / keys;
}

/* --- Report ----------------------------------------------------------------------- */

static const char *const columns[EVOLVED_COUNTS] = {"first visit", "new URLs", "new after first"};

static void make_cell(struct lab_table *t, const struct lab_results *r, uint32_t unit,
                      size_t function, enum evolved_count which)
{
    const struct measured m = measure_function(r, unit, function, which);
    const double trials = m.keys / r->runs;
    const struct lab_count count = {
        .hits = m.collisions,
        .trials = trials,
        .runs = r->runs,
        .rate = m.expected / m.keys,
        .sigma = m.sigma / sqrt(r->runs) / trials,
    };
    lab_cell_rate(lab_cell(t, evolved_functions[function].name, columns[which]), &count, NULL);
}

static void make_table(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    char title[160];
    (void)snprintf(title, sizeof title, "Collisions, %%: %s", lists[unit].name);
    struct lab_table *t = lab_table(report, LAB_GRID, lists[unit].id, "function", title);
    const struct measured m = measure_function(r, unit, 0, EVOLVED_FIRST);
    lab_caption(t,
                "URLs whose bucket is taken, of %.0f of each visit in a table of %u buckets per "
                "URL; \"new after first\" fills the table with both. Theory: a random function. "
                "The best of as many random functions as programs were tried (%.0f) would have "
                "%.2f %% on the first visit.",
                m.keys / r->runs, EVOLVED_BUCKETS, lab_mean(r, unit, EVOLVED_TRIED),
                100 * best_random(r, unit));
    for (size_t i = 0; i < EVOLVED_FUNCTIONS; i++)
        for (enum evolved_count which = EVOLVED_FIRST; which < EVOLVED_COUNTS; which++)
            make_cell(t, r, unit, i, which);
}

static double percent(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    return 100 * lab_sum(r, unit, index) / lab_sum(r, unit, EVOLVED_KEYS);
}

/* The share of URLs that a value counts, for each run; returns the number of runs. */
static uint32_t shares(const struct lab_results *r, uint32_t unit, uint32_t index,
                       double share[EVOLVED_RUNS])
{
    const uint32_t runs = r->runs < EVOLVED_RUNS ? r->runs : EVOLVED_RUNS;
    for (uint32_t run = 0; run < runs; run++)
        share[run] = lab_value(r, unit, run, index) / lab_value(r, unit, run, EVOLVED_KEYS);
    return runs;
}

/* Points of a curve: the mean of all runs, with its 95% interval from their scatter. */
static void draw_curve(struct lab_figure *f, const struct lab_results *r, uint32_t unit,
                       uint32_t index, size_t series, uint32_t step)
{
    for (uint32_t i = 0; i <= EVOLVED_POINTS; i += step) {
        double share[EVOLVED_RUNS];
        const uint32_t runs = shares(r, unit, index + i, share);
        const struct lab_spread s = lab_spread(share, runs);
        const double half = s.error > 0 ? 1.96 * s.error : NAN;
        const double low = s.error > 0 ? fmax(s.mean - half, 0) : NAN;
        const double x = (double)evolved_generations(r->lab) * i / EVOLVED_POINTS;
        lab_point_between(f, series, x, 100 * s.mean, 100 * low, 100 * (s.mean + half));
    }
}

/* A horizontal line: what chance gives. */
static void draw_level(struct lab_figure *f, unsigned color, const char *name, double level,
                       double right)
{
    const size_t line = lab_series(f, LAB_DASHES, color, "%s", name);
    lab_point(f, line, 0, level);
    lab_point(f, line, right, level);
}

static void draw(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    char title[160];
    const double generations = evolved_generations(r->lab);
    const struct measured m = measure_function(r, unit, 0, EVOLVED_FIRST);
    (void)snprintf(title, sizeof title, "The best program by generation: %s", lists[unit].name);
    struct lab_figure *f =
        lab_figure(report, lists[unit].id, title, "generation", "URLs that collide, %", NULL);
    lab_figure_caption(
        f,
        "Where the points follow the line down, the program has found what the URLs have in "
        "common. Where they stay at the gray level, it fits only the URLs it evolved for. After "
        "%.0f generations: %.4g %% on the first visit, %.4g %% on new URLs; a random function "
        "%.4g %%. %u run%s.",
        generations, percent(r, unit, EVOLVED_CURVE_FIRST + EVOLVED_POINTS),
        percent(r, unit, EVOLVED_CURVE_FRESH + EVOLVED_POINTS), 100 * m.expected / m.keys, r->runs,
        r->runs == 1 ? "" : "s");
    const size_t first = lab_series(f, LAB_LINE, LAB_COLOR_BLOOM, "first visit");
    draw_curve(f, r, unit, EVOLVED_CURVE_FIRST, first, 1);
    const size_t fresh = lab_series(f, LAB_POINTS, LAB_COLOR_LAYERED, "new URLs");
    draw_curve(f, r, unit, EVOLVED_CURVE_FRESH, fresh, 2);
    draw_level(f, LAB_COLOR_PLAIN, "a random function", 100 * m.expected / m.keys, generations);
    draw_level(f, LAB_COLOR_KIND, "the best of as many", 100 * best_random(r, unit), generations);
}

/* The best program of the run with the fewest collisions. */
static void print_program(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    char loop[LAB_GP_TEXT], end[LAB_GP_TEXT];
    uint32_t best = 0;
    for (uint32_t run = 1; run < r->runs; run++)
        if (lab_value(r, unit, run, EVOLVED_COUNTED) < lab_value(r, unit, best, EVOLVED_COUNTED))
            best = run;
    const struct lab_gp p = lab_gp_unpack(lab_values(r, unit, best) + EVOLVED_PROGRAM);
    lab_gp_text(&p, LAB_GP_LOOP, loop);
    lab_gp_text(&p, LAB_GP_END, end);
    lab_remark(report,
               "The best program for %s (run %u): for each 4 bytes w of the URL: %s; at the end, "
               "with its length as w: %s. The hash is a.",
               lists[unit].name, best + 1, loop[0] != '\0' ? loop : "nothing",
               end[0] != '\0' ? end : "nothing");
}

/* --- Claims ----------------------------------------------------------------------- */

#define FEWER 0.95 /* fewer collisions: less than this times those of a random function */
#define FEW   0.1  /* close to none */

static struct lab_estimate estimate_of(const struct measured *m)
{
    return (struct lab_estimate){m->collisions / m->keys, m->sigma / m->keys, 0};
}

/* The same for evolved functions.  On structured URLs, one run may find a perfect function and the
 * next one an ordinary function: then the scatter of the runs counts. */
static struct lab_estimate estimate_evolved(const struct lab_results *r, uint32_t unit,
                                            enum evolved_count which)
{
    double share[EVOLVED_RUNS];
    const struct measured m = measure_function(r, unit, 0, which);
    const struct lab_estimate known = estimate_of(&m);
    const uint32_t runs = shares(r, unit, EVOLVED_COUNTED + which, share);
    const struct lab_estimate scattered = lab_sample(share, runs);
    return scattered.sigma > known.sigma ? scattered : known;
}

/* A claim about evolved functions: less than `share` times the collisions of a random one. */
static struct lab_answer *ask(const struct lab_results *r, struct lab_report *report,
                              uint32_t unit, enum evolved_count which, double share)
{
    static const char first[] = "A hash function evolved for the URLs of a visit has fewer "
                                "collisions on them than a random function";
    static const char *const text[EVOLVED_COUNTS] = {
        [EVOLVED_FIRST] = first,
        [EVOLVED_FRESH] = "It also has fewer on the new URLs of the next visit",
        [EVOLVED_AMONG] = "When these are added to the URLs of the first visit, their collisions "
                          "are close to zero",
    };
    const struct measured m = measure_function(r, unit, 0, which);
    struct lab_test test =
        lab_test_less(estimate_evolved(r, unit, which), share * m.expected / m.keys);
    test.low = fmax(test.low, 0); /* a share */
    test.high = fmin(test.high, 1);
    struct lab_claim *c =
        lab_claim(report, "thesis, section 7.2.2", "%s (%s).", text[which], lists[unit].name);
    lab_answer(&c->holds, &test, "%", "less than %g times the %.4g %% of a random function", share,
               100 * m.expected / m.keys);
    return &c->holds;
}

static void judge(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    const double tried = lab_mean(r, unit, EVOLVED_TRIED), chance = 100 * best_random(r, unit);
    struct lab_answer *a = ask(r, report, unit, EVOLVED_FIRST, FEWER);
    lab_add_text(a,
                 "The best of %.0f random functions, as many as programs were tried, would "
                 "have %.4g %%.",
                 tried, chance);
    a = ask(r, report, unit, EVOLVED_FRESH, FEWER);
    lab_say(a, LAB_YES, "The program uses what the new URLs have in common with the others.");
    lab_say(a, LAB_NO,
            "The program was selected for the URLs of the first visit, and what suits "
            "them does not suit the new ones.");
    a = ask(r, report, unit, EVOLVED_AMONG, FEW);
    lab_add_text(a, "%.2f times as many as with a random function.",
                 a->test.estimate / a->test.expected * FEW);
}

/* The published functions, as a check of the experiment. */
static void judge_others(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[EVOLVED_LISTS * EVOLVED_FUNCTIONS * EVOLVED_COUNTS];
    size_t n = 0;
    for (uint32_t unit = 0; unit < EVOLVED_LISTS; unit++)
        for (size_t i = 1; i < EVOLVED_FUNCTIONS; i++)
            for (enum evolved_count which = EVOLVED_FIRST; which < EVOLVED_COUNTS; which++) {
                const struct measured m = measure_function(r, unit, i, which);
                test[n++] = lab_test_equal(estimate_of(&m), m.expected / m.keys, 1 - FEWER);
            }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c = lab_claim(report, "beyond the papers",
                                    "lookup2, MurmurHash2 and XXH3 collide as often as a random "
                                    "function, on every list.");
    lab_answer(&c->holds, &all, "%", "n - m (1 - (1 - 1/m)^n) collisions of n URLs in m buckets");
}

void evolved_report(const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t unit = 0; unit < EVOLVED_LISTS; unit++) {
        make_table(r, report, unit);
        draw(r, report, unit);
        print_program(r, report, unit);
        judge(r, report, unit);
    }
    judge_others(r, report);
}
