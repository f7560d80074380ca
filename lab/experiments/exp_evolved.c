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
#include "lab/experiments/lab_evolved.h"
#include "tools/base/mix.h"
#include <stdio.h>
#include <string.h>

struct size {
    uint32_t keys, population, generations; /* generations: a multiple of EVOLVED_POINTS */
};
static const struct size full = {4096, 200, 120}, quick = {1000, 40, 40};

static struct size size_of(const struct lab *lab)
{
    struct size s = lab->quick ? quick : full;
    s.keys = lab->keys.n < s.keys ? (uint32_t)lab->keys.n : s.keys;
    return s;
}

uint32_t evolved_generations(const struct lab *lab)
{
    return size_of(lab).generations;
}

const struct evolved_function evolved_functions[EVOLVED_FUNCTIONS] = {
    {"evolved", 0, 0},
    {"lookup2", DEJA_HASH_JENKINS, 1},
    {"MurmurHash2", DEJA_HASH_MURMUR2, 1},
    {"XXH3", DEJA_HASH_XXH3, 2},
};

static void sizes(const struct lab *lab, char *text, size_t cap)
{
    const struct size s = size_of(lab);
    (void)snprintf(text, cap, "%u URLs per visit, %u programs, %u generations", s.keys,
                   s.population, s.generations);
}

/* --- URLs ------------------------------------------------------------------------- */

/* n URLs of the first visit, and n new ones of the next. */
struct visits {
    uint32_t n;
    const deja_slice *url[2];
};

#define BYTES_MOST (UINT64_C(1) << 20) /* of a visit: long lines must not take hours */

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
                  uint8_t *taken, double counts[EVOLVED_COUNTS])
{
    const uint64_t buckets = (uint64_t)v->n * EVOLVED_BUCKETS;
    memset(taken, 0, (size_t)buckets);
    counts[EVOLVED_FRESH] = lab_collisions(fresh, v->n, buckets, taken);
    memset(taken, 0, (size_t)buckets);
    counts[EVOLVED_FIRST] = lab_collisions(first, v->n, buckets, taken);
    counts[EVOLVED_AMONG] = lab_collisions(fresh, v->n, buckets, taken);
}

/* 32 bits for each URL, as a filter with one hash function computes them: its position is their
 * share of the filter. */
static void hash_by_filter(struct lab_task *t, const struct evolved_function *fn,
                           const struct visits *v, unsigned visit, uint32_t *hash)
{
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    opt.capacity = v->n;
    opt.hash = fn->hash;
    opt.format = fn->format;
    opt.hashes = 1;
    opt.multiplier = EVOLVED_BUCKETS;
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
    for (size_t i = 1; i < EVOLVED_FUNCTIONS && lab_going(t); i++) {
        hash_by_filter(t, &evolved_functions[i], v, 0, first);
        hash_by_filter(t, &evolved_functions[i], v, 1, fresh);
        if (t->rc == DEJA_OK)
            count(v, first, fresh, taken, t->value + EVOLVED_COUNTED + i * EVOLVED_COUNTS);
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

static void count_best(struct trial *x, double counts[EVOLVED_COUNTS])
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
        if (i % (generations / EVOLVED_POINTS) != 0)
            continue;
        const uint32_t point = i / (generations / EVOLVED_POINTS);
        count_best(x, value + EVOLVED_COUNTED);
        value[EVOLVED_CURVE_FIRST + point] = value[EVOLVED_COUNTED + EVOLVED_FIRST];
        value[EVOLVED_CURVE_FRESH + point] = value[EVOLVED_COUNTED + EVOLVED_FRESH];
    }
    value[EVOLVED_TRIED] = (double)e->tried;
    lab_gp_pack(&e->now[0].program, value + EVOLVED_PROGRAM);
}

static void prepare(struct trial *x, uint32_t population)
{
    struct lab_task *t = x->task;
    for (unsigned i = 0; i < 2 && t->rc == DEJA_OK; i++)
        lab_checked(t, lab_gp_keys_init(&x->keys[i], x->visits.url[i], x->visits.n, t->err));
    if (t->rc == DEJA_OK)
        lab_checked(t, lab_evolution_init(&x->evolution, &x->keys[0],
                                          (uint64_t)x->visits.n * EVOLVED_BUCKETS, population,
                                          t->seed, t->err));
    x->fresh = lab_alloc(t, lab_gp_room(x->visits.n) * sizeof *x->fresh);
}

static void run(struct lab_task *t)
{
    const struct size s = size_of(t->lab);
    struct trial x = {.task = t};
    x.visits = t->unit == EVOLVED_OWN ? own_urls(t, s.keys)
                                      : pages(t, s.keys, t->unit == EVOLVED_SECTIONS);
    t->value[EVOLVED_KEYS] = x.visits.n;
    prepare(&x, s.population);
    if (t->rc == DEJA_OK) {
        evolve(&x, s.generations);
        count_others(t, &x.visits, x.evolution.taken);
    }
    lab_evolution_fini(&x.evolution);
    lab_gp_keys_fini(&x.keys[0]);
    lab_gp_keys_fini(&x.keys[1]);
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
    .max_runs = EVOLVED_RUNS,
    .units = EVOLVED_LISTS,
    .values = EVOLVED_VALUES,
    .sizes = sizes,
    .run = run,
    .report = evolved_report,
};
