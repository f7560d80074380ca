/* bench_static.c - the static kind, which is built once and then only queried, as a benchmark
 * subject. */
#include "bench/bench_memory.h"
#include "bench/bench_subject.h"
#include <stdlib.h>

struct subject {
    deja_builder *builder;
    deja_filter *filter; /* once it is ready */
};

static deja_options options(uint64_t n, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_STATIC;
    opt.capacity = n;
    opt.fp_rate = p;
    opt.seed = 1;
    return opt;
}

static void static_close(void *self)
{
    struct subject *s = self;
    if (!s)
        return;
    deja_filter_free(s->filter);
    deja_builder_free(s->builder);
    free(s);
}

static void *static_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    (void)kind;
    const deja_options opt = options(n, p);
    struct subject *s = calloc(1, sizeof *s);
    if (s && deja_builder_new(&opt, &s->builder, err) < 0) {
        free(s);
        return NULL;
    }
    return s;
}

/* Of the filter; building it takes 32 bytes per key. */
static uint64_t static_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)kind, (void)key_len;
    const deja_options opt = options(n, p);
    deja_plan plan = DEJA_PLAN_INIT;
    if (deja_plan_make(&opt, &plan, NULL) < 0)
        return 0;
    const uint64_t building = n * 16; /* half of that: the caller doubles it for the limit */
    return plan.bytes > building ? plan.bytes : building;
}

static int collect(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    struct subject *s = self;
    (void)is_new;
    return deja_builder_add_batch(s->builder, keys, n, NULL);
}

static int collect_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    struct subject *s = self;
    (void)is_new;
    return deja_builder_add_hashed(s->builder, hash, n, NULL);
}

static int ready(void *self, deja_error *err)
{
    struct subject *s = self;
    return deja_builder_finish(s->builder, NULL, 0, &s->filter, err);
}

static deja_stats stats(const void *self, unsigned flags)
{
    const struct subject *s = self;
    deja_stats out = DEJA_STATS_INIT;
    if (!s->filter || deja_filter_stats(s->filter, flags, &out, NULL) < 0)
        out.fp_now = -1;
    return out;
}

static uint64_t static_bytes(void *self)
{
    return stats(self, 0).bytes;
}

static double static_rate(void *self)
{
    return stats(self, DEJA_STATS_BODY).fp_now;
}

static int contains_batch(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    const struct subject *s = self;
    deja_filter_contains_batch(s->filter, keys, n, found);
    return DEJA_OK;
}

static int contains_one(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    const struct subject *s = self;
    for (size_t i = 0; i < n; i++)
        found[i] = deja_filter_contains(s->filter, keys[i]);
    return DEJA_OK;
}

static int contains_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *found)
{
    const struct subject *s = self;
    deja_filter_contains_hashed(s->filter, hash, n, found);
    return DEJA_OK;
}

const struct bench_subject bench_static = {
    .open = static_open,
    .close = static_close,
    .estimate = static_estimate,
    .bytes = static_bytes,
    .rate = static_rate,
    .contains_batch = contains_batch,
    .contains_one = contains_one,
    .collect = collect,
    .ready = ready,
    .add_hashed = collect_hashed,
    .contains_hashed = contains_hashed,
};
