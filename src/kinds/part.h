/* part.h - a part of a filter: one flat body and the numbers that describe it.
 *
 * A filter is a list of parts: one for a plain kind, F for the spatial strategy, one for each
 * growth of a scalable filter or of a layer.  A part knows only bits and hashes; the `body` of its
 * kind provides the operations (kind.h).  The filter's kind decides whether one part or all parts
 * must have a key.  Bodies contain no pointers and are little-endian, so memory, files and the
 * network hold the same bytes. */
#ifndef DJ_PART_H
#define DJ_PART_H
#include "core/base/linelock.h"
#include "core/base/writer.h"
#include "core/bits/block_lines.h"
#include "core/bits/counters.h"
#include "core/bits/fuse.h"
#include "core/math/sizing.h"
#include "deja.h"
#include "kinds/pieces.h"
#include <stdatomic.h>

struct dj_kind;

struct dj_part {
    const struct dj_kind *kind;
    struct dj_shape shape;
    uint64_t capacity; /* number of keys that it is sized for ... */
    double fp_rate;    /* ... at this rate */
    uint32_t layer;    /* layered: 1, 2, ..; 0: the XOR layer */
    uint32_t step;     /* scalable: its place in the series, if origin is 0 */
    uint32_t origin;   /* scalable: 0, or 1 + the source of a merged part (sources.h) */
    uint64_t salt;     /* makes this part's hashes differ from the first part's; 0: none */
    uint32_t stride;   /* numbers per key */
    uint32_t marked;   /* exact: 1 if full lines have marks (slots.h), otherwise 0 */
    uint8_t *body;     /* body_len bytes, 64-aligned */
    uint64_t body_len;
    struct dj_pieces *pieces; /* in a file with a piece table, for the writer; otherwise NULL */
    const struct dj_block_kernel *kernel; /* blocked, window */
    struct dj_fuse fuse;                  /* static only */
    struct dj_blocks blocks;              /* blocked, window */
    uint32_t lines, newest;               /* window: generations; the one that takes keys */
    struct dj_counters counters;          /* spectral */
    const struct dj_counters_kernel *counters_kernel;
    bool minimal;      /* spectral: minimal increase */
    atomic_uint today; /* dated: the day of the current adds */
    /* Threads that add write these, so they are in other cache lines than what all threads read. */
    atomic_bool line_lock[DJ_LINE_LOCKS]; /* spectral, dated */
    _Atomic uint64_t keys;                /* adds that answered "new" */
    atomic_bool adding; /* blocked, spread counters: one of several threads adds */
};

/* Gives the part its body: zeros if it is new, otherwise the contents of a file. */
void dj_part_attach(struct dj_part *p, uint8_t *body);
uint64_t dj_part_body_len(const struct dj_shape *s);
/* bits_set of kinds whose body consists of bits. */
uint64_t dj_part_count_bits(const struct dj_part *p);
/* Word i of the body. */
uint64_t dj_part_word(const struct dj_part *p, uint64_t i);
/* Adds the keys of `from`, which has the same size after some folds and the same hashes. */
void dj_part_unite(struct dj_part *into, const struct dj_part *from, int folds);
/* Counts the answers "new".  shared: other threads may be adding to this part. */
void dj_part_count_new(struct dj_part *p, const uint8_t *is_new, size_t n, bool shared);
/* Call after adds to this part: marks what they changed in a file. */
static inline void dj_part_mark(const struct dj_part *p, const uint64_t *hash,
                                const uint8_t *is_new, size_t n)
{
    if (p->pieces)
        dj_pieces_added(p, hash, is_new, n);
}
uint64_t dj_part_keys(const struct dj_part *p);

#endif
