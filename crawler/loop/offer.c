/* offer.c - adds links to the queue that belong to the crawl and are new.
 *
 *     canonical form without credentials -> scheme, length -> scope, depth, traps -> the cache ->
 *     the queue
 *
 * The cache is queried last, so it holds only URLs that belong to the crawl.  With --harvest, it
 * is queried for all URLs.
 *
 * Output before state: a new URL goes to the queue, and enters the cache when its row is durable
 * (folder.c), so after a crash the cache never has a URL that the queue lacks.  A URL that a sieve
 * cannot judge at once comes back late (cache_sieve.c). */
#include "crawler/http/hostkey.h"
#include "crawler/loop/cache.h"
#include "crawler/loop/prefer.h"
#include "crawler/loop/ranking.h"
#include "crawler/loop/trap.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for URLs");
}

int offer_canon(struct crawler *c, deja_slice url, deja_slice *canon)
{
    return hostkey_canon(c->o->cache.url, url, &c->url_room, canon);
}

int crawler_add_host(struct crawler *c, deja_slice name, int64_t id, struct host **h,
                     deja_error *err)
{
    *h = schedule_add(&c->schedule, name, id);
    if (!*h)
        return fail(err, DEJA_ENOMEM, "out of memory for hosts");
    (*h)->delay = c->o->delay;
    return DEJA_OK;
}

int crawler_schedule(struct crawler *c, struct host *h, deja_error *err)
{
    return schedule_update(&c->schedule, h) == DEJA_OK
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for hosts");
}

int offer_host(struct crawler *c, deja_slice url, struct host **h, deja_error *err)
{
    int64_t id;
    c->host_name.len = 0;
    int rc = hostkey_name(url, &c->host_name);
    if (rc < 0)
        return rc == DEJA_ENOMEM ? no_memory(err) : fail(err, rc, "a URL has no host");
    const deja_slice name = buffer_slice(&c->host_name);
    *h = schedule_find(&c->schedule, name);
    if (*h)
        return DEJA_OK;
    rc = frontier_host(c->queue, name, &id, err);
    if (rc < 0)
        return rc;
    return crawler_add_host(c, name, id, h, err);
}

/* --- Refusals -------------------------------------------------------------------- */

/* Returns why a URL does not belong to the crawl, or CRAWL_COUNTS if it does. */
static enum crawl_count refusal(const struct crawler *c, deja_slice url, uint32_t depth)
{
    if (!scope_has(c->scope, url))
        return CRAWL_SCOPE;
    if (depth > c->o->max_depth)
        return CRAWL_DEPTH;
    if (trap_repeats(scope_path(url)))
        return CRAWL_TRAPS;
    return CRAWL_COUNTS;
}

/* Counts a URL by its shape; *too_many becomes true if there are too many.  Counts only new URLs
 * with parameters: traps that put numbers into the path grow link by link, and the depth limit
 * stops them. */
static int count_shape(struct crawler *c, deja_slice url, bool *too_many, deja_error *err)
{
    uint64_t n = 0;
    *too_many = false;
    if (!c->shapes || url.len == 0 || !memchr(url.data, '?', url.len))
        return DEJA_OK;
    c->shape.len = 0;
    if (!trap_shape(url, &c->shape))
        return no_memory(err);
    int rc = deja_filter_count(c->shapes, buffer_slice(&c->shape), &n, err);
    *too_many = n >= c->o->max_similar;
    if (rc == DEJA_OK && !*too_many)
        rc = deja_filter_add(c->shapes, buffer_slice(&c->shape), NULL, err);
    return rc;
}

/* --- Queue -------------------------------------------------------------------------- */

/* Returns the URLs taken ahead to the queue, because a new URL comes before them. */
static int put_ahead_back(struct crawler *c, struct host *h, deja_error *err)
{
    for (; h->ahead_at < h->ahead_n; h->ahead_at++) {
        const int rc = frontier_put_back(c->queue, &h->ahead[h->ahead_at], err);
        if (rc < 0)
            return rc;
        frontier_url_free(&h->ahead[h->ahead_at]);
        h->waiting++;
    }
    return DEJA_OK;
}

static int enqueue(struct crawler *c, const struct link *link, deja_error *err)
{
    struct host *h;
    int rc = offer_host(c, link->url, &h, err);
    if (rc < 0)
        return rc;
    const struct frontier_url u = {.host = h->id,
                                   .weight = prefer_weight(c->prefer, link->url),
                                   .parent = link->parent,
                                   .depth = link->depth,
                                   .hops = link->hops,
                                   .hidden = link->hidden,
                                   .url = link->url};
    const int64_t priority = frontier_priority(c->queue, &u);
    if (h->ahead_at < h->ahead_n && priority > h->ahead[h->ahead_n - 1].priority)
        rc = put_ahead_back(c, h, err);
    if (rc == DEJA_OK)
        rc = frontier_add(c->queue, c->visit, &u, &c->last_id, err);
    if (rc == DEJA_OK)
        rc = ranking_raise(c, h, priority, err);
    if (rc < 0)
        return rc;
    h->waiting++;
    crawler_count(c, CRAWL_QUEUED, 1);
    c->account.waiting++;
    c->changed = true;
    return crawler_schedule(c, h, err);
}

/* Takes a URL that is not in the cache. */
static int take_new(struct crawler *c, const struct link *link, deja_error *err)
{
    bool too_many = false;
    int rc = DEJA_OK;
    if (c->o->talk.found) {
        rc = c->o->talk.found(c->o->talk.ctx, link->url, err);
        const enum crawl_count why = refusal(c, link->url, link->depth);
        if (rc == DEJA_OK && why != CRAWL_COUNTS) {
            crawler_count(c, why, 1);
            c->changed = true; /* the printed URL is pending */
            return DEJA_OK;
        }
    }
    if (rc == DEJA_OK)
        rc = count_shape(c, link->url, &too_many, err);
    if (rc < 0)
        return rc;
    if (too_many) {
        crawler_count(c, CRAWL_TRAPS, 1);
        return DEJA_OK;
    }
    return enqueue(c, link, err);
}

/* The run that found it may have had other options: --harvest, --max-depth. */
int offer_late(struct crawler *c, const struct link *link, deja_error *err)
{
    const enum crawl_count why =
        c->o->talk.found ? CRAWL_COUNTS : refusal(c, link->url, link->depth);
    if (why != CRAWL_COUNTS) {
        crawler_count(c, why, 1);
        return DEJA_OK;
    }
    const int rc = take_new(c, link, err);
    return rc == DEJA_OK ? ranking_late(c, link, err) : rc;
}

/* --- Batches -------------------------------------------------------------------------- */

static deja_slice offered(const struct offers *f, size_t i)
{
    const size_t from = i > 0 ? f->end[i - 1] : 0;
    return (deja_slice){f->text.data + from, f->end[i] - from};
}

size_t offers_list(const struct offers *f, deja_slice *url)
{
    for (size_t i = 0; i < f->n; i++)
        url[i] = offered(f, i);
    return f->n;
}

void offer_begin(struct crawler *c, struct link like)
{
    c->offers.n = c->offers.text.len = 0;
    c->offers.link = like;
    ranking_begin(c);
}

/* A cache with the rate p mistakes p of all new URLs for seen.  So for each URL that it reports as
 * new, p / (1 - p) were lost. */
static void count_lost(struct crawler *c, size_t fresh)
{
    const double p = c->fp_rate < 0.999 ? c->fp_rate : 0.999;
    crawler_count(c, CRAWL_NANOLOST, (uint64_t)((double)fresh * p / (1 - p) * 1e9));
}

/* Counts a link for the order.  With --harvest, the cache judges links out of scope, too. */
static int rank(struct crawler *c, const struct link *link, uint8_t verdict, deja_error *err)
{
    if (c->o->talk.found && refusal(c, link->url, link->depth) != CRAWL_COUNTS)
        return DEJA_OK;
    if (verdict != DEJA_SIEVE_PENDING)
        return ranking_link(c, link->url, err);
    ranking_pending(c);
    return DEJA_OK;
}

int offer_end(struct crawler *c, deja_error *err)
{
    uint8_t verdict[OFFERS];
    const size_t n = c->offers.n;
    struct link link = c->offers.link;
    size_t fresh = 0, seen = 0;
    if (n == 0)
        return DEJA_OK;
    int rc = c->cache->judge(c, verdict, err);
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        fresh += verdict[i] == DEJA_SIEVE_NEW;
        seen += verdict[i] == DEJA_SIEVE_SEEN;
        link.url = offered(&c->offers, i);
        if (verdict[i] == DEJA_SIEVE_NEW)
            rc = take_new(c, &link, err);
        if (rc == DEJA_OK)
            rc = rank(c, &link, verdict[i], err);
    }
    crawler_count(c, CRAWL_OFFERED, n);
    crawler_count(c, CRAWL_DUPLICATES, seen);
    count_lost(c, fresh);
    c->offers.n = c->offers.text.len = 0;
    return rc;
}

int offer_url(struct crawler *c, deja_slice url, deja_error *err)
{
    struct offers *f = &c->offers;
    deja_slice canon;
    if (!scope_is_web(url)) {
        crawler_count(c, CRAWL_SCHEME, 1);
        return DEJA_OK;
    }
    const int rc = offer_canon(c, url, &canon);
    if (rc == DEJA_ENOMEM)
        return no_memory(err);
    if (rc < 0 || canon.len > c->o->max_url) {
        crawler_count(c, CRAWL_BAD, 1);
        return DEJA_OK;
    }
    const enum crawl_count why =
        c->o->talk.found ? CRAWL_COUNTS : refusal(c, canon, f->link.depth);
    if (why != CRAWL_COUNTS) {
        crawler_count(c, why, 1);
        return DEJA_OK;
    }
    if (!buffer_add(&f->text, canon.data, canon.len))
        return no_memory(err);
    f->end[f->n++] = f->text.len;
    return f->n == OFFERS ? offer_end(c, err) : DEJA_OK;
}

int offer_one(struct crawler *c, struct link link, deja_error *err)
{
    offer_begin(c, link);
    const int rc = offer_url(c, link.url, err);
    return rc == DEJA_OK ? offer_end(c, err) : rc;
}
