/* ranking.c - which URL of the queue is next: the order of the crawl, and what links change.
 *
 * The queue has the priority of each URL that waits (order.h).  Orders that count links change it
 * when a page is finished: each different link of the page is found by its hash, and only its row is
 * written.  All of this is part of the transaction that marks the page as done.
 *
 * OPIC (Abiteboul, Preda, Cobena, "Adaptive On-Line Page Importance Computation", 2003), for a crawl
 * that fetches each page once:
 *
 *     cash     each seed starts with 1.  A page that was fetched divides all its cash equally among
 *              its different links that belong to the crawl.  Other links get nothing, and neither
 *              do links to the page itself
 *     root     the paper adds a virtual page that links to all pages and is linked from all.  It
 *              would give every waiting URL the same amount, which changes no order.  So only the
 *              seeds and the sitemaps of robots.txt get cash from it
 *     history  the cash that a page had when it was fetched stays in its row.  Nothing is fetched
 *              because of it, so cash for pages that are already fetched, and the cash of pages
 *              without links, leaves circulation
 *
 * So the cash of all waiting URLs is never more than the number of seeds.
 *
 * A link that a sieve cannot judge at once (--certain) counts when it is settled, whether it is new
 * or seen: it names its page, and the page's row has the share. */
#include "crawler/loop/ranking.h"
#include "crawler/loop/prefer.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <stdio.h>

#define RANKED "ranked" /* the setting with the order of the waiting URLs */

/* --- The order ----------------------------------------------------------------------- */

static int weigh(void *crawler, deja_slice url)
{
    const struct crawler *c = crawler;
    return prefer_weight(c->prefer, url);
}

/* The order and the preferences that the URLs in the queue should have. */
static int describe(const struct crawler *c, struct buffer *text, deja_error *err)
{
    char kind[16];
    snprintf(kind, sizeof kind, "%u ", (unsigned)c->o->order);
    return buffer_text(text, kind) && buffer_text(text, c->o->prefer ? c->o->prefer : "")
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for --prefer");
}

static bool was_opic(const struct buffer *was)
{
    return was->len > 1 && was->data[0] == '0' + ORDER_OPIC && was->data[1] == ' ';
}

/* A folder without the setting is breadth first.  URLs that were queued in another order have no
 * cash, or too little, so all get the same. */
static int reorder(struct crawler *c, deja_slice want, deja_error *err)
{
    struct buffer was = {0};
    bool damaged;
    int rc = frontier_get_blob(c->queue, RANKED, &was, &damaged, err);
    if (rc == DEJA_OK && was.len == 0 && !damaged && !buffer_text(&was, "1 "))
        rc = fail(err, DEJA_ENOMEM, "out of memory for --order");
    if (rc == DEJA_OK && ascii_compare(buffer_slice(&was), want) != 0) {
        rc = frontier_reorder(c->queue, c->o->order == ORDER_OPIC && !was_opic(&was), err);
        if (rc == DEJA_OK)
            rc = frontier_set_blob(c->queue, RANKED, want, err);
    }
    buffer_fini(&was);
    return rc;
}

int ranking_open(struct crawler *c, deja_error *err)
{
    struct buffer want = {0};
    int rc = prefer_new(c->o->prefer, &c->prefer, err);
    if (rc == DEJA_OK)
        rc = frontier_order(c->queue, c->o->order, weigh, c, err);
    if (rc == DEJA_OK)
        rc = describe(c, &want, err);
    if (rc == DEJA_OK)
        rc = reorder(c, buffer_slice(&want), err);
    buffer_fini(&want);
    return rc;
}

void ranking_close(struct crawler *c)
{
    prefer_free(c->prefer);
    buffer_fini(&c->links.number);
}

/* --- Hosts ------------------------------------------------------------------------------ */

int ranking_raise(struct crawler *c, struct host *h, int64_t priority, deja_error *err)
{
    if (priority > h->after)
        h->after = priority;
    if (priority <= h->best)
        return DEJA_OK;
    h->best = priority;
    return crawler_schedule(c, h, err);
}

static int raise_host(void *crawler, int64_t id, int64_t priority, deja_error *err)
{
    struct crawler *c = crawler;
    struct host *h = schedule_find_id(&c->schedule, id);
    return h ? ranking_raise(c, h, priority, err) : DEJA_OK;
}

/* --- Links ------------------------------------------------------------------------------- */

void ranking_begin(struct crawler *c)
{
    c->links.number.len = 0;
    c->links.pending = 0;
}

int ranking_link(struct crawler *c, deja_slice url, deja_error *err)
{
    int64_t number;
    if (!order_counts_links(c->o->order))
        return DEJA_OK;
    const int rc = frontier_number(url, &number, err);
    if (rc < 0)
        return rc;
    return buffer_add(&c->links.number, &number, sizeof number)
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for the links of a page");
}

void ranking_pending(struct crawler *c)
{
    c->links.pending++;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int64_t number_at(const struct crawler *c, size_t i)
{
    int64_t number;
    memcpy(&number, c->links.number.data + i * sizeof number, sizeof number);
    return number;
}

/* Sorts the links, which is also the order of the index, and removes repeated ones and those of the
 * page to itself. */
static size_t sort_links(struct crawler *c, int64_t own)
{
    struct buffer *b = &c->links.number;
    const size_t n = b->len / sizeof(int64_t);
    size_t kept = 0;
    if (n > 1)
        qsort(b->data, n, sizeof(int64_t), compare_numbers);
    for (size_t i = 0; i < n; i++) {
        const int64_t number = number_at(c, i);
        if (number != own && (kept == 0 || number != number_at(c, kept - 1)))
            memcpy(b->data + kept++ * sizeof number, &number, sizeof number);
    }
    return kept;
}

int ranking_finish(struct crawler *c, const struct frontier_url *page, deja_error *err)
{
    const uint64_t pending = c->links.pending;
    double share = 0;
    int64_t own;
    int rc;
    if (!order_counts_links(c->o->order))
        return DEJA_OK;
    rc = frontier_number(page->url, &own, err);
    const size_t n = rc == DEJA_OK ? sort_links(c, own) : 0;
    if (c->o->order == ORDER_OPIC && n + pending > 0) {
        rc = frontier_cash(c->queue, page->id, &share, err);
        share /= (double)n + (double)pending;
    }
    if (rc == DEJA_OK && share > 0 && pending > 0)
        rc = frontier_set_share(c->queue, page->id, share, err);
    for (size_t i = 0; i < n && rc == DEJA_OK; i++)
        rc = frontier_credit(c->queue, c->visit, number_at(c, i), share, raise_host, c, err);
    ranking_begin(c);
    return rc;
}

int ranking_late(struct crawler *c, const struct link *link, deja_error *err)
{
    int64_t number;
    double share = 0;
    if (!order_counts_links(c->o->order) || link->parent == 0)
        return DEJA_OK;
    int rc = frontier_number(link->url, &number, err);
    if (rc == DEJA_OK)
        rc = frontier_share(c->queue, link->parent, &share, err);
    return rc == DEJA_OK ? frontier_credit(c->queue, c->visit, number, share, raise_host, c, err)
                         : rc;
}
