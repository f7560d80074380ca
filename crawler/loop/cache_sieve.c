/* cache_sieve.c - the cache as a sieve, seen.sieve: certain, in fixed memory (--certain).
 *
 * A URL that the sieve cannot judge at once is pending: it waits in the spool of the sieve, as a
 * record that has all that the queue needs (waiting.h).  When it is settled and turns out to be
 * new, it enters the queue, late but never lost.
 *
 * Pending URLs are settled
 *
 *     at once   if the crawl would end, or if the room for them is full
 *     soon      if few URLs can be requested, or the room is nearly full
 *     later     otherwise (WAIT_MOST)
 *
 * "Soon" and "later" leave time between two passes, so that passes take a small share of the time
 * however many URLs the sieve has.
 *
 * Order of writes.  A page is done in the queue only if its pending links are in the spool, and a
 * pending URL leaves the spool only after its row in the queue is durable:
 *
 *     1  the spool is synced (protect), then the queue: after a power failure, the links of the
 *        pages up to here are in one or the other
 *     2  new and late URLs are recorded; the spool drops what was settled
 *
 * A kill between the two leaves rows that the sieve lacks; the next run records them before it
 * settles anything, so a pending URL among them is found to be seen (deja_sieve_record).
 *
 * After a power failure, the queue may be newer than its last sync, and the spool may lack the
 * links of its newest pages.  So each commit stores how many URLs have ever been pending (spooled).
 * If the sieve knows fewer, the pages since the last sync wait again (archive_undo).
 *
 * A visit starts with a new, empty sieve.  The setting `sieve` names the visit that the sieve
 * belongs to; it is 0 while the old one is replaced, and one that does not match is replaced by a
 * new one from the rows of the visit.  URLs that wait as a visit ends are settled first, so that
 * the next visit knows that they had been found.
 *
 * Limit: if a page has more pending links than there is room for, they are settled, and the queue
 * is committed, in the middle of the page.  If the crawler is killed before it finishes the page,
 * the page is fetched again and the summary counts it twice; the archive has it once. */
#include "crawler/http/hostkey.h"
#include "crawler/loop/cache.h"
#include "crawler/loop/ranking.h"
#include "crawler/loop/waiting.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define NAME      "seen.sieve"
#define MEMORY    ((uint64_t)64 << 20)
#define WAIT_MOST 10.0 /* seconds that a URL is pending, unless passes take long */
#define SOON      8    /* passes take at most 1/8 of the time, */
#define WHILE     50   /* or 1/50 if the crawl has other work */

#define RECORD_MOST (1 << 16) /* new URLs that force a durable round: half of what fits */
#define RECORDED    (1 << 16) /* URLs that are recorded at once after a crash */
#define RETURNED    256       /* settled URLs that are taken at once */

/* --- After a crash ------------------------------------------------------------------ */

struct rows { /* of the queue, on their way into the sieve */
    struct crawler *c;
    size_t n;
    deja_fingerprint print[RECORDED];
};

static int flush_rows(struct rows *rows, deja_error *err)
{
    const int rc = deja_sieve_record(rows->c->sieve.sieve, rows->print, rows->n, err);
    rows->c->account.rebuilt += rows->n;
    rows->n = 0;
    return rc;
}

static int take_row(void *ctx, deja_slice url, deja_error *err)
{
    struct rows *rows = ctx;
    deja_sieve_hash_batch(rows->c->sieve.sieve, &url, 1, &rows->print[rows->n++]);
    return rows->n == RECORDED ? flush_rows(rows, err) : DEJA_OK;
}

/* As the sieve is opened, because a new visit settles what waits before it begins. */
static int mend(struct crawler *c, deja_error *err)
{
    int64_t cached;
    int rc = cache_last_row(c, &cached, err);
    if (rc < 0 || c->last_id <= cached)
        return rc;
    struct rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return fail(err, DEJA_ENOMEM, "out of memory for URLs");
    rows->c = c;
    rc = frontier_each_since(c->queue, cached, take_row, rows, err);
    if (rc == DEJA_OK)
        rc = flush_rows(rows, err);
    free(rows);
    return rc;
}

/* --- Opening ----------------------------------------------------------------------- */

/* Removes the files of an old sieve; what is left of it is not a sieve. */
static int remove_old(struct crawler *c, deja_error *err)
{
    const int fd = openat(c->dir, NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int rc = DEJA_OK;
    if (fd < 0 && errno == ENOENT)
        return DEJA_OK;
    if (!dir)
        rc = fail_errno(err, "%s/" NAME ": cannot list it", fail_path(c->o->dir).text);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        (void)unlinkat(fd, e->d_name, 0); /* fails for . and .. */
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    if (rc == DEJA_OK && unlinkat(c->dir, NAME, AT_REMOVEDIR) != 0)
        rc = fail_errno(err, "%s/" NAME ": cannot remove it", fail_path(c->o->dir).text);
    return rc;
}

/* Opens the sieve, or creates it; settled and pending URLs are those that were ever spooled. */
static int open_or_create(struct crawler *c, deja_error *err)
{
    struct cache_path path = {""};
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    struct sieve_cache *s = &c->sieve;
    int rc = cache_path(c, NAME, &path, err);
    opt.memory = c->o->cache.memory ? c->o->cache.memory : MEMORY;
    opt.key = c->o->cache.key;
    opt.seed = opt.key ? 0 : c->o->cache.seed;
    opt.url = c->o->cache.url;
    opt.flags = opt.key ? DEJA_KEY_APART : 0;
    if (rc == DEJA_OK)
        rc = deja_sieve_open(path.text, DEJA_OPEN_CREATE, &opt, &s->sieve, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(s->sieve, &r, err);
    s->pending = r.pending;
    s->pending_most = r.pending_most;
    s->spooled = r.settled + r.pending;
    s->safe = s->unrecorded = 0;
    s->since = c->now;
    return rc;
}

static int has_sieve(const struct crawler *c, bool *has, deja_error *err)
{
    struct cache_path path = {""};
    const int rc = cache_path(c, NAME, &path, err);
    *has = rc == DEJA_OK && deja_sieve_exists(path.text);
    return rc;
}

static int missing(const struct crawler *c, int64_t waited, deja_error *err)
{
    return fail(err, DEJA_EMISMATCH,
                "%s/" NAME ": it is missing, and %lld URLs waited in it; restore it, or start "
                "the next visit with --revisit",
                fail_path(c->o->dir).text, (long long)waited);
}

/* Opens the sieve of this visit; one that belongs to no visit is replaced. */
static int open_for_visit(struct crawler *c, int64_t visit, deja_error *err)
{
    int64_t belongs, waited;
    bool has = false;
    int rc = frontier_get(c->queue, "sieve", CRAWLER_VISITS, &belongs, err);
    if (rc == DEJA_OK)
        rc = frontier_get(c->queue, "waited", INT64_MAX, &waited, err);
    if (rc == DEJA_OK)
        rc = has_sieve(c, &has, err);
    if (rc < 0)
        return rc;
    if (belongs == visit && visit > 0 && !has && waited > 0 && !c->o->next_visit)
        return missing(c, waited, err);
    const bool obsolete = visit > 0 && belongs != visit; /* and perhaps half removed */
    c->cache_made = !has || obsolete;
    if (obsolete)
        rc = remove_old(c, err);
    return rc == DEJA_OK ? open_or_create(c, err) : rc;
}

/* Finds out whether a power failure has destroyed part of the spool. */
static int check_spool(struct crawler *c, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    int64_t spooled;
    int rc = frontier_get(c->queue, "round", INT64_MAX - 1, &s->round, err);
    if (rc == DEJA_OK)
        rc = frontier_get(c->queue, "spooled", INT64_MAX, &spooled, err);
    if (rc == DEJA_OK && !c->cache_made && (uint64_t)spooled > s->spooled)
        rc = archive_undo(c, s->round, err);
    s->round += s->round == 0; /* pages of round 0 belong to other caches */
    return rc;
}

static int sieve_open(struct crawler *c, deja_error *err)
{
    int64_t visit;
    int rc = frontier_get(c->queue, "visit", CRAWLER_VISITS, &visit, err);
    if (rc == DEJA_OK)
        rc = open_for_visit(c, visit, err);
    if (rc == DEJA_OK)
        rc = check_spool(c, err);
    c->sieve.stored_visit = -1; /* store everything with the next commit */
    c->visit = visit;
    return rc == DEJA_OK ? mend(c, err) : rc;
}

static void sieve_close(struct crawler *c)
{
    deja_sieve_free(c->sieve.sieve);
}

/* --- Judging -------------------------------------------------------------------------- */

static int settle(struct crawler *c, deja_error *err);

/* Lists the records of the URLs in a batch, which are pending if they cannot be judged. */
static int list_records(struct crawler *c, const deja_slice *url, size_t n, deja_slice *record,
                        deja_error *err)
{
    struct link link = c->offers.link;
    size_t end[OFFERS];
    c->records.len = 0;
    for (size_t i = 0; i < n; i++) {
        link.url = url[i];
        if (!waiting_record(&link, &c->records))
            return fail(err, DEJA_ENOMEM, "out of memory for URLs");
        end[i] = c->records.len;
    }
    for (size_t i = 0, from = 0; i < n; from = end[i++])
        record[i] = (deja_slice){c->records.data + from, end[i] - from};
    return DEJA_OK;
}

/* If there is no room, records the new URLs, then settles the pending ones. */
static int sieve_judge(struct crawler *c, uint8_t *verdict, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    const struct offers *f = &c->offers;
    deja_slice url[OFFERS], record[OFFERS];
    deja_fingerprint print[OFFERS];
    uint64_t token[OFFERS];
    const size_t n = offers_list(f, url);
    int rc = list_records(c, url, n, record, err);
    if (rc < 0)
        return rc;
    rc = DEJA_EFULL;
    deja_sieve_hash_batch(s->sieve, url, n, print);
    for (size_t i = 0; i < n; i++)
        token[i] = waiting_token(&f->link);
    for (int attempt = 0; rc == DEJA_EFULL && attempt < 3; attempt++) {
        rc = attempt == 0 ? DEJA_OK : attempt == 1 ? folder_durable(c, err) : settle(c, err);
        if (rc == DEJA_OK)
            rc = deja_sieve_judge(s->sieve, print, n, token, record, verdict, err);
    }
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        if (verdict[i] == DEJA_SIEVE_PENDING && s->pending++ == 0)
            s->since = c->now;
        s->spooled += verdict[i] == DEJA_SIEVE_PENDING;
        s->unrecorded += verdict[i] == DEJA_SIEVE_NEW;
    }
    return rc;
}

static bool sieve_is_full(const struct crawler *c)
{
    return c->sieve.unrecorded >= RECORD_MOST;
}

/* --- Making it durable ----------------------------------------------------------------- */

/* Without an archive, the round in which a page was fetched is its place: pages of rounds before
 * the one that is stored are safe. */
static int sieve_protect(struct crawler *c, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    int rc = s->safe == s->spooled ? DEJA_OK : deja_sieve_sync(s->sieve, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "round", s->round + 1, err);
    if (rc < 0)
        return rc;
    s->safe = s->spooled;
    s->round++;
    return DEJA_OK;
}

static int sieve_note(struct crawler *c, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    const bool visit = s->stored_visit != c->visit;
    int rc = visit ? frontier_set(c->queue, "sieve", c->visit, err) : DEJA_OK;
    if (rc == DEJA_OK && (visit || s->stored_spooled != s->spooled))
        rc = frontier_set(c->queue, "spooled", (int64_t)s->spooled, err);
    if (rc == DEJA_OK && (visit || s->stored_waited != s->pending))
        rc = frontier_set(c->queue, "waited", (int64_t)s->pending, err);
    s->stored_visit = c->visit;
    s->stored_spooled = s->spooled;
    s->stored_waited = s->pending;
    return rc;
}

static int sieve_record(struct crawler *c, deja_error *err)
{
    c->sieve.unrecorded = 0;
    return deja_sieve_commit(c->sieve.sieve, err);
}

static int sieve_sync(struct crawler *c, deja_error *err)
{
    return deja_sieve_sync(c->sieve.sieve, err);
}

static int sieve_save(struct crawler *c, deja_error *err)
{
    return deja_sieve_save(c->sieve.sieve, err);
}

/* --- Settling --------------------------------------------------------------------------- */

typedef int take_late(struct crawler *c, const struct link *link, deja_error *err);

static int damaged(const struct crawler *c, deja_error *err)
{
    return fail(err, DEJA_EFORMAT,
                "%s/" NAME ": a record of its spool is damaged; restore the folder from a copy, "
                "or start the next visit with --revisit",
                fail_path(c->o->dir).text);
}

/* Takes a URL that turned out to be new. */
static int take_new(struct crawler *c, const deja_settled *settled, take_late *take,
                    deja_error *err)
{
    struct link link;
    if (settled->token == DEJA_SIEVE_NO_RECORD) /* an interrupted `deja add` left this key */
        return DEJA_OK;
    if (!waiting_read(settled->token, settled->record, &link))
        return damaged(c, err);
    crawler_count(c, CRAWL_LATE, 1);
    return take(c, &link, err);
}

/* A link to a URL that was seen still counts for the order. */
static int take_seen(struct crawler *c, const deja_settled *settled, deja_error *err)
{
    struct link link;
    crawler_count(c, CRAWL_DUPLICATES, 1);
    if (settled->token == DEJA_SIEVE_NO_RECORD ||
        !waiting_read(settled->token, settled->record, &link))
        return DEJA_OK;
    return ranking_late(c, &link, err);
}

/* Takes all settled URLs; `make_room` records those that were taken. */
static int take_settled(struct crawler *c, take_late *take,
                        int (*make_room)(struct crawler *c, deja_error *err), deja_error *err)
{
    deja_settled settled[RETURNED];
    size_t n = 1;
    int rc = DEJA_OK;
    while (n > 0 && rc == DEJA_OK) {
        rc = deja_sieve_settled(c->sieve.sieve, settled, RETURNED, &n, err);
        if (rc == DEJA_EFULL) {
            rc = make_room(c, err);
            n = 1;
            continue;
        }
        for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
            if (settled[i].verdict == DEJA_SIEVE_NEW)
                rc = take_new(c, &settled[i], take, err);
            else
                rc = take_seen(c, &settled[i], err);
        }
    }
    return rc;
}

/* Settles all pending URLs: new ones enter the queue. */
static int settle(struct crawler *c, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    const double began = clock_seconds();
    int rc = deja_sieve_settle(s->sieve, err);
    if (rc == DEJA_OK)
        rc = take_settled(c, offer_late, folder_durable, err);
    if (rc < 0)
        return rc;
    s->pending = 0;
    c->changed = true;
    rc = folder_durable(c, err);
    s->settled_at = clock_seconds();
    s->took = s->settled_at - began;
    return rc;
}

static bool sieve_waits(const struct crawler *c)
{
    return c->sieve.pending > 0;
}

static bool is_due(const struct crawler *c)
{
    const struct sieve_cache *s = &c->sieve;
    const uint64_t startable = c->account.waiting - c->pages_in_flight;
    const double free_for = c->now - s->settled_at;
    if (startable == 0 && fetch_in_flight(c->fetcher) == 0)
        return true;
    if (startable < c->o->connections || s->pending > s->pending_most / 4 * 3)
        return free_for >= SOON * s->took;
    return c->now - s->since >= WAIT_MOST && free_for >= WHILE * s->took;
}

static int sieve_settle(struct crawler *c, deja_error *err)
{
    return is_due(c) ? settle(c, err) : DEJA_OK;
}

/* --- Visits -------------------------------------------------------------------------- */

static int sieve_state(struct crawler *c, struct cache_state *state, deja_error *err)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    const int rc = deja_sieve_stats(c->sieve.sieve, &r, err);
    *state = (struct cache_state){.keys = r.keys + r.pending, .visit = (uint64_t)c->visit};
    return rc;
}

/* Adds a row that no host of this run fetches, because its visit ends.  With --harvest, URLs that
 * are out of scope wait, too. */
static int add_row(struct crawler *c, const struct link *link, deja_error *err)
{
    struct frontier_url u = {.depth = link->depth,
                             .hops = link->hops,
                             .hidden = link->hidden,
                             .parent = link->parent,
                             .url = link->url};
    if (!scope_has(c->scope, link->url))
        return DEJA_OK;
    c->host_name.len = 0;
    const int named = hostkey_name(link->url, &c->host_name);
    if (named < 0)
        return named == DEJA_ENOMEM ? fail(err, named, "out of memory for URLs") : damaged(c, err);
    const int rc = frontier_host(c->queue, buffer_slice(&c->host_name), &u.host, err);
    return rc == DEJA_OK ? frontier_add(c->queue, c->visit, &u, &c->last_id, err) : rc;
}

static int record_rows(struct crawler *c, deja_error *err)
{
    const int rc = frontier_sync(c->queue, err);
    return rc == DEJA_OK ? deja_sieve_commit(c->sieve.sieve, err) : rc;
}

/* The old sieve is declared obsolete before it is removed. */
static int sieve_rotate(struct crawler *c, deja_error *err)
{
    struct sieve_cache *s = &c->sieve;
    int rc = deja_sieve_settle(s->sieve, err);
    if (rc == DEJA_OK)
        rc = take_settled(c, add_row, record_rows, err);
    if (rc == DEJA_OK)
        rc = frontier_set(c->queue, "sieve", 0, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(c->queue, err);
    if (rc < 0)
        return rc;
    deja_sieve_free(s->sieve);
    s->sieve = NULL;
    s->stored_visit = -1;
    rc = remove_old(c, err);
    return rc == DEJA_OK ? open_or_create(c, err) : rc;
}

static void sieve_report(struct crawler *c)
{
    struct crawl_account *a = &c->account;
    a->sieve = (deja_sieve_report)DEJA_SIEVE_REPORT_INIT;
    if (deja_sieve_stats(c->sieve.sieve, &a->sieve, NULL) == DEJA_OK)
        a->cache_bytes = a->sieve.memory_used;
}

const struct cache cache_of_sieve = {
    .name = NAME,
    .open = sieve_open,
    .close = sieve_close,
    .state = sieve_state,
    .rotate = sieve_rotate,
    .judge = sieve_judge,
    .is_full = sieve_is_full,
    .protect = sieve_protect,
    .note = sieve_note,
    .record = sieve_record,
    .sync = sieve_sync,
    .save = sieve_save,
    .waits = sieve_waits,
    .settle = sieve_settle,
    .report = sieve_report,
};
