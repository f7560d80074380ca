/* bench_url.c - the cost of canonical URLs; see bench_url.h.  URLs are processed in batches, as in
 * the command. */
#include "bench/bench_url.h"
#include "bench/bench_limit.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <string.h>

#define ROUNDS_MAX 64
#define LOT        256
#define ROOM       DEJA_URL_ROOM((size_t)1 << 16)

struct run {
    const deja_url_rules *rules;
    struct bench_keys *keys;
    struct bench_limit limit; /* only its hashing is used */
    uint64_t *number;
    char *room;
    uint64_t n, n_changed;
};

static double time_canon(struct run *r)
{
    const double begin = clock_cpu_ns();
    for (size_t at = 0, n; at < r->keys->n; at += n) {
        const deja_slice *url = r->keys->slice + at;
        deja_slice canon[LOT];
        int8_t status[LOT];
        n = r->keys->n - at < LOT ? r->keys->n - at : LOT;
        n = deja_url_canon_batch(r->rules, url, n, r->room, ROOM, canon, status);
        for (size_t i = 0; i < n; i++)
            r->n_changed += canon[i].len != url[i].len ||
                            (canon[i].data != url[i].data &&
                             memcmp(canon[i].data, url[i].data, url[i].len) != 0);
    }
    return (clock_cpu_ns() - begin) / (double)r->keys->n;
}

/* Different URLs in every round: branch predictors learn repeated ones. */
static void next_keys(struct run *r)
{
    for (size_t i = 0; i < r->keys->cap; i++)
        r->number[i] = r->n + i;
    bench_keys_make(r->keys, r->number, r->keys->cap);
    r->n += r->keys->cap;
    bench_limit_warm(&r->limit, r->keys);
}

static void measure(struct run *r, struct bench_url *f, unsigned rounds)
{
    double hash[ROUNDS_MAX] = {0}, canon[ROUNDS_MAX] = {0}, ratio[ROUNDS_MAX] = {0};
    r->n = r->n_changed = 0;
    for (unsigned i = 0; i < rounds; i++) {
        next_keys(r);
        hash[i] = bench_limit_hash(&r->limit, r->keys);
        bench_limit_warm(&r->limit, r->keys);
        canon[i] = time_canon(r);
        ratio[i] = canon[i] / hash[i];
    }
    f->hash_ns = bench_spread_of(hash, rounds).median;
    f->canon_ns = bench_spread_of(canon, rounds).median;
    f->canon = bench_spread_of(ratio, rounds);
    f->changed = (double)r->n_changed / (double)r->n;
}

int bench_url_run(struct bench_url figure[BENCH_PROFILES], struct bench_keys *keys,
                  unsigned rounds, deja_error *err)
{
    struct run r = {.keys = keys};
    int rc = bench_limit_init(&r.limit, 1, keys->cap, err);
    r.number = malloc(keys->cap * sizeof *r.number);
    r.room = malloc(ROOM);
    if (rc == DEJA_OK && (!r.number || !r.room))
        rc = fail(err, DEJA_ENOMEM, "not enough memory to measure canonical URLs");
    for (uint32_t i = 0; rc == DEJA_OK && i < BENCH_PROFILES; i++) {
        figure[i].profile = i + 1;
        r.rules = deja_url_profile(i + 1);
        measure(&r, &figure[i], rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
    }
    free(r.room);
    free(r.number);
    bench_limit_fini(&r.limit);
    return rc;
}
