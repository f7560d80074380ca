/* counters.h - counters of 4, 8, 16 or 32 bits, k of them in one cache line for each key.
 *
 * A line is 16 lanes of 32 bits, as a block of block.h is; a lane holds 8, 4, 2 or 1 counters, the
 * first one in its low bits.  A 64-bit hash h takes one counter in each of k lanes of one line:
 *
 *   line      floor(h L / 2^64), with L lines in the body
 *   g         h * DJ_GOLDEN mod 2^64
 *   4 bits    the lanes of block.h for this g, and in lane l the counter
 *             (uint32)(g >> 32) * odd[l] >> 29: what SIMD does in a few instructions
 *   wider     drawn from g like digits: with x = g, for each of k draws the lane number
 *             floor(x r / 2^64) of the r that are left, x = x r; then in it, of its c counters,
 *             floor(x c / 2^64), x = x c.  Few wide counters make few patterns, and the 256 lane
 *             sets of block.h would repeat themselves.
 *
 * Counters stop at their maximum and never wrap.  One that is there stays there: it no longer
 * knows how many keys it stands for.
 *
 * Loads and stores are relaxed atomics of 64-bit words, so that looking up beside a writer is
 * well defined; writers of one line have to take turns. */
#ifndef DJ_COUNTERS_H
#define DJ_COUNTERS_H
#include "core/bits/block.h"
#include <stdbool.h>

struct dj_counters {
    uint8_t *body;             /* 64-aligned */
    uint64_t n_lines;          /* L */
    uint32_t bits;             /* of a counter: 4, 8, 16 or 32 */
    uint32_t k;                /* counters a key, 1 .. 16 */
    const uint32_t *lane_sets; /* dj_block_lane_sets for k */
};

static inline uint8_t *dj_counters_line(const struct dj_counters *c, uint64_t hash)
{
    return c->body + DJ_BLOCK_BYTES * dj_mulhi(hash, c->n_lines);
}

/* contains: found[i] = 1 when no counter of hash i is 0.
 * add: one up for each of the k, and is_new[i] = 1 when one was 0; the caller is the only writer.
 * `ahead`: as block.h has it.  All kernels leave the same bytes. */
typedef void dj_counters_batch(const struct dj_counters *c, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *answer);
struct dj_counters_kernel {
    const char *name;
    dj_counters_batch *contains, *add;
};
extern const struct dj_counters_kernel dj_counters_portable; /* any width */
extern const struct dj_counters_kernel dj_counters_avx2;     /* 4 bits */
/* The fastest one for this width that this processor runs. */
const struct dj_counters_kernel *dj_counters_best(uint32_t bits);

/* The smallest of the k counters: how often the key came, or more. */
uint32_t dj_counters_min(const struct dj_counters *c, uint64_t hash);
/* One up, each of the k or, with `minimal`, those that are at the minimum.  True when one was 0.
 */
bool dj_counters_up(const struct dj_counters *c, uint64_t hash, bool minimal);
/* One down, each of the k that is not at its maximum.  False, with nothing changed, when one is 0
 * or all are at their maximum.  *gone: the key is no longer found. */
bool dj_counters_down(const struct dj_counters *c, uint64_t hash, bool *gone);

struct dj_counters_sum {
    uint64_t used;      /* not 0 */
    uint64_t saturated; /* at their maximum */
    uint64_t largest;
};
struct dj_counters_sum dj_counters_survey(const struct dj_counters *c);

#endif
