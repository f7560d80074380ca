/* classic.c - Bloom's filter as in the papers: m bits, k positions over the whole array.
 *
 * A single 64-bit hash h gives the positions floor(mix(h + i golden) m / 2^64), i = 1 .. k.  These
 * are the outputs of SplitMix64 seeded with h, as good as k independent functions and far cheaper.
 * The papers' families compute k numbers, each of which is reduced the same way.
 *
 * Each position is a cache miss in a large filter.  A batch hides the misses: add prefetches the k
 * lines of all keys before it uses any of them.  Lookups go in rounds of two positions, and keys
 * with a clear bit drop out: in a half-full filter, three quarters of the remaining absent keys in
 * each round.
 *
 * Source: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970. */
#include "core/bits/bitset.h"
#include "kinds/spatial.h"

#define ROUND 2  /* positions checked per round */
#define GROUP 64 /* keys that go through the rounds together */

static inline uint64_t position(const struct dj_part *p, const uint64_t *hash, uint32_t i)
{
    return dj_mulhi(p->stride == 1 ? dj_nth64(*hash, i) : hash[i], p->shape.bits);
}

static void prefetch_range(const struct dj_part *p, const uint64_t *hash, uint32_t from,
                           uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        dj_bit_prefetch(p->body, position(p, hash, i));
}

static void classic_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    const uint32_t k = p->shape.k;
    for (size_t j = 0; j < n; j++)
        prefetch_range(p, hash + j * p->stride, 0, for_add || k < ROUND ? k : ROUND);
}

static bool has_range(const struct dj_part *p, const uint64_t *hash, uint32_t from, uint32_t to)
{
    bool all = true;
    for (uint32_t i = from; i < to; i++)
        all &= dj_bit_test(p->body, position(p, hash, i));
    return all;
}

/* Tests whether any bit is clear before it writes.  So at most one branch per key is mispredicted,
 * not one per bit, and a known key writes nothing. */
static bool add_one(struct dj_part *p, const uint64_t *hash, bool shared)
{
    if (has_range(p, hash, 0, p->shape.k))
        return false;
    bool changed = false;
    for (uint32_t i = 0; i < p->shape.k; i++)
        changed |= dj_bit_set(p->body, position(p, hash, i), shared);
    return changed;
}

static size_t classic_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                          uint8_t *is_new, bool shared)
{
    for (size_t j = 0; j < n; j++, hash += p->stride, ahead += p->stride) {
        if (ahead != hash)
            prefetch_range(p, ahead, 0, p->shape.k);
        is_new[j] = add_one(p, hash, shared);
    }
    return n;
}

static void classic_mark(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new,
                         size_t n)
{
    for (size_t j = 0; j < n; j++, hash += p->stride)
        for (uint32_t i = 0; is_new[j] && i < p->shape.k; i++)
            dj_pieces_mark(p->pieces, position(p, hash, i) / 8);
}

/* Does one round over the keys in `alive`: keys that pass stay, and their next bits are
 * prefetched.  ahead: as many later keys, whose first bits are prefetched, or NULL. */
static size_t sift(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                   uint8_t *alive, size_t n, uint32_t from)
{
    const uint32_t k = p->shape.k;
    const uint32_t to = from + ROUND < k ? from + ROUND : k;
    const uint32_t next = to + ROUND < k ? to + ROUND : k;
    size_t left = 0;
    for (size_t j = 0; j < n; j++) {
        const uint64_t *h = hash + alive[j] * (size_t)p->stride;
        if (ahead)
            prefetch_range(p, ahead + j * p->stride, 0, to);
        const bool passed = has_range(p, h, from, to);
        alive[left] = alive[j];
        left += passed;
        if (passed)
            prefetch_range(p, h, to, next);
    }
    return left;
}

static void contains_group(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    uint8_t alive[GROUP];
    for (size_t j = 0; j < n; j++) {
        alive[j] = (uint8_t)j;
        found[j] = 0;
    }
    size_t left = sift(p, hash, ahead == hash ? NULL : ahead, alive, n, 0);
    for (uint32_t from = ROUND; from < p->shape.k && left; from += ROUND)
        left = sift(p, hash, NULL, alive, left, from);
    for (size_t j = 0; j < left; j++)
        found[alive[j]] = 1;
}

static void classic_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                             size_t n, uint8_t *found)
{
    for (size_t at = 0; at < n; at += GROUP)
        contains_group(p, hash + at * p->stride, ahead + at * p->stride,
                       n - at < GROUP ? n - at : GROUP, found + at);
}

/* Halving merges neighbors: bits 2i and 2i + 1 become bit i (filter/algebra.c). */
static uint64_t squeeze(uint64_t x)
{
    x &= UINT64_C(0x5555555555555555);
    x = (x | x >> 1) & UINT64_C(0x3333333333333333);
    x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (x | x >> 16) & UINT64_C(0x00000000ffffffff);
}

/* NOLINTNEXTLINE(misc-no-recursion): at most DJ_MAX_FOLDS deep */
static uint64_t classic_folded_word(const struct dj_part *p, int folds, uint64_t word)
{
    if (folds == 0)
        return dj_part_word(p, word);
    const uint64_t low = classic_folded_word(p, folds - 1, 2 * word);
    const uint64_t high = classic_folded_word(p, folds - 1, 2 * word + 1);
    return squeeze(low | low >> 1) | squeeze(high | high >> 1) << 32;
}

const struct dj_kind dj_classic = {
    .name = "classic",
    .number = DEJA_CLASSIC,
    .help = "k positions over the whole array: the fewest bits of the Bloom filters",
    .can = DEJA_CAN_ADD | DEJA_CAN_REPEAT | DEJA_CAN_MERGE | DEJA_CAN_FOLD | DEJA_CAN_OVERLAP,
    .layout = DJ_SPREAD,
    .any_hash = true,
    .plan = dj_plan_plain,
    .by_multiplier = dj_plan_always,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .marks = true,
    .contains = dj_spatial_contains,
    .stats = dj_spatial_stats,
    .body = {.prefetch = classic_prefetch,
             .add = classic_add,
             .contains = classic_contains,
             .mark = classic_mark,
             .bits_set = dj_part_count_bits,
             .folded_word = classic_folded_word},
};
