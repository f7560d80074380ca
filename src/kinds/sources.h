/* sources.h - the secret keys behind the parts of a merged filter.
 *
 * Bits can only be combined if both filters hash every key in the same way.  Filters with
 * different secret keys, visits or rules do not, but a series of their parts still finds every
 * key: a key is hashed once for each source, and each part is queried with the hash of its own
 * source.
 *
 * Source 0 is the filter's own key; sources 1, 2, .. are plan.others.  The row of a key has one
 * hash for each.  New keys always go to parts of source 0. */
#ifndef DJ_SOURCES_H
#define DJ_SOURCES_H
#include "kinds/kind.h"

static inline uint32_t dj_source_of(const struct dj_part *p)
{
    return p->origin ? p->origin - 1 : 0;
}
/* Source i of a filter. */
struct dj_source dj_source_at(const deja_filter *f, uint32_t i);
bool dj_source_equal(const struct dj_source *a, const struct dj_source *b);

/* What hashes keys for the sources in `others`, in *out, which is NULL if there are none; false: out of
 * memory. */
bool dj_sources_make(const deja_filter *f, const struct dj_others *others, struct dj_hasher **out);
void dj_sources_free(const deja_filter *f, struct dj_hasher *other, uint32_t n);
/* Rows of hashes: hash i of a key comes from source i. */
void dj_sources_hash(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *row);

/* The newest part of a scalable filter's own series, and how many parts that series has. */
uint32_t dj_series_newest(const deja_filter *f);
uint32_t dj_series_len(const deja_filter *f);

#endif
