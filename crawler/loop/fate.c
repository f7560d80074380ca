/* fate.c - the end of a URL: its row is done, and the log (--log) has a line about it.
 *
 * The line names the page on which the URL was first found: the row has that page's number.  Only
 * URLs in the queue have a fate.  Links that never reach it (out of scope, too deep, traps) occur
 * again on every page, and only a set of them could log each once; the summary counts them. */
#include "crawler/loop/fate.h"
#include "crawler/http/hostkey.h"
#include "tools/base/ascii.h"

static int decide(struct crawler *c, const struct frontier_url *u, struct crawl_fate *fate,
                  deja_error *err)
{
    const struct crawl_talk *talk = &c->o->talk;
    int rc = DEJA_OK;
    if (!talk->decided || hostkey_has_credentials(u->url)) /* it is offered again without them */
        return DEJA_OK;
    c->parent.len = 0;
    if (u->parent > 0)
        rc = frontier_url_of(c->queue, u->parent, &c->parent, err);
    if (rc < 0)
        return rc;
    fate->url = u->url;
    fate->parent = buffer_slice(&c->parent);
    fate->visit = (uint64_t)c->visit;
    fate->depth = u->depth;
    return talk->decided(talk->ctx, fate, err);
}

static const char *outcome_of(const struct frontier_page *p)
{
    if (p->outcome != 0)
        return "failed";
    if (p->status >= 300 && p->status != 304)
        return "redirect";
    return p->revisit || p->status == 304 ? "unchanged" : "fetched";
}

int fate_page(struct crawler *c, const struct frontier_url *u, const struct frontier_page *p,
              uint64_t bytes, deja_error *err)
{
    struct crawl_fate fate = {.status = p->status,
                              .bytes = bytes,
                              .outcome = outcome_of(p),
                              .why = p->outcome ? crawl_count_name((unsigned)p->outcome) : NULL};
    const int rc = decide(c, u, &fate, err);
    return rc == DEJA_OK ? frontier_done(c->queue, u->id, p, err) : rc;
}

static int end(struct crawler *c, const struct frontier_url *u, const char *outcome,
               enum crawl_count why, deja_error *err)
{
    const struct frontier_page p = {.outcome = (int)why, .when = time(NULL)};
    struct crawl_fate fate = {.outcome = outcome, .why = crawl_count_name(why)};
    crawler_count(c, why, 1);
    c->changed = true;
    const int rc = decide(c, u, &fate, err);
    return rc == DEJA_OK ? frontier_done(c->queue, u->id, &p, err) : rc;
}

int fate_skip(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
              deja_error *err)
{
    return end(c, u, "skipped", why, err);
}

int fate_fail(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
              deja_error *err)
{
    return end(c, u, why == CRAWL_PRIVATE ? "skipped" : "failed", why, err);
}

static int drop(void *crawler, const struct frontier_url *u, deja_error *err)
{
    struct crawl_fate fate = {.outcome = "dropped", .why = "end of the visit"};
    return decide(crawler, u, &fate, err);
}

int fate_drop_all(struct crawler *c, deja_error *err)
{
    return c->o->talk.decided ? frontier_each_waiting(c->queue, drop, c, err) : DEJA_OK;
}

int fate_hand_over(struct crawler *c, deja_error *err)
{
    const struct crawl_talk *talk = &c->o->talk;
    return talk->hand_over_log ? talk->hand_over_log(talk->ctx, err) : DEJA_OK;
}
