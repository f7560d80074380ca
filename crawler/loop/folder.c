/* folder.c - the folder of a crawl: what lies in it, in which order it is written, and how it is
 * opened again after anything.
 *
 *     queue.db              frontier.c: every URL, and settings of the crawl
 *     seen.deja             cache.c: the cache
 *     shapes.deja           cache.c: how many URLs of one shape there were (trap.c)
 *     crawl-00001.warc.gz   archive.c: the archive (warc.c)
 *     index.cdxj            archive.c: its index, written at the end of a run
 *
 * After each round of downloads the queue is committed: rows of finished pages, rows of new URLs,
 * and how far the archive goes, together.  So a process that is killed repeats what was in flight,
 * and nothing else.
 *
 * From time to time (sync_every) a round is made durable, in this order:
 *
 *     1  found URLs are handed over, the archive is synced
 *     2  the queue is synced, with a note up to where the archive is
 *     3  the pending URLs enter the cache
 *     4  every half minute: the cache is synced, and the queue notes up to which row it has them
 *
 * A run that follows a crash mends what lies behind these notes: cache.c, archive.c.
 *
 * The next visit begins with the rotation of the cache, which replaces its file in one step; then
 * one commit makes the queue follow.  A cache that is one visit ahead tells a crash between. */
#include "crawler/loop/crawler.h"
#include "crawler/loop/settings.h"
#include "tools/base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING_MAX (1 << 18) /* URLs that may wait for a durable round */

/* --- Commits --------------------------------------------------------------------------- */

static int commit(struct crawler *c, deja_error *err)
{
    const deja_slice counts = {c->account.count, sizeof c->account.count};
    int rc = frontier_set_blob(c->queue, "counts", counts, err);
    if (rc == DEJA_OK)
        rc = archive_record(c, err);
    if (rc == DEJA_OK)
        rc = frontier_commit(c->queue, err);
    c->changed = false;
    return rc;
}

static int durable(struct crawler *c, deja_error *err)
{
    int rc = c->o->talk.hand_over ? c->o->talk.hand_over(c->o->talk.ctx, err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = archive_sync(c, err);
    if (rc == DEJA_OK)
        rc = commit(c, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(c->queue, err);
    c->next_durable = c->now + c->o->sync_every;
    return rc == DEJA_OK ? cache_take_pending(c, err) : rc;
}

int folder_commit(struct crawler *c, deja_error *err)
{
    if (!c->changed)
        return DEJA_OK;
    if (c->now >= c->next_durable || deja_dedup_pending(c->pending) >= PENDING_MAX)
        return durable(c, err);
    return commit(c, err);
}

/* --- Visits ------------------------------------------------------------------------------ */

/* The queue's half of the beginning of a visit. */
static int begin_visit(struct crawler *c, int64_t visit, deja_error *err)
{
    int rc = frontier_leave(c->queue, &c->account.left_behind, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "visit", visit, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "visit_first", c->last_id, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "cached", c->last_id, err);
    c->visit = visit;
    memset(c->account.count, 0, sizeof c->account.count);
    return rc == DEJA_OK ? frontier_set_blob(c->queue, "counts", (deja_slice){NULL, 0}, err) : rc;
}

/* Which visit is it?  *fresh: one that begins now. */
static int choose_visit(struct crawler *c, bool made, bool *fresh, deja_error *err)
{
    deja_stats s = DEJA_STATS_INIT;
    int rc = frontier_get(c->queue, "visit", CRAWLER_VISITS, &c->visit, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(c->cache, 0, &s, err);
    if (rc < 0)
        return rc;
    *fresh = true;
    if (c->visit == 0 && s.keys > 0)
        return fail(err, DEJA_EMISMATCH,
                    "%s has a cache and no queue that belongs to it: use another folder, or "
                    "remove seen.deja",
                    fail_path(c->o->dir).text);
    if (c->visit == 0)
        return c->o->next_visit
                   ? fail(err, DEJA_EINVAL, "%s has no crawl yet that could be visited again",
                          fail_path(c->o->dir).text)
                   : begin_visit(c, 1, err);
    for (; made && rc == DEJA_OK && s.visit < (uint64_t)c->visit; s.visit++)
        rc = cache_rotate(c, err); /* the cache of this visit was gone */
    if (rc < 0)
        return rc;
    if (!made && s.visit == (uint64_t)c->visit + 1) /* a crash while the visit began */
        return begin_visit(c, c->visit + 1, err);
    if (!made && s.visit != (uint64_t)c->visit)
        return fail(err, DEJA_EMISMATCH,
                    "seen.deja is of visit %llu and the queue of visit %lld: they do not belong "
                    "together; remove seen.deja, and it is made again from the queue",
                    (unsigned long long)s.visit, (long long)c->visit);
    if (c->o->next_visit) {
        rc = cache_rotate(c, err);
        return rc == DEJA_OK ? begin_visit(c, c->visit + 1, err) : rc;
    }
    *fresh = false;
    return DEJA_OK;
}

/* --- Opening -------------------------------------------------------------------------------- */

/* A folder that was just made is there for good when the one around it is synced. */
static int sync_parent(const struct crawler *c, deja_error *err)
{
    const int fd = openat(c->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return DEJA_OK; /* one that may not be read: then nobody can */
    const int rc = fsync(fd) == 0 ? DEJA_OK
                                  : fail_errno(err, "%s: cannot sync the folder around it",
                                               fail_path(c->o->dir).text);
    (void)close(fd);
    return rc;
}

static int make_folder(struct crawler *c, deja_error *err)
{
    const char *dir = c->o->dir;
    const bool may = !c->o->next_visit && c->o->n_seeds > 0;
    const bool made = may && mkdir(dir, 0777) == 0;
    if (may && !made && errno != EEXIST)
        return fail_errno(err, "%s: cannot make the folder", fail_path(dir).text);
    c->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->dir < 0)
        return fail_errno(err, "%s: cannot open the folder", fail_path(dir).text);
    if (c->o->n_seeds == 0 && faccessat(c->dir, "queue.db", F_OK, 0) != 0)
        return fail(err, DEJA_EINVAL, "%s has no crawl yet: give it a URL to begin with",
                    fail_path(dir).text);
    return made ? sync_parent(c, err) : DEJA_OK;
}

static int read_counts(struct crawler *c, deja_error *err)
{
    struct buffer counts = {0};
    int rc = frontier_get_blob(c->queue, "counts", &counts, NULL, err);
    const size_t room = sizeof c->account.count;
    if (rc == DEJA_OK && counts.len % sizeof c->account.count[0] != 0)
        rc = frontier_damaged(c->queue, "its setting 'counts'", err);
    if (rc == DEJA_OK && counts.len > 0)
        memcpy(c->account.count, counts.data, counts.len < room ? counts.len : room);
    buffer_fini(&counts);
    return rc;
}

/* Hosts that earlier runs of the visit have met. */
static int host_of_name(struct crawler *c, int64_t id, deja_slice name, struct host **h,
                        deja_error *err)
{
    *h = schedule_find(&c->schedule, name);
    if (!*h)
        *h = schedule_add(&c->schedule, name, id);
    if (!*h)
        return fail(err, DEJA_ENOMEM, "no memory for hosts");
    (*h)->delay = c->o->delay;
    return DEJA_OK;
}

static int take_done(void *crawler, int64_t id, deja_slice name, uint64_t pages, uint32_t depth,
                     deja_error *err)
{
    struct host *h;
    (void)depth;
    const int rc = host_of_name(crawler, id, name, &h, err);
    if (rc == DEJA_OK)
        h->pages = pages;
    return rc;
}

static int take_waiting(void *crawler, int64_t id, deja_slice name, uint64_t waiting,
                        uint32_t depth, deja_error *err)
{
    struct crawler *c = crawler;
    struct host *h;
    const int rc = host_of_name(c, id, name, &h, err);
    if (rc < 0)
        return rc;
    h->waiting = waiting;
    h->depth = depth;
    c->account.waiting += waiting;
    return schedule_update(&c->schedule, h) < 0 ? fail(err, DEJA_ENOMEM, "no memory for hosts")
                                                : DEJA_OK;
}

static int open_hosts(struct crawler *c, deja_error *err)
{
    int rc = DEJA_OK;
    if (c->o->max_host_pages > 0)
        rc = frontier_each_done(c->queue, c->visit, take_done, c, err);
    return rc == DEJA_OK ? frontier_each_host(c->queue, take_waiting, c, err) : rc;
}

/* Room for the hashes of what is offered at once. */
static int make_room(struct crawler *c, deja_error *err)
{
    c->hashes = malloc(OFFERS * deja_filter_hash_words(c->cache) * sizeof *c->hashes);
    return c->hashes ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for URLs");
}

/* What the disk made of the last run, and what was said before: in this order, since mending is
 * for good, and options may yet be refused. */
static int open_queue(struct crawler *c, deja_error *err)
{
    int rc = frontier_open(c->o->dir, &c->queue, err);
    if (rc == DEJA_OK)
        rc = frontier_last(c->queue, &c->last_id, err);
    if (rc == DEJA_OK)
        rc = read_counts(c, err);
    if (rc == DEJA_OK)
        rc = archive_mend(c, err);
    if (rc == DEJA_OK)
        rc = settings_settle(c, err);
    if (rc == DEJA_OK)
        rc = seeds_store(c, err);
    c->schedule.per_host = c->o->per_host;
    c->next_durable = c->now + c->o->sync_every;
    return rc;
}

int folder_open(struct crawler *c, deja_error *err)
{
    bool made = false, fresh = false;
    int rc = make_folder(c, err);
    if (rc == DEJA_OK)
        rc = open_queue(c, err);
    if (rc == DEJA_OK)
        rc = cache_open(c, &made, err);
    if (rc == DEJA_OK)
        rc = seeds_open_scope(c, err);
    if (rc == DEJA_OK)
        rc = choose_visit(c, made, &fresh, err);
    if (rc == DEJA_OK)
        rc = cache_open_shapes(c, fresh, err);
    if (rc == DEJA_OK)
        rc = cache_mend(c, made, err);
    if (rc == DEJA_OK)
        rc = archive_open(c, err);
    if (rc == DEJA_OK)
        rc = open_hosts(c, err);
    if (rc == DEJA_OK)
        rc = make_room(c, err);
    if (rc < 0)
        return rc;
    settings_say(c);
    cache_look_at_rate(c);
    c->changed = true;
    return seeds_queue(c, err); /* the cache knows those that are not new */
}

/* --- Closing --------------------------------------------------------------------------------- */

int folder_finish(struct crawler *c, deja_error *err)
{
    int rc = durable(c, err);
    if (rc == DEJA_OK)
        rc = cache_sync(c, err);
    if (rc == DEJA_OK)
        rc = commit(c, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(c->queue, err);
    return rc == DEJA_OK ? archive_write_index(c, err) : rc;
}

void folder_close(struct crawler *c)
{
    warc_close(&c->warc);
    scope_free(c->scope);
    deja_dedup_free(c->pending);
    deja_filter_free(c->cache);
    deja_filter_free(c->shapes);
    frontier_close(c->queue);
    settings_fini(c);
    if (c->dir >= 0)
        (void)close(c->dir);
    free(c->hashes);
    buffer_fini(&c->offers.text);
    buffer_fini(&c->url_room);
    buffer_fini(&c->host_name);
    buffer_fini(&c->named);
    buffer_fini(&c->decoded);
    buffer_fini(&c->stored);
    buffer_fini(&c->shape);
}
