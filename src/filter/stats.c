/* stats.c - what is in a filter, and what it costs: with its body read, or without.
 *
 * deja_filter_stats counts bits, which takes as long as reading all memory of the filter.  A
 * server that is asked for the number of keys on every request needs an answer at once: the
 * outline has what a filter knows without reading its body. */
#include "filter/stats.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "kinds/account.h"
#include <math.h>
#include <string.h>

/* The part whose k stands for all: the last of a series, otherwise the first. */
static uint32_t newest(const deja_filter *f)
{
    return dj_kind_can(f->plan.kind, DEJA_CAN_GROW) ? f->n_parts - 1 : 0;
}

static void describe(const deja_filter *f, deja_stats *s)
{
    s->kind = f->plan.kind->number;
    s->hashes = f->part[newest(f)]->shape.k;
    s->filters = f->plan.filters;
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
    s->key_apart = (f->plan.flags & DEJA_KEY_APART) != 0;
    s->keyed = !f->plan.seeded;
    s->folds = f->plan.folds;
    s->format = f->plan.rules + UINT64_C(1);
    s->unions = f->earlier.unions;
    s->removed = atomic_load_explicit(&f->removed, memory_order_relaxed);
    s->refused = atomic_load_explicit(&f->refused, memory_order_relaxed);
    s->hidden = atomic_load_explicit(&f->hidden, memory_order_relaxed);
    s->counter_bits = f->plan.shape.counter_bits;
    s->minimal_increase = (f->plan.flags & DEJA_MINIMAL_INCREASE) != 0;
}

/* Over all visits that saw anything, this one included (visit.c). */
static void tell_past(const struct dj_past *past, deja_stats *s)
{
    const double came = (double)s->keys + (double)s->deletions + s->lost;
    s->visits_before = past->visits;
    s->missed = (past->visits ? past->missed : 1) * (came > 0 ? fmin(s->lost / came, 1) : 1);
    s->last_lost = past->last_lost;
    s->last_distinct = past->last_distinct;
}

uint32_t deja_filter_profile(const deja_filter *f)
{
    return f->plan.profile;
}

int deja_filter_stats(const deja_filter *f, deja_stats *out)
{
    if (!out || out->size < sizeof(size_t))
        return DEJA_EINVAL;
    deja_stats s = DEJA_STATS_INIT;
    describe(f, &s);
    f->plan.kind->stats(f, &s);
    s.fill = (double)s.bits_set / (double)s.bits;
    tell_past(&f->plan.past, &s);
    if (dj_filter_is_lost(f))
        return dj_filter_lost();
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
        return dj_fail(err, DEJA_EINVAL, "there is no layer %u", number);
    l.size = out->size;
    memcpy(out, &l, out->size < sizeof l ? out->size : sizeof l);
    return DEJA_OK;
}

int dj_filter_account(const deja_filter *f, deja_stats *stats, deja_error *err)
{
    const int rc = deja_filter_stats(f, stats);
    return rc == DEJA_EIO ? deja_filter_check_file(f, err) : rc;
}

/* --- Without the body ---------------------------------------------------------- */

/* F filters have the same keys, and the first part of layers is that of whole keys. */
static void outline_first(const deja_filter *f, deja_outline *o)
{
    const struct dj_part *p = f->part[0];
    o->capacity = p->capacity;
    o->keys = o->entries = dj_part_keys(p);
    o->excess = o->keys > p->capacity ? o->keys - p->capacity : 0;
}

int deja_filter_outline(const deja_filter *f, deja_outline *out)
{
    if (!out || out->size < sizeof(size_t))
        return DEJA_EINVAL;
    const struct dj_plan *plan = &f->plan;
    deja_outline o = {
        .size = out->size,
        .kind = plan->kind->number,
        .part_kind = plan->part_kind->number,
        .parts = f->n_parts,
        .filters = plan->filters,
        .hash = plan->hash,
        .hashes = f->part[newest(f)]->shape.k,
        .profile = plan->profile,
        .url_rules = plan->url_rules,
        .offered = atomic_load_explicit(&f->offered, memory_order_relaxed),
        .visit = plan->visit,
        .fp_rate = plan->fp_rate,
        .flags = plan->flags,
        .keyed = !plan->seeded,
    };
    for (uint32_t i = 0; i < f->n_parts; i++)
        o.bytes += f->part[i]->body_len;
    (plan->kind->outline ? plan->kind->outline : outline_first)(f, &o);
    memcpy(out, &o, out->size < sizeof o ? out->size : sizeof o);
    return DEJA_OK;
}
