/* bench_segments.c - the baseline for a layered filter: each segment of a URL, hashed and looked
 * up once in a classic filter, in batches.
 *
 * A URL counts as found if all its segments are, and as new if one of them is.  That is not a
 * correct answer, because h/b is found after h/a and g/b were added, but it is exactly the work
 * that every filter of segments must do.  The classic filter is sized for n at rate p, like each
 * layer in the paper. */
#include "bench/bench_memory.h"
#include "bench/bench_subject.h"
#include <stdlib.h>

#define LOT      64 /* URLs that are split before their segments are looked up */
#define SEGMENTS 8  /* the default of a layered filter; the last one holds the rest */

struct subject {
    deja_filter *filter;
    deja_slice segment[LOT * SEGMENTS];
    uint8_t answer[LOT * SEGMENTS];
    uint8_t n[LOT];
};

static deja_options options(uint64_t n, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_CLASSIC;
    opt.capacity = n;
    opt.fp_rate = p;
    opt.seed = 1;
    return opt;
}

static void segments_close(void *self)
{
    struct subject *s = self;
    if (s)
        deja_filter_free(s->filter);
    free(s);
}

static void *segments_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    (void)kind;
    deja_options opt = options(n, p);
    opt.alloc = bench_memory_allocator();
    struct subject *s = calloc(1, sizeof *s);
    if (s && deja_filter_new(&opt, &s->filter, err) < 0) {
        free(s);
        return NULL;
    }
    return s;
}

static uint64_t segments_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)kind, (void)key_len;
    const deja_options opt = options(n, p);
    deja_plan plan = DEJA_PLAN_INIT;
    return deja_plan_make(&opt, &plan, NULL) < 0 ? 0 : plan.bytes;
}

static uint64_t segments_bytes(void *self)
{
    const struct subject *s = self;
    deja_stats stats = DEJA_STATS_INIT;
    return deja_filter_stats(s->filter, 0, &stats, NULL) < 0 ? 0 : stats.bytes;
}

static double segments_rate(void *self)
{
    (void)self;
    return -1; /* combinations of segments have no expected rate */
}

/* Split up to LOT URLs; returns their total number of segments. */
static size_t cut(struct subject *s, const deja_slice *keys, size_t n)
{
    size_t segments = 0;
    for (size_t i = 0; i < n; i++) {
        s->n[i] = (uint8_t)deja_url_split(keys[i], s->segment + segments, SEGMENTS);
        segments += s->n[i];
    }
    return segments;
}

/* Combine the segments' answers into one per URL: whether all, or any of them, are 1. */
static void unite(const struct subject *s, size_t n, bool any, uint8_t *answer)
{
    const uint8_t *at = s->answer;
    for (size_t i = 0; i < n; i++) {
        unsigned ones = 0;
        for (unsigned k = 0; k < s->n[i]; k++)
            ones += *at++;
        answer[i] = any ? ones > 0 : ones == s->n[i];
    }
}

static int contains_batch(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    struct subject *s = self;
    for (size_t at = 0, lot; at < n; at += lot) {
        lot = n - at < LOT ? n - at : LOT;
        deja_filter_contains_batch(s->filter, s->segment, cut(s, keys + at, lot), s->answer);
        unite(s, lot, false, found + at);
    }
    return DEJA_OK;
}

static int add_batch(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    struct subject *s = self;
    int rc = DEJA_OK;
    for (size_t at = 0, lot; at < n && rc == DEJA_OK; at += lot) {
        lot = n - at < LOT ? n - at : LOT;
        rc = deja_filter_add_batch(s->filter, s->segment, cut(s, keys + at, lot), s->answer, NULL,
                                   NULL);
        unite(s, lot, true, is_new + at);
    }
    return rc;
}

static int contains_one(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++)
        rc = contains_batch(self, keys + i, 1, found + i);
    return rc;
}

static int add_one(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++)
        rc = add_batch(self, keys + i, 1, is_new + i);
    return rc;
}

const struct bench_subject bench_segments = {
    .name = "each segment once",
    .open = segments_open,
    .close = segments_close,
    .estimate = segments_estimate,
    .bytes = segments_bytes,
    .rate = segments_rate,
    .contains_batch = contains_batch,
    .add_batch = add_batch,
    .contains_one = contains_one,
    .add_one = add_one,
};
