/* outcome.c - after a download: archive it, extract its links, or retry.
 *
 *     no response     retried after a pause, up to `retries` times; then a failure
 *     429, 5xx        the same, but Retry-After is obeyed; the last response is archived
 *     3xx             archived; the target is a link of the same depth.  A page that redirects to
 *                     itself is requested again, with the cookie that it may have set
 *     304             a revisit record, and the links of the stored copy
 *     2xx             archived, as a revisit if the bytes equal those of the copy; its links
 *     others          archived, and counted as failures
 *
 * On later visits, a page that no earlier visit knew is either new, or was hidden by a false
 * positive of the cache.  It was hidden if the page that links to it is unchanged, or was hidden
 * itself: then an earlier visit could have followed the link. */
#include "crawler/http/hostkey.h"
#include "crawler/http/httphead.h"
#include "crawler/http/sitemap.h"
#include "crawler/loop/fate.h"
#include "crawler/loop/ranking.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <stdio.h>

#define RETRY_AFTER_MAX 3600.0
#define BACKOFF_MAX     6 /* doublings of retry_wait */

/* --- Small parts ---------------------------------------------------------------- */

void job_free(struct job *job)
{
    frontier_url_free(&job->url);
    if (job->at) {
        *job->at = job->next;
        if (job->next)
            job->next->at = job->at;
    }
    free(job);
}

enum crawl_count outcome_of_fault(int fault)
{
    return fault == FETCH_PRIVATE ? CRAWL_PRIVATE
                                  : (enum crawl_count)(CRAWL_NO_ADDRESS + fault - FETCH_NAME);
}

static enum crawl_count failure_of(int status)
{
    if (status >= 500)
        return CRAWL_SERVER_ERROR;
    if (status == 404 || status == 410)
        return CRAWL_NOT_FOUND;
    return status == 401 || status == 403 || status == 451 ? CRAWL_FORBIDDEN : CRAWL_CLIENT_ERROR;
}

/* The seconds in Retry-After; 0: none, or a date, which is not supported. */
static double retry_after(const struct fetch *d)
{
    const deja_slice text = httphead_field(buffer_slice(&d->head), "retry-after");
    const char *p = text.data;
    double seconds = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_digit(p[i]) || i > 6)
            return 0;
        seconds = 10 * seconds + (p[i] - '0');
    }
    return seconds < RETRY_AFTER_MAX ? seconds : RETRY_AFTER_MAX;
}

/* The schedule is sorted by ready_at, so it must be updated after every change. */
static int pause_host(struct crawler *c, struct host *h, double seconds, deja_error *err)
{
    if (h->ready_at < c->now + seconds)
        h->ready_at = c->now + seconds;
    return crawler_schedule(c, h, err);
}

/* Puts the URL back into the queue; the pause of the host doubles each time. */
static int try_again(struct crawler *c, struct job *job, const struct fetch *d, deja_error *err)
{
    struct frontier_url *u = &job->url;
    const double asked = retry_after(d);
    const unsigned doublings = u->attempts < BACKOFF_MAX ? u->attempts : BACKOFF_MAX;
    const double wait = c->o->retry_wait * (double)(1u << doublings);
    u->attempts++;
    job->host->waiting++;
    c->account.waiting++;
    crawler_count(c, CRAWL_RETRIES, 1);
    const int rc = pause_host(c, job->host, asked > wait ? asked : wait, err);
    return rc == DEJA_OK ? frontier_put_back(c->queue, u, err) : rc;
}

/* --- Links ------------------------------------------------------------------------ */

struct found {
    struct crawler *c;
    deja_error *err;
};

static int take_link(void *ctx, deja_slice url)
{
    const struct found *f = ctx;
    return offer_url(f->c, url, f->err);
}

/* Extracts the links of a body as it was sent. */
static int links_of(struct crawler *c, const struct frontier_url *u, deja_slice head,
                    deja_slice raw, bool hidden, deja_error *err)
{
    const struct links_options o = {
        .embeds = c->o->embeds.on, .nofollow = c->o->nofollow.on, .max_len = c->o->max_url};
    const deja_slice type = httphead_field(head, "content-type");
    struct found found = {c, err};
    struct links_count n = {0};
    deja_slice body;
    int rc = httphead_decode(httphead_field(head, "content-encoding"), raw, c->o->max_page,
                             &c->decoded, &body);
    if (rc == DEJA_ENOMEM)
        return fail(err, rc, "out of memory for a page");
    bool unread = rc < 0; /* if damaged, the decoded part may still have links */
    offer_begin(c, (struct link){.depth = u->depth + 1, .hidden = hidden, .parent = u->id});
    rc = DEJA_OK;
    if (httphead_is_html(type, body))
        rc = links_extract(body, u->url, &o, take_link, &found, &n);
    else if (c->o->sitemaps.on && httphead_is_xml(type, body))
        rc = sitemap_extract(body, take_link, &found);
    if (rc == DEJA_EFULL) {
        unread = true;
        rc = DEJA_OK;
    }
    crawler_count(c, CRAWL_NOFOLLOW, n.nofollow);
    crawler_count(c, CRAWL_BAD, n.bad);
    crawler_count(c, CRAWL_UNREAD, unread);
    if (rc == DEJA_OK)
        rc = offer_end(c, err);
    return rc == DEJA_OK ? ranking_finish(c, u, err) : rc;
}

/* Extracts the links of a copy in the archive. */
static int links_of_copy(struct crawler *c, const struct frontier_url *u,
                         const struct warc_place *place, deja_error *err)
{
    deja_error why;
    const size_t max = c->o->max_page + ((size_t)1 << 20); /* the page and its header */
    if (warc_read(c->dir, place, max, &c->stored, &why) < 0) {
        crawler_count(c, CRAWL_UNREAD, 1);
        return DEJA_OK;
    }
    const size_t end = httphead_end(buffer_slice(&c->stored));
    return links_of(c, u, (deja_slice){c->stored.data, end},
                    (deja_slice){c->stored.data + end, c->stored.len - end}, true, err);
}

/* --- The archive --------------------------------------------------------------------- */

static int archive(struct crawler *c, const struct frontier_url *u, const struct fetch *d,
                   const struct warc_original *original, struct frontier_page *p, deja_error *err)
{
    struct buffer head = {0};
    const deja_slice body = buffer_slice(&d->body);
    if (c->o->no_archive.on) {
        p->place.at = (uint64_t)c->sieve.round; /* archive_undo */
        return DEJA_OK;
    }
    int rc = httphead_archive(buffer_slice(&d->head), &head);
    struct warc_capture capture = {.url = u->url,
                                   .ip = d->ip,
                                   .when = d->when,
                                   .request = buffer_slice(&d->request),
                                   .head = buffer_slice(&head),
                                   .body = original ? (deja_slice){NULL, 0} : body,
                                   .payload = original ? original->payload : p->digest,
                                   .http2 = d->http2,
                                   .truncated = d->truncated && !original ? "length" : NULL,
                                   .original = original,
                                   .not_modified = d->status == 304};
    rc = rc < 0 ? fail(err, rc, "out of memory for a record")
                : warc_write(&c->warc, &capture, &p->place, err);
    p->revisit = original;
    if (original)
        p->digest = original->payload;
    buffer_fini(&head);
    return rc;
}

/* --- Responses -------------------------------------------------------------------------- */

struct earlier { /* results of earlier visits to the URL */
    bool known;
    bool has_copy;
    struct frontier_page copy;
    struct warc_original original;
};

static int look_back(struct crawler *c, const struct frontier_url *u, struct earlier *e,
                     deja_error *err)
{
    *e = (struct earlier){0};
    if (c->visit < 2)
        return DEJA_OK;
    int rc = frontier_was_known(c->queue, u->url, c->visit, &e->known, err);
    if (rc == DEJA_OK)
        rc = frontier_copy_of(c->queue, u->url, &e->copy, &e->has_copy, err);
    e->original = (struct warc_original){e->copy.when, e->copy.digest};
    return rc;
}

static bool is_page(int status)
{
    return (status >= 200 && status < 300) || status == 304;
}

/* Archives a page, new or unchanged, and offers its links. */
static int take_page(struct crawler *c, const struct frontier_url *u, const struct fetch *d,
                     struct frontier_page *p, deja_error *err)
{
    struct earlier e;
    int rc = look_back(c, u, &e, err);
    if (rc < 0)
        return rc;
    const bool same =
        e.has_copy && (d->status == 304 || strcmp(e.copy.digest.text, p->digest.text) == 0);
    const bool was_hidden = u->hidden && !e.known;
    rc = archive(c, u, d, same ? &e.original : NULL, p, err);
    if (rc < 0)
        return rc;
    crawler_count(c, CRAWL_FETCHED, 1);
    crawler_count(c, CRAWL_UNCHANGED, same);
    crawler_count(c, CRAWL_TRUNCATED, d->truncated);
    if (c->visit > 1 && !e.known)
        crawler_count(c, u->hidden ? CRAWL_RECOVERED : CRAWL_APPEARED, 1);
    if (d->status == 304 && e.has_copy)
        return links_of_copy(c, u, &e.copy.place, err);
    return links_of(c, u, buffer_slice(&d->head), buffer_slice(&d->body),
                    c->visit > 1 && (same || was_hidden), err);
}

/* Whether the target is the URL itself, perhaps spelled differently. */
static bool leads_to_itself(struct crawler *c, const struct frontier_url *u, deja_slice target)
{
    deja_slice canon;
    return offer_canon(c, target, &canon) == DEJA_OK && ascii_compare(canon, u->url) == 0;
}

static int take_redirect(struct crawler *c, struct job *job, const struct fetch *d,
                         struct frontier_page *p, bool *again, deja_error *err)
{
    struct frontier_url *u = &job->url;
    const deja_slice location = httphead_field(buffer_slice(&d->head), "location");
    struct buffer room = {0};
    deja_slice target;
    int rc = DEJA_OK;
    if (!buffer_reserve(&room, DEJA_URL_ROOM(u->url.len + location.len)))
        return fail(err, DEJA_ENOMEM, "out of memory for a redirect");
    const bool leads =
        location.len > 0 && location.len <= c->o->max_url &&
        deja_url_resolve(u->url, location, room.data, room.cap, &target, NULL) == DEJA_OK;
    *again = leads && u->hops < c->o->max_redirects && leads_to_itself(c, u, target);
    if (*again) {
        u->hops++;
        job->host->waiting++;
        c->account.waiting++;
        rc = frontier_put_back(c->queue, u, err);
    } else {
        crawler_count(c, CRAWL_REDIRECTS, 1);
        rc = archive(c, u, d, NULL, p, err);
        if (leads && u->hops >= c->o->max_redirects) {
            crawler_count(c, CRAWL_REDIRECT_LIMIT, 1);
        } else if (rc == DEJA_OK && leads) {
            const struct link link = {
                .url = target, .depth = u->depth, .hops = u->hops + 1, .parent = u->id};
            rc = offer_one(c, link, err);
            if (rc == DEJA_OK)
                rc = ranking_finish(c, u, err);
        }
    }
    buffer_fini(&room);
    return rc;
}

/* Processes a response; archives it, whatever its status. */
static int take_response(struct crawler *c, struct job *job, const struct fetch *d,
                         deja_error *err)
{
    const struct frontier_url *u = &job->url;
    const deja_slice head = buffer_slice(&d->head), body = buffer_slice(&d->body);
    struct frontier_page p = {.status = d->status,
                              .when = d->when,
                              .mime = httphead_field(head, "content-type"),
                              .etag = httphead_field(head, "etag"),
                              .modified = httphead_field(head, "last-modified")};
    bool again = false;
    int rc = digest_make(&body, 1, &p.digest);
    if (rc < 0)
        return fail(err, rc, "out of memory for a digest");
    crawler_count(c, CRAWL_BYTES, d->body.len);
    if (is_page(d->status)) {
        rc = take_page(c, u, d, &p, err);
    } else if (d->status < 400) {
        rc = take_redirect(c, job, d, &p, &again, err);
    } else {
        p.outcome = (int)failure_of(d->status);
        crawler_count(c, failure_of(d->status), 1);
        rc = archive(c, u, d, NULL, &p, err);
    }
    return rc < 0 || again ? rc : fate_page(c, u, &p, d->body.len, err);
}

static int take_page_job(struct crawler *c, struct job *job, const struct fetch *d,
                         deja_error *err)
{
    const bool passes =
        d->fault ? fetch_fault_passes(d->fault) : d->status == 429 || d->status >= 500;
    c->pages_in_flight--;
    c->account.waiting--;
    if (passes && job->url.attempts < c->o->retries)
        return try_again(c, job, d, err);
    job->host->pages++;
    if (d->fault)
        return fate_fail(c, &job->url, outcome_of_fault(d->fault), err);
    return take_response(c, job, d, err);
}

/* --- robots.txt --------------------------------------------------------------------------- */

#define ROBOTS_HOPS 5 /* redirects to follow (RFC 9309, 2.3.1.2) */

/* Called when robots.txt was read, is missing or failed: the host's URLs can continue. */
static int settle_origin(struct crawler *c, struct origin *o, enum origin_state state, int fault,
                         deja_error *err)
{
    o->state = state;
    o->fault = fault;
    o->hops = 0;
    free(o->elsewhere);
    o->elsewhere = NULL;
    o->host->asking--;
    return pause_host(c, o->host, 0, err);
}

/* The rules are out of the scope, so we must not read them.  Treat them like a robots.txt that
 * cannot be fetched: everything is forbidden. */
static int refuse_redirect(struct crawler *c, struct origin *o, deja_slice target, deja_error *err)
{
    struct crawl_account *a = &c->account;
    if (!a->robots_from[0]) {
        snprintf(a->robots_from, sizeof a->robots_from, "%s", o->name);
        snprintf(a->robots_to, sizeof a->robots_to, "%.*s",
                 target.len < sizeof a->robots_to ? (int)target.len : 0,
                 (const char *)target.data);
    }
    return settle_origin(c, o, ORIGIN_CLOSED, FETCH_REDIRECTS, err);
}

/* Lets the target's host schedule the request, because its delay counts, too. */
static int follow_robots(struct crawler *c, struct origin *o, deja_slice target, deja_error *err)
{
    struct host *h;
    char *copy = ascii_copy(target);
    if (!copy)
        return fail(err, DEJA_ENOMEM, "out of memory for a redirect");
    free(o->elsewhere);
    o->elsewhere = copy;
    o->hops++;
    const int rc = offer_host(c, target, &h, err);
    if (rc < 0)
        return rc;
    host_add_errand(h, o);
    if (h->best < o->host->best)
        h->best = o->host->best;
    return pause_host(c, h, 0, err);
}

static int redirect_robots(struct crawler *c, struct origin *o, deja_slice location,
                           deja_error *err)
{
    struct buffer base = {0}, room = {0};
    deja_slice target, canon;
    int rc = DEJA_ENOTURL;
    if (o->hops >= ROBOTS_HOPS) /* RFC 9309: as if there were none */
        return settle_origin(c, o, ORIGIN_KNOWN, 0, err);
    const bool room_enough =
        (o->elsewhere ? buffer_text(&base, o->elsewhere)
                      : buffer_text(&base, o->name) && buffer_text(&base, "/robots.txt")) &&
        buffer_reserve(&room, DEJA_URL_ROOM(base.len + location.len));
    if (!room_enough)
        rc = fail(err, DEJA_ENOMEM, "out of memory for a redirect");
    else if (location.len <= c->o->max_url)
        rc = deja_url_resolve(buffer_slice(&base), location, room.data, room.cap, &target, NULL);
    if (rc == DEJA_OK)
        rc = scope_is_web(target) ? offer_canon(c, target, &canon) : DEJA_ENOTURL;
    /* Often from http to https on the same host. */
    if (rc == DEJA_OK && (scope_has(c->scope, canon) || hostkey_same(ascii_slice(o->name), canon)))
        rc = follow_robots(c, o, canon, err);
    else if (rc != DEJA_ENOMEM)
        rc = refuse_redirect(c, o, rc == DEJA_OK ? canon : location, err);
    buffer_fini(&base);
    buffer_fini(&room);
    return rc;
}

/* Obeys the delay that a site asks for, up to a limit, so that the crawl ends. */
static void heed_delay(struct crawler *c, const struct origin *o)
{
    struct host *h = o->host;
    double delay = robots_delay(&o->robots);
    if (delay > c->o->max_crawl_delay) {
        delay = c->o->max_crawl_delay;
        c->account.capped++;
    }
    if (h->delay < delay)
        h->delay = delay;
}

static int read_robots(struct crawler *c, struct origin *o, const struct fetch *d, deja_error *err)
{
    deja_slice text;
    int rc = httphead_decode(httphead_field(buffer_slice(&d->head), "content-encoding"),
                             buffer_slice(&d->body), ROBOTS_MAX, &c->decoded, &text);
    if (rc != DEJA_ENOMEM)
        rc = robots_parse(&o->robots, text, "deja");
    if (rc < 0)
        return fail(err, rc, "out of memory for robots.txt");
    heed_delay(c, o);
    rc = pause_host(c, o->host, o->host->delay, err); /* the new delay counts from now on */
    offer_begin(c, (struct link){.depth = 0});
    for (size_t at = 0; c->o->sitemaps.on && rc == DEJA_OK && at < o->robots.sites.len;
         at += strlen(o->robots.sites.data + at) + 1)
        rc = offer_url(c, ascii_slice(o->robots.sites.data + at), err);
    return rc == DEJA_OK ? offer_end(c, err) : rc;
}

/* RFC 9309: after 4xx everything is allowed, after 5xx or no response nothing is. */
static int take_robots(struct crawler *c, struct origin *o, const struct fetch *d, deja_error *err)
{
    const deja_slice location = httphead_field(buffer_slice(&d->head), "location");
    if (d->fault || d->status >= 500) {
        const bool passes = !d->fault || fetch_fault_passes(d->fault);
        const bool again = passes && o->attempts++ < c->o->retries;
        int rc = settle_origin(c, o, again ? ORIGIN_UNKNOWN : ORIGIN_CLOSED, d->fault, err);
        if (rc == DEJA_OK && again)
            rc = pause_host(c, o->host, c->o->retry_wait, err);
        return rc;
    }
    if (d->status >= 301 && d->status <= 308 && d->status != 304 && location.len > 0)
        return redirect_robots(c, o, location, err);
    const int rc = settle_origin(c, o, ORIGIN_KNOWN, 0, err);
    return rc == DEJA_OK && d->status >= 200 && d->status < 300 ? read_robots(c, o, d, err) : rc;
}

int outcome_take(struct crawler *c, struct job *job, struct fetch *d, deja_error *err)
{
    struct host *h = job->host;
    h->in_flight--;
    c->changed = true;
    int rc = pause_host(c, h, h->delay, err);
    if (rc == DEJA_OK)
        rc = job->origin ? take_robots(c, job->origin, d, err) : take_page_job(c, job, d, err);
    if (rc == DEJA_OK)
        rc = pause_host(c, h, 0, err); /* its number of waiting URLs may have changed */
    if (rc == DEJA_OK)
        archive_mark(c);
    job_free(job);
    fetch_release(c->fetcher, d);
    return rc;
}
