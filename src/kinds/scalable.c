/* scalable.c - a filter that grows: a series of parts with tightening rates.
 *
 * When the newest part holds as many keys as it was sized for, the next one is added: growth
 * times as large, with a rate tightened so that all of them together stay under p
 * (plan.c has the formula).  Keys go to the newest part; a question goes to all.  The cost of
 * not knowing n is therefore a lookup in each part and the tighter rates, and it stays small
 * because sizes grow geometrically: 4 million keys at first, then 16, 64, 256 million.
 *
 * Growing replaces the list of parts under a writer's lock; add and contains hold it for reading.
 * Source: Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom Filters", 2007. */
#include "kinds/deja_filter.h"

uint64_t dj_scalable_room(const deja_filter *f)
{
    const struct dj_part *newest = f->part[f->n_parts - 1];
    const uint64_t keys = atomic_load_explicit(&newest->keys, memory_order_relaxed);
    return keys < newest->capacity ? newest->capacity - keys : 0;
}

int dj_scalable_grow(deja_filter *f, uint32_t parts)
{
    int rc = DEJA_OK;
    pthread_rwlock_wrlock(&f->growing);
    if (f->n_parts == parts) { /* or another thread was here first */
        if (parts == DJ_MAX_PARTS)
            rc = DEJA_EFULL;
        else if (!dj_filter_make_parts(f, parts + 1))
            rc = DEJA_ENOMEM;
        else if (!dj_plan_part(&f->plan, parts, f->part[parts]) ||
                 dj_filter_check(f, parts + 1, NULL) < 0 || !dj_growth_fits(f, parts + 1))
            rc = DEJA_EFULL;
        else
            rc = f->owner->grow(f, parts + 1);
    }
    pthread_rwlock_unlock(&f->growing);
    return rc;
}
