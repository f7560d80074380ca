/* exp_memory.c - the memory that URLs take: tables 5.10 to 5.13.
 *
 * Everything is measured: a child process builds the structure, and the pages that it has written
 * are counted (lab_footprint.h).  Theory is what the structure asks for.  The thesis measured
 * objects of Java with a profiling agent.
 *
 * The size of a Bloom filter follows from n, k, M and F alone, so those of tables 5.10 to 5.12 are
 * always made for the thesis' million URLs, and get only as many keys as it takes to write all
 * pages.  The lab's own URLs go into the other structures. */
#include "bench/bench_subject.h"
#include "lab/engine/lab_baseline.h"
#include "lab/engine/lab_footprint.h"
#include "lab/experiments/lab_memory.h"
#include <math.h>

#define MILLION 1000000
#define ENOUGH  20000u /* keys that write every page: at least 100 positions per page */

/* --- Structures ------------------------------------------------------------------ */

static void added(struct lab_task *t, int rc, const char *what)
{
    if (rc == DEJA_ENOMEM)
        lab_failed(t, rc, "out of memory for %s", what);
    else if (rc < 0)
        lab_failed(t, rc, "%s: %s", what, deja_strerror(rc));
}

static double build_strings(struct lab_task *t, const void *ctx)
{
    const struct lab_keys *k = &t->lab->keys;
    struct lab_strings l = {0};
    (void)ctx;
    for (uint64_t i = 0; i < k->n && lab_going(t); i++)
        added(t, lab_strings_add(&l, k->added[i]), "an array of strings");
    return (double)l.asked; /* the child ends with it */
}

static double build_set(struct lab_task *t, const void *ctx)
{
    const struct lab_keys *k = &t->lab->keys;
    struct lab_set s = {0};
    (void)ctx;
    for (uint64_t i = 0; i < k->n && lab_going(t); i++)
        added(t, lab_set_add(&s, k->added[i]), "a hash set of strings");
    return (double)s.asked;
}

static double build_table(struct lab_task *t, const void *ctx)
{
    const struct lab_keys *k = &t->lab->keys;
    void *table = bench_table.open(0, k->n, 0, t->err);
    uint8_t is_new[1];
    (void)ctx;
    if (!table)
        lab_checked(t, DEJA_ENOMEM);
    for (uint64_t i = 0; i < k->n && lab_going(t); i++)
        if (bench_table.add_one(table, k->added + i, 1, is_new) < 0)
            return NAN; /* a URL exceeds the table's limit */
    return t->rc == DEJA_OK ? (double)bench_table.bytes(table) : 0;
}

/* A filter of one of deja's kinds with all URLs. */
static double build_kind(struct lab_task *t, const void *ctx)
{
    const struct memory_subject *s = ctx;
    deja_options opt = lab_options(t, s->kind);
    opt.fp_rate = s->rate;
    return (double)lab_stats(t, lab_full(t, &opt)).bytes;
}

const struct memory_subject memory_subjects[MEMORY_SUBJECTS] = {
    {"array of strings", 0, 0, "pointers to strings from malloc", "array"},
    {"hash set of strings", 0, 0, "buckets of nodes, at most three quarters full", "table"},
    {"hash table of strings", 0, 0, "open addressing, at most three quarters full", NULL},
    {"exact", DEJA_EXACT, 0, "64-bit fingerprints", NULL},
    {"static, 8 bits", DEJA_STATIC, 0.0039, "never changes; rate 1 in 256", NULL},
    {"static, 16 bits", DEJA_STATIC, 1.5e-5, "never changes; rate 1 in 65,536", NULL},
    {"classic, 1 %", DEJA_CLASSIC, 0.01, "", NULL},
    {"blocked, 1 %", DEJA_BLOCKED, 0.01, "", NULL},
    {"classic, 1e-6", DEJA_CLASSIC, 1e-6, "", NULL},
    {"blocked, 1e-6", DEJA_BLOCKED, 1e-6, "", NULL},
};

static void run_subjects(struct lab_task *t)
{
    static lab_build *const build[] = {build_strings, build_set, build_table};
    for (size_t i = 0; i < MEMORY_SUBJECTS && lab_going(t); i++) {
        lab_build *const make = memory_subjects[i].kind ? build_kind : build[i];
        struct lab_footprint small, huge;
        lab_footprint(t, &(struct lab_footprints){make, &memory_subjects[i], 0, 1, true}, &small);
        lab_footprint(t, &(struct lab_footprints){make, &memory_subjects[i], 0, 1, false}, &huge);
        double *value = t->value + i * MEMORY_VALUES;
        value[MEMORY_RESIDENT] = small.resident;
        value[MEMORY_HUGE] = huge.resident;
        value[MEMORY_ALLOCATED] = small.allocated;
        value[MEMORY_ASKED] = small.asked;
    }
}

/* --- The thesis' filters ------------------------------------------------------------ */

struct cell {
    uint32_t filters, k;
    double multiplier;
};

static double build_cell(struct lab_task *t, const void *ctx)
{
    const struct cell *c = ctx;
    const struct lab_keys *k = &t->lab->keys;
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    opt.capacity = MILLION;
    opt.filters = c->filters;
    opt.hashes = c->k;
    opt.multiplier = c->multiplier;
    deja_filter *f = lab_filter(t, &opt);
    (void)lab_add(t, f, k->added, k->n < ENOUGH ? k->n : ENOUGH, NULL);
    (void)lab_add(t, f, k->asked, k->n < ENOUGH ? k->n : 0, NULL);
    return (double)lab_stats(t, f).bytes;
}

static void run_grid(struct lab_task *t)
{
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++) {
        struct cell c[THESIS_SIZES];
        struct lab_footprint f[THESIS_SIZES];
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            c[i] = (struct cell){t->unit + 1, k, thesis_multiplier[i]};
        lab_footprint(t, &(struct lab_footprints){build_cell, c, sizeof *c, THESIS_SIZES, true},
                      f);
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            t->value[thesis_cell(k, i)] = f[i].resident;
    }
}

static void run(struct lab_task *t)
{
    if (t->unit < MEMORY_GRIDS)
        run_grid(t);
    else
        run_subjects(t);
}

const struct lab_experiment exp_memory = {
    .name = "memory",
    .title = "Memory",
    .reproduces = "thesis, tables 5.10-5.13; lecture notes",
    .seconds = 6,
    .about =
        (const char *const[]){
            "The memory of the thesis' filters, and of the same URLs in an array, in a hash set "
            "and in other kinds of filters. A process of its own builds each structure, and the "
            "system counts the pages that it has written.",
            NULL},
    .timed = true, /* another thread's locks must not be copied into that process */
    .max_runs = 1,
    .units = MEMORY_GRIDS + 1,
    .values = THESIS_CELLS,
    .run = run,
    .report = lab_memory_report,
};
