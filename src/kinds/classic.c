/* classic.c - Bloom's filter as in the papers: m bits, k positions over the whole array.
 *
 * A single 64-bit hash h gives the positions floor(mix(h + i golden) m / 2^64), i = 1 .. k: the
 * outputs of SplitMix64 started at h, as good as k independent functions and far cheaper.  The
 * papers' families bring k numbers of their own, each reduced the same way.
 *
 * Each position is a cache miss of its own in a large filter.  A batch hides them: adding asks
 * for the k lines of all keys before touching one; looking up goes in rounds of two positions,
 * and only the keys that are still possible stay for the next round, since at half fill three
 * quarters of the absent ones leave after each.
 *
 * Source: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970. */
#include "core/bits/bitset.h"
#include "kinds/part.h"

#define ROUND 2  /* positions looked at before sorting out */
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

/* Looks first whether anything is to be set: then one branch a key may be guessed wrong, not one
 * a bit, and repeats write nothing. */
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

/* One round over the keys named in alive: those that pass stay, with their next bits fetched.
 * ahead (or NULL) are as many keys that come later, whose first bits are asked for. */
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

const struct dj_part_ops dj_classic_ops = {
    "classic",          DEJA_CLASSIC, NULL, classic_prefetch, classic_add, classic_contains,
    dj_part_count_bits, NULL,         NULL,
};
