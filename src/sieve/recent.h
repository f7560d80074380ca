/* recent.h - the newest keys: an exact table in memory. */
#ifndef DJ_RECENT_H
#define DJ_RECENT_H
#include "core/base/alloc.h"
#include "sieve/fingerprint.h"

#define DJ_RECENT_WIDE 5 /* keys of a bucket */

/* One cache line. */
struct dj_bucket {
    uint64_t hash[DJ_RECENT_WIDE];
    uint32_t check[DJ_RECENT_WIDE];
    uint32_t n; /* keys in it */
};

struct dj_recent {
    struct dj_bucket *bucket;
    size_t buckets, n;
    size_t limit; /* buckets at most, unless the log has more keys */
    size_t far;   /* how many buckets any key is beyond its own, at most */
    const deja_allocator *alloc;
};

/* bytes: of the table at most, not counting the copy that dj_recent_sorted makes. */
void dj_recent_init(struct dj_recent *r, size_t bytes, const deja_allocator *alloc);
void dj_recent_fini(struct dj_recent *r);
/* Bytes of table that fit into a share of memory, with the copy of dj_recent_sorted. */
size_t dj_recent_fit(uint64_t share);
/* Keys that a table of the largest size can hold. */
size_t dj_recent_most(const struct dj_recent *r);
/* Makes room for n more keys: DEJA_ENOMEM, or DEJA_EFULL beyond the limit unless `beyond`. */
int dj_recent_reserve(struct dj_recent *r, size_t n, bool beyond);
bool dj_recent_has(const struct dj_recent *r, const deja_fingerprint *key);
/* Adds a key, for which there is room; false if it is there already. */
bool dj_recent_add(struct dj_recent *r, const deja_fingerprint *key);
/* Takes back the newest add.  Only in reverse order and before the next dj_recent_reserve, so that
 * no other key depends on its place. */
void dj_recent_undo(struct dj_recent *r, const deja_fingerprint *key);
void dj_recent_prefetch(const struct dj_recent *r, const deja_fingerprint *key);
/* Returns a sorted copy of the n keys, to be freed with dj_free(n * sizeof(deja_fingerprint)); NULL
 * if out of memory. */
deja_fingerprint *dj_recent_sorted(const struct dj_recent *r);
/* Removes all keys, and the table. */
void dj_recent_clear(struct dj_recent *r);

#endif
