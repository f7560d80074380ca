/* bench_job.h - whole jobs: a stream of lines, the first adds to a file, a sync.
 *
 * A job is a row of a table and a small function that does the work once and measures a limit of
 * the machine next to it.  Jobs of one group share a filter or a file, and take turns. */
#ifndef BENCH_BENCH_JOB_H
#define BENCH_BENCH_JOB_H
#include "bench/bench_keys.h"
#include "bench/bench_limit.h"
#include "bench/bench_spread.h"
#include <stdatomic.h>

/* What the jobs of a group share while they run. */
struct bench_work {
    /* inputs */
    deja_options opt; /* kind, capacity n, rate p */
    struct bench_keys *keys;
    const char *dir; /* for files */
    const atomic_bool *stop;
    /* the group's own */
    void *self;
    struct bench_limit limit;
    uint64_t bytes; /* of the filter */
};

struct bench_job {
    const char *name;
    const char *per;   /* what the time is for: "key", "line", "run" */
    const char *limit; /* what the ratio is to */
    /* Stores the times of the job and of the limit, in ns, and checks the answers. */
    int (*measure)(struct bench_work *w, double *ns, double *limit_ns, deja_error *err);
};

struct bench_group {
    int (*begin)(struct bench_work *w, deja_error *err);
    void (*end)(struct bench_work *w); /* also after a failure */
    const struct bench_job *job;       /* up to BENCH_JOBS; the last one has no name */
};
extern const struct bench_group bench_files, bench_stream;

#define BENCH_JOBS 8
struct bench_result {
    const char *section; /* as named on the command line */
    const struct bench_job *job;
    uint32_t kind;
    uint64_t n, bytes;
    double p;
    unsigned rounds;
    double ns, limit_ns; /* medians */
    struct bench_spread ratio;
};
/* Runs the jobs of a group in turns, `rounds` times.  Stores their number in *done: 0 if *stop
 * became true. */
int bench_group_run(const struct bench_group *g, struct bench_work *w, unsigned rounds,
                    struct bench_result result[BENCH_JOBS], size_t *done, deja_error *err);

/* For a group: fails if more new keys than chance explains were mistaken for known ones. */
int bench_work_check(const struct bench_work *w, uint64_t keys, uint64_t mistaken,
                     deja_error *err);

#endif
