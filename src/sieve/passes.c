/* passes.c - reads the runs: to find keys, or to list them all.
 *
 * While a pass is under way, the thread that merges runs waits. */
#include "core/base/os.h"
#include "core/base/status.h"
#include "sieve/sieve.h"
#include <fcntl.h>

enum {
    LOT = 256 /* keys decoded at once */
};

void dj_sieve_hold(deja_sieve *s)
{
    atomic_store(&s->compactor.pause, true);
    pthread_mutex_lock(&s->lock);
}

void dj_sieve_release(deja_sieve *s)
{
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->compactor.pause, false);
}

int dj_sieve_find(deja_sieve *s, deja_fingerprint *key, size_t n, deja_error *err)
{
    struct dj_cursor c;
    int rc = dj_cursor_init(&c, NULL, &s->folder, s->share.buffer, s->alloc, err);
    dj_sieve_hold(s);
    for (size_t i = 0; i < s->runs->n && rc == DEJA_OK; i++) {
        dj_cursor_turn(&c, &s->runs->run[i]);
        rc = dj_cursor_find(&c, key, n, err);
    }
    dj_sieve_release(s);
    dj_cursor_fini(&c);
    return rc;
}

/* Passes the hashes of sorted keys on. */
int dj_each_print(const deja_fingerprint *key, size_t n, dj_take_hashes *take, void *ctx)
{
    uint64_t hash[LOT];
    int rc = 0;
    for (size_t lot; n && rc == 0; key += lot, n -= lot) {
        lot = n < LOT ? n : LOT;
        for (size_t i = 0; i < lot; i++)
            hash[i] = key[i].hash;
        rc = take(ctx, hash, lot);
    }
    return rc;
}

static int each_in_run(struct dj_cursor *c, const struct dj_run *run, dj_take_hashes *take,
                       void *ctx, deja_error *err)
{
    deja_fingerprint key[LOT];
    size_t n = 1;
    int rc = 0;
    dj_cursor_turn(c, run);
    dj_os_advise_file(run->fd, DJ_OS_IN_ORDER);
    while (rc == 0 && n) {
        rc = dj_cursor_read(c, key, LOT, &n, err);
        if (rc == DEJA_OK && n && take)
            rc = dj_each_print(key, n, take, ctx);
    }
    return rc;
}

int dj_sieve_each(deja_sieve *s, dj_take_hashes *take, void *ctx, deja_error *err)
{
    struct dj_cursor c;
    int rc = dj_cursor_init(&c, NULL, &s->folder, s->share.buffer, s->alloc, err);
    dj_sieve_hold(s);
    for (size_t i = 0; i < s->runs->n && rc == 0; i++)
        rc = each_in_run(&c, &s->runs->run[i], take, ctx, err);
    dj_sieve_release(s);
    dj_cursor_fini(&c);
    return rc;
}

int deja_sieve_contains(deja_sieve *s, const deja_fingerprint *fp, size_t n, uint8_t *found,
                        deja_error *err)
{
    if (n >= DJ_FOUND)
        return dj_fail(err, DEJA_EINVAL, "%zu keys at once: 2^31 - 1 are the most", n);
    deja_fingerprint *key = dj_alloc(s->alloc, n * sizeof *key, 64);
    if (!key)
        return dj_fail_memory(err);
    int rc = DEJA_OK;
    for (size_t i = 0; i < n; i++)
        key[i] = (deja_fingerprint){fp[i].hash, fp[i].check, (uint32_t)i};
    dj_prints_sort(key, n);
    if (n)
        rc = dj_sieve_find(s, key, n, err);
    for (size_t i = 0; i < n && rc == DEJA_OK; i++)
        found[key[i].tag & ~DJ_FOUND] =
            key[i].tag & DJ_FOUND || dj_recent_has(&s->recent, &key[i]);
    dj_free(s->alloc, key, n * sizeof *key);
    return rc;
}

int deja_sieve_each(deja_sieve *s, dj_take_hashes *take, void *ctx, deja_error *err)
{
    int rc = dj_sieve_each(s, take, ctx, err);
    if (rc == 0 && s->recent.n) {
        deja_fingerprint *key = dj_recent_sorted(&s->recent);
        if (!key)
            return dj_fail_memory(err);
        rc = dj_each_print(key, s->recent.n, take, ctx);
        dj_free(s->alloc, key, s->recent.n * sizeof *key);
    }
    return rc;
}
