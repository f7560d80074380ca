/* folder.c - the folder of a crawl: what lies in it, in which order it is written, and how it is
 * opened again after anything.
 *
 *     queue.db              frontier.c: every URL, and settings of the crawl
 *     seen.deja             the cache
 *     shapes.deja           how many URLs of one shape there were (trap.c)
 *     crawl-00001.warc.gz   warc.c: the archive
 *     index.cdxj            its index, written at the end of a run
 *
 * After each round of downloads the queue is committed: rows of finished pages, rows of new URLs,
 * and how far the archive goes, together.  So a process that is killed repeats what was in flight,
 * and nothing else.
 *
 * From time to time (sync_every) a round is made durable, in this order:
 *
 *     1  found URLs are handed over, the archive is synced
 *     2  the queue is synced
 *     3  the pending URLs enter the cache
 *     4  every half minute: the cache is synced, and the queue notes up to which row it has them
 *
 * A run that follows a crash puts the rows behind that note into the cache again.  A cache that is
 * missing is made again from all rows of the visit.
 *
 * The next visit begins with the rotation of the cache, which replaces its file in one step; then
 * one commit makes the queue follow.  A cache that is one visit ahead tells a crash between. */
#include "ascii.h"
#include "crawler.h"
#include "fail.h"
#include "settings.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_SYNC  30.0      /* seconds                                             */
#define PENDING_MAX (1 << 18) /* URLs that may wait for a durable round            */
#define SHAPES      200000    /* different ones that are counted well                */
#define SHAPE_BITS  16
#define FIRST_URLS  1000000 /* of a cache that grows */

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

/* --- The cache --------------------------------------------------------------------- */

static int make_cache(struct crawler *c, const char *path, deja_error *err)
{
    deja_options opt = c->o->cache;
    if (opt.kind == 0)
        opt.kind = DEJA_SCALABLE;
    if (opt.kind == DEJA_SCALABLE && opt.capacity == 0 && opt.memory == 0)
        opt.capacity = FIRST_URLS;
    if (opt.key)
        opt.flags |= DEJA_KEY_APART;
    int rc = deja_filter_create(path, 0, &opt, &c->cache, err);
    return rc == DEJA_OK ? deja_filter_sync(c->cache, err) : rc;
}

static int open_cache(struct crawler *c, bool *made, deja_error *err)
{
    struct path path;
    const deja_options expect = {.size = sizeof expect,
                                 .kind = c->o->cache.kind,
                                 .key = c->o->cache.key,
                                 .seed = c->o->cache.seed,
                                 .url = c->o->cache.url};
    int rc = path_of(c, "seen.deja", &path, err);
    if (rc < 0)
        return rc;
    *made = access(path.text, F_OK) != 0;
    rc = *made ? make_cache(c, path.text, err)
               : deja_filter_open(path.text, DEJA_OPEN_WRITE, &expect, &c->cache, err);
    return rc == DEJA_OK ? deja_dedup_new(c->cache, &c->pending, err) : rc;
}

/* Counters of the shapes of URLs; a new visit has new ones. */
static int open_shapes(struct crawler *c, bool fresh, deja_error *err)
{
    struct path path;
    deja_options opt = DEJA_OPTIONS_INIT;
    int rc = path_of(c, "shapes.deja", &path, err);
    if (rc < 0 || c->o->max_similar == 0)
        return rc;
    if (!fresh && access(path.text, F_OK) == 0)
        return deja_filter_open(path.text, DEJA_OPEN_WRITE, NULL, &c->shapes, err);
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = SHAPES;
    opt.fp_rate = 0.01;
    opt.counter_bits = SHAPE_BITS;
    rc = deja_filter_create(path.text, DEJA_CREATE_REPLACE, &opt, &c->shapes, err);
    return rc == DEJA_OK ? deja_filter_sync(c->shapes, err) : rc;
}

static int add_failed(int rc, deja_error *err)
{
    if (rc == DEJA_EFULL)
        return fail(err, rc, "seen.deja is full: begin with a larger -n, or with kind scalable");
    return fail(err, rc, "seen.deja: %s", deja_strerror(rc));
}

static int put_into_cache(void *crawler, deja_slice url, deja_error *err)
{
    struct crawler *c = crawler;
    const int rc = deja_filter_add(c->cache, url, NULL);
    c->account.rebuilt++;
    return rc < 0 ? add_failed(rc, err) : DEJA_OK;
}

static int sync_cache(struct crawler *c, deja_error *err)
{
    int rc = deja_filter_sync(c->cache, err);
    if (rc == DEJA_OK && c->shapes)
        rc = deja_filter_sync(c->shapes, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "cached", c->last_id, err);
    c->next_cache_sync = c->now + CACHE_SYNC;
    return rc;
}

/* What a crash has kept from the cache. */
static int mend_cache(struct crawler *c, bool made, deja_error *err)
{
    int64_t cached;
    int rc = frontier_get(c->queue, made ? "visit_first" : "cached", &cached, err);
    if (rc < 0 || c->last_id <= cached)
        return rc;
    rc = frontier_each_since(c->queue, cached, put_into_cache, c, err);
    return rc == DEJA_OK ? sync_cache(c, err) : rc;
}

/* --- Commits --------------------------------------------------------------------------- */

static int commit(struct crawler *c, deja_error *err)
{
    const deja_slice counts = {c->account.count, sizeof c->account.count};
    int rc = frontier_set_blob(c->queue, "counts", counts, err);
    if (rc == DEJA_OK && !c->o->no_archive)
        rc = frontier_set(c->queue, "warc_file", c->warc.file, err);
    if (rc == DEJA_OK && !c->o->no_archive)
        rc = frontier_set(c->queue, "warc_end", (int64_t)c->warc.end, err);
    if (rc == DEJA_OK)
        rc = frontier_commit(c->queue, err);
    c->changed = false;
    return rc;
}

/* The rate of the cache changes only when URLs enter it.  A look reads all of it: at most a
 * fiftieth of the time goes into looking. */
static void look_at_rate(struct crawler *c)
{
    deja_stats s = DEJA_STATS_INIT;
    const double began = crawler_clock();
    if (began < c->next_rate || deja_filter_stats(c->cache, &s) < 0)
        return;
    c->fp_rate = s.fp_now;
    c->next_rate = began + 50 * (crawler_clock() - began);
}

static int durable(struct crawler *c, deja_error *err)
{
    int rc = c->o->talk.hand_over ? c->o->talk.hand_over(c->o->talk.ctx, err) : DEJA_OK;
    if (rc == DEJA_OK && !c->o->no_archive)
        rc = warc_sync(&c->warc, err);
    if (rc == DEJA_OK)
        rc = commit(c, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(c->queue, err);
    if (rc < 0)
        return rc;
    rc = deja_dedup_commit(c->pending);
    if (rc < 0)
        return add_failed(rc, err);
    look_at_rate(c);
    c->next_durable = c->now + c->o->sync_every;
    return c->now >= c->next_cache_sync ? sync_cache(c, err) : DEJA_OK;
}

int folder_commit(struct crawler *c, deja_error *err)
{
    if (!c->changed)
        return DEJA_OK;
    if (c->now >= c->next_durable || deja_dedup_pending(c->pending) >= PENDING_MAX)
        return durable(c, err);
    return commit(c, err);
}

/* --- Seeds and settings ---------------------------------------------------------------- */

/* Seeds are lines of one text in the queue. */
static bool has_line(const struct buffer *all, deja_slice line)
{
    const char *at = all->len ? all->data : "", *end = at + all->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if ((size_t)(stop - at) == line.len && memcmp(at, line.data, line.len) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

typedef int seed_take(struct crawler *c, deja_slice seed, deja_error *err);

static int each_seed(struct crawler *c, seed_take *take, deja_error *err)
{
    struct buffer all = {0};
    int rc = frontier_get_blob(c->queue, "seeds", &all, err);
    const char *at = all.len ? all.data : "", *end = at + all.len;
    while (rc == DEJA_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        rc = take(c, ascii_between(at, stop), err);
        at = stop + 1;
    }
    buffer_fini(&all);
    return rc;
}

static int mark_scope(struct crawler *c, deja_slice seed, deja_error *err)
{
    return scope_add(c->scope, seed) < 0 ? fail(err, DEJA_ENOMEM, "no memory for the scope")
                                         : DEJA_OK;
}

static int queue_seed(struct crawler *c, deja_slice seed, deja_error *err)
{
    offer_begin(c, 0, 0, false);
    const int rc = offer_url(c, seed, err);
    return rc == DEJA_OK ? offer_end(c, err) : rc;
}

static int add_seed(struct crawler *c, const char *text, struct buffer *all, deja_error *err)
{
    const deja_slice seed = ascii_slice(text);
    deja_slice canon;
    const bool web = ascii_begins(seed, "http:") || ascii_begins(seed, "https:");
    const int rc = web ? offer_canon(c, seed, &canon) : DEJA_ENOTURL;
    if (rc < 0)
        return fail(err, DEJA_EINVAL, "'%.150s' is no URL of http or https", text);
    if (has_line(all, canon))
        return DEJA_OK;
    return buffer_add(all, canon.data, canon.len) && buffer_text(all, "\n")
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "no memory for the seeds");
}

static int store_seeds(struct crawler *c, deja_error *err)
{
    struct buffer all = {0};
    int rc = frontier_get_blob(c->queue, "seeds", &all, err);
    for (size_t i = 0; i < c->o->n_seeds && rc == DEJA_OK; i++)
        rc = add_seed(c, c->o->seed[i], &all, err);
    if (rc == DEJA_OK && all.len == 0)
        rc = fail(err, DEJA_EINVAL, "%s has no crawl yet: give it a URL to begin with",
                  fail_path(c->o->dir).text);
    if (rc == DEJA_OK)
        rc = frontier_set_blob(c->queue, "seeds", buffer_slice(&all), err);
    buffer_fini(&all);
    return rc;
}

static int open_scope(struct crawler *c, deja_error *err)
{
    const struct crawl_options *o = c->o;
    const bool excludes = o->exclude && o->exclude[0];
    if (o->scope == SCOPE_REGEX && !o->match)
        return fail(err, DEJA_EINVAL, "--scope regex needs --match ERE");
    const int rc = scope_new(o->scope, o->match, excludes ? o->exclude : NULL, &c->scope, err);
    return rc == DEJA_OK ? each_seed(c, mark_scope, err) : rc;
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

static int rotate_cache(struct crawler *c, deja_error *err)
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

/* Which visit is it?  *fresh: one that begins now. */
static int choose_visit(struct crawler *c, bool made, bool *fresh, deja_error *err)
{
    deja_stats s = DEJA_STATS_INIT;
    int rc = frontier_get(c->queue, "visit", &c->visit, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(c->cache, &s);
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
        rc = rotate_cache(c, err); /* the cache of this visit was gone */
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
        rc = rotate_cache(c, err);
        return rc == DEJA_OK ? begin_visit(c, c->visit + 1, err) : rc;
    }
    *fresh = false;
    return DEJA_OK;
}

/* --- Opening -------------------------------------------------------------------------------- */

static int make_folder(struct crawler *c, deja_error *err)
{
    const char *dir = c->o->dir;
    if (!c->o->next_visit && c->o->n_seeds > 0 && mkdir(dir, 0777) != 0 && errno != EEXIST)
        return fail_errno(err, "%s: cannot make the folder", fail_path(dir).text);
    c->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->dir < 0)
        return fail_errno(err, "%s: cannot open the folder", fail_path(dir).text);
    if (c->o->n_seeds == 0 && faccessat(c->dir, "queue.db", F_OK, 0) != 0)
        return fail(err, DEJA_EINVAL, "%s has no crawl yet: give it a URL to begin with",
                    fail_path(dir).text);
    return DEJA_OK;
}

/* An archive that the queue does not know is somebody's; it is neither cut nor written over.  So
 * the queue knows of a file before there is one. */
static int announce_archive(struct crawler *c, deja_error *err)
{
    char name[WARC_NAME_LEN];
    warc_name(1, name);
    if (faccessat(c->dir, name, F_OK, 0) == 0)
        return fail(err, DEJA_EMISMATCH,
                    "%s has an archive and no queue that belongs to it: use another folder, or "
                    "move %s away",
                    fail_path(c->o->dir).text, name);
    const int rc = frontier_set(c->queue, "warc_file", 1, err);
    return rc == DEJA_OK ? frontier_commit(c->queue, err) : rc;
}

static int open_archive(struct crawler *c, deja_error *err)
{
    int64_t file = 0, end = 0;
    if (c->o->no_archive)
        return DEJA_OK;
    int rc = frontier_get(c->queue, "warc_file", &file, err);
    if (rc == DEJA_OK)
        rc = frontier_get(c->queue, "warc_end", &end, err);
    if (rc == DEJA_OK && file == 0)
        rc = announce_archive(c, err);
    if (rc == DEJA_OK)
        rc = warc_open(&c->warc, c->dir, (uint32_t)file, (uint64_t)end, c->agent, c->o->max_file,
                       err);
    return rc;
}

static int read_counts(struct crawler *c, deja_error *err)
{
    struct buffer counts = {0};
    const int rc = frontier_get_blob(c->queue, "counts", &counts, err);
    const size_t room = sizeof c->account.count;
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

int folder_open(struct crawler *c, deja_error *err)
{
    bool made = false, fresh = false;
    int rc = make_folder(c, err);
    if (rc == DEJA_OK)
        rc = frontier_open(c->o->dir, &c->queue, err);
    if (rc == DEJA_OK)
        rc = frontier_last(c->queue, &c->last_id, err);
    if (rc == DEJA_OK)
        rc = settings_settle(c, err);
    c->schedule.per_host = c->o->per_host;
    c->next_durable = c->now + c->o->sync_every;
    if (rc == DEJA_OK)
        rc = store_seeds(c, err);
    if (rc == DEJA_OK)
        rc = open_cache(c, &made, err);
    if (rc == DEJA_OK)
        rc = open_scope(c, err);
    if (rc == DEJA_OK)
        rc = choose_visit(c, made, &fresh, err);
    if (rc == DEJA_OK)
        rc = open_shapes(c, fresh, err);
    if (rc == DEJA_OK && !fresh)
        rc = read_counts(c, err);
    if (rc == DEJA_OK)
        rc = mend_cache(c, made, err);
    if (rc == DEJA_OK)
        rc = open_archive(c, err);
    if (rc == DEJA_OK)
        rc = open_hosts(c, err);
    c->hashes = rc == DEJA_OK
                    ? malloc(OFFERS * deja_filter_hash_words(c->cache) * sizeof *c->hashes)
                    : NULL;
    if (rc == DEJA_OK && !c->hashes)
        rc = fail(err, DEJA_ENOMEM, "no memory for URLs");
    if (rc == DEJA_OK)
        look_at_rate(c);
    if (rc == DEJA_OK)
        rc = each_seed(c, queue_seed, err); /* the cache knows those that are not new */
    c->changed = true;
    return rc;
}

/* --- Closing --------------------------------------------------------------------------------- */

static int write_line(void *file, deja_slice line, deja_error *err)
{
    if (fwrite(line.data, 1, line.len, file) != line.len)
        return fail_errno(err, "index.cdxj: cannot write");
    return DEJA_OK;
}

/* The index is written beside the old one, which it then replaces. */
static int write_index(struct crawler *c, deja_error *err)
{
    const int fd =
        openat(c->dir, "index.cdxj.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        const int rc = fail_errno(err, "index.cdxj: cannot write");
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    int rc = frontier_each_line(c->queue, write_line, file, err);
    if (fclose(file) != 0 && rc == DEJA_OK)
        rc = fail_errno(err, "index.cdxj: cannot write");
    if (rc == DEJA_OK && renameat(c->dir, "index.cdxj.new", c->dir, "index.cdxj") != 0)
        rc = fail_errno(err, "index.cdxj: cannot write");
    if (rc < 0)
        (void)unlinkat(c->dir, "index.cdxj.new", 0);
    return rc;
}

int folder_finish(struct crawler *c, deja_error *err)
{
    int rc = durable(c, err);
    if (rc == DEJA_OK)
        rc = sync_cache(c, err);
    if (rc == DEJA_OK)
        rc = commit(c, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(c->queue, err);
    return rc == DEJA_OK && !c->o->no_archive ? write_index(c, err) : rc;
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
    buffer_fini(&c->decoded);
    buffer_fini(&c->stored);
    buffer_fini(&c->shape);
}
