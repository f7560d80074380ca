/* cache.c - manages the filters in the folder: seen.deja holds the URLs seen, shapes.deja counts
 * URLs by shape.
 *
 * URLs enter the cache only when their rows in the queue are durable (folder.c).  When the file of
 * the cache is synced, the queue records the last row in it; the run after a crash adds the later
 * rows again.  A missing cache is rebuilt from all rows of the visit. */
#include "crawler/loop/crawler.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <stdio.h>
#include <unistd.h>

#define SYNC_EVERY 30.0   /* seconds */
#define SHAPES     200000 /* capacity of shapes.deja */
#define SHAPE_BITS 16
#define FIRST_URLS 1000000 /* capacity of the first part of a growing cache */

/* The path of a file in the folder. */
struct path {
    char text[4096];
};

static int path_of(const struct crawler *c, const char *name, struct path *p, deja_error *err)
{
    const int len = snprintf(p->text, sizeof p->text, "%s/%s", c->o->dir, name);
    if (len > 0 && (size_t)len < sizeof p->text)
        return DEJA_OK;
    return fail(err, DEJA_EINVAL, "%s: the path is too long", fail_path(c->o->dir).text);
}

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
    int rc = deja_filter_create(path, DEJA_CREATE_MODE(c->o->mode), &opt, &c->cache, err);
    return rc == DEJA_OK ? deja_filter_sync(c->cache, err) : rc;
}

int cache_open(struct crawler *c, deja_error *err)
{
    struct path path = {""};
    const deja_options expect = {.size = sizeof expect,
                                 .kind = c->o->cache.kind,
                                 .key = c->o->cache.key,
                                 .seed = c->o->cache.seed,
                                 .url = c->o->cache.url};
    int rc = path_of(c, "seen.deja", &path, err);
    if (rc < 0)
        return rc;
    c->cache_made = access(path.text, F_OK) != 0;
    rc = c->cache_made ? make(c, path.text, err)
                       : deja_filter_open(path.text, DEJA_OPEN_WRITE, &expect, &c->cache, err);
    return rc == DEJA_OK ? deja_dedup_new(c->cache, &c->pending, err) : rc;
}

int cache_open_shapes(struct crawler *c, deja_error *err)
{
    struct path path = {""};
    deja_options opt = DEJA_OPTIONS_INIT;
    int rc = path_of(c, "shapes.deja", &path, err);
    if (rc < 0)
        return rc;
    const bool exists = access(path.text, F_OK) == 0;
    if (!c->fresh && exists)
        return deja_filter_open(path.text, DEJA_OPEN_WRITE, NULL, &c->shapes, err);
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = SHAPES;
    opt.fp_rate = 0.01;
    opt.counter_bits = SHAPE_BITS;
    const unsigned flags = exists ? DEJA_CREATE_REPLACE : DEJA_CREATE_MODE(c->o->mode);
    rc = deja_filter_create(path.text, flags, &opt, &c->shapes, err);
    return rc == DEJA_OK ? deja_filter_sync(c->shapes, err) : rc;
}

int cache_rotate(struct crawler *c, deja_error *err)
{
    deja_options next = DEJA_OPTIONS_INIT;
    const deja_options *given = &c->given->cache; /* 0: unchanged */
    next.capacity = given->capacity;
    next.fp_rate = given->fp_rate;
    next.memory = given->memory;
    next.hashes = given->hashes;
    deja_dedup_free(c->pending); /* it is empty, but uses the old hash functions */
    c->pending = NULL;
    const int rc = deja_filter_rotate(c->cache, &next, err);
    return rc == DEJA_OK ? deja_dedup_new(c->cache, &c->pending, err) : rc;
}

/* --- Adding ------------------------------------------------------------------------- */

int cache_sync(struct crawler *c, deja_error *err)
{
    int rc = deja_filter_sync(c->cache, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(c->shapes, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "cached", c->last_id, err);
    c->next_cache_sync = c->now + SYNC_EVERY;
    return rc;
}

/* The rate changes only when URLs enter the cache.  Measuring it reads the whole body, so
 * measurements are spaced to take at most 2% of the time. */
void cache_measure_rate(struct crawler *c)
{
    deja_stats s = DEJA_STATS_INIT;
    const double began = clock_seconds();
    if (began < c->next_rate || deja_filter_stats(c->cache, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    c->fp_rate = s.fp_now;
    c->next_rate = began + 50 * (clock_seconds() - began);
}

static void watch_size(struct crawler *c)
{
    deja_stats o = DEJA_STATS_INIT, s = DEJA_STATS_INIT;
    if (c->crowded || deja_filter_stats(c->cache, 0, &o, NULL) < 0 || !o.excess ||
        deja_filter_stats(c->cache, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    c->crowded = true;
    if (c->o->talk.crowded)
        c->o->talk.crowded(c->o->talk.ctx, &s);
}

int cache_take_pending(struct crawler *c, deja_error *err)
{
    const int rc = deja_dedup_commit(c->pending, err);
    if (rc < 0)
        return rc;
    watch_size(c);
    cache_measure_rate(c);
    return c->now >= c->next_cache_sync ? cache_sync(c, err) : DEJA_OK;
}

static int put(void *crawler, deja_slice url, deja_error *err)
{
    struct crawler *c = crawler;
    const int rc = deja_filter_add(c->cache, url, NULL, err);
    c->account.rebuilt++;
    return rc;
}

int cache_mend(struct crawler *c, deja_error *err)
{
    int64_t cached;
    const char *const since = c->cache_made ? "visit_first" : "cached";
    int rc = frontier_get(c->queue, since, c->last_id, &cached, err);
    if (rc < 0 || c->last_id <= cached)
        return rc;
    rc = frontier_each_since(c->queue, cached, put, c, err);
    return rc == DEJA_OK ? cache_sync(c, err) : rc;
}
