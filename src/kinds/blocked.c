/* blocked.c - a Bloom filter that touches one cache line per key.
 *
 * The body is an array of 512-bit blocks; core/bits/block.h tells how a hash becomes a block and
 * k bits in it.  A query costs one cache miss instead of k.
 *
 * The price: keys fall on blocks like rain.  With b bits per key a block receives a Poisson
 * number of keys with mean 512/b, and crowded blocks say "seen" too often.  core/math sums over
 * that distribution, so a filter asked for p gets the bits that p really needs: 9.91 a key for
 * 1e-2 (a classic filter: 9.59), 15.6 for 1e-3 (14.4), 39.2 for 1e-6 (28.8).
 *
 * Limit: 64 bits choose block and pattern together.  Beyond 2^36 blocks (4 TiB) fewer than 28
 * of them are left for the pattern and the rate gets worse.
 * Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007. */
#include "kinds/part.h"

static void blocked_init(struct dj_part *p)
{
    p->kernel = dj_block_best();
    p->blocks.body = p->body;
    p->blocks.n_blocks = p->shape.bits / DJ_BLOCK_BITS;
    p->blocks.lane_sets = dj_block_lane_sets(p->shape.k);
}

static void blocked_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    dj_block_prefetch(&p->blocks, hash, n);
}

static size_t blocked_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                          uint8_t *is_new, bool shared)
{
    if (shared)
        dj_block_add_shared(&p->blocks, hash, ahead, n, is_new);
    else
        p->kernel->add(&p->blocks, hash, ahead, n, is_new);
    return n;
}

static void blocked_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                             size_t n, uint8_t *found)
{
    p->kernel->contains(&p->blocks, hash, ahead, n, found);
}

const struct dj_part_ops dj_blocked_ops = {
    "blocked",          DEJA_BLOCKED, blocked_init,
    blocked_prefetch,   blocked_add,  blocked_contains,
    dj_part_count_bits, NULL,         NULL,
};
