/* filter.h - a filter's life. */
#ifndef DJ_FILTER_H
#define DJ_FILTER_H
#include "kinds/kind.h"

/* A filter with the parts of its plan and no bodies, key set, ready for an owner; NULL: out of
 * memory. */
deja_filter *dj_filter_make(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                            const deja_allocator *alloc);
/* Everything but the bodies. */
void dj_filter_unmake(deja_filter *f);
/* The parts up to n_parts have bodies now. */
void dj_filter_attached(deja_filter *f, uint32_t n_parts);
/* Exchange what two filters of one owner are, bodies included. */
void dj_filter_swap(deja_filter *a, deja_filter *b);
/* Tell the owner that the bodies will be read in order, or no longer. */
void dj_filter_walk(const deja_filter *f, bool begin);
/* Of kinds that make room as they fill: no part comes or goes between the two calls. */
void dj_filter_hold(const deja_filter *f);
void dj_filter_release(const deja_filter *f);

/* Whether the bodies went away under what was just computed from them: it is worth nothing. */
static inline bool dj_filter_is_lost(const deja_filter *f)
{
    return f->owner->is_whole && !f->owner->is_whole(f);
}
/* DEJA_EIO, and errno, for such a filter. */
int dj_filter_lost(void);
/* The status of a call on this filter, with a sentence in *err (unless NULL) if it failed;
 * capability is what DEJA_ENOTSUP refers to (explain.c). */
int dj_filter_explain(const deja_filter *f, int status, uint32_t capability, deja_error *err);
/* Tell the owner before the first change since the last sync. */
static inline int dj_filter_begin_writing(deja_filter *f)
{
    return atomic_load_explicit(&f->writing, memory_order_acquire) ? DEJA_OK
                                                                   : f->owner->begin_writing(f);
}
/* The key that options ask for: given, from a seed, or random. */
int dj_filter_key(const deja_options *opt, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* All that a new filter needs before it has an owner: options as they are known here, plan and
 * key; kinds that only a builder makes are refused. */
int dj_filter_begin(const deja_options *opt, deja_options *known, struct dj_plan *plan,
                    uint8_t key[DEJA_KEY_LEN], deja_error *err);

#endif
