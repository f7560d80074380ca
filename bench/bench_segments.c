/* bench_segments.c - the baseline for a layered filter: each segment of a URL, hashed and looked
 * up once in a classic filter, in batches.
 *
 * A URL counts as found if all its segments are, and as new if one of them is.  That is not a
 * correct answer, because h/b is found after h/a and g/b were added, but it is exactly the work
 * that every filter of segments must do.  The classic filter is sized for n at rate p, like each
 * layer in the paper. */
#include "bench/bench_subject.h"
#include <stdlib.h>

#define LOT      64 /* URLs that are split before their segments are looked up */
#define SEGMENTS 8  /* the default of a layered filter; the last one holds the rest */

struct subject {
    void *filter; /* of bench_filter */
    deja_slice segment[LOT * SEGMENTS];
    uint8_t answer[LOT * SEGMENTS];
    uint8_t n[LOT];
};

static void segments_close(void *self)
{
    struct subject *s = self;
    if (s)
        bench_filter.close(s->filter);
    free(s);
}

static void *segments_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    (void)kind;
    struct subject *s = calloc(1, sizeof *s);
    if (s && !(s->filter = bench_filter.open(DEJA_CLASSIC, n, p, err))) {
        free(s);
        return NULL;
    }
    return s;
}

static uint64_t segments_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)kind;
    return bench_filter.estimate(DEJA_CLASSIC, n, p, key_len);
}

static uint64_t segments_bytes(void *self)
{
    return bench_filter.bytes(((struct subject *)self)->filter);
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

/* The segments of n URLs, a lot at a time, through a call of bench_filter. */
static int in_lots(struct subject *s, const deja_slice *keys, size_t n, uint8_t *answer,
                   bench_call *call, bool any)
{
    int rc = DEJA_OK;
    for (size_t at = 0, lot; at < n && rc == DEJA_OK; at += lot) {
        lot = n - at < LOT ? n - at : LOT;
        rc = call(s->filter, s->segment, cut(s, keys + at, lot), s->answer);
        unite(s, lot, any, answer + at);
    }
    return rc;
}

static int contains_batch(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    return in_lots(self, keys, n, found, bench_filter.contains_batch, false);
}

static int add_batch(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    return in_lots(self, keys, n, is_new, bench_filter.add_batch, true);
}

static int one_by_one(void *self, const deja_slice *keys, size_t n, uint8_t *answer,
                      bench_call *call)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++)
        rc = call(self, keys + i, 1, answer + i);
    return rc;
}

static int contains_one(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    return one_by_one(self, keys, n, found, contains_batch);
}

static int add_one(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    return one_by_one(self, keys, n, is_new, add_batch);
}

const struct bench_subject bench_segments = {
    .name = "each segment once",
    .open = segments_open,
    .close = segments_close,
    .estimate = segments_estimate,
    .bytes = segments_bytes,
    .rate = bench_rate_unknown, /* combinations of segments have no expected rate */
    .contains_batch = contains_batch,
    .add_batch = add_batch,
    .contains_one = contains_one,
    .add_one = add_one,
};
