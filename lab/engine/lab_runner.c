/* lab_runner.c - run all units of all runs; see lab_runner.h.
 *
 * The tasks are in one list, the most expensive first, so that the threads finish together; each
 * thread takes the next free task.  Results have fixed places, so the order does not matter.  The
 * main thread only watches the clock, draws the progress line and handles Ctrl-C. */
#include "lab/engine/lab_runner.h"
#include "lab/engine/lab_journal.h"
#include "lab/engine/lab_task.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/base/progress.h"
#include "tools/base/signals.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* --- Results ------------------------------------------------------------------ */

uint32_t lab_runs(const struct lab *lab, const struct lab_experiment *e)
{
    return e->max_runs > 0 && e->max_runs < lab->runs ? e->max_runs : lab->runs;
}

uint32_t lab_units(const struct lab *lab, const struct lab_experiment *e)
{
    return e->units_of ? e->units_of(lab) : e->units;
}

int lab_results_init(struct lab_results *r, const struct lab *lab, const struct lab_experiment *e,
                     deja_error *err)
{
    const uint32_t units = lab_units(lab, e);
    *r = (struct lab_results){
        .lab = lab, .experiment = e, .runs = lab_runs(lab, e), .units = units};
    r->value = calloc((size_t)r->runs * units * e->values + 1, sizeof *r->value);
    r->done = calloc((size_t)r->runs * units + 1, 1);
    return r->value && r->done
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for the results of %s", e->name);
}

void lab_results_fini(struct lab_results *r)
{
    free(r->value);
    free(r->done);
    *r = (struct lab_results){0};
}

uint64_t lab_tasks(const struct lab_results *results, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += (uint64_t)results[i].units * results[i].runs;
    return all;
}

uint64_t lab_tasks_done(const struct lab_results *results, size_t n)
{
    uint64_t done = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < (size_t)results[i].units * results[i].runs; t++)
            done += results[i].done[t];
    return done;
}

/* --- Tasks --------------------------------------------------------------------- */

struct job {
    struct lab_results *results;
    uint32_t unit, run;
    double cost;  /* seconds, for a million URLs */
    size_t order; /* position in the list */
};

/* The experiment's seconds, divided among its units. */
static double cost_of(const struct lab_results *r, uint32_t unit)
{
    const struct lab_experiment *e = r->experiment;
    double all = 0;
    if (!e->weight)
        return e->seconds / r->units;
    for (uint32_t u = 0; u < r->units; u++)
        all += e->weight(r->lab, u);
    return e->seconds * e->weight(r->lab, unit) / all;
}

uint64_t lab_seed(const struct lab *lab, const char *experiment, uint32_t unit, uint32_t run)
{
    uint64_t h = mix_fnv1a(lab->seed, experiment, strlen(experiment));
    h ^= (uint64_t)unit << 32 | run;
    for (int i = 0; i < 2; i++)
        h = mix64(h + MIX_GOLDEN);
    return h != 0 ? h : 1;
}

struct crew {
    const struct lab *lab;
    struct lab_journal *journal;
    struct console *console;
    struct job *job;
    size_t n, next;     /* tasks of this turn, and the first free one */
    double done, total; /* cost, over all turns */
    double begin;       /* seconds */
    const char *name;   /* of the experiment whose task was taken last */
    unsigned working;
    int rc;
    deja_error err;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static int dearer(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    const bool xt = x->results->experiment->timed, yt = y->results->experiment->timed;
    if (xt != yt)
        return xt - yt;
    if (!xt && x->cost != y->cost)
        return x->cost < y->cost ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static void list_jobs(struct crew *c, struct lab_results *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab_results *r = &results[i];
        for (uint32_t run = 0; run < r->runs; run++)
            for (uint32_t unit = 0; unit < r->units; unit++) {
                if (r->done[(size_t)run * r->units + unit])
                    continue;
                c->job[c->n] = (struct job){r, unit, run, cost_of(r, unit), c->n};
                c->total += c->job[c->n++].cost;
            }
    }
    qsort(c->job, c->n, sizeof *c->job, dearer);
}

/* --- Threads ------------------------------------------------------------------- */

static bool stopped(const struct lab *lab)
{
    return lab->stop && atomic_load_explicit(lab->stop, memory_order_relaxed);
}

/* The next task for a thread, or NULL; the lock must be held. */
static struct job *take(struct crew *c, size_t end)
{
    if (c->next == end || c->rc < 0 || stopped(c->lab))
        return NULL;
    struct job *j = &c->job[c->next++];
    c->name = j->results->experiment->name;
    return j;
}

static int run_job(const struct lab *lab, const struct job *j, deja_error *err)
{
    const struct lab_experiment *e = j->results->experiment;
    struct lab_task task = {.lab = lab,
                            .unit = j->unit,
                            .run = j->run,
                            .seed = lab_seed(lab, e->name, j->unit, j->run),
                            .value = lab_values(j->results, j->unit, j->run),
                            .err = err};
    e->run(&task);
    lab_release(&task);
    return task.rc;
}

static void finish(struct crew *c, const struct job *j, int rc, const deja_error *err)
{
    if (rc == DEJA_OK) {
        j->results->done[(size_t)j->run * j->results->units + j->unit] = 1;
        rc = lab_journal_add(c->journal, j->results, j->unit, j->run, &c->err);
        c->done += j->cost;
    } else if (c->rc == DEJA_OK) {
        c->err = *err;
    }
    if (rc < 0 && c->rc == DEJA_OK)
        c->rc = rc;
}

/* Work on the tasks before `end`. */
static void work(struct crew *c, size_t end)
{
    struct job *j;
    pthread_mutex_lock(&c->lock);
    while ((j = take(c, end)) != NULL) {
        deja_error err = {0};
        pthread_mutex_unlock(&c->lock);
        const int rc = run_job(c->lab, j, &err);
        pthread_mutex_lock(&c->lock);
        finish(c, j, rc, &err);
    }
    c->working--;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

struct turn {
    struct crew *crew;
    size_t end;
};

static void *work_thread(void *turn)
{
    const struct turn *t = turn;
    work(t->crew, t->end);
    return NULL;
}

/* --- Progress ------------------------------------------------------------------- */

#define BAR 24

static void show(struct crew *c)
{
    char lead[80], line[160], bar[BAR + 1];
    const double share = c->total > 0 ? c->done / c->total : 1,
                 passed = clock_seconds() - c->begin;
    const int full = (int)(share * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    (void)snprintf(lead, sizeof lead, "[%s]", bar);
    (void)snprintf(line, sizeof line, "  %s", c->name != NULL ? c->name : "");
    progress_share(line, sizeof line, share, passed);
    console_line(c->console, lead, line);
}

/* Wait for the threads, which check for Ctrl-C themselves; the lock must be held. */
static void watch(struct crew *c)
{
    while (c->working > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        (void)pthread_cond_timedwait(&c->changed, &c->lock, &until);
        if (console_due(c->console))
            show(c);
    }
}

/* One turn: run the tasks before `end` on some threads. */
static int run_turn(struct crew *c, size_t end, uint32_t threads, deja_error *err)
{
    pthread_t thread[64];
    struct turn turn = {c, end};
    sigset_t old;
    uint32_t started = 0;
    if (threads > 64)
        threads = 64;
    pthread_mutex_lock(&c->lock);
    signals_mask(&old);
    for (; started < threads; started++)
        if (pthread_create(&thread[started], NULL, work_thread, &turn) != 0)
            break;
    signals_unmask(&old);
    c->working = started;
    watch(c);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    if (started == 0)
        return fail(err, DEJA_ENOMEM, "cannot start a thread");
    return c->rc;
}

static int run_turns(struct crew *c, deja_error *err)
{
    size_t untimed = 0;
    while (untimed < c->n && !c->job[untimed].results->experiment->timed)
        untimed++;
    int rc = DEJA_OK;
    if (untimed > 0)
        rc = run_turn(c, untimed, c->lab->threads, err);
    if (rc == DEJA_OK && c->n > untimed && !stopped(c->lab))
        rc = run_turn(c, c->n, 1, err);
    if (rc < 0 && c->rc < 0)
        *err = c->err;
    return rc == DEJA_OK && stopped(c->lab) ? LAB_STOPPED : rc;
}

int lab_run(const struct lab *lab, struct lab_results *results, size_t n,
            struct lab_journal *journal, struct console *console, deja_error *err)
{
    struct crew c = {.lab = lab, .journal = journal, .console = console, .begin = clock_seconds()};
    c.job = calloc((size_t)lab_tasks(results, n) + 1, sizeof *c.job);
    if (!c.job)
        return fail(err, DEJA_ENOMEM, "out of memory for the list of tasks");
    list_jobs(&c, results, n);
    (void)pthread_mutex_init(&c.lock, NULL);
    (void)pthread_cond_init(&c.changed, NULL);
    const int rc = run_turns(&c, err);
    console_clear(console);
    (void)pthread_cond_destroy(&c.changed);
    (void)pthread_mutex_destroy(&c.lock);
    free(c.job);
    return rc;
}
