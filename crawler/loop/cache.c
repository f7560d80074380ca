/* cache.c - the files of the folder that are filters: which URLs were seen (seen.deja), and how
 * many of one shape (shapes.deja).
 *
 * URLs enter the cache only when their rows of the queue are on disk (folder.c).  The cache's own
 * file is synced now and then, and the queue notes up to which row it has them then; a run that
 * follows a crash puts the rows behind that note into the cache again.  A cache that is missing is
 * made again from all rows of the visit. */
#include "crawler/loop/crawler.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <stdio.h>
#include <unistd.h>

#define SYNC_EVERY 30.0   /* seconds                              */
#define SHAPES     200000 /* different ones that are counted well */
#define SHAPE_BITS 16
#define FIRST_URLS 1000000 /* of a cache that grows */

/* The name of a file of the folder. */
struct path {
    char text[4096];
};

static int path_of(const struct crawler *c, const char *name, struct path *p, deja_error *err)
{
    const int len = snprintf(p->text, sizeof p->text, "%s/%s", c->o->dir, name);
    if (len > 0 && (size_t)len < sizeof p->text)
        return DEJA_OK;
    return fail(err, DEJA_EINVAL, "%s: the name is too long", fail_path(c->o->dir).text);
}

/* --- Opening ----------------------------------------------------------------------- */

static int make(struct crawler *c, const char *path, deja_error *err)
{
    deja_options opt = c->o->cache;
    if (opt.kind == 0 && opt.capacity == 0 && opt.memory == 0)
        opt.kind = DEJA_SCALABLE;
    if (!c->o->fixed.on)
        (void)deja_options_grow(&opt); /* other kinds stay as they are, and warn */
    if (deja_kind_can(opt.kind, DEJA_CAN_GROW) && opt.capacity == 0 && opt.memory == 0)
        opt.capacity = FIRST_URLS;
    if (opt.capacity == 0 && opt.memory == 0 && !deja_kind_can(opt.kind, DEJA_CAN_BUILD))
        return fail(
            err, DEJA_EINVAL,
            "kind %s does not grow: give options.capacity, the number of URLs that you expect",
            deja_kind_name(opt.kind));
    if (opt.key)
        opt.flags |= DEJA_KEY_APART;
    int rc = deja_filter_create(path, DEJA_CREATE_MODE(c->o->mode), &opt, &c->cache, err);
    return rc == DEJA_OK ? deja_filter_sync(c->cache, err) : rc;
}

int cache_open(struct crawler *c, bool *made, deja_error *err)
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
    *made = access(path.text, F_OK) != 0;
    rc = *made ? make(c, path.text, err)
               : deja_filter_open(path.text, DEJA_OPEN_WRITE, &expect, &c->cache, err);
    return rc == DEJA_OK ? deja_dedup_new(c->cache, &c->pending, err) : rc;
}

int cache_open_shapes(struct crawler *c, bool fresh, deja_error *err)
{
    struct path path = {""};
    deja_options opt = DEJA_OPTIONS_INIT;
    int rc = path_of(c, "shapes.deja", &path, err);
    if (rc < 0)
        return rc;
    const bool there = access(path.text, F_OK) == 0;
    if (!fresh && there)
        return deja_filter_open(path.text, DEJA_OPEN_WRITE, NULL, &c->shapes, err);
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = SHAPES;
    opt.fp_rate = 0.01;
    opt.counter_bits = SHAPE_BITS;
    const unsigned flags = there ? DEJA_CREATE_REPLACE : DEJA_CREATE_MODE(c->o->mode);
    rc = deja_filter_create(path.text, flags, &opt, &c->shapes, err);
    return rc == DEJA_OK ? deja_filter_sync(c->shapes, err) : rc;
}

int cache_rotate(struct crawler *c, deja_error *err)
{
    deja_options next = DEJA_OPTIONS_INIT;
    const deja_options *given = &c->given->cache; /* 0: as it is */
    next.capacity = given->capacity;
    next.fp_rate = given->fp_rate;
    next.memory = given->memory;
    next.hashes = given->hashes;
    deja_dedup_free(c->pending); /* nothing is pending, but it knows the old hashes */
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

/* The rate of the cache changes only when URLs enter it.  A look reads all of it: at most a
 * fiftieth of the time goes into looking. */
void cache_look_at_rate(struct crawler *c)
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
    deja_stats o = DEJA_STATS_INIT;
    deja_stats s = DEJA_STATS_INIT;
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
    cache_look_at_rate(c);
    return c->now >= c->next_cache_sync ? cache_sync(c, err) : DEJA_OK;
}

static int put(void *crawler, deja_slice url, deja_error *err)
{
    struct crawler *c = crawler;
    const int rc = deja_filter_add(c->cache, url, NULL, err);
    c->account.rebuilt++;
    return rc;
}

int cache_mend(struct crawler *c, bool made, deja_error *err)
{
    int64_t cached;
    int rc = frontier_get(c->queue, made ? "visit_first" : "cached", c->last_id, &cached, err);
    if (rc < 0 || c->last_id <= cached)
        return rc;
    rc = frontier_each_since(c->queue, cached, put, c, err);
    return rc == DEJA_OK ? cache_sync(c, err) : rc;
}
