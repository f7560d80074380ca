/* visit.c - the temporal strategy: every visit uses different hash functions.
 *
 * A crawler looks up the same URLs again in its next visit.  With the same hash functions, it
 * would lose the same pages every time.  The visit number is part of every hash (core/hash), so
 * the next visit starts with an empty filter that has different false positives: a page lost once
 * is lost again only by chance.  The probability that all of several visits lose a page is the
 * product of their loss rates.
 *
 * The next filter is sized for the keys of this visit plus an eighth.  A filter that was made with
 * k and M keeps both: m = n k M.  Any other filter keeps its rate, and k is chosen again unless it
 * was given.  Key, kind, hash, F and URL rules do not change.
 * Source: Goytil, Lundberg, "A novel spatio-temporal scheme for reducing the rate of false
 * positives in Bloom Filter based URL-caching", 2010, sections 4.2, 4.4 and 7.2.1. */
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/growth.h"
#include "filter/options.h"
#include <math.h>
#include <string.h>

#define MAX_KEYS DJ_MAX_CAPACITY

/* The number of distinct keys in the visit: stored, removed or lost.  A full filter may report
 * infinitely many lost keys. */
static double came(const deja_stats *s)
{
    const double kept = (double)s->keys + (double)s->deletions;
    return fmin(kept + (isfinite(s->lost) ? s->lost : 0), (double)MAX_KEYS);
}

/* Capacity for this many keys and an eighth more; `before` if there were none. */
static uint64_t capacity_after(double seen, uint64_t before)
{
    const double wish = ceil(seen + seen / 8);
    return seen < 1 ? before : (uint64_t)fmin(wish, (double)MAX_KEYS);
}

static int check_options(const deja_filter *f, const deja_options *o, deja_error *err)
{
    const struct dj_plan *p = &f->plan;
    if (f->read_only)
        return dj_filter_explain(f, DEJA_EINVAL, 0, err);
    if (p->visit >= DJ_MAX_VISIT)
        return dj_fail(err, DEJA_EINVAL, "visit %llu is the last one: create a new filter",
                       (ull)p->visit);
    if (o->alloc || o->flags & ~p->flags)
        return dj_fail(err, DEJA_EINVAL,
                       "alloc and flags cannot change between visits: omit them");
    const deja_options have = dj_plan_options(p);
    size_t i = 0;
    for (const deja_option *row = deja_option_at(0); row; row = deja_option_at(++i))
        if (!row->renewable && dj_option_differs(row, o, &have))
            return dj_fail(err, DEJA_EINVAL, "options.%s cannot change between visits: omit it",
                           row->name);
    return DEJA_OK;
}

/* The options of the next visit's filter: this filter's options, overridden by those that the
 * caller gives. */
static deja_options options_after(const deja_filter *f, const deja_options *o, const deja_stats *s)
{
    const struct dj_plan *p = &f->plan;
    deja_options next = dj_plan_options(p);
    size_t i = 0;
    const bool by_rule = p->multiplier > 0 && !o->memory && o->fp_rate == 0;
    /* A series cannot have a given number of bytes or hashes; a filter of its parts' kind can. */
    if (dj_kind_can(p->kind, DEJA_CAN_GROW) && (o->memory || o->multiplier != 0 || o->hashes))
        next.kind = next.part_kind;
    for (const deja_option *row = deja_option_at(0); row; row = deja_option_at(++i))
        if (row->renewable && deja_option_given(row, o))
            memcpy((char *)&next + row->offset, (const char *)o + row->offset, row->width);
    if (!o->capacity && !(o->memory && o->fp_rate != 0))
        next.capacity = dj_kind_can(p->kind, DEJA_CAN_EXPIRE) /* a window has a fixed length */
                            ? p->capacity
                            : capacity_after(came(s), p->capacity);
    if (!o->deletions && p->deletions)
        next.deletions = capacity_after((double)s->deletions, p->deletions);
    if (!o->hashes && p->own_k)
        next.hashes = p->shape.k;
    if (o->multiplier == 0 && by_rule)
        next.multiplier = p->multiplier;
    if (o->fp_rate == 0 && !o->memory && next.multiplier == 0)
        next.fp_rate = dj_plan_rate_for(p, &next);
    next.key = f->key;
    return next;
}

/* The share of its pages that a visit lost. */
static double loss_rate(const deja_stats *s)
{
    const double n = came(s);
    return n > 0 ? fmax(fmin(s->lost / n, 1), 0) : 1; /* a visit without keys missed everything */
}

static struct dj_past past_after(const deja_filter *f, const deja_stats *s)
{
    const struct dj_past *before = &f->plan.past;
    return (struct dj_past){
        .visits = before->visits + 1,
        .missed = (before->visits ? before->missed : 1) * loss_rate(s),
        .last_lost = isfinite(s->lost) ? s->lost : came(s),
        .last_distinct = (uint64_t)(came(s) + 0.5),
    };
}

/* A size that is computed from counts, not given by the caller, is limited to a multiple of the
 * current size, because a file of 5 kB can claim any number of keys. */
static int check_size(const deja_filter *f, const deja_options *asked, const deja_options *opt,
                      const struct dj_plan *plan, deja_error *err)
{
    const uint64_t body = dj_part_body_len(&plan->shape) * dj_plan_held(plan);
    const uint64_t removals = dj_part_body_len(&plan->removal);
    if (asked->memory)
        return DEJA_OK;
    if (!asked->capacity && !dj_renewal_fits(f, body))
        return dj_fail(err, DEJA_EINVAL,
                       "the next visit would take %.0f MB for %llu keys, too many for a filter of "
                       "this size: give the number to expect (options.capacity)",
                       (double)body / 1e6, (ull)opt->capacity);
    if (plan->deletions && !asked->deletions && !dj_renewal_fits(f, removals))
        return dj_fail(
            err, DEJA_EINVAL,
            "the next visit would take %.0f MB for %llu deletions, too many for a filter of this "
            "size: give the number to expect (options.deletions)",
            (double)removals / 1e6, (ull)opt->deletions);
    return DEJA_OK;
}

int deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err)
{
    deja_options wish;
    deja_stats s = DEJA_STATS_INIT;
    struct dj_plan plan;
    deja_filter *after = NULL;
    int rc = dj_options_read(next, &wish, err);
    if (rc == DEJA_OK)
        rc = check_options(f, &wish, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &s, err);
    if (rc < 0)
        return rc;
    const deja_options opt = options_after(f, &wish, &s);
    rc = dj_plan_resolve(&opt, &plan, err);
    if (rc == DEJA_OK)
        rc = dj_plan_refuse_built(&plan, err);
    if (rc < 0)
        return rc;
    rc = check_size(f, &wish, &opt, &plan, err);
    if (rc < 0)
        return rc;
    if (plan.kind->next_visit)
        plan.kind->next_visit(f, &plan);
    plan.profile = f->plan.profile;
    plan.url_rules = f->plan.url_rules;
    plan.seeded = f->plan.seeded;
    plan.visit = f->plan.visit + 1;
    plan.past = past_after(f, &s);
    rc = f->owner->next(f, &plan, &after, err);
    if (rc < 0)
        return rc;
    rc = f->owner->replace(f, after, err);
    deja_filter_free(after);
    return rc;
}
