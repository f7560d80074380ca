/* blocked.c - a Bloom filter that touches one cache line per key, or a few.
 *
 * The body is an array of 512-bit blocks; a hash selects one block and k bits in it
 * (core/bits/block.h).  A query costs one cache miss instead of k.
 *
 * The price is uneven load.  At b bits per key, a block holds a Poisson number of keys with mean
 * 512/b, and crowded blocks answer "seen" too often.  core/math sums over that distribution, so a
 * filter gets the bits that p really needs: 9.91 per key for 1e-2 (classic: 9.59), 15.6 for 1e-3
 * (14.4), 39.2 for 1e-6 (28.8).
 *
 * So at small rates a key has two or three blocks, which must all say "seen" (block_lines.h): 31.1
 * bits per key for 1e-6 with two, 46.7 for 1e-9 with three (classic: 43.1).  The plan gives a key
 * another line if that saves a sixteenth of the memory: the second below about 9e-4, the third
 * below about 7e-8.
 *
 * Limit: block and pattern share 64 hash bits.  Beyond 2^36 blocks (4 TiB) in a line, fewer than
 * 28 bits are left for the pattern, and the rate gets worse.
 * Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007. */
#include "kinds/spatial.h"

static void blocked_init(struct dj_part *p)
{
    p->kernel = dj_block_best();
    p->blocks.body = p->body;
    p->blocks.key_lines = dj_shape_key_lines(&p->shape);
    p->blocks.n_blocks = p->shape.bits / DJ_BLOCK_BITS / p->blocks.key_lines;
    p->blocks.lane_sets = dj_block_lane_sets(p->shape.k / p->blocks.key_lines);
}

static void blocked_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    dj_key_lines_prefetch(&p->blocks, hash, n, for_add);
}

static void blocked_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                             size_t n, uint8_t *found)
{
    if (p->blocks.key_lines > 1)
        dj_key_lines_contains(p->kernel, &p->blocks, hash, ahead, n, found);
    else
        p->kernel->contains(&p->blocks, hash, ahead, n, found);
}

static void add(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                uint8_t *is_new)
{
    if (p->blocks.key_lines > 1)
        dj_key_lines_add(p->kernel, &p->blocks, hash, ahead, n, is_new);
    else
        p->kernel->add(&p->blocks, hash, ahead, n, is_new);
}

/* Threads that share a part look up their keys without a lock.  Only absent keys are then added
 * under the lock, with the plain stores of a single writer into lines that are in the cache by now.
 * Atomic ORs, one for each word of a new key, would take twice as long as everything else.  The
 * lock also makes a key new to exactly one thread. */
static void add_shared(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                       uint8_t *is_new)
{
    uint64_t absent[DJ_CHUNK];
    uint8_t key[DJ_CHUNK], added[DJ_CHUNK];
    size_t m = 0;
    blocked_contains(p, hash, ahead, n, is_new);
    for (size_t i = 0; i < n; i++) {
        absent[m] = hash[i];
        key[m] = (uint8_t)i;
        m += !is_new[i];
        is_new[i] = 0;
    }
    if (p->blocks.key_lines > 1 && 4 * m > n) /* many of the next keys are absent, too */
        dj_key_lines_prefetch(&p->blocks, ahead, n, true);
    if (m == 0)
        return;
    dj_line_lock(&p->adding);
    add(p, absent, absent, m, added);
    dj_line_unlock(&p->adding);
    for (size_t i = 0; i < m; i++)
        is_new[key[i]] = added[i];
}

static size_t blocked_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                          uint8_t *is_new, bool shared)
{
    if (!shared)
        add(p, hash, ahead, n, is_new);
    for (size_t at = 0, lot; shared && at < n; at += lot) {
        lot = n - at < DJ_CHUNK ? n - at : DJ_CHUNK;
        add_shared(p, hash + at, ahead + at, lot, is_new + at);
    }
    return n;
}

static void blocked_mark(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new,
                         size_t n)
{
    for (uint32_t j = 0; j < p->blocks.key_lines; j++) {
        const struct dj_blocks line = dj_key_line(&p->blocks, j);
        for (size_t i = 0; i < n; i++)
            if (is_new[i])
                dj_pieces_mark(
                    p->pieces,
                    (uint64_t)(dj_block_of(&line, dj_key_line_hash(hash[i], j)) - p->body));
    }
}

#define BLOCK_WORDS (DJ_BLOCK_BITS / 64)

/* Halving merges neighbors: blocks 2i and 2i + 1 become block i (filter/algebra.c).  Every line of
 * the keys has an even number of blocks, so both are in the same line. */
static uint64_t blocked_folded_word(const struct dj_part *p, int folds, uint64_t word)
{
    const uint64_t first = word / BLOCK_WORDS << folds, in_block = word % BLOCK_WORDS;
    uint64_t all = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << folds; i++)
        all |= dj_part_word(p, (first + i) * BLOCK_WORDS + in_block);
    return all;
}

static const char *const options[] = {"cache_lines", NULL};
const struct dj_kind dj_blocked = {
    .name = "blocked",
    .number = DEJA_BLOCKED,
    .help = "one cache line per key: the fastest, and the default",
    .can = DEJA_CAN_ADD | DEJA_CAN_REPEAT | DEJA_CAN_MERGE | DEJA_CAN_FOLD | DEJA_CAN_OVERLAP,
    .options = options,
    .layout = DJ_BLOCKS,
    .most_key_lines = DJ_KEY_LINES,
    .plan = dj_plan_plain,
    .by_multiplier = dj_plan_always,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .marks = true,
    .contains = dj_spatial_contains,
    .stats = dj_spatial_stats,
    .body = {.init = blocked_init,
             .prefetch = blocked_prefetch,
             .add = blocked_add,
             .contains = blocked_contains,
             .mark = blocked_mark,
             .bits_set = dj_part_count_bits,
             .folded_word = blocked_folded_word},
};
