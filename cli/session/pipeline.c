/* pipeline.c - reads and hashes records ahead of the caller; see pipeline.h.
 *
 * The reader thread reads batches and, while the caller has enough work, prepares them: it runs
 * the step, then hashes.  If the caller is about to run out of work, it gets a batch that was only
 * read, and prepares it itself.  So both threads stay busy.
 *
 * The reader fills slot `filled % RING` of the ring unless all are full; the caller empties slot
 * `emptied % RING`.  One lock guards the two counters; with a megabyte per slot, it is taken a few
 * hundred times a second. */
#include "cli/session/pipeline.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RING  4
#define AHEAD 2 /* batches keep the caller busy, including its current one */

struct pipeline {
    struct input *in;
    struct pipeline_hash hash;
    struct pipeline_step step; /* run is NULL: no step */
    int failed;                /* 0, or the status after the last batch ... */
    deja_error error;          /* ... and its message */
    struct batch ring[RING];
    uint64_t filled, emptied; /* batches so far */
    bool holding;             /* the caller has batch `emptied` */
    bool closing;
    bool threaded;
    pthread_t reader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    clockid_t clock; /* of timed waits for it */
};

static int make_room(struct batch *b, size_t words, deja_error *err)
{
    const size_t n = b->block.n, room = n + n / 4;
    if (n > b->answer_cap)
        b->answer = array_renew(b->answer, &b->answer_cap, room, 1);
    if (n * words > b->hash_cap)
        b->hash = array_renew(b->hash, &b->hash_cap, room * words, sizeof *b->hash);
    if (b->answer && b->hash)
        return DEJA_OK;
    return fail(err, DEJA_ENOMEM, "out of memory for a block of %zu lines", n);
}

/* Removes the gaps that keyless records left between the hashes; returns the number of keys. */
static size_t close_up(const struct batch *b, size_t words)
{
    size_t to = 0;
    for (size_t i = 0; i < b->block.n; i++) {
        if (!b->block.keys[i].data)
            continue;
        if (to < i)
            memcpy(b->hash + to * words, b->hash + i * words, words * sizeof *b->hash);
        to++;
    }
    return to;
}

void batch_spread(const struct batch *b, uint8_t *answer)
{
    size_t from = b->keyed;
    for (size_t i = b->block.n; i > from; i--)
        answer[i - 1] = b->block.keys[i - 1].data ? answer[--from] : BATCH_KEYLESS;
}

/* Reads one batch and sets its status. */
static void fill(struct pipeline *p, struct batch *b)
{
    b->status = input_next(p->in, &b->block, &b->error);
    b->ready = b->status <= 0;
    b->failed = DEJA_OK;
}

/* Runs the step and hashes.  If the step fails, the records that it left in the batch are
 * valid. */
static void prepare(struct pipeline *p, struct batch *b)
{
    if (b->ready)
        return;
    b->ready = true;
    if (p->step.run)
        b->failed = p->step.run(p->step.context, &b->block, &b->error);
    if (b->block.n == 0)
        return;
    const int rc = make_room(b, p->hash.words, &b->error);
    if (rc == DEJA_OK) {
        p->hash.run(p->hash.context, b->block.keys, b->block.n, b->hash);
        b->keyed = b->block.keyless ? close_up(b, p->hash.words) : b->block.n;
    } else {
        b->failed = rc;
        b->block.n = 0;
    }
}

static void *read_ahead(void *arg)
{
    struct pipeline *p = arg;
    bool more = true;
    while (more) {
        pthread_mutex_lock(&p->lock);
        while (p->filled - p->emptied == RING && !p->closing)
            pthread_cond_wait(&p->changed, &p->lock);
        struct batch *b = &p->ring[p->filled % RING];
        const bool enough = p->filled - p->emptied >= AHEAD;
        more = !p->closing;
        pthread_mutex_unlock(&p->lock);
        if (!more)
            break;
        fill(p, b);
        if (enough) /* otherwise the caller is waiting, and prepares the batch */
            prepare(p, b);
        more = b->status > 0 && b->failed == DEJA_OK;
        pthread_mutex_lock(&p->lock);
        p->filled++;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* The caller's thread receives Ctrl-C, because the signal must interrupt a blocked write; the
 * reader checks the flag while it waits for a pipe. */
static int start_reader(struct pipeline *p, deja_error *err)
{
    sigset_t old;
    signals_mask(&old);
    p->threaded = pthread_create(&p->reader, NULL, read_ahead, p) == 0;
    signals_unmask(&old);
    return p->threaded ? DEJA_OK : fail(err, DEJA_ENOMEM, "cannot start a thread; use -j 1");
}

static void hash_for_filter(const void *context, const deja_slice *keys, size_t n, uint64_t *hash)
{
    deja_filter_hash_batch(context, keys, n, hash);
}

struct pipeline_hash pipeline_hash_of(const deja_filter *filter)
{
    return (struct pipeline_hash){deja_filter_hash_words(filter), hash_for_filter, filter};
}

int pipeline_open(struct input *in, struct pipeline_hash hash, const struct pipeline_step *step,
                  uint32_t threads, struct pipeline **out, deja_error *err)
{
    struct pipeline *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return fail(err, DEJA_ENOMEM, "out of memory");
    p->in = in;
    p->hash = hash;
    if (step)
        p->step = *step;
    pthread_mutex_init(&p->lock, NULL);
    p->clock = sys_condition_init(&p->changed);
    for (int i = 0; i < RING; i++)
        block_init(&p->ring[i].block);
    return threads > 1 ? start_reader(p, err) : DEJA_OK;
}

static struct timespec later(clockid_t clock, int ms)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000L;
    t.tv_nsec %= 1000000000L;
    return t;
}

/* Returns NULL if nothing arrives within the timeout (-1: no timeout). */
static struct batch *wait_for_batch(struct pipeline *p, int timeout_ms)
{
    const struct timespec end = later(p->clock, timeout_ms);
    struct batch *b = NULL;
    bool in_time = true;
    pthread_mutex_lock(&p->lock);
    if (p->holding) {
        p->emptied++;
        p->holding = false;
        pthread_cond_signal(&p->changed);
    }
    while (p->filled == p->emptied && in_time)
        in_time = timeout_ms < 0 ? pthread_cond_wait(&p->changed, &p->lock) == 0
                                 : pthread_cond_timedwait(&p->changed, &p->lock, &end) == 0;
    if (p->filled != p->emptied) {
        p->holding = true;
        b = &p->ring[p->emptied % RING];
    }
    pthread_mutex_unlock(&p->lock);
    return b;
}

/* Returns the next batch, prepared, or NULL if nothing arrives within the timeout. */
static struct batch *take(struct pipeline *p, int timeout_ms)
{
    struct batch *b = &p->ring[0];
    if (p->threaded)
        b = wait_for_batch(p, timeout_ms);
    else if (timeout_ms >= 0 && !input_wait(p->in, timeout_ms))
        return NULL;
    else
        fill(p, b);
    if (!b)
        return NULL;
    prepare(p, b);
    if (b->failed < 0) {
        p->failed = b->failed;
        p->error = b->error;
    }
    return b;
}

int pipeline_next_within(struct pipeline *p, int timeout_ms, struct batch **out, deja_error *err)
{
    struct batch *b = NULL;
    while (p->failed == DEJA_OK && (!b || (b->status > 0 && b->block.n == 0))) {
        b = take(p, timeout_ms);
        if (!b)
            return PIPELINE_IDLE;
    }
    if (!b || (b->status > 0 && b->block.n == 0)) {
        *err = p->error;
        return p->failed;
    }
    if (b->status < 0)
        *err = b->error;
    *out = b;
    if (b->status <= 0)
        p->holding = false; /* the next call returns the end again */
    return b->status;
}

int pipeline_next(struct pipeline *p, struct batch **out, deja_error *err)
{
    return pipeline_next_within(p, -1, out, err);
}

void pipeline_close(struct pipeline *p)
{
    if (!p)
        return;
    if (p->threaded) {
        pthread_mutex_lock(&p->lock);
        p->closing = true;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        input_quit(p->in); /* the reader may be waiting for a pipe */
        pthread_join(p->reader, NULL);
    }
    for (int i = 0; i < RING; i++) {
        block_fini(&p->ring[i].block);
        free(p->ring[i].hash);
        free(p->ring[i].answer);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
