/* bench_stream.c - a stream of lines through deja_dedup, as in `cat | deja dedup`.
 *
 * The stream has n distinct keys; three of ten lines repeat an earlier key.  The lines are hashes
 * already, so that the difference between the jobs is the filter: one has room for n keys, the
 * other does not know how many will arrive and grows from the default size. */
#include "bench/bench_job.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/base/signals.h"
#include <inttypes.h>
#include <stdlib.h>

#define LINES   4096 /* judged at a time */
#define REPEATS 30   /* percent */

struct stream {
    uint64_t hash[LINES];
    bool known[LINES];
    uint8_t is_new[LINES];
    uint64_t keys; /* distinct ones so far */
    uint64_t dice;
};

static int stream_begin(struct bench_work *w, deja_error *err)
{
    deja_plan plan = DEJA_PLAN_INIT;
    w->self = calloc(1, sizeof(struct stream));
    if (!w->self)
        return fail(err, DEJA_ENOMEM, "out of memory for the stream");
    const int rc = deja_plan_make(&w->opt, &plan, err);
    w->bytes = plan.bytes;
    return rc < 0 ? rc : bench_limit_init(&w->limit, plan.bytes, LINES * 16, err);
}

static void stream_end(struct bench_work *w)
{
    bench_limit_fini(&w->limit);
    free(w->self);
}

/* The next lines; returns how many: fewer when the n-th key has arrived. */
static size_t next_lines(struct stream *s, uint64_t n)
{
    size_t i = 0;
    for (; i < LINES && s->keys < n; i++) {
        const uint64_t random = mix_next(&s->dice);
        s->known[i] = s->keys > 0 && random % 100 < REPEATS;
        s->hash[i] = mix_nth(s->known[i] ? 1 + mix_below(random, s->keys) : ++s->keys);
    }
    return i;
}

static int check_lines(const struct bench_work *w, size_t n, uint64_t *mistaken, deja_error *err)
{
    const struct stream *s = w->self;
    for (size_t i = 0; i < n; i++) {
        if (s->known[i] && s->is_new[i])
            return fail(err, DEJA_EFORMAT, "stream: a line was repeated, but judged new");
        *mistaken += !s->known[i] && !s->is_new[i];
    }
    return DEJA_OK;
}

static int pass(struct bench_work *w, deja_dedup *d, double *ns, deja_error *err)
{
    struct stream *s = w->self;
    uint64_t mistaken = 0, lines = 0;
    size_t n;
    int rc = DEJA_OK;
    s->keys = 0;
    *ns = 0;
    while (rc == DEJA_OK && !signals_stopped(w->stop) &&
           (n = next_lines(s, w->opt.capacity)) > 0) {
        const double begin = clock_cpu_ns();
        rc = deja_dedup_judge(d, s->hash, n, s->is_new, err);
        if (rc == DEJA_OK)
            rc = deja_dedup_commit(d, err);
        *ns += clock_cpu_ns() - begin;
        if (rc == DEJA_OK)
            rc = check_lines(w, n, &mistaken, err);
        lines += n;
    }
    *ns /= (double)(lines > 0 ? lines : 1);
    return rc < 0 ? rc : bench_work_check(w, s->keys, mistaken, err);
}

static int measure(struct bench_work *w, bool sized, double *ns, double *limit_ns, deja_error *err)
{
    deja_options opt = w->opt;
    deja_filter *f = NULL;
    deja_dedup *d = NULL;
    opt.capacity = sized ? opt.capacity : 0;
    (void)deja_options_grow(&opt); /* as the command does */
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = deja_dedup_new(f, &d, err);
    if (rc == DEJA_OK)
        rc = pass(w, d, ns, err);
    *limit_ns = bench_limit_line(&w->limit);
    deja_dedup_free(d);
    deja_filter_free(f);
    return rc;
}

static int sized(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    return measure(w, true, ns, limit_ns, err);
}

static int growing(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    return measure(w, false, ns, limit_ns, err);
}

static const struct bench_job jobs[] = {
    {"stream, sized for n", "line", "one cache line", sized},
    {"stream, growing", "line", "one cache line", growing},
    {0},
};
const struct bench_group bench_stream = {stream_begin, stream_end, jobs};
