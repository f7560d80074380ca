/* cache.c - what all caches share: which one a crawl has, and the order in which URLs enter it.
 *
 *     seen.deja     a filter (cache_filter.c), or
 *     seen.sieve    a sieve, with --certain (cache_sieve.c): which URLs were seen
 *     shapes.deja   a filter that counts URLs by shape (trap.c)
 *
 * URLs enter the cache only when their rows in the queue are durable (folder.c).  When the cache
 * is synced, the queue records the last row in it; the run after a crash adds the later rows
 * again.  A missing cache is rebuilt from all rows of the visit. */
#include "crawler/loop/cache.h"
#include "tools/base/fail.h"
#include <stdio.h>
#include <unistd.h>

#define SYNC_EVERY 30.0   /* seconds */
#define SHAPES     200000 /* capacity of shapes.deja */
#define SHAPE_BITS 16

int cache_path(const struct crawler *c, const char *name, struct cache_path *p, deja_error *err)
{
    const int len = snprintf(p->text, sizeof p->text, "%s/%s", c->o->dir, name);
    if (len > 0 && (size_t)len < sizeof p->text)
        return DEJA_OK;
    return fail(err, DEJA_EINVAL, "%s: the path is too long", fail_path(c->o->dir).text);
}

/* --- Opening ----------------------------------------------------------------------- */

int cache_open(struct crawler *c, deja_error *err)
{
    c->cache = c->o->certain.on ? &cache_of_sieve : &cache_of_filter;
    return c->cache->open(c, err);
}

int cache_open_shapes(struct crawler *c, deja_error *err)
{
    struct cache_path path = {""};
    deja_options opt = DEJA_OPTIONS_INIT;
    int rc = cache_path(c, "shapes.deja", &path, err);
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

void cache_close(struct crawler *c)
{
    if (c->cache)
        c->cache->close(c);
    deja_filter_free(c->shapes);
}

/* --- After a crash ------------------------------------------------------------------ */

int cache_last_row(struct crawler *c, int64_t *id, deja_error *err)
{
    return frontier_get(c->queue, c->cache_made ? "visit_first" : "cached", c->last_id, id, err);
}

int cache_mend(struct crawler *c, deja_error *err)
{
    return c->cache->mend ? c->cache->mend(c, err) : DEJA_OK;
}

/* --- Adding ------------------------------------------------------------------------- */

bool cache_is_full(const struct crawler *c)
{
    return c->cache->is_full(c);
}

int cache_protect(struct crawler *c, deja_error *err)
{
    return c->cache->protect ? c->cache->protect(c, err) : DEJA_OK;
}

int cache_note(struct crawler *c, deja_error *err)
{
    return c->cache->note ? c->cache->note(c, err) : DEJA_OK;
}

/* After a sync, the queue records the last row. */
static int record_synced(struct crawler *c, int rc, deja_error *err)
{
    if (rc == DEJA_OK)
        rc = deja_filter_sync(c->shapes, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "cached", c->last_id, err);
    c->next_cache_sync = c->now + SYNC_EVERY;
    return rc;
}

int cache_sync(struct crawler *c, deja_error *err)
{
    return record_synced(c, c->cache->sync(c, err), err);
}

int cache_save(struct crawler *c, deja_error *err)
{
    return record_synced(c, (c->cache->save ? c->cache->save : c->cache->sync)(c, err), err);
}

int cache_take_pending(struct crawler *c, deja_error *err)
{
    const int rc = c->cache->record(c, err);
    if (rc < 0)
        return rc;
    return c->now >= c->next_cache_sync ? cache_sync(c, err) : DEJA_OK;
}

/* --- Pending URLs ------------------------------------------------------------------- */

bool cache_waits(const struct crawler *c)
{
    return c->cache->waits && c->cache->waits(c);
}

int cache_settle(struct crawler *c, deja_error *err)
{
    return cache_waits(c) ? c->cache->settle(c, err) : DEJA_OK;
}
