/* bench_job.c - runs the jobs of a group in turns; see bench_job.h. */
#include "bench/bench_job.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include <inttypes.h>
#include <math.h>

#define ROUNDS_MAX 64
#define SIGMAS     5.0 /* a correct filter fails once in 1.7 million runs */

int bench_work_check(const struct bench_work *w, uint64_t keys, uint64_t mistaken, deja_error *err)
{
    const double mean = w->opt.fp_rate * (double)keys; /* the maximum: the filter is not full */
    if ((double)mistaken <= mean + SIGMAS * sqrt(mean) + SIGMAS)
        return DEJA_OK;
    return fail(err, DEJA_EFORMAT,
                "%" PRIu64 " of %" PRIu64 " new keys were mistaken for known ones", mistaken,
                keys);
}

struct times {
    double ns[BENCH_JOBS][ROUNDS_MAX], limit[BENCH_JOBS][ROUNDS_MAX],
        ratio[BENCH_JOBS][ROUNDS_MAX];
};

static int run_rounds(const struct bench_group *g, struct bench_work *w, struct times *t,
                      unsigned rounds, deja_error *err)
{
    for (unsigned r = 0; r < rounds; r++)
        for (size_t i = 0; g->job[i].name; i++) {
            if (signals_stopped(w->stop))
                return DEJA_OK;
            const int rc = g->job[i].measure(w, &t->ns[i][r], &t->limit[i][r], err);
            if (rc < 0)
                return rc;
            t->ratio[i][r] = t->ns[i][r] / t->limit[i][r];
        }
    return DEJA_OK;
}

int bench_group_run(const struct bench_group *g, struct bench_work *w, unsigned rounds,
                    struct bench_result result[BENCH_JOBS], size_t *done, deja_error *err)
{
    static struct times t;
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    const uint32_t kind = w->opt.kind; /* a group may let it grow */
    *done = 0;
    int rc = g->begin(w, err);
    if (rc == DEJA_OK)
        rc = run_rounds(g, w, &t, rounds, err);
    g->end(w);
    for (size_t i = 0; rc == DEJA_OK && !signals_stopped(w->stop) && g->job[i].name; i++) {
        result[i] = (struct bench_result){.job = &g->job[i], .kind = kind, .p = w->opt.fp_rate};
        result[i].n = w->opt.capacity;
        result[i].bytes = w->bytes;
        result[i].rounds = rounds;
        result[i].ns = bench_spread_of(t.ns[i], rounds).median;
        result[i].limit_ns = bench_spread_of(t.limit[i], rounds).median;
        result[i].ratio = bench_spread_of(t.ratio[i], rounds);
        *done = i + 1;
    }
    return rc;
}
