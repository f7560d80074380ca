/* counts.c - copies the counts of a filter to and from a sync record.
 *
 * Counts change with every add; a sync writes them.  A file that was not synced has the counts of
 * its last sync but also bits of later keys; a recount estimates the number of keys from the bits.
 * A writer recounts when it opens such a file.  A reader does not, because it would have to read
 * the whole file; it recounts only for a copy or an export, which are sealed and need correct
 * counts. */
#include "filter/counts.h"
#include <time.h>

void dj_record_of(const deja_filter *f, enum dj_state state, struct dj_record *r)
{
    *r = (struct dj_record){
        .state = state,
        .offered = atomic_load(&f->offered),
        .time = (uint64_t)time(NULL),
        .syncs = f->syncs + (state == DJ_SEALED),
        .earlier = f->earlier,
        .removed = atomic_load(&f->removed),
        .refused = atomic_load(&f->refused),
        .hidden = atomic_load(&f->hidden),
        .familiar = atomic_load(&f->familiar),
    };
    for (uint32_t i = 0; i < f->n_parts; i++)
        r->keys[i] = atomic_load(&f->part[i]->keys);
    if (f->plan.kind->to_record)
        f->plan.kind->to_record(f, r);
}

void dj_counts_take(deja_filter *f, const struct dj_record *r)
{
    f->offered = r->offered;
    f->earlier = r->earlier;
    f->removed = r->removed;
    f->refused = r->refused;
    f->hidden = r->hidden;
    f->familiar = r->familiar;
    for (uint32_t i = 0; i < f->n_parts; i++)
        f->part[i]->keys = r->keys[i];
    if (f->plan.kind->from_record)
        f->plan.kind->from_record(f, r);
}

static uint64_t recount_part(const struct dj_part *p)
{
    const double found = dj_shape_keys(&p->shape, (double)p->kind->body.bits_set(p));
    return found < (double)UINT64_MAX ? (uint64_t)found : p->capacity;
}

void dj_counts_recount(const deja_filter *f, struct dj_record *r)
{
    if (f->plan.kind->recount) {
        f->plan.kind->recount(f, r);
        return;
    }
    for (uint32_t i = 0; i < f->n_parts; i++)
        r->keys[i] = recount_part(f->part[i]);
}

void dj_counts_pass_on(const deja_filter *f, struct dj_record *r)
{
    dj_record_of(f, DJ_SEALED, r);
    if (f->unclean && f->read_only)
        dj_counts_recount(f, r);
}
