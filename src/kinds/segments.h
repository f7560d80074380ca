/* segments.h - turns a key into a row of numbers: one for each of its segments. */
#ifndef DJ_SEGMENTS_H
#define DJ_SEGMENTS_H
#include "core/hash/hash.h"

#define DJ_MAX_SLOTS 16 /* the most segments of a key */
#define DJ_MAX_ROW   (DJ_MAX_SLOTS + 2)

/* How keys are split. */
struct dj_cut {
    uint32_t slots;   /* the most segments; the last one holds the rest */
    bool words;       /* split at a delimiter; otherwise as URLs */
    char delimiter;   /* words: the byte between them */
    uint32_t layers;  /* words: number of layers; 0: one layer for each `share` words ... */
    uint32_t share;   /* ... */
    uint32_t most;    /* ... but at most this many layers */
    bool query_apart; /* URLs: hash the path of the last segment separately, see below */
    bool bare;        /* URLs: segments without slashes, and without the scheme */
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
/* The same for URL prefixes.  A row has only the segments that every URL below the prefix has: no
 * query, no slash at the end, and not the last slot, which holds the rest of a URL. */
void dj_segments_prefix(const struct dj_cut *c, const struct dj_hasher *h,
                        const deja_slice *prefix, size_t n, uint64_t *rows);

#endif
