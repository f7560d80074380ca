/* crawl.c - crawls politely from seeds to an archive, with a cache of the URLs seen.
 *
 *      seeds                            +--> schedule --> fetch --> outcome --> warc
 *        |                              |    whose turn   libcurl      |        archive
 *        v                              |                              v
 *      offer --> cache (deja) --> frontier                           links
 *        ^       seen before?     queue on disk                        |
 *        +-------------------------------------------------------------+
 *
 * One thread repeats: start the requests that may start now, wait for responses, process them,
 * commit (folder.c).  It ends when no URL waits and no request is in progress, or at a limit, or
 * when the user stops it.  Requests in progress are finished first. */
#include "crawler/http/hostkey.h"
#include "crawler/loop/cache.h"
#include "crawler/loop/fate.h"
#include "tools/base/ascii.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <unistd.h>

#define STATUS_EVERY 0.1 /* seconds */
#define WAIT_MAX     0.1 /* seconds until *stop is checked again */
#define TURNS        256 /* URLs started or refused before responses are processed */

/* --- Starting requests ---------------------------------------------------------- */

static struct job *new_job(struct crawler *c, struct host *h)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->host = h;
    job->next = c->jobs;
    job->at = &c->jobs;
    if (job->next)
        job->next->at = &job->next;
    c->jobs = job;
    return job;
}

/* Starts the job, or frees it on failure. */
static int start(struct crawler *c, struct job *job, const struct fetch_request *r,
                 deja_error *err)
{
    struct host *h = job->host;
    int rc = fetch_start(c->fetcher, r, job, err);
    if (rc < 0) {
        job_free(job);
        return rc;
    }
    h->in_flight++;
    c->account.asked++;
    c->pages_in_flight += !job->origin;
    if (h->ready_at < c->now + h->delay)
        h->ready_at = c->now + h->delay;
    return crawler_schedule(c, h, err);
}

/* Request the origin's robots.txt from the host, which is a different one after a redirect. */
static int start_robots(struct crawler *c, struct host *h, struct origin *o, deja_error *err)
{
    struct buffer url = {0};
    struct fetch_request r = {.max_bytes = ROBOTS_MAX};
    const bool ok = o->elsewhere ? buffer_text(&url, o->elsewhere)
                                 : buffer_text(&url, o->name) && buffer_text(&url, "/robots.txt");
    int rc = ok && buffer_reserve(&url, 1) ? DEJA_OK : DEJA_ENOMEM;
    struct job *job = rc == DEJA_OK ? new_job(c, h) : NULL;
    if (!job) {
        buffer_fini(&url);
        return fail(err, DEJA_ENOMEM, "out of memory for a request");
    }
    url.data[url.len] = '\0';
    r.url = url.data;
    job->origin = o;
    if (o->state == ORIGIN_UNKNOWN)
        o->host->asking++;
    o->state = ORIGIN_ASKED;
    rc = seeds_want_public(c, buffer_slice(&url), &r.only_public, err);
    if (rc == DEJA_OK)
        rc = start(c, job, &r, err);
    else
        job_free(job);
    buffer_fini(&url);
    return rc;
}

static int start_page(struct crawler *c, struct host *h, struct frontier_url *u, deja_error *err)
{
    struct frontier_page copy;
    struct fetch_request r = {.url = u->url.data};
    bool found = false;
    int rc = seeds_want_public(c, u->url, &r.only_public, err);
    if (rc == DEJA_OK && c->visit > 1 && !c->o->no_archive.on)
        rc = frontier_copy_of(c->queue, u->url, &copy, &found, err);
    if (found && archive_has(c, &copy.place)) { /* after a 304, the copy's links are needed */
        r.etag = copy.etag.data;
        r.modified = copy.modified.data;
    }
    struct job *job = rc == DEJA_OK ? new_job(c, h) : NULL;
    if (!job) {
        frontier_url_free(u);
        return rc < 0 ? rc : fail(err, DEJA_ENOMEM, "out of memory for a request");
    }
    job->url = *u;
    schedule_count(&c->schedule, h);
    return start(c, job, &r, err);
}

/* --- Next URL --------------------------------------------------------------------- */

/* Take the next URLs of a host from the queue.  Breadth first, they stay the next; in other orders
 * the next page can change which URL is best. */
static int refill(struct crawler *c, struct host *h, deja_error *err)
{
    const size_t cap = c->o->order == ORDER_BREADTH ? HOST_AHEAD : 1;
    if (h->ahead_at < h->ahead_n)
        return DEJA_OK;
    if (!h->ahead && !(h->ahead = calloc(HOST_AHEAD, sizeof *h->ahead)))
        return fail(err, DEJA_ENOMEM, "out of memory for URLs");
    h->ahead_at = 0;
    int rc = frontier_take(c->queue, h->id, h->ahead, cap, &h->ahead_n, err);
    h->waiting = h->ahead_n < cap ? 0 : h->waiting - h->ahead_n;
    h->after = h->ahead_n > 0 ? h->ahead[h->ahead_n - 1].priority : ORDER_LOWEST;
    if (rc == DEJA_OK && cap == 1)
        rc = frontier_best(c->queue, h->id, &h->after, err);
    c->changed = true;
    return rc;
}

/* Returns why a URL must not be fetched, or CRAWL_COUNTS if it may be. */
static enum crawl_count refusal(const struct crawler *c, const struct origin *o,
                                const struct frontier_url *u)
{
    const struct host *h = o->host;
    if (o->state == ORIGIN_CLOSED)
        return o->fault ? outcome_of_fault(o->fault) : CRAWL_NO_ROBOTS;
    if (!robots_allows(&o->robots, scope_path(u->url)))
        return CRAWL_ROBOTS;
    if (c->o->max_host_pages > 0 && h->pages + h->in_flight >= c->o->max_host_pages)
        return CRAWL_HOST_LIMIT;
    return CRAWL_COUNTS;
}

/* A queue written by deja 0.1 may contain URLs with credentials: offer them again without. */
static int offer_again(struct crawler *c, const struct frontier_url *u, deja_error *err)
{
    const struct link link = {.url = u->url,
                              .depth = u->depth,
                              .hops = u->hops,
                              .hidden = u->hidden,
                              .parent = u->parent};
    return offer_one(c, link, err);
}

static struct frontier_url take_ahead(struct host *h)
{
    const struct frontier_url u = h->ahead[h->ahead_at++];
    h->best = h->ahead_at < h->ahead_n ? h->ahead[h->ahead_at].priority : h->after;
    return u;
}

/* Start or refuse one URL of the host, unless its robots.txt must be fetched first. */
static int serve_url(struct crawler *c, struct host *h, deja_error *err)
{
    const deja_slice next = h->ahead[h->ahead_at].url;
    const bool clean = !hostkey_has_credentials(next);
    if (!scope_is_web(next))
        return frontier_damaged(c->queue, "a row of its table url", err);
    struct origin *o = host_origin(h, scope_origin(next));
    if (!o)
        return fail(err, DEJA_ENOMEM, "out of memory for hosts");
    if (clean && o->state == ORIGIN_UNKNOWN)
        return start_robots(c, h, o, err);
    struct frontier_url u = take_ahead(h);
    const enum crawl_count why = clean ? refusal(c, o, &u) : CRAWL_BAD;
    if (why == CRAWL_COUNTS)
        return start_page(c, h, &u, err);
    int rc = fate_skip(c, &u, why, err);
    c->account.waiting--;
    if (rc == DEJA_OK && !clean)
        rc = offer_again(c, &u, err);
    frontier_url_free(&u);
    return rc;
}

/* Start or refuse one request to the host, if it has any. */
static int serve(struct crawler *c, struct host *h, deja_error *err)
{
    struct origin *o = host_take_errand(h);
    if (o)
        return start_robots(c, h, o, err);
    int rc = refill(c, h, err);
    if (rc == DEJA_OK && h->ahead_at < h->ahead_n)
        rc = serve_url(c, h, err);
    return rc == DEJA_OK ? crawler_schedule(c, h, err) : rc;
}

/* --- Limits ------------------------------------------------------------------------ */

static const char *limit_reached(const struct crawler *c)
{
    const struct crawl_options *o = c->o;
    const uint64_t *n = c->account.count;
    if (atomic_load_explicit(o->stop, memory_order_relaxed))
        return "stopped";
    if (o->max_pages > 0 && n[CRAWL_FETCHED] + c->pages_in_flight >= o->max_pages)
        return "page limit";
    if (o->max_total > 0 && n[CRAWL_BYTES] >= o->max_total)
        return "byte limit";
    if (o->max_time > 0 && c->now - c->began >= o->max_time)
        return "time limit";
    return NULL;
}

/* Start requests.  *pause is the time until the next host is ready, at most WAIT_MAX. */
static int begin_requests(struct crawler *c, double *pause, deja_error *err)
{
    int rc = DEJA_OK;
    *pause = WAIT_MAX;
    for (unsigned turn = 0; rc == DEJA_OK && fetch_in_flight(c->fetcher) < c->o->connections &&
                            !(c->account.ended = limit_reached(c));
         turn++) {
        double until;
        if (turn == TURNS) {
            *pause = 0;
            break;
        }
        struct host *h = schedule_next(&c->schedule, c->now, &until);
        if (!h) {
            if (until >= 0 && until < WAIT_MAX)
                *pause = until;
            else if (until < 0 && fetch_in_flight(c->fetcher) == 0 && !cache_waits(c))
                c->account.ended = "done";
            break;
        }
        rc = serve(c, h, err);
    }
    return rc;
}

/* --- The loop --------------------------------------------------------------------------- */

static void show_status(struct crawler *c, bool now)
{
    if (!now && (!c->o->talk.status || c->now < c->next_status))
        return;
    if (now)
        c->cache->report(c);
    c->account.visit = (uint64_t)c->visit;
    c->account.certain = c->o->certain.on;
    c->account.pending = c->sieve.pending;
    c->account.in_flight = fetch_in_flight(c->fetcher);
    c->account.hosts = c->schedule.n_hosts;
    c->account.seconds = (double)c->account.count[CRAWL_NANOSECONDS] * 1e-9;
    c->account.lost = (double)c->account.count[CRAWL_NANOLOST] * 1e-9;
    if (c->o->talk.status && !now)
        c->o->talk.status(c->o->talk.ctx, &c->account);
    c->next_status = c->now + STATUS_EVERY;
}

static void read_clock(struct crawler *c)
{
    const double now = clock_seconds();
    crawler_count(c, CRAWL_NANOSECONDS, (uint64_t)((now - c->now) * 1e9));
    c->now = now;
}

static int take_finished(struct crawler *c, deja_error *err)
{
    struct fetch *d;
    int rc = DEJA_OK;
    while (rc == DEJA_OK && (d = fetch_next(c->fetcher)))
        rc = outcome_take(c, d->tag, d, err);
    return rc;
}

/* Settles pending URLs if it is time; hosts may be ready then. */
static int settle(struct crawler *c, double *pause, deja_error *err)
{
    const uint64_t waiting = c->account.waiting;
    const int rc = cache_settle(c, err);
    if (c->account.waiting != waiting)
        *pause = 0;
    return rc;
}

static int loop(struct crawler *c, deja_error *err)
{
    double pause = 0;
    int rc = folder_commit(c, err);
    for (;;) {
        if (rc == DEJA_OK)
            rc = begin_requests(c, &pause, err);
        if (rc < 0 || (c->account.ended && fetch_in_flight(c->fetcher) == 0))
            return rc;
        if (!c->account.ended)
            rc = settle(c, &pause, err);
        if (rc == DEJA_OK)
            rc = fetch_wait(c->fetcher, pause, err);
        read_clock(c);
        if (rc == DEJA_OK)
            rc = take_finished(c, err);
        if (rc == DEJA_OK)
            rc = folder_commit(c, err);
        show_status(c, false);
    }
}

static int open_fetcher(struct crawler *c, deja_error *err)
{
    const struct crawl_options *o = c->o;
    const struct fetch_options options = {.user_agent = c->agent,
                                          .ca_file = o->ca_file,
                                          .max_bytes = o->max_page,
                                          .timeout = o->timeout,
                                          .connect_timeout = o->timeout,
                                          .stall = o->timeout,
                                          .connections = o->connections};
    if (o->ca_file && access(o->ca_file, R_OK) != 0)
        return fail_errno(err, "--ca-file %s: cannot read", fail_path(o->ca_file).text);
    return fetcher_new(&options, &c->fetcher, err);
}

int crawl_run(const struct crawl_options *o, struct crawl_account *account, deja_error *err)
{
    struct crawler *c = calloc(1, sizeof *c);
    if (!c)
        return fail(err, DEJA_ENOMEM, "out of memory for a crawl");
    c->given = o;
    c->settled = *o;
    c->o = &c->settled;
    c->dir = c->warc.fd = -1;
    c->began = c->now = clock_seconds();
    int rc = folder_open(c, err);
    if (rc == DEJA_OK)
        rc = open_fetcher(c, err);
    if (rc == DEJA_OK)
        rc = loop(c, err);
    if (rc == DEJA_OK)
        rc = folder_finish(c, err);
    if (rc == DEJA_OK)
        show_status(c, true);
    *account = c->account;
    while (c->jobs)
        job_free(c->jobs);
    schedule_fini(&c->schedule);
    fetcher_free(c->fetcher);
    folder_close(c);
    free(c);
    return rc;
}
