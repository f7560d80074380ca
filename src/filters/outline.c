/* outline.c - what a filter knows of itself without reading its body.
 *
 * stats.c counts bits, which takes as long as reading all memory of the filter.  A server that is
 * asked for the number of keys on every request needs an answer at once. */
#include "filters/filter.h"

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
        .hashes = f->part[f->n_parts - 1].shape.k,
        .growth = grows ? plan->growth : 0,
        .profile = plan->profile,
        .url_rules = plan->url_rules,
        .offered = atomic_load_explicit(&f->offered, memory_order_relaxed),
        .visit = plan->visit,
        .fp_rate = plan->fp_rate,
        .tightening = grows ? plan->tightening : 0,
        .flags = plan->flags,
        .keyed = !plan->seeded,
    };
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = &f->part[i];
        const uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
        o.bytes += p->body_len;
        o.capacity = (grows ? o.capacity : 0) + p->capacity;
        o.keys = (grows ? o.keys : 0) + keys; /* F filters have the same keys */
    }
    memcpy(out, &o, out->size < sizeof o ? out->size : sizeof o);
    return DEJA_OK;
}
