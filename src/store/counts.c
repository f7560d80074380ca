/* counts.c - what a filter has counted, to and from a record of its file.
 *
 * Counts change with every add and are written by a sync.  A file that was not synced has those of
 * its last sync, and bits that tell of more keys: recounting estimates the keys from these.  A
 * writer does it when it opens such a file; a reader never opens it that way, as it would have to
 * read all of it, but what a reader passes on sealed, a copy or an export, has to know its keys.
 */
#include "store/file.h"
#include <stdatomic.h>
#include <time.h>

static void count_keys(const deja_filter *f, struct dj_record *r)
{
    const bool window = f->plan.kind == DEJA_WINDOW;
    for (uint32_t i = 0; i < f->n_parts; i++)
        r->keys[window ? DJ_TOLD_NEW : i] = atomic_load(&f->part[i]->keys);
    for (uint32_t i = 0; window && i < f->part[0]->lines; i++)
        r->keys[i] = atomic_load(&f->window.keys[i]);
}

void dj_record_of(const deja_filter *f, enum dj_state state, struct dj_record *r)
{
    *r = (struct dj_record){
        .state = state,
        .offered = atomic_load(&f->offered),
        .time = (uint64_t)time(NULL),
        .syncs = f->syncs + (state == DJ_SEALED),
        .carried = f->carried,
        .removed = atomic_load(&f->removed),
        .refused = atomic_load(&f->refused),
        .hidden = atomic_load(&f->hidden),
        .familiar = atomic_load(&f->familiar),
        .window = f->window,
    };
    if (f->plan.kind == DEJA_LAYERED) {
        r->carried.keys = atomic_load(&f->part[0]->keys);
        r->carried.lost = dj_layering_lost(f);
    }
    count_keys(f, r);
}

void dj_counts_take(deja_filter *f, const struct dj_record *r)
{
    f->offered = r->offered;
    f->carried = r->carried;
    f->removed = r->removed;
    f->refused = r->refused;
    f->hidden = r->hidden;
    f->familiar = r->familiar;
    if (f->plan.kind == DEJA_LAYERED) {
        dj_layering_set_lost(f, r->carried.lost);
        f->carried = (struct dj_carried){0};
    }
    if (f->plan.kind == DEJA_WINDOW) {
        dj_window_adopt(f, &r->window);
        f->part[0]->keys = r->keys[DJ_TOLD_NEW];
        return;
    }
    for (uint32_t i = 0; i < f->n_parts; i++)
        f->part[i]->keys = r->keys[i];
}

static uint64_t recount_part(const struct dj_part *p)
{
    if (p->shape.kind == DEJA_STATIC)
        return p->fuse.keys;
    const double found = dj_shape_keys(&p->shape, (double)p->ops->bits_set(p));
    return found < (double)UINT64_MAX ? (uint64_t)found : p->capacity;
}

void dj_counts_recount(const deja_filter *f, struct dj_record *r)
{
    if (f->plan.kind != DEJA_WINDOW) {
        for (uint32_t i = 0; i < f->n_parts; i++)
            r->keys[i] = recount_part(f->part[i]);
        return;
    }
    dj_window_recount(f, &r->window, &r->keys[DJ_TOLD_NEW]);
    for (uint32_t i = 0; i < f->part[0]->lines; i++)
        r->keys[i] = r->window.keys[i];
}

void dj_counts_pass_on(const deja_filter *f, struct dj_record *r)
{
    dj_record_of(f, DJ_SEALED, r);
    if (f->unclean && f->read_only)
        dj_counts_recount(f, r);
}
