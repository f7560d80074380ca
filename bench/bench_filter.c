/* bench_filter.c - the kinds of deja as benchmark subjects.
 *
 * A kind that is built from all its keys at once is a deja_builder until it is ready. */
#include "bench/bench_memory.h"
#include "bench/bench_subject.h"
#include <stdlib.h>

#define GROWN  4    /* a series of parts may take this many times the memory of a single filter */
#define SERIES 15   /* it is made to grow: four parts of 1, 2, 4 and 8 fifteenths of n */
#define BATCH  1024 /* keys per call, as in a program that has other things to do */
#define FIRST  8    /* bench_grown starts with room for this fraction of n */

struct self {
    deja_filter *filter;
    deja_builder *builder; /* NULL: keys are added to the filter */
};

static deja_options options(uint32_t kind, uint64_t n, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = n;
    opt.fp_rate = p;
    opt.seed = 1;
    return opt;
}

/* Several allocations: a series of parts, or layers. */
static bool grows(uint32_t kind)
{
    return deja_kind_can(kind, DEJA_CAN_GROW) || deja_kind_can(kind, DEJA_CAN_LAYER);
}

static void filter_close(void *self)
{
    struct self *s = self;
    if (!s)
        return;
    deja_filter_free(s->filter);
    deja_builder_free(s->builder);
    free(s);
}

static void *make(const deja_options *opt, deja_error *err)
{
    struct self *s = calloc(1, sizeof *s);
    const bool build = deja_kind_can(opt->kind, DEJA_CAN_BUILD);
    if (s && (build ? deja_builder_new(opt, &s->builder, err)
                    : deja_filter_new(opt, &s->filter, err)) == DEJA_OK)
        return s;
    free(s);
    return NULL;
}

static void *filter_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    deja_options opt = options(kind, n, p);
    if (deja_kind_can(kind, DEJA_CAN_GROW))
        opt.capacity = (n + SERIES - 1) / SERIES;
    if (!grows(kind) && !deja_kind_can(kind, DEJA_CAN_BUILD)) /* a single allocation */
        opt.alloc = bench_memory_allocator();
    return make(&opt, err);
}

static void *scattered_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    deja_options opt = options(kind, n, p);
    opt.flags = DEJA_SPREAD;
    opt.alloc = bench_memory_allocator();
    return make(&opt, err);
}

static void *grown_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    deja_options opt = options(kind, (n + FIRST - 1) / FIRST, p);
    (void)deja_options_grow(&opt); /* the caller has checked that the kind can */
    return make(&opt, err);
}

static uint64_t filter_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)key_len;
    deja_options opt = options(kind, n, p);
    deja_plan plan = DEJA_PLAN_INIT;
    if (deja_plan_make(&opt, &plan, NULL) < 0)
        return 0;
    /* Building takes 32 bytes per key: half of that, because the caller doubles it. */
    const uint64_t building = deja_kind_can(kind, DEJA_CAN_BUILD) ? n * 16 : 0;
    const uint64_t bytes = grows(kind) ? GROWN * plan.bytes : plan.bytes;
    return bytes > building ? bytes : building;
}

static uint64_t grown_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    return GROWN * filter_estimate(kind, n, p, key_len);
}

static deja_stats stats(const void *self, unsigned flags)
{
    const struct self *s = self;
    deja_stats out = DEJA_STATS_INIT;
    if (!s->filter || deja_filter_stats(s->filter, flags, &out, NULL) < 0)
        out.fp_now = -1;
    return out;
}

static uint64_t filter_bytes(void *self)
{
    return stats(self, 0).bytes;
}

static double filter_rate(void *self)
{
    return stats(self, DEJA_STATS_BODY).fp_now;
}

static int contains_batch(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    const struct self *s = self;
    for (size_t at = 0; at < n; at += BATCH)
        deja_filter_contains_batch(s->filter, keys + at, n - at < BATCH ? n - at : BATCH,
                                   found + at);
    return DEJA_OK;
}

static int add_batch(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    const struct self *s = self;
    int rc = DEJA_OK;
    for (size_t at = 0; at < n && rc == DEJA_OK; at += BATCH)
        rc = deja_filter_add_batch(s->filter, keys + at, n - at < BATCH ? n - at : BATCH,
                                   is_new + at, NULL, NULL);
    return rc;
}

static int contains_one(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    const struct self *s = self;
    for (size_t i = 0; i < n; i++)
        found[i] = deja_filter_contains(s->filter, keys[i]);
    return DEJA_OK;
}

static int add_one(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    const struct self *s = self;
    int rc = DEJA_OK;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        bool answer = false;
        rc = deja_filter_add(s->filter, keys[i], &answer, NULL);
        is_new[i] = answer;
    }
    return rc;
}

static int add_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    const struct self *s = self;
    return s->builder ? deja_builder_add_hashed(s->builder, hash, n, NULL)
                      : deja_filter_add_hashed(s->filter, hash, n, is_new, NULL, NULL);
}

static int contains_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *found)
{
    deja_filter_contains_hashed(((struct self *)self)->filter, hash, n, found);
    return DEJA_OK;
}

static int collect(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    (void)is_new;
    return deja_builder_add_batch(((struct self *)self)->builder, keys, n, NULL);
}

static int ready(void *self, deja_error *err)
{
    struct self *s = self;
    return deja_builder_finish(s->builder, NULL, 0, &s->filter, err);
}

double bench_rate_unknown(void *self)
{
    (void)self;
    return -1;
}

#define COMMON                                                                                    \
    .close = filter_close, .bytes = filter_bytes, .contains_batch = contains_batch,               \
    .contains_one = contains_one
#define SIZED  .open = filter_open, .estimate = filter_estimate
#define ADDING .add_batch = add_batch, .add_one = add_one
#define HASHED .add_hashed = add_hashed, .contains_hashed = contains_hashed

const struct bench_subject bench_filter = {COMMON, SIZED, ADDING, HASHED, .rate = filter_rate};
/* Its rate depends on which segments are known, and its keys are sequences of numbers. */
const struct bench_subject bench_layered = {COMMON, SIZED, ADDING, .rate = bench_rate_unknown};
const struct bench_subject bench_static = {
    COMMON, SIZED, HASHED, .rate = filter_rate, .collect = collect, .ready = ready};
const struct bench_subject bench_scattered = {COMMON,
                                              ADDING,
                                              HASHED,
                                              .name = "spectral, spread",
                                              .open = scattered_open,
                                              .estimate = filter_estimate, /* it takes less */
                                              .rate = filter_rate};
const struct bench_subject bench_grown = {COMMON,
                                          ADDING,
                                          HASHED,
                                          .name = "grown from n/8",
                                          .open = grown_open,
                                          .estimate = grown_estimate,
                                          .rate = filter_rate};
