/* filter.h - makes, swaps and frees filters; handles their errors and locks. */
#ifndef DJ_FILTER_H
#define DJ_FILTER_H
#include "kinds/kind.h"

/* Makes a filter with the parts of its plan, but without bodies and an owner; NULL if out of
 * memory. */
deja_filter *dj_filter_make(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                            const deja_allocator *alloc);
/* Frees everything except the bodies. */
void dj_filter_unmake(deja_filter *f);
/* Call when the first n_parts parts have bodies. */
void dj_filter_attached(deja_filter *f, uint32_t n_parts);
/* Exchanges the contents of two filters of one owner, including their bodies. */
void dj_filter_swap(deja_filter *a, deja_filter *b);
/* Tells the owner that the bodies will be read in order, or no longer. */
void dj_filter_walk(const deja_filter *f, bool begin);
/* Between these two calls, a filter neither grows nor turns. */
void dj_filter_hold(const deja_filter *f);
void dj_filter_release(const deja_filter *f);

/* True if the file was truncated or overwritten: discard everything computed from the bodies. */
static inline bool dj_filter_is_lost(const deja_filter *f)
{
    return f->owner->is_whole && !f->owner->is_whole(f);
}
/* For such a filter: sets errno and returns DEJA_EIO. */
int dj_filter_lost(void);
/* Returns the status of a call on this filter; if it failed, *err (unless NULL) gets a sentence.
 * capability is the one that DEJA_ENOTSUP refers to (explain.c). */
int dj_filter_explain(const deja_filter *f, int status, uint32_t capability, deja_error *err);
/* Call before a change: notifies the owner of the first change since the last sync.  The change
 * may affect all pieces of the bodies (kinds/pieces.h) ... */
int dj_filter_begin_writing(deja_filter *f);
/* ... or it is an add, which marks those that it affects, if the kind can. */
static inline int dj_filter_begin_adding(deja_filter *f)
{
    if (!f->plan.kind->marks || !f->plan.part_kind->body.mark)
        return dj_filter_begin_writing(f);
    return atomic_load_explicit(&f->writing, memory_order_acquire) ? DEJA_OK
                                                                   : f->owner->begin_writing(f);
}
/* Makes the key that the options ask for: given, derived from a seed, or random. */
int dj_filter_key(const deja_options *opt, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Prepares a new filter before it has an owner: the options that this version knows, the plan and
 * the key.  Refuses kinds that only a builder makes. */
int dj_filter_begin(const deja_options *opt, deja_options *known, struct dj_plan *plan,
                    uint8_t key[DEJA_KEY_LEN], deja_error *err);

#endif
