/* cache_filter.c - the cache as a filter, seen.deja: small, fast, and wrong about a few URLs.
 *
 * New URLs are in the pending set of deja_dedup until their rows are durable. */
#include "crawler/loop/cache.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <unistd.h>

#define NAME        "seen.deja"
#define FIRST_URLS  1000000   /* capacity of the first part of a growing cache */
#define PENDING_MAX (1 << 18) /* pending URLs that force a durable round */

/* --- Opening ----------------------------------------------------------------------- */

static int make(struct crawler *c, const char *path, deja_error *err)
{
    deja_options opt = c->o->cache;
    if (opt.kind == 0 && opt.capacity == 0 && opt.memory == 0)
        opt.kind = DEJA_SCALABLE;
    if (!c->o->fixed.on)
        (void)deja_options_grow(&opt); /* other kinds stay as they are, and warn when full */
    if (deja_kind_can(opt.kind, DEJA_CAN_GROW) && opt.capacity == 0 && opt.memory == 0)
        opt.capacity = FIRST_URLS;
    if (opt.capacity == 0 && opt.memory == 0 && !deja_kind_can(opt.kind, DEJA_CAN_BUILD))
        return fail(
            err, DEJA_EINVAL,
            "kind %s cannot grow: give options.capacity, the number of URLs that you expect",
            deja_kind_name(opt.kind));
    if (opt.key)
        opt.flags |= DEJA_KEY_APART;
    int rc = deja_filter_create(path, DEJA_CREATE_MODE(c->o->mode), &opt, &c->filter, err);
    return rc == DEJA_OK ? deja_filter_sync(c->filter, err) : rc;
}

/* Makes room for the hashes of a full batch of offers. */
static int make_room(struct crawler *c, deja_error *err)
{
    c->hashes = malloc(OFFERS * deja_filter_hash_words(c->filter) * sizeof *c->hashes);
    return c->hashes ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for URLs");
}

static int filter_open(struct crawler *c, deja_error *err)
{
    struct cache_path path = {""};
    const deja_options expect = {.size = sizeof expect,
                                 .kind = c->o->cache.kind,
                                 .key = c->o->cache.key,
                                 .seed = c->o->cache.seed,
                                 .url = c->o->cache.url};
    int rc = cache_path(c, NAME, &path, err);
    if (rc < 0)
        return rc;
    c->cache_made = access(path.text, F_OK) != 0;
    rc = c->cache_made ? make(c, path.text, err)
                       : deja_filter_open(path.text, DEJA_OPEN_WRITE, &expect, &c->filter, err);
    if (rc == DEJA_OK)
        rc = deja_dedup_new(c->filter, &c->pending, err);
    return rc == DEJA_OK ? make_room(c, err) : rc;
}

static void filter_close(struct crawler *c)
{
    deja_dedup_free(c->pending);
    deja_filter_free(c->filter);
    free(c->hashes);
}

/* --- Visits -------------------------------------------------------------------------- */

static int filter_rotate(struct crawler *c, deja_error *err)
{
    deja_options next = DEJA_OPTIONS_INIT;
    const deja_options *given = &c->given->cache; /* 0: unchanged */
    next.capacity = given->capacity;
    next.fp_rate = given->fp_rate;
    next.memory = given->memory;
    next.hashes = given->hashes;
    deja_dedup_free(c->pending); /* it is empty, but uses the old hash functions */
    c->pending = NULL;
    const int rc = deja_filter_rotate(c->filter, &next, err);
    return rc == DEJA_OK ? deja_dedup_new(c->filter, &c->pending, err) : rc;
}

static int filter_state(struct crawler *c, struct cache_state *s, deja_error *err)
{
    deja_stats stats = DEJA_STATS_INIT;
    int rc = deja_filter_stats(c->filter, 0, &stats, err);
    for (; c->cache_made && rc == DEJA_OK && stats.visit < (uint64_t)c->visit; stats.visit++)
        rc = filter_rotate(c, err); /* the cache of this visit was missing */
    *s = (struct cache_state){.keys = stats.keys, .visit = stats.visit};
    return rc;
}

/* --- Its rate ------------------------------------------------------------------------- */

/* The rate changes only when URLs enter the cache.  Measuring it reads the whole body, so
 * measurements are spaced to take at most 2% of the time. */
static void measure_rate(struct crawler *c)
{
    deja_stats s = DEJA_STATS_INIT;
    const double began = clock_seconds();
    if (began < c->next_rate || deja_filter_stats(c->filter, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    c->fp_rate = s.fp_now;
    c->next_rate = began + 50 * (clock_seconds() - began);
}

static void watch_size(struct crawler *c)
{
    deja_stats o = DEJA_STATS_INIT, s = DEJA_STATS_INIT;
    if (c->crowded || deja_filter_stats(c->filter, 0, &o, NULL) < 0 || !o.excess ||
        deja_filter_stats(c->filter, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    c->crowded = true;
    if (c->o->talk.crowded)
        c->o->talk.crowded(c->o->talk.ctx, &s);
}

/* --- Adding --------------------------------------------------------------------------- */

static int filter_judge(struct crawler *c, uint8_t *verdict, deja_error *err)
{
    deja_slice key[OFFERS];
    const size_t n = offers_list(&c->offers, key);
    deja_filter_hash_batch(c->filter, key, n, c->hashes);
    return deja_dedup_judge(c->pending, c->hashes, n, verdict, err);
}

static bool filter_is_full(const struct crawler *c)
{
    return deja_dedup_pending(c->pending) >= PENDING_MAX;
}

static int filter_record(struct crawler *c, deja_error *err)
{
    const int rc = deja_dedup_commit(c->pending, err);
    if (rc < 0)
        return rc;
    watch_size(c);
    measure_rate(c);
    return DEJA_OK;
}

static int filter_sync(struct crawler *c, deja_error *err)
{
    return deja_filter_sync(c->filter, err);
}

static int put(void *crawler, deja_slice url, deja_error *err)
{
    struct crawler *c = crawler;
    const int rc = deja_filter_add(c->filter, url, NULL, err);
    c->account.rebuilt++;
    return rc;
}

static int filter_mend(struct crawler *c, deja_error *err)
{
    int64_t cached;
    int rc = cache_last_row(c, &cached, err);
    if (rc == DEJA_OK && c->last_id > cached) {
        rc = frontier_each_since(c->queue, cached, put, c, err);
        if (rc == DEJA_OK)
            rc = cache_sync(c, err);
    }
    measure_rate(c);
    return rc;
}

static void filter_report(struct crawler *c)
{
    deja_stats s = DEJA_STATS_INIT;
    if (deja_filter_stats(c->filter, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    c->account.fp_rate = s.fp_now;
    c->account.cache_bytes = s.bytes;
    c->account.cache_kind = s.kind;
}

const struct cache cache_of_filter = {
    .name = NAME,
    .open = filter_open,
    .close = filter_close,
    .state = filter_state,
    .rotate = filter_rotate,
    .mend = filter_mend,
    .judge = filter_judge,
    .is_full = filter_is_full,
    .record = filter_record,
    .sync = filter_sync,
    .report = filter_report,
};
