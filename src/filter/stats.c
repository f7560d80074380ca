/* stats.c - reports statistics of a filter, with or without reading its body.
 *
 * Counting bits reads all memory of the filter.  A server that reports the number of keys with
 * every request cannot wait for that, so the body is read only on request. */
#include "core/base/status.h"
#include "filter/dates.h"
#include "filter/filter.h"
#include "kinds/account.h"
#include "kinds/sources.h"
#include <math.h>
#include <string.h>

/* The part whose k is reported: the last of a series, otherwise the first. */
static uint32_t newest(const deja_filter *f)
{
    return dj_kind_can(f->plan.kind, DEJA_CAN_GROW) ? dj_series_newest(f) : 0;
}

/* What a scalable filter has from others. */
static void describe_merged(const deja_filter *f, deja_stats *s)
{
    s->other_keys = f->plan.others.n;
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (f->part[i]->origin) {
            s->merged_parts++;
            s->merged_rate += f->part[i]->fp_rate;
        }
}

static void describe(const deja_filter *f, deja_stats *s)
{
    s->kind = f->plan.kind->number;
    s->hashes = f->part[newest(f)]->shape.k;
    s->cache_lines = dj_shape_key_lines(&f->part[newest(f)]->shape);
    s->filters = f->plan.filters;
    s->machine = f->plan.machine;
    s->key_check = dj_key_derive(f->key, DJ_STREAM_CHECK, 0);
    s->hash = f->plan.hash;
    s->part_kind = f->plan.part_kind->number;
    s->parts = f->n_parts;
    s->fp_rate = f->plan.fp_rate;
    s->offered = atomic_load_explicit(&f->offered, memory_order_relaxed);
    s->visit = f->plan.visit;
    s->syncs = f->syncs;
    s->profile = f->plan.profile;
    s->url_rules = f->plan.url_rules;
    s->unclean = f->unclean;
    s->flags = f->plan.flags;
    s->keyed = !f->plan.seeded;
    s->folds = f->plan.folds;
    s->format = f->plan.rules + UINT64_C(1);
    s->unions = f->earlier.unions;
    s->removed = atomic_load_explicit(&f->removed, memory_order_relaxed);
    s->refused = atomic_load_explicit(&f->refused, memory_order_relaxed);
    s->hidden = atomic_load_explicit(&f->hidden, memory_order_relaxed);
    s->counter_bits = f->plan.shape.counter_bits;
    s->generations = dj_kind_can(f->plan.kind, DEJA_CAN_EXPIRE) ? f->plan.generations : 0;
    s->window_seconds = f->plan.window_seconds;
    s->growth = dj_kind_can(f->plan.kind, DEJA_CAN_GROW) ? f->plan.growth : 0;
    s->tightening = s->growth ? f->plan.tightening : 0;
    s->visits_before = f->plan.past.visits;
    s->last_lost = f->plan.past.last_lost;
    s->last_distinct = f->plan.past.last_distinct;
    describe_merged(f, s);
}

/* All F filters have the same keys, and part 0 of a layered filter counts whole keys. */
static void count_first(const deja_filter *f, deja_stats *s)
{
    const struct dj_part *p = f->part[0];
    s->capacity = p->capacity;
    s->keys = s->entries = dj_part_keys(p);
    s->excess = s->keys > p->capacity ? s->keys - p->capacity : 0;
}

/* Statistics that do not depend on the body. */
static deja_stats known(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    describe(f, &s);
    for (uint32_t i = 0; i < f->n_parts; i++)
        s.bytes += f->part[i]->body_len;
    (f->plan.kind->outline ? f->plan.kind->outline : count_first)(f, &s);
    s.fill = s.distinct = s.fp_now = s.lost = s.missed = s.fn_now = NAN;
    s.bits_expected = s.bits_sigma = NAN;
    return s;
}

/* The same plus statistics from the body.  `missed` is the product over all visits, including this
 * one, that had any keys (visit.c). */
static deja_stats counted(const deja_filter *f)
{
    const deja_stats before = known(f);
    const struct dj_past *past = &f->plan.past;
    deja_stats s = DEJA_STATS_INIT;
    describe(f, &s);
    f->plan.kind->stats(f, &s);
    dj_dates_stats(f, &s);
    const double came = (double)s.keys + (double)s.deletions + s.lost;
    s.entries = before.entries;
    s.excess = before.excess;
    s.fill = (double)s.bits_set / (double)s.bits;
    s.missed = (past->visits ? past->missed : 1) * (came > 0 ? fmin(s.lost / came, 1) : 1);
    return s;
}

uint32_t deja_filter_profile(const deja_filter *f)
{
    return f->plan.profile;
}

int deja_filter_stats(const deja_filter *f, unsigned flags, deja_stats *out, deja_error *err)
{
    if (flags & ~DEJA_STATS_BODY)
        return dj_fail_flags(err, flags & ~DEJA_STATS_BODY);
    if (!out || out->size < sizeof(size_t))
        return dj_fail(err, DEJA_EINVAL, "stats.size is not set: begin with DEJA_STATS_INIT");
    deja_stats s = flags & DEJA_STATS_BODY ? counted(f) : known(f);
    if (flags & DEJA_STATS_BODY && dj_filter_is_lost(f))
        return dj_filter_explain(f, dj_filter_lost(), 0, err);
    s.size = out->size;
    memcpy(out, &s, out->size < sizeof s ? out->size : sizeof s);
    return DEJA_OK;
}

int deja_filter_layer(const deja_filter *f, uint32_t number, deja_layer *out, deja_error *err)
{
    deja_layer l = DEJA_LAYER_INIT;
    if (!dj_kind_can(f->plan.kind, DEJA_CAN_LAYER))
        return dj_filter_explain(f, DEJA_ENOTSUP, DEJA_CAN_LAYER, err);
    if (!out || out->size < sizeof(size_t))
        return dj_fail(err, DEJA_EINVAL, "layer.size is not set: begin with DEJA_LAYER_INIT");
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        if (p->layer != number)
            continue;
        const struct dj_account a = dj_account_of(f, p, false);
        l.segments += a.count;
        l.capacity += p->capacity;
        l.bytes += p->body_len;
        l.hashes = p->shape.k;
        l.parts++;
        l.fp_now = dj_either(l.fp_now, a.rate);
    }
    if (l.parts == 0)
        return dj_fail(err, DEJA_EINVAL, "number is %u: the filter has no such layer", number);
    l.size = out->size;
    memcpy(out, &l, out->size < sizeof l ? out->size : sizeof l);
    return DEJA_OK;
}
