/* part.h - one flat body and the numbers that give it meaning.
 *
 * Every filter is a list of parts: one for a plain kind, F for the spatial strategy, one for
 * each growth of a scalable filter or of a layer.  A part knows bits and hashes; which of several
 * parts has to say yes is the filter's business.  Bodies have no pointers and no host byte order,
 * so memory, file and network hold the same bytes. */
#ifndef DJ_PART_H
#define DJ_PART_H
#include "core/bits/block.h"
#include "core/bits/counters.h"
#include "core/bits/fuse.h"
#include "core/math/sizing.h"
#include "deja.h"
#include <stdatomic.h>

struct dj_part;

enum dj_removal {
    DJ_REFUSED,
    DJ_FEWER,
    DJ_GONE
}; /* DJ_GONE: the key is no longer found */

/* What a plain kind provides.  Hash i of a batch starts at hash[i * part->stride]. */
struct dj_part_ops {
    const char *name; /* as typed on the command line */
    uint32_t kind;    /* as stored in files */
    void (*init)(struct dj_part *p);
    /* Start to fetch the memory that add or contains will look at first. */
    void (*prefetch)(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add);
    /* Take keys in order; returns how many, fewer than n when the part is full.  shared: other
     * threads may be adding to this part at the same time.  ahead: the n keys that come next, or
     * hash itself; their memory is asked for on the way, one key at a time, which keeps the
     * processor's few miss buffers busy and never clogs them. */
    size_t (*add)(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                  uint8_t *is_new, bool shared);
    void (*contains)(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *found);
    /* (window: both answer with a bit for each generation that had the key.) */
    /* exact: slots in use; static: bits of slots that hold a key's fingerprint; spectral: counters
     */
    uint64_t (*bits_set)(const struct dj_part *p);
    /* Take one add of this key back, and how often it was added; NULL for kinds that cannot. */
    enum dj_removal (*remove)(struct dj_part *p, uint64_t hash, bool shared);
    uint32_t (*count)(const struct dj_part *p, uint64_t hash);
};
extern const struct dj_part_ops dj_classic_ops, dj_blocked_ops, dj_exact_ops, dj_static_ops,
    dj_spectral_ops, dj_window_ops;
/* Keys that an exact part still takes. */
uint64_t dj_exact_room(const struct dj_part *p);
const struct dj_part_ops *dj_part_ops_of(uint32_t kind); /* NULL: not a plain kind */

#define DJ_LINE_LOCKS 64 /* for the lines of a body that several threads write */

struct dj_part {
    const struct dj_part_ops *ops;
    struct dj_shape shape;
    uint64_t capacity; /* keys it is sized for */
    double fp_rate;    /* rate it was sized for */
    uint32_t layer;    /* layered: 1, 2, ..; 0: the XOR layer */
    uint64_t salt;     /* makes this part's hashes differ from the first part's; 0: none */
    uint32_t stride;   /* numbers a key */
    uint8_t *body;     /* body_len bytes, 64-aligned */
    uint64_t body_len;
    _Atomic uint64_t keys;                /* adds that answered "new" */
    const struct dj_block_kernel *kernel; /* blocked, window */
    struct dj_fuse fuse;                  /* static only */
    struct dj_blocks blocks;              /* blocked, window */
    uint32_t lines, newest;               /* window: generations, and which takes keys */
    struct dj_counters counters;          /* spectral only, as is the rest */
    const struct dj_counters_kernel *counters_kernel;
    bool minimal; /* minimal increase */
    atomic_bool line_lock[DJ_LINE_LOCKS];
};

/* Give the part its body: zeros for a new one, or what a file holds. */
void dj_part_attach(struct dj_part *p, uint8_t *body);
uint64_t dj_part_body_len(const struct dj_shape *s);
/* The bits_set of kinds whose body is nothing but bits. */
uint64_t dj_part_count_bits(const struct dj_part *p);

#endif
