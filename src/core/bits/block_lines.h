/* block_lines.h - keys with a block in each of several lines.
 *
 * One block per key is fastest, but it needs much memory at small rates: crowded blocks answer
 * "seen" too often.  A key with L = 2 or 3 blocks is seen only if all of them say so, and it rarely
 * meets more than one that is crowded.
 *
 * The body is L parts of B blocks, one after another, and a key has a block in each: block.h, with
 * k / L bits and the hash
 *
 *   line 0      h
 *   line j > 0  dj_nth64(h, j - 1)
 *
 * So every line is a body of block.h in itself, and its kernels do the work, one line after another
 * for a group of keys.  Lines are independent up to equal hashes: each h is a bijection of the
 * first one.
 *
 * A lookup reads line 0 first and the others only for keys that it found, so most absent keys cost
 * one cache miss.  An add needs all lines, and all are prefetched. */
#ifndef DJ_BLOCK_LINES_H
#define DJ_BLOCK_LINES_H
#include "core/bits/block.h"

/* Line j of a body whose keys have several. */
static inline struct dj_blocks dj_key_line(const struct dj_blocks *b, uint32_t j)
{
    struct dj_blocks line = *b;
    line.body += (size_t)j * DJ_BLOCK_BYTES * b->n_blocks;
    return line;
}

static inline uint64_t dj_key_line_hash(uint64_t hash, uint32_t j)
{
    return j ? dj_nth64(hash, j - 1) : hash;
}

/* As in block.h, for any number of lines per key. */
void dj_key_lines_contains(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found);
void dj_key_lines_add(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                      const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *is_new);
/* found[i] = 1 if at least one body has hash i.  The bodies can differ in everything. */
void dj_key_lines_find_any(const struct dj_block_kernel *kernel,
                           const struct dj_blocks *const *bodies, uint32_t n_bodies,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found);
/* Prefetches what add or contains reads first. */
void dj_key_lines_prefetch(const struct dj_blocks *b, const uint64_t *hash, size_t n,
                           bool for_add);

#endif
