/* segments.h - a key as a row of numbers: one for each of its segments. */
#ifndef DJ_SEGMENTS_H
#define DJ_SEGMENTS_H
#include "core/hash/hash.h"

#define DJ_MAX_SLOTS 16 /* segments that a key is cut into, at most */
#define DJ_MAX_ROW   (DJ_MAX_SLOTS + 2)

/* How keys are cut. */
struct dj_cut {
    uint32_t slots;   /* the most segments; the last one holds the rest */
    bool words;       /* at a delimiter; otherwise as URLs */
    char delimiter;   /* words: the byte between them */
    uint32_t layers;  /* words: layers they are dealt to; 0: one for each `share` of them ... */
    uint32_t share;   /* ... */
    uint32_t most;    /* ... but no more than this */
    bool query_apart; /* URLs: the last segment's number is that of its path, see below */
    bool bare;        /* URLs: segments without their slashes, and without the scheme */
};

/* A row:
 *
 *   0            number of segments n, 1 .. slots, plus 2^32 times the number of layers L that they
 *                are dealt to: segment t = 0, 1, .. goes to layer t mod L; for URLs L = n
 *   1 .. slots   hash of each segment; 0 after the last
 *   slots + 1    with query_apart: if the last segment has a query or fragment, the hash of the
 *                whole segment, and row[n] is the hash of the part before the query; otherwise 0 */
uint32_t dj_segments_row(const struct dj_cut *c);
void dj_segments_hash(const struct dj_cut *c, const struct dj_hasher *h, const deja_slice *keys,
                      size_t n, uint64_t *rows);
/* URL prefixes as the segments that every URL below them has: without the query, without a slash at
 * the end, and without the last slot, which holds the rest of a URL. */
void dj_segments_prefix(const struct dj_cut *c, const struct dj_hasher *h,
                        const deja_slice *prefix, size_t n, uint64_t *rows);

#endif
