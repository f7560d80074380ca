/* forecast.c - what a sieve will cost (docs/math/sieve.md).
 *
 * After x keys the filter makes a share p(x) of the new keys wait, and every repeat whose key is in a
 * run waits as well.  A pass is needed whenever the room for pending keys is full, and reads
 * everything there is at that time.  The integrals over x are sums over equal steps. */
#include "core/base/status.h"
#include "sieve/sieve.h"
#include <math.h>
#include <string.h>

enum {
    STEPS = 256
};

double dj_forecast_rate(uint64_t filter_bytes, uint64_t keys)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_plan plan = DEJA_PLAN_INIT;
    opt.kind = DEJA_BLOCKED;
    opt.memory = filter_bytes;
    opt.hashes = DJ_SIEVE_HASHES;
    opt.capacity = keys;
    return keys && deja_plan_make(&opt, &plan, NULL) == DEJA_OK ? plan.fp_rate : 0;
}

double dj_forecast_wrong(double keys)
{
    return ldexp(keys * keys, -97);
}

/* Bytes of a key in a run of n: 8 that cannot be compressed, and a difference whose distribution is
 * exponential with mean 2^32 / n, in 7 bits per byte; then the share of a block's head and index. */
static double bytes_per_key(double n)
{
    double bytes = 9;
    for (int bits = 7; bits <= 28; bits += 7)
        bytes += exp(-ldexp(n, bits - 32));
    return bytes * (1 + 48.0 / DJ_RUN_BLOCK);
}

static void follow(const struct dj_shares *share, double keys, double lines,
                   deja_sieve_forecast *out)
{
    struct dj_recent table;
    dj_recent_init(&table, dj_recent_fit(share->recent + share->filter), NULL);
    const double first = (double)dj_recent_most(&table);
    dj_recent_init(&table, dj_recent_fit(share->recent), NULL);
    const double flushed = (double)dj_recent_most(&table);
    const double most = (double)(share->pending / sizeof(deja_fingerprint));
    const double repeats = (lines - keys) / keys; /* per new key */
    out->disk = (uint64_t)(12 * keys);
    out->disk_most = out->disk;
    out->written = 12 * keys; /* the log */
    if (keys <= first)
        return;
    const double step = (keys - first) / STEPS;
    for (int i = 0; i < STEPS; i++) {
        const double x = first + (i + 0.5) * step;
        const double p = dj_forecast_rate(share->filter, (uint64_t)x);
        const double waiting = step * (p + repeats * fmax(0, 1 - flushed / 2 / x));
        out->late += step * p;
        out->waiting += waiting;
        out->read += waiting / most * x * bytes_per_key(x);
    }
    out->passes = ceil(out->waiting / most);
    out->wait_rate = dj_forecast_rate(share->filter, (uint64_t)keys);
    const double bytes = keys * bytes_per_key(keys);
    const double levels = keys > flushed ? ceil(log(keys / flushed) / log(DJ_SIEVE_FAN)) : 0;
    out->read += levels * bytes;
    out->written += (1 + levels) * bytes;
    out->disk = (uint64_t)bytes + share->filter;
    out->disk_most = (uint64_t)(2 * bytes + 12 * flushed) + share->filter;
}

int deja_sieve_plan(const deja_sieve_options *opt, uint64_t keys, uint64_t lines,
                    deja_sieve_forecast *out, deja_error *err)
{
    deja_sieve_options known;
    deja_sieve_forecast f = DEJA_SIEVE_FORECAST_INIT;
    if (out->size < offsetof(deja_sieve_forecast, disk))
        return dj_fail(err, DEJA_EINVAL, "size is %zu: initialize with DEJA_SIEVE_FORECAST_INIT",
                       out->size);
    const int rc = dj_sieve_options_read(opt, &known, err);
    if (rc < 0)
        return rc;
    if (lines < keys)
        return dj_fail(err, DEJA_EINVAL, "%llu lines cannot have %llu different keys", (ull)lines,
                       (ull)keys);
    const struct dj_shares share = dj_shares_of(known.memory);
    if (keys)
        follow(&share, (double)keys, (double)lines, &f);
    f.wrong = dj_forecast_wrong((double)keys);
    f.size = out->size;
    memcpy(out, &f, out->size < sizeof f ? out->size : sizeof f);
    return DEJA_OK;
}
