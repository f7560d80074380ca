/* counters.h - counters of 4, 8, 16 or 32 bits; each key uses k counters in one cache line.
 *
 * A line is 16 lanes of 32 bits, like a block of block.h; a lane holds 8, 4, 2 or 1 counters, the
 * first one in its low bits.  A 64-bit hash h selects one counter in each of k lanes of one line:
 *
 *     line      floor(h L / 2^64), with L lines in the body
 *     g         h * DJ_GOLDEN mod 2^64
 *     4 bits    the lanes of block.h for this g, and in lane l the counter
 *               (uint32)(g >> 32) * odd[l] >> 29: a few SIMD instructions
 *     wider     drawn from g like digits: with x = g, each of k draws takes lane number
 *               floor(x r / 2^64) of the r that are left, x = x r; then, of the c counters in
 *               that lane, number floor(x c / 2^64), x = x c.  A lane has few wide counters, so
 *               the 256 lane sets of block.h would give few patterns.
 *
 * Counters saturate at their maximum and never wrap.  A saturated counter is never decremented,
 * because the number of its keys is no longer known.
 *
 * Loads and stores are relaxed atomics of 64-bit words, so a lookup concurrent with a writer is
 * well defined.  Writers of one line must take turns. */
#ifndef DJ_COUNTERS_H
#define DJ_COUNTERS_H
#include "core/bits/block.h"
#include <stdbool.h>

struct dj_counters {
    uint8_t *body;             /* 64-aligned */
    uint64_t n_lines;          /* L */
    uint32_t bits;             /* per counter: 4, 8, 16 or 32 */
    uint32_t k;                /* counters per key, 1 .. 16 */
    const uint32_t *lane_sets; /* dj_block_lane_sets for k */
};

static inline uint8_t *dj_counters_line(const struct dj_counters *c, uint64_t hash)
{
    return c->body + DJ_BLOCK_BYTES * dj_mulhi(hash, c->n_lines);
}

struct dj_counters_sum {
    uint64_t used;      /* counters above 0 */
    uint64_t saturated; /* counters at their maximum */
    uint64_t largest;
};

/* contains: found[i] = 1 if no counter of hash i is 0.
 * add: increments each of the k; is_new[i] = 1 if one was 0. The caller is the only writer.
 * `ahead` works as in block.h.  All kernels leave the same bytes.
 * survey: counts the counters of the whole body. */
typedef void dj_counters_batch(const struct dj_counters *c, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *answer);
struct dj_counters_kernel {
    const char *name;
    dj_counters_batch *contains, *add;
    struct dj_counters_sum (*survey)(const struct dj_counters *c);
};
extern const struct dj_counters_kernel dj_counters_portable; /* any width */
extern const struct dj_counters_kernel dj_counters_avx2;     /* 4 bits */
extern const struct dj_counters_kernel dj_counters_neon;     /* 4 bits */
/* The fastest kernel for this width that this processor supports. */
const struct dj_counters_kernel *dj_counters_best(uint32_t bits);

/* The smallest of the k counters: at least the number of times the key was added. */
uint32_t dj_counters_min(const struct dj_counters *c, uint64_t hash);
/* Increment each of the k counters or, if `minimal`, those at the minimum.  True if one was 0. */
bool dj_counters_up(const struct dj_counters *c, uint64_t hash, bool minimal);
/* Decrement each of the k counters that is not saturated.  Returns false and changes nothing if
 * one is 0 or all are saturated.  *gone becomes true if the key is no longer found. */
bool dj_counters_down(const struct dj_counters *c, uint64_t hash, bool *gone);

/* Adds each counter of `from`, which has the same size; sums saturate. */
void dj_counters_merge(const struct dj_counters *into, const struct dj_counters *from);

#endif
