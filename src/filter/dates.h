/* dates.h - filters that know when a key was seen. */
#ifndef DJ_DATES_H
#define DJ_DATES_H
#include "core/bits/dated.h"
#include "kinds/kind.h"

static inline bool dj_dates_has(const deja_filter *f)
{
    return f->plan.flags & DEJA_DATES;
}
/* The part of a hash that the filter uses. */
static inline uint64_t dj_dates_identity(const deja_filter *f, uint64_t hash)
{
    return dj_dates_has(f) ? hash & DJ_DATED_MASK : hash;
}
/* Call before an add: tells the parts what day it is. */
void dj_dates_begin(deja_filter *f);
/* Whether a key with these days is new or, if `again` is not 0, was last seen that many days
 * ago. */
static inline bool dj_dates_due(deja_days days, uint32_t again, uint32_t today)
{
    return !days.last || (again && (uint64_t)days.last + again <= today);
}
/* The days of hashes; the caller has checked that the filter has dates. */
void dj_dates_look(const deja_filter *f, const uint64_t *hash, size_t n, deja_days *days);
/* Adds the keys of `from`, which has the same hash functions: a key in both keeps its earliest
 * first and its latest last day. */
int dj_dates_merge(deja_filter *into, const deja_filter *from, deja_error *err);
/* Fills the fields of the statistics about days. */
void dj_dates_stats(const deja_filter *f, deja_stats *s);

#endif
