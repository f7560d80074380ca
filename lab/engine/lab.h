/* lab.h - what an experiment is, and what the lab provides.
 *
 * An experiment is divided into units: independent pieces of work, such as "three hash functions,
 * all six sizes".  Every unit runs once per run and yields a few numbers.  Its salts depend only
 * on the lab's seed, the experiment's name, the unit and the run.  So the numbers do not depend on
 * the number of threads or on what ran before, and a lab that was stopped can be resumed
 * (lab_journal.h).  When all numbers are available, the experiment turns them into tables, figures
 * and remarks (lab_report.h).
 *
 * A new experiment is a file exp_NAME.c with one `const struct lab_experiment`, and a line in
 * lab_list.c. */
#ifndef LAB_ENGINE_LAB_H
#define LAB_ENGINE_LAB_H
#include "deja.h"
#include <stdatomic.h>

struct lab_graph;
struct lab_report;
struct lab_results;

/* The URLs: n to insert, and n others to query.  All 2 n differ. */
struct lab_keys {
    deja_slice *added, *asked;
    uint64_t n;
    double mean_len;     /* bytes of a URL */
    uint64_t duplicates; /* lines of --urls that were skipped */
    uint64_t id;         /* identifies the set of URLs; for the journal */
    char source[160];    /* for people: where the URLs come from */
    char *bytes;
};

struct lab {
    struct lab_keys keys;
    const struct lab_graph *graph; /* of --graph, or NULL (lab_graph.h) */
    uint32_t runs;
    uint64_t seed;
    uint32_t threads;
    bool quick;
    const atomic_bool *stop; /* when true, return LAB_STOPPED soon */
};

/* The user asked to stop: not a failure, and finished units are kept. */
#define LAB_STOPPED (-1002)

/* The maximum of lab_experiment.values. */
#define LAB_VALUES 1200

/* One unit of one run, while it runs: what lab_task.h needs, and where its values go. */
struct lab_task {
    const struct lab *lab;
    uint32_t unit;
    uint32_t run;  /* 0, 1, ... */
    uint64_t seed; /* for its filters; never 0, and different for each task */
    double *value; /* all 0 at first */
    int rc;        /* of its first failure, which err describes */
    deja_error *err;
    struct lab_owned *owned; /* memory and filters that are released when it ends */
};

struct lab_experiment {
    const char *name;         /* as typed */
    const char *title;        /* a phrase for the report */
    const char *reproduces;   /* which tables and figures, of which text */
    const char *const *about; /* paragraphs, NULL at the end */
    bool timed;               /* measures time: nothing else may run at the same time */
    uint32_t max_runs;        /* more runs add nothing; 0: as many as requested */
    double seconds;           /* approximate, for a run with a million URLs on one core */

    uint32_t units;
    uint32_t (*units_of)(const struct lab *lab); /* if the number depends on the URLs */
    uint32_t values;                             /* the most that a unit yields */
    /* The relative cost of a unit, to estimate the remaining time; NULL: all cost the same. */
    double (*weight)(const struct lab *lab, uint32_t unit);
    /* Its sizes, for people, if it does not work with all n URLs; NULL: it does. */
    void (*sizes)(const struct lab *lab, char *text, size_t cap);
    void (*run)(struct lab_task *task);
    void (*report)(const struct lab_results *results, struct lab_report *report);
};

/* lab_list.c: all experiments, in the order of the report, NULL at the end. */
extern const struct lab_experiment *const lab_experiments[];

/* The numbers of one experiment: value `index` of a unit, run by run. */
struct lab_results {
    const struct lab *lab;
    const struct lab_experiment *experiment;
    uint32_t runs, units;
    double *value;
    uint8_t *done; /* units * runs flags */
};

static inline double *lab_values(const struct lab_results *r, uint32_t unit, uint32_t run)
{
    return r->value + ((size_t)run * r->units + unit) * r->experiment->values;
}

static inline double lab_value(const struct lab_results *r, uint32_t unit, uint32_t run,
                               uint32_t index)
{
    return lab_values(r, unit, run)[index];
}

/* A value that counts something.  It may come from an edited journal: a number out of range is
 * clamped, and NaN becomes 0. */
static inline uint32_t lab_value_count(double value)
{
    return value >= UINT32_MAX ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;
}

/* The sum over all runs. */
static inline double lab_sum(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    double sum = 0;
    for (uint32_t run = 0; run < r->runs; run++)
        sum += lab_value(r, unit, run, index);
    return sum;
}

static inline double lab_mean(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    return lab_sum(r, unit, index) / r->runs;
}

/* The smallest of all runs: other programs disturbed the fastest run least. */
static inline double lab_least(const struct lab_results *r, uint32_t unit, uint32_t index)
{
    double least = lab_value(r, unit, 0, index);
    for (uint32_t run = 1; run < r->runs; run++)
        least = lab_value(r, unit, run, index) < least ? lab_value(r, unit, run, index) : least;
    return least;
}

/* The number of URLs inserted, and of those queried. */
static inline double lab_n(const struct lab_results *r)
{
    return (double)r->lab->keys.n;
}

#endif
