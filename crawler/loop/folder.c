/* folder.c - manages the folder of a crawl: its files, the order in which they are written, and
 * how they are opened again after a crash.
 *
 *     queue.db              frontier.c: every URL, and the settings of the crawl
 *     seen.deja             cache.c: the cache; with --certain, it is a folder, seen.sieve
 *     shapes.deja           cache.c: how many URLs have the same shape (trap.c)
 *     crawl-00001.warc.gz   archive.c: the archive (warc.c)
 *     index.cdxj            archive.c: its index, written at the end of a run
 *
 * After each round of downloads, the lines of the log (--log) are synced.  Then one commit of the queue stores the results of finished pages, the
 * new URLs, and the end of the archive.  So after a kill, only the downloads that were in progress
 * are repeated.
 *
 * From time to time (sync_every) a round is made durable, in this order:
 *
 *     1  found URLs are delivered; the archive and URLs that wait in the cache are synced
 *     2  the queue is synced; it records how much of the archive is on disk
 *     3  the pending URLs enter the cache
 *     4  every half minute: the cache is synced, and the queue records the last row in it
 *
 * The run after a crash repairs everything that comes after these records: cache.c, archive.c.
 *
 * A new visit starts by rotating the cache, which replaces its file atomically; then one commit
 * updates the queue.  If the cache is one visit ahead, a crash happened in between. */
#include "crawler/loop/cache.h"
#include "crawler/loop/fate.h"
#include "crawler/loop/ranking.h"
#include "crawler/loop/settings.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs steps in order, up to NULL or the first failure. */
typedef int step(struct crawler *c, deja_error *err);

static int run_steps(struct crawler *c, step *const *steps, deja_error *err)
{
    int rc = DEJA_OK;
    for (; *steps && rc == DEJA_OK; steps++)
        rc = (*steps)(c, err);
    return rc;
}

/* --- Commits --------------------------------------------------------------------------- */

static int commit_queue(struct crawler *c, deja_error *err)
{
    c->changed = false;
    return frontier_commit(c->queue, err);
}

static int sync_queue(struct crawler *c, deja_error *err)
{
    return frontier_sync(c->queue, err);
}

static int commit(struct crawler *c, deja_error *err)
{
    static step *const steps[] = {fate_hand_over, folder_store_counts, archive_record,
                                  cache_note,     commit_queue,        NULL};
    return run_steps(c, steps, err);
}

static int hand_over(struct crawler *c, deja_error *err)
{
    return c->o->talk.hand_over ? c->o->talk.hand_over(c->o->talk.ctx, err) : DEJA_OK;
}

int folder_durable(struct crawler *c, deja_error *err)
{
    static step *const steps[] = {hand_over,  archive_sync,       cache_protect, commit,
                                  sync_queue, cache_take_pending, NULL};
    c->next_durable = c->now + c->o->sync_every;
    return run_steps(c, steps, err);
}

int folder_commit(struct crawler *c, deja_error *err)
{
    if (!c->changed)
        return DEJA_OK;
    if (c->now >= c->next_durable || cache_is_full(c))
        return folder_durable(c, err);
    return commit(c, err);
}

/* --- Visits ------------------------------------------------------------------------------ */

/* Start a visit in the queue. */
static int begin_visit(struct crawler *c, int64_t visit, deja_error *err)
{
    int rc = fate_drop_all(c, err);
    if (rc == DEJA_OK)
        rc = frontier_leave(c->queue, &c->account.left_behind, err);
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

/* Find out which visit this is, and start a new one if necessary. */
static int choose_visit(struct crawler *c, deja_error *err)
{
    struct cache_state s = {0};
    int rc = frontier_get(c->queue, "visit", CRAWLER_VISITS, &c->visit, err);
    if (rc == DEJA_OK)
        rc = c->cache->state(c, &s, err);
    if (rc < 0)
        return rc;
    c->fresh = true;
    if (c->visit == 0 && s.keys > 0)
        return fail(err, DEJA_EMISMATCH,
                    "%s: it has a cache but no queue; use another folder, or remove %s",
                    fail_path(c->o->dir).text, c->cache->name);
    if (c->visit == 0)
        return c->o->next_visit ? folder_no_crawl(c, err) : begin_visit(c, 1, err);
    if (s.visit == (uint64_t)c->visit + 1) /* a crash at the start of a visit */
        return begin_visit(c, c->visit + 1, err);
    if (s.visit != (uint64_t)c->visit)
        return fail(err, DEJA_EMISMATCH,
                    "%s: from visit %llu, but the queue is at visit %lld; remove it to rebuild it "
                    "from the queue",
                    c->cache->name, (unsigned long long)s.visit, (long long)c->visit);
    if (c->o->next_visit) {
        rc = c->cache->rotate(c, err);
        return rc == DEJA_OK ? begin_visit(c, c->visit + 1, err) : rc;
    }
    c->fresh = false;
    return DEJA_OK;
}

/* --- Opening -------------------------------------------------------------------------------- */

/* Syncs the parent, without which a new folder does not survive a power failure. */
static int sync_parent(const struct crawler *c, deja_error *err)
{
    const int fd = openat(c->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return DEJA_OK; /* an unreadable parent cannot be synced */
    const int rc = sys_sync(fd) == 0 ? DEJA_OK
                                     : fail_errno(err, "%s: cannot sync its parent folder",
                                                  fail_path(c->o->dir).text);
    (void)close(fd);
    return rc;
}

int folder_no_crawl(const struct crawler *c, deja_error *err)
{
    return fail(err, DEJA_EINVAL, "%s: no crawl in this folder yet; give a URL to start from",
                fail_path(c->o->dir).text);
}

int folder_store_counts(struct crawler *c, deja_error *err)
{
    const deja_slice counts = {c->account.count, sizeof c->account.count};
    return frontier_set_blob(c->queue, "counts", counts, err);
}

static int make_folder(struct crawler *c, deja_error *err)
{
    const char *dir = c->o->dir;
    const bool may = !c->o->next_visit && c->o->n_seeds > 0;
    const bool made = may && mkdir(dir, 0777) == 0;
    if (may && !made && errno != EEXIST)
        return fail_errno(err, "%s: cannot create the folder", fail_path(dir).text);
    c->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->dir < 0)
        return fail_errno(err, "%s: cannot open the folder", fail_path(dir).text);
    if (c->o->n_seeds == 0 && faccessat(c->dir, "queue.db", F_OK, 0) != 0)
        return folder_no_crawl(c, err);
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

/* Finds or adds a host that is known from earlier runs of the visit. */
static int host_of_name(struct crawler *c, int64_t id, deja_slice name, struct host **h,
                        deja_error *err)
{
    *h = schedule_find(&c->schedule, name);
    return *h ? DEJA_OK : crawler_add_host(c, name, id, h, err);
}

static int take_done(void *crawler, int64_t id, deja_slice name, uint64_t pages, int64_t priority,
                     deja_error *err)
{
    struct host *h;
    (void)priority;
    const int rc = host_of_name(crawler, id, name, &h, err);
    if (rc == DEJA_OK)
        h->pages = pages;
    return rc;
}

static int take_waiting(void *crawler, int64_t id, deja_slice name, uint64_t waiting,
                        int64_t priority, deja_error *err)
{
    struct crawler *c = crawler;
    struct host *h;
    const int rc = host_of_name(c, id, name, &h, err);
    if (rc < 0)
        return rc;
    h->waiting = waiting;
    h->best = h->after = priority;
    c->account.waiting += waiting;
    return crawler_schedule(c, h, err);
}

static int open_hosts(struct crawler *c, deja_error *err)
{
    int rc = DEJA_OK;
    if (c->o->max_host_pages > 0)
        rc = frontier_each_done(c->queue, c->visit, take_done, c, err);
    return rc == DEJA_OK ? frontier_each_host(c->queue, take_waiting, c, err) : rc;
}

static int open_queue(struct crawler *c, deja_error *err)
{
    return frontier_open(c->o->dir, &c->queue, err);
}

static int find_last_id(struct crawler *c, deja_error *err)
{
    return frontier_last(c->queue, &c->last_id, err);
}

static int apply_settings(struct crawler *c, deja_error *err)
{
    const int rc = settings_settle(c, err);
    c->schedule.per_host = c->o->per_host;
    c->schedule.share = c->o->host_share;
    c->next_durable = c->now + c->o->sync_every;
    return rc;
}

/* The archive is repaired first, because that is right even if the options are refused later. */
int folder_open(struct crawler *c, deja_error *err)
{
    static step *const steps[] = {make_folder,  open_queue,       find_last_id, read_counts,
                                  archive_mend, apply_settings,   ranking_open, seeds_store,
                                  cache_open,   seeds_open_scope, choose_visit, cache_open_shapes,
                                  cache_mend,   archive_open,     open_hosts,   NULL};
    const int rc = run_steps(c, steps, err);
    if (rc < 0)
        return rc;
    settings_say(c);
    c->changed = true;
    return seeds_queue(c, err); /* the cache recognizes known seeds */
}

/* --- Closing --------------------------------------------------------------------------------- */

int folder_finish(struct crawler *c, deja_error *err)
{
    static step *const steps[] = {folder_durable, cache_save,          commit,
                                  sync_queue,     archive_write_index, NULL};
    return run_steps(c, steps, err);
}

void folder_close(struct crawler *c)
{
    warc_close(&c->warc);
    scope_free(c->scope);
    cache_close(c);
    ranking_close(c);
    frontier_close(c->queue);
    settings_fini(c);
    if (c->dir >= 0)
        (void)close(c->dir);
    buffer_fini(&c->offers.text);
    buffer_fini(&c->url_room);
    buffer_fini(&c->host_name);
    buffer_fini(&c->named);
    buffer_fini(&c->decoded);
    buffer_fini(&c->stored);
    buffer_fini(&c->shape);
    buffer_fini(&c->records);
    buffer_fini(&c->parent);
}
