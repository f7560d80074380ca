/* exp_evolved.c - can a hash function be bred for a site?  Thesis, 7.2.2 (further work).
 *
 * The thesis proposes genetic programming: after the first visit, evolve a hash function without
 * collisions on its URLs.  New URLs of the next visit look much like them, so the function
 * "would, presumably, only yield a number of collisions close to zero".  Here, a population of
 * small programs (lab_gp.h) evolves on n URLs in a table with M = 2 buckets per URL.  The best one
 * is then given as many new URLs, alone and after those of the first visit.
 *
 * A unit is one list of URLs: that of the lab, and two sites with numbered pages. */
#include "lab/engine/lab_evolve.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include "tools/base/mix.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS_PER_KEY 2u
#define POINTS          40u /* of a curve, after the one for the first generation */

enum list {
    LIST_OWN,
    LIST_PAGES,
    LIST_SECTIONS,
    LISTS
};
static const struct {
    const char *id, *name;
} lists[LISTS] = {
    {"lab", "URLs of the lab"},
    {"pages", "numbered pages of one site"},
    {"sections", "numbered pages in five sections"},
};

static const struct function {
    const char *name;
    uint32_t hash;   /* 0: the evolved one */
    uint64_t format; /* 1: the function as published, without the library's last step */
} functions[] = {
    {"evolved", 0, 0},
    {"lookup2", DEJA_HASH_JENKINS, 1},
    {"MurmurHash2", DEJA_HASH_MURMUR2, 1},
    {"XXH3", DEJA_HASH_XXH3, 2},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

/* What is counted for each function. */
enum count {
    FIRST, /* collisions among the URLs of the first visit */
    FRESH, /* among as many new ones */
    AMONG, /* of the new ones, after those of the first visit */
    COUNTS
};

enum {
    KEYS,
    TRIED,
    COUNTED,
    CURVE_FIRST = COUNTED + FUNCTIONS * COUNTS,
    CURVE_FRESH = CURVE_FIRST + POINTS + 1,
    PROGRAM = CURVE_FRESH + POINTS + 1,
    N_VALUES = PROGRAM + LAB_GP_NUMBERS
};

struct size {
    uint32_t keys, population, generations; /* generations: a multiple of POINTS */
};
static const struct size full = {4096, 200, 120}, quick = {1000, 40, 40};

static struct size size_of(const struct lab *lab)
{
    struct size s = lab->quick ? quick : full;
    s.keys = lab->keys.n < s.keys ? (uint32_t)lab->keys.n : s.keys;
    return s;
}

/* --- URLs ------------------------------------------------------------------------- */

/* n URLs of the first visit, and n new ones of the next. */
struct visits {
    uint32_t n;
    const deja_slice *url[2];
};

#define BYTES_MOST (UINT64_C(4) << 20) /* of a visit: long lines must not take hours */

/* A different part of the list for each run. */
static struct visits own_urls(const struct lab_task *t, uint32_t n)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t first = (uint64_t)t->run * n % (k->n - n + 1);
    struct visits v = {0, {k->added + first, k->asked + first}};
    for (uint64_t bytes = 0; v.n < n; v.n++) {
        bytes += v.url[0][v.n].len + v.url[1][v.n].len;
        if (bytes > 2 * BYTES_MOST && v.n > 0)
            break;
    }
    return v;
}

#define PAGE_MOST 80

/* Page number `id`, of 7 digits: news is numbered in the order in which it appears. */
static size_t page_url(char url[PAGE_MOST], uint32_t id, bool sections)
{
    static const char *const section[] = {"news", "sport", "culture", "science", "business"};
    const uint64_t choice = sections ? mix_below(mix_nth(id), 5) : 0;
    return (size_t)snprintf(url, PAGE_MOST, "https://www.example.org/%s/%u.html", section[choice],
                            id);
}

static struct visits pages(struct lab_task *t, uint32_t n, bool sections)
{
    deja_slice *url = lab_alloc(t, 2 * n * sizeof *url);
    char *text = lab_alloc(t, 2 * (size_t)n * PAGE_MOST);
    for (uint32_t i = 0; t->rc == DEJA_OK && i < 2 * n; i++) {
        const uint32_t id = 1000000 + (t->run * 2 * n + i) % 9000000;
        const size_t len = page_url(text + (size_t)i * PAGE_MOST, id, sections);
        url[i] = (deja_slice){text + (size_t)i * PAGE_MOST, len};
    }
    return (struct visits){url ? n : 0, {url, url ? url + n : NULL}};
}

/* --- Collisions ------------------------------------------------------------------- */

/* Count the collisions of both visits, given the hashes of their URLs. */
static void count(const struct visits *v, const uint32_t *first, const uint32_t *fresh,
                  uint8_t *taken, double counts[COUNTS])
{
    const uint64_t buckets = (uint64_t)v->n * BUCKETS_PER_KEY;
    memset(taken, 0, buckets);
    counts[FRESH] = lab_collisions(fresh, v->n, buckets, taken);
    memset(taken, 0, buckets);
    counts[FIRST] = lab_collisions(first, v->n, buckets, taken);
    counts[AMONG] = lab_collisions(fresh, v->n, buckets, taken);
}

/* 32 bits for each URL, as a filter with one hash function computes them: its position is their
 * share of the filter. */
static void hash_by_filter(struct lab_task *t, const struct function *fn, const struct visits *v,
                           unsigned visit, uint32_t *hash)
{
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    opt.capacity = v->n;
    opt.hash = fn->hash;
    opt.format = fn->format;
    opt.hashes = 1;
    opt.multiplier = BUCKETS_PER_KEY;
    const deja_filter *f = lab_filter(t, &opt);
    for (uint32_t i = 0; f && i < v->n; i++) {
        uint64_t word = 0;
        deja_filter_hash_batch(f, &v->url[visit][i], 1, &word);
        hash[i] = (uint32_t)(word >> 32);
    }
}

static void count_others(struct lab_task *t, const struct visits *v, uint8_t *taken)
{
    uint32_t *first = lab_alloc(t, v->n * sizeof *first);
    uint32_t *fresh = lab_alloc(t, v->n * sizeof *fresh);
    for (size_t i = 1; i < FUNCTIONS && lab_going(t); i++) {
        hash_by_filter(t, &functions[i], v, 0, first);
        hash_by_filter(t, &functions[i], v, 1, fresh);
        if (t->rc == DEJA_OK)
            count(v, first, fresh, taken, t->value + COUNTED + i * COUNTS);
    }
}

/* --- Evolution -------------------------------------------------------------------- */

struct trial {
    struct lab_task *task;
    struct visits visits;
    struct lab_gp_keys keys[2];
    struct lab_evolution evolution;
    uint32_t *fresh; /* hashes of the new URLs */
};

static void count_best(struct trial *x, double counts[COUNTS])
{
    struct lab_evolution *e = &x->evolution;
    lab_gp_hash(&e->now[0].program, e->table, &x->keys[0], e->hash);
    lab_gp_hash(&e->now[0].program, e->table, &x->keys[1], x->fresh);
    count(&x->visits, e->hash, x->fresh, e->taken, counts);
}

static void evolve(struct trial *x, uint32_t generations)
{
    struct lab_evolution *e = &x->evolution;
    double *value = x->task->value;
    for (uint32_t i = 0; i <= generations && lab_going(x->task); i++) {
        if (i > 0)
            lab_evolution_next(e);
        if (i % (generations / POINTS) != 0)
            continue;
        const uint32_t point = i / (generations / POINTS);
        count_best(x, value + COUNTED);
        value[CURVE_FIRST + point] = value[COUNTED + FIRST];
        value[CURVE_FRESH + point] = value[COUNTED + FRESH];
    }
    value[TRIED] = (double)e->tried;
    lab_gp_pack(&e->now[0].program, value + PROGRAM);
}

static void prepare(struct trial *x, uint32_t population)
{
    struct lab_task *t = x->task;
    for (unsigned i = 0; i < 2 && t->rc == DEJA_OK; i++)
        lab_checked(t, lab_gp_keys_init(&x->keys[i], x->visits.url[i], x->visits.n, t->err));
    if (t->rc == DEJA_OK)
        lab_checked(t, lab_evolution_init(&x->evolution, &x->keys[0],
                                          (uint64_t)x->visits.n * BUCKETS_PER_KEY, population,
                                          t->seed, t->err));
    x->fresh = lab_alloc(t, lab_gp_room(x->visits.n) * sizeof *x->fresh);
}

static void run(struct lab_task *t)
{
    const struct size s = size_of(t->lab);
    struct trial x = {.task = t};
    x.visits =
        t->unit == LIST_OWN ? own_urls(t, s.keys) : pages(t, s.keys, t->unit == LIST_SECTIONS);
    t->value[KEYS] = x.visits.n;
    prepare(&x, s.population);
    if (t->rc == DEJA_OK) {
        evolve(&x, s.generations);
        count_others(t, &x.visits, x.evolution.taken);
    }
    lab_evolution_fini(&x.evolution);
    lab_gp_keys_fini(&x.keys[0]);
    lab_gp_keys_fini(&x.keys[1]);
}

/* --- Theory ----------------------------------------------------------------------- */

/* A random function: new URLs after those of the first visit are the collisions of all of them,
 * less those of the first. */
static struct lab_random_function random_function(double n, enum count which)
{
    const double buckets = n * BUCKETS_PER_KEY;
    const struct lab_random_function one = lab_random_function(n, buckets);
    if (which != AMONG)
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
                               enum count which)
{
    struct measured m = {0};
    double variance = 0;
    for (uint32_t run = 0; run < r->runs; run++) {
        const double n = lab_value(r, unit, run, KEYS);
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
                                        size_t function, enum count which)
{
    return measure(r, unit, (uint32_t)(COUNTED + function * COUNTS + which), which);
}

/* The collisions of the best of as many random functions as programs were judged, per key. */
static double best_random(const struct lab_results *r, uint32_t unit)
{
    double sum = 0, keys = 0;
    for (uint32_t run = 0; run < r->runs; run++) {
        const double n = lab_value(r, unit, run, KEYS);
        const struct lab_random_function f = random_function(n, FIRST);
        sum += lab_best_random(&f, lab_value(r, unit, run, TRIED));
        keys += n;
    }
    return sum / keys;
}

/* --- Report ----------------------------------------------------------------------- */

static const char *const columns[COUNTS] = {"first visit", "new URLs", "new after first"};

static void make_cell(struct lab_table *t, const struct lab_results *r, uint32_t unit,
                      size_t function, enum count which)
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
    lab_cell_rate(lab_cell(t, functions[function].name, columns[which]), &count, NULL);
}

static void make_table(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    char title[160];
    (void)snprintf(title, sizeof title, "Collisions, %%: %s", lists[unit].name);
    struct lab_table *t = lab_table(report, LAB_GRID, lists[unit].id, "function", title);
    const struct measured m = measure_function(r, unit, 0, FIRST);
    lab_caption(t,
                "URLs whose bucket is taken, of %.0f of each visit in a table of %u buckets per "
                "URL; \"new after first\" fills the table with both. Theory: a random function. "
                "The best of as many random functions as programs were tried (%.0f) would have "
                "%.2f %% on the first visit.",
                m.keys / r->runs, BUCKETS_PER_KEY, lab_mean(r, unit, TRIED),
                100 * best_random(r, unit));
    for (size_t i = 0; i < FUNCTIONS; i++)
        for (enum count which = FIRST; which < COUNTS; which++)
            make_cell(t, r, unit, i, which);
}

static double percent(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    return 100 * lab_sum(r, unit, index) / lab_sum(r, unit, KEYS);
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
    const double generations = size_of(r->lab).generations;
    const struct measured m = measure_function(r, unit, 0, FIRST);
    (void)snprintf(title, sizeof title, "The best program by generation: %s", lists[unit].name);
    struct lab_figure *f =
        lab_figure(report, lists[unit].id, title, "generation", "URLs that collide, %", NULL);
    const size_t first = lab_series(f, LAB_LINE, 0, "first visit");
    const size_t fresh = lab_series(f, LAB_POINTS, 1, "new URLs");
    for (uint32_t i = 0; i <= POINTS; i++) {
        const double x = generations * i / POINTS;
        lab_point(f, first, x, percent(r, unit, CURVE_FIRST + i));
        lab_point(f, fresh, x, percent(r, unit, CURVE_FRESH + i));
    }
    draw_level(f, 2, "a random function", 100 * m.expected / m.keys, generations);
    draw_level(f, 3, "the best of as many", 100 * best_random(r, unit), generations);
}

/* The best program of the run with the fewest collisions. */
static void print_program(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    char loop[LAB_GP_TEXT], end[LAB_GP_TEXT];
    uint32_t best = 0;
    for (uint32_t run = 1; run < r->runs; run++)
        if (lab_value(r, unit, run, COUNTED) < lab_value(r, unit, best, COUNTED))
            best = run;
    const struct lab_gp p = lab_gp_unpack(lab_values(r, unit, best) + PROGRAM);
    lab_gp_text(&p, LAB_GP_LOOP, loop);
    lab_gp_text(&p, LAB_GP_END, end);
    lab_verdict(report, LAB_NOTE,
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

/* A claim about evolved functions: less than `share` times the collisions of a random one. */
static struct lab_answer *ask(const struct lab_results *r, struct lab_report *report,
                              uint32_t unit, enum count which, double share)
{
    static const char *const text[COUNTS] = {
        "A hash function evolved for the URLs of a visit has fewer collisions on them than a "
        "random function",
        "It also has fewer on the new URLs of the next visit",
        "When these are added to the URLs of the first visit, their collisions are close to zero",
    };
    const struct measured m = measure_function(r, unit, 0, which);
    const struct lab_test test = lab_test_less(estimate_of(&m), share * m.expected / m.keys);
    struct lab_claim *c =
        lab_claim(report, "thesis, section 7.2.2", "%s (%s).", text[which], lists[unit].name);
    lab_answer(&c->holds, &test, "%", "less than %g times the %.4g %% of a random function", share,
               100 * m.expected / m.keys);
    return &c->holds;
}

static void judge(const struct lab_results *r, struct lab_report *report, uint32_t unit)
{
    const double tried = lab_mean(r, unit, TRIED), chance = 100 * best_random(r, unit);
    struct lab_answer *a = ask(r, report, unit, FIRST, FEWER);
    lab_add_text(a,
                 "The best of %.0f random functions, as many as programs were tried, would "
                 "have %.4g %%.",
                 tried, chance);
    a = ask(r, report, unit, FRESH, FEWER);
    lab_say(a, LAB_YES, "The program uses what the new URLs have in common with the others.");
    lab_say(a, LAB_NO,
            "The program was selected for the URLs of the first visit, and what suits "
            "them does not suit the new ones.");
    a = ask(r, report, unit, AMONG, FEW);
    lab_add_text(a, "%.2f times as many as with a random function.",
                 a->test.estimate / a->test.expected * FEW);
}

/* The published functions, as a check of the experiment. */
static void judge_others(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[LISTS * FUNCTIONS * COUNTS];
    size_t n = 0;
    for (uint32_t unit = 0; unit < LISTS; unit++)
        for (size_t i = 1; i < FUNCTIONS; i++)
            for (enum count which = FIRST; which < COUNTS; which++) {
                const struct measured m = measure_function(r, unit, i, which);
                test[n++] = lab_test_equal(estimate_of(&m), m.expected / m.keys, 1 - FEWER);
            }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c = lab_claim(report, "beyond the papers",
                                    "lookup2, MurmurHash2 and XXH3 collide as often as a random "
                                    "function, on every list.");
    lab_answer(&c->holds, &all, "%", "n - m (1 - (1 - 1/m)^n) collisions of n URLs in m buckets");
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    for (uint32_t unit = 0; unit < LISTS; unit++) {
        make_table(r, report, unit);
        draw(r, report, unit);
        print_program(r, report, unit);
        judge(r, report, unit);
    }
    judge_others(r, report);
}

const struct lab_experiment exp_evolved = {
    .name = "evolved",
    .title = "An evolved hash function",
    .reproduces = "thesis, section 7.2.2 (further work, left open there)",
    .seconds = 5.6,
    .about =
        (const char *const[]){
            "Genetic programming: small programs of xor, add, multiply, rotate, shift and table "
            "lookup compute a hash of 32 bits. They evolve to have few collisions on the URLs of "
            "a first visit, and are then tested with the new URLs of the next.",
            "Three lists: the URLs of the lab (or of --urls), and a site whose pages are "
            "numbered, without and with sections. The others are what a random function, "
            "lookup2, MurmurHash2 and XXH3 give on the same URLs.",
            NULL},
    .max_runs = 10,
    .units = LISTS,
    .values = N_VALUES,
    .run = run,
    .report = make_report,
};
