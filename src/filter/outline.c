/* outline.c - what a filter knows of itself without reading its body.
 *
 * stats.c counts bits, which takes as long as reading all memory of the filter.  A server that is
 * asked for the number of keys on every request needs an answer at once. */
#include "kinds/deja_filter.h"

static uint64_t beyond(uint64_t keys, uint64_t capacity)
{
    return keys > capacity ? keys - capacity : 0;
}

/* A generation that is filled by time may get more keys than its share. */
static uint64_t beyond_window(const deja_filter *f)
{
    const uint64_t quota = dj_plan_window_quota(&f->plan);
    const unsigned living = dj_window_living(f);
    uint64_t sum = 0;
    for (uint32_t l = 0; l < f->part[0]->lines; l++)
        if (living >> l & 1)
            sum += beyond(atomic_load_explicit(&f->window.keys[l], memory_order_relaxed), quota);
    return sum;
}

/* Keys and capacity of all parts: a series has its keys in one of them each, F filters have the
 * same keys; the first part is that of whole keys (layered), or of entries, from which deletions
 * are taken away (paired), though not the room that they took. */
static void count_parts(const deja_filter *f, deja_outline *o)
{
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
        o->bytes += p->body_len;
        if (i == 0 || f->plan.kind == DEJA_SCALABLE) {
            o->capacity += p->capacity;
            o->entries += keys;
            o->keys += keys;
            if (f->plan.kind != DEJA_WINDOW && f->plan.kind != DEJA_STATIC)
                o->excess += beyond(keys, p->capacity);
        } else if (f->plan.kind == DEJA_PAIRED) {
            o->keys -= keys < o->keys ? keys : o->keys;
        }
    }
}

int deja_filter_outline(const deja_filter *f, deja_outline *out)
{
    if (!out || out->size < sizeof(size_t))
        return DEJA_EINVAL;
    const struct dj_plan *plan = &f->plan;
    const bool grows = plan->kind == DEJA_SCALABLE;
    deja_outline o = {
        .size = out->size,
        .kind = plan->kind,
        .part_kind = plan->part_kind,
        .parts = f->n_parts,
        .filters = plan->filters,
        .hash = plan->hash,
        .hashes = f->part[grows ? f->n_parts - 1 : 0]->shape.k,
        .growth = grows ? plan->growth : 0,
        .profile = plan->profile,
        .url_rules = plan->url_rules,
        .offered = atomic_load_explicit(&f->offered, memory_order_relaxed),
        .visit = plan->visit,
        .fp_rate = plan->fp_rate,
        .tightening = grows ? plan->tightening : 0,
        .flags = plan->flags,
        .keyed = !plan->seeded,
        .clock_behind = plan->kind == DEJA_WINDOW ? dj_window_behind(f) : 0,
    };
    count_parts(f, &o);
    if (plan->kind == DEJA_WINDOW)
        o.excess = beyond_window(f);
    memcpy(out, &o, out->size < sizeof o ? out->size : sizeof o);
    return DEJA_OK;
}
