/* bench_filter.c - the kinds of deja as benchmark subjects. */
#include "bench/bench_memory.h"
#include "bench/bench_subject.h"

#define GROWN  4  /* a series of parts may take this many times the memory of a single filter */
#define SERIES 15 /* it is made to grow: four parts of 1, 2, 4 and 8 fifteenths of n */

static bool grows(uint32_t kind)
{
    return kind == DEJA_SCALABLE || kind == DEJA_LAYERED;
}

static deja_options options(uint32_t kind, uint64_t n, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = n;
    opt.fp_rate = p;
    opt.seed = 1;
    return opt;
}

static void *filter_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    deja_options opt = options(kind, n, p);
    deja_filter *f = NULL;
    if (kind == DEJA_SCALABLE)
        opt.capacity = (n + SERIES - 1) / SERIES;
    if (!grows(kind)) /* a single allocation */
        opt.alloc = bench_memory_allocator();
    return deja_filter_new(&opt, &f, err) == DEJA_OK ? f : NULL;
}

static void filter_close(void *self)
{
    deja_filter_free(self);
}

static uint64_t filter_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)key_len;
    deja_options opt = options(kind, n, p);
    deja_plan plan = DEJA_PLAN_INIT;
    if (deja_plan_make(&opt, &plan, NULL) < 0)
        return 0;
    return grows(kind) ? GROWN * plan.bytes : plan.bytes;
}

static deja_stats stats(const void *self, unsigned flags)
{
    deja_stats s = DEJA_STATS_INIT;
    if (deja_filter_stats(self, flags, &s, NULL) < 0)
        s.fp_now = -1;
    return s;
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
    deja_filter_contains_batch(self, keys, n, found);
    return DEJA_OK;
}

static int add_batch(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    return deja_filter_add_batch(self, keys, n, is_new, NULL, NULL);
}

static int contains_one(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = deja_filter_contains(self, keys[i]);
    return DEJA_OK;
}

static int add_one(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        bool answer = false;
        rc = deja_filter_add(self, keys[i], &answer, NULL);
        is_new[i] = answer;
    }
    return rc;
}

static int add_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    return deja_filter_add_hashed(self, hash, n, is_new, NULL, NULL);
}

static int contains_hashed(void *self, const uint64_t *hash, size_t n, uint8_t *found)
{
    deja_filter_contains_hashed(self, hash, n, found);
    return DEJA_OK;
}

const struct bench_subject bench_filter = {
    .open = filter_open,
    .close = filter_close,
    .estimate = filter_estimate,
    .bytes = filter_bytes,
    .rate = filter_rate,
    .contains_batch = contains_batch,
    .add_batch = add_batch,
    .contains_one = contains_one,
    .add_one = add_one,
    .add_hashed = add_hashed,
    .contains_hashed = contains_hashed,
};

/* Its rate depends on which segments are known, and its keys are sequences of numbers. */
static double unknown_rate(void *self)
{
    (void)self;
    return -1;
}

const struct bench_subject bench_layered = {
    .open = filter_open,
    .close = filter_close,
    .estimate = filter_estimate,
    .bytes = filter_bytes,
    .rate = unknown_rate,
    .contains_batch = contains_batch,
    .add_batch = add_batch,
    .contains_one = contains_one,
    .add_one = add_one,
};
