/* classic.c - Bloom's filter as in the papers: m bits, k positions over the whole array.
 *
 * A single 64-bit hash h gives the positions floor(mix(h + i golden) m / 2^64), i = 1 .. k.  These
 * are the outputs of SplitMix64 seeded with h, as good as k independent functions and far cheaper.
 * The papers' families compute k numbers, each of which is reduced the same way.
 *
 * Each position is a cache miss in a large filter.  A batch hides the misses: it computes the
 * positions of a key once, prefetches their lines, and reads them after those of the LEAD keys
 * before it.  Lookups go in rounds of two positions, and keys with a clear bit drop out: in a
 * half-full filter, three quarters of the remaining absent keys in each round.  After two rounds,
 * nearly all remaining keys are present, so later rounds read more positions.
 *
 * Source: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970. */
#include "core/bits/bitset.h"
#include "kinds/spatial.h"
#include <string.h>

#define LEAD   16 /* keys between prefetching and reading; a power of 2 */
#define NARROW 2  /* positions per round in the first rounds, ... */
#define FIRST  4  /* ... which check this many, ... */
#define WIDE   8  /* ... and in later rounds */

static inline uint64_t position(const struct dj_part *p, const uint64_t *hash, uint32_t i)
{
    return dj_mulhi(p->stride == 1 ? dj_nth64(*hash, i) : hash[i], p->shape.bits);
}

/* Computes positions from .. to - 1 of a key and prefetches their bits. */
static inline void locate(const struct dj_part *p, const uint64_t *hash, uint32_t from,
                          uint32_t to, uint64_t *spot)
{
    for (uint32_t i = from; i < to; i++) {
        *spot = position(p, hash, i);
        dj_bit_prefetch(p->body, *spot++);
    }
}

static void prefetch_range(const struct dj_part *p, const uint64_t *hash, uint32_t to)
{
    for (uint32_t i = 0; i < to; i++)
        dj_bit_prefetch(p->body, position(p, hash, i));
}

/* The first keys of a batch; add and contains prefetch the others themselves. */
static void classic_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    const uint32_t k = p->shape.k;
    for (size_t j = 0; j < n && j < LEAD; j++)
        prefetch_range(p, hash + j * p->stride, for_add || k < NARROW ? k : NARROW);
}

/* The positions from 0 to `to` - 1 of the next LEAD keys. */
struct window {
    const struct dj_part *p;
    const uint64_t *hash, *ahead;
    size_t n;
    uint32_t to;
    uint64_t *spot;
};

static inline uint64_t *window_at(const struct window *w, size_t j)
{
    return w->spot + j % LEAD * w->to;
}

static inline void window_locate(const struct window *w, size_t j)
{
    if (j < w->n)
        locate(w->p, w->hash + j * w->p->stride, 0, w->to, window_at(w, j));
    else if (w->ahead != w->hash && j - w->n < w->n)
        prefetch_range(w->p, w->ahead + (j - w->n) * w->p->stride, w->to);
}

static inline void window_begin(const struct window *w)
{
    for (size_t j = 0; j < LEAD && j < w->n; j++)
        window_locate(w, j);
}

static inline bool has_all(const struct dj_part *p, const uint64_t *spot, uint32_t n)
{
    unsigned all = 1;
    for (uint32_t i = 0; i < n; i++)
        all &= dj_bit_test(p->body, spot[i]);
    return all;
}

/* Tests whether any bit is clear before it writes.  So at most one branch per key is mispredicted,
 * not one per bit, and a known key writes nothing. */
static inline bool add_one(struct dj_part *p, const uint64_t *spot, bool shared)
{
    const uint32_t k = p->shape.k;
    if (has_all(p, spot, k))
        return false;
    unsigned changed = 0;
    for (uint32_t i = 0; i < k; i++)
        changed |= dj_bit_set(p->body, spot[i], shared);
    return changed;
}

static size_t classic_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                          uint8_t *is_new, bool shared)
{
    uint64_t spot[LEAD * DJ_MAX_HASHES];
    const struct window w = {p, hash, ahead, n, p->shape.k, spot};
    window_begin(&w);
    for (size_t j = 0; j < n; j++) {
        is_new[j] = add_one(p, window_at(&w, j), shared);
        window_locate(&w, j + LEAD);
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

/* Keys that passed all rounds so far, and their positions in the next one. */
struct alive {
    size_t n;
    uint32_t from, to;
    uint8_t key[DJ_CHUNK];
    uint64_t spot[DJ_CHUNK * WIDE];
};

static inline void alive_begin(struct alive *a, uint32_t from, uint32_t k)
{
    const uint32_t to = from + (from < FIRST ? NARROW : WIDE);
    a->n = 0;
    a->from = from;
    a->to = to < k ? to : k;
}

static inline void alive_push(struct alive *a, const struct dj_part *p, const uint64_t *hash,
                              size_t key)
{
    a->key[a->n] = (uint8_t)key;
    locate(p, hash + key * p->stride, a->from, a->to, a->spot + a->n++ * (a->to - a->from));
}

/* Does the first round over all keys, and collects those that pass it. */
static void sift_all(const struct window *w, struct alive *left)
{
    alive_begin(left, w->to, w->p->shape.k);
    window_begin(w);
    for (size_t j = 0; j < w->n; j++) {
        const bool passed = has_all(w->p, window_at(w, j), w->to);
        window_locate(w, j + LEAD);
        if (passed)
            alive_push(left, w->p, w->hash, j);
    }
}

static void sift(const struct dj_part *p, const uint64_t *hash, const struct alive *now,
                 struct alive *left)
{
    const uint32_t width = now->to - now->from;
    alive_begin(left, now->to, p->shape.k);
    for (size_t j = 0; j < now->n; j++)
        if (has_all(p, now->spot + j * width, width))
            alive_push(left, p, hash, now->key[j]);
}

static void contains_chunk(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    uint64_t spot[LEAD * NARROW];
    struct alive round[2];
    const uint32_t k = p->shape.k;
    const struct window w = {p, hash, ahead, n, k < NARROW ? k : NARROW, spot};
    unsigned turn = 0;
    sift_all(&w, &round[0]);
    for (; round[turn].n && round[turn].from < k; turn ^= 1)
        sift(p, hash, &round[turn], &round[turn ^ 1]);
    memset(found, 0, n);
    for (size_t j = 0; j < round[turn].n; j++)
        found[round[turn].key[j]] = 1;
}

static void classic_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                             size_t n, uint8_t *found)
{
    for (size_t at = 0; at < n; at += DJ_CHUNK)
        contains_chunk(p, hash + at * p->stride, ahead + at * p->stride,
                       n - at < DJ_CHUNK ? n - at : DJ_CHUNK, found + at);
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
