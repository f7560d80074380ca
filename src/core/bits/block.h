/* block.h - 512-bit blocks: set and test k bits of one cache line.
 *
 * A block is 16 lanes of 32 bits.  With B blocks in the body, the 64-bit hash h of a key gives
 *
 *   block       floor(h B / 2^64)                        its high bits
 *   g           h * DJ_BLOCK_MULTIPLIER mod 2^64         mixes the low bits upward
 *   lanes       table[g >> 24 & 255]                     which k of the 16 lanes, as a 16-bit mask
 *   bit         (uint32)(g >> 32) * odd[lane] >> 27      in each of these lanes
 *
 * SIMD sets or tests one bit in each of k different lanes in a few instructions.  The lanes are a
 * (nearly) random subset for each key: if all keys used the same k lanes, the others would stay
 * empty, and if every key used adjacent lanes, crowding would raise the rate by a fifth.
 *
 * A body can also hold several filters of one size as *lines*: block b of every filter is stored
 * contiguously, line 0 first.  One pattern then looks up a key in all of them, in adjacent cache
 * lines of one page.
 *
 * A kernel is a set of functions over n hashes of one body.  All kernels set the same bits and
 * give the same answers as the portable one. */
#ifndef DJ_BLOCK_H
#define DJ_BLOCK_H
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DJ_BLOCK_BYTES      64
#define DJ_BLOCK_MULTIPLIER DJ_GOLDEN
#define DJ_LANE_SETS        256
#define DJ_BLOCK_LINES      8 /* at most, so that a byte has one bit for each */

struct dj_blocks {
    uint8_t *body;             /* 64-aligned */
    uint64_t n_blocks;         /* B */
    const uint32_t *lane_sets; /* dj_block_lane_sets for k */
    uint32_t lines;            /* interleaved filters; contains and add support only one */
    uint32_t key_lines;        /* blocks of a key (block_lines.h); kernels use only the first */
};

/* contains: found[i] = 1 if all bits of hash i are set.
 * add: sets them; is_new[i] = 1 if one was not set before.  The caller is the only writer.
 * Adding a present key writes nothing, so repeats leave no cache line and no page of a file
 * dirty.
 * Both expect the blocks of `hash` to be in the cache.  For each finished key they prefetch a
 * block for one of the n hashes in `ahead`: evenly spread misses overlap best.  A caller that has
 * no more keys passes `hash` itself. */
typedef void dj_block_contains(const struct dj_blocks *b, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *found);
typedef void dj_block_add(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *is_new);
/* find_lines: bit l of found[i] is 1 if all bits of hash i are set in line l.
 * add_line: does the same, and then sets the bits in one given line, as add does. */
typedef void dj_block_find_lines(const struct dj_blocks *b, const uint64_t *hash,
                                 const uint64_t *ahead, size_t n, uint8_t *found);
typedef void dj_block_add_line(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *found);
/* find_bodies: bit j of having[i] is 1 if all bits of hash i are set in body j; each body has its
 * own size and k.  The part that does not depend on k is computed once for all bodies. */
#define DJ_BLOCK_BODIES 32 /* at most */
typedef void dj_block_find_bodies(const struct dj_blocks *const *bodies, uint32_t n_bodies,
                                  const uint64_t *hash, const uint64_t *ahead, size_t n,
                                  uint32_t *having);
struct dj_block_kernel {
    const char *name;
    dj_block_contains *contains;
    dj_block_add *add;
    dj_block_find_lines *find_lines;
    dj_block_add_line *add_line;
    dj_block_find_bodies *find_bodies;
};

extern const struct dj_block_kernel dj_block_portable;
extern const struct dj_block_kernel dj_block_avx2;
extern const struct dj_block_kernel dj_block_avx512;
extern const struct dj_block_kernel dj_block_neon;
extern const uint32_t dj_block_odd[16]; /* the multipliers of the lanes */

/* The fastest kernel that this processor supports. */
const struct dj_block_kernel *dj_block_best(void);
/* Supported kernel number i, fastest first; NULL past the end. */
const struct dj_block_kernel *dj_block_at(size_t i);

/* The same as a kernel's add_line, for any number of concurrent writers. */
dj_block_add_line dj_block_add_line_shared;

/* The 256 lane masks for k: 16 drawn subsets (a Fisher-Yates shuffle of the lanes, driven by
 * SplitMix64), each in its 16 rotations, so that every lane is used equally often.  They are built
 * once and shared by all filters, so a server with thousands of filters keeps them in the
 * cache. */
const uint32_t *dj_block_lane_sets(uint32_t k);

static inline uint8_t *dj_block_of(const struct dj_blocks *b, uint64_t hash)
{
    return b->body + DJ_BLOCK_BYTES * dj_mulhi(hash, b->n_blocks);
}

/* The first line of the block, in a body of several filters. */
static inline uint8_t *dj_block_lines_of(const struct dj_blocks *b, uint64_t hash)
{
    return b->body + (size_t)DJ_BLOCK_BYTES * b->lines * dj_mulhi(hash, b->n_blocks);
}

static inline void dj_block_prefetch_lines(const struct dj_blocks *b, uint64_t hash)
{
    const uint8_t *first = dj_block_lines_of(b, hash);
    for (uint32_t l = 0; l < b->lines; l++)
        DJ_PREFETCH(first + (size_t)DJ_BLOCK_BYTES * l);
}

static inline void dj_block_prefetch(const struct dj_blocks *b, const uint64_t *hash, size_t n)
{
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(dj_block_of(b, hash[i]));
}

#endif
