/* fuse.h - a binary fuse filter: the xor of three slots is the key's fingerprint.
 *
 * An array of slots of `width` bits is divided into segments, whose length is a power of two.  A
 * key has a fingerprint and one slot in each of three consecutive segments; it is in the set if
 * the xor of the three slots is the fingerprint.  For n keys that is a system of n equations, and
 * 9/8 n slots are enough to solve it by peeling: some slot belongs to only one key, so it can be
 * set last, to the value that this key needs; without that key, another slot belongs to only one,
 * and so on.  So few slots are enough because the segments are consecutive: the peeling starts at
 * both ends, where slots have fewer keys, and works inward.
 *
 * Small sets need more slots per key: the shape follows formulas that the authors found by
 * experiment.  If peeling fails with one seed, the next seed is tried.
 *
 * Source: Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. */
#ifndef DJ_FUSE_H
#define DJ_FUSE_H
#include "core/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>

#define DJ_FUSE_POSITIONS 3
#define DJ_FUSE_MAX_LOG2  18 /* log2 of the slots in a segment */
#define DJ_FUSE_MAX_SLOTS (UINT64_C(1) << 32)
#define DJ_FUSE_MAX_KEYS  UINT64_C(3000000000) /* 9/8 of this is below 2^32 */

struct dj_fuse {           /* docs/format.md */
    uint32_t width;        /* bits of a fingerprint: 8, 16 or 32 */
    uint32_t segment_log2; /* slots in a segment */
    uint32_t segments;     /* segments that can hold a first slot; two more follow */
    uint64_t seed;
    uint64_t keys; /* distinct keys; with none, every query answers no */
};

/* Set the segments for n keys (ignores width, keeps seed); false if there are too many keys. */
bool dj_fuse_fit(struct dj_fuse *f, uint64_t n);
/* True if these numbers describe a valid filter. */
bool dj_fuse_is_sound(const struct dj_fuse *f);

static inline uint64_t dj_fuse_slots(const struct dj_fuse *f)
{
    return ((uint64_t)f->segments + DJ_FUSE_POSITIONS - 1) << f->segment_log2;
}

/* The mixed value of a key's hash under the seed, and its inverse. */
static inline uint64_t dj_fuse_remix(const struct dj_fuse *f, uint64_t hash)
{
    return dj_mix64(hash ^ f->seed);
}
uint64_t dj_fuse_unmix(const struct dj_fuse *f, uint64_t h);

static inline void dj_fuse_at(const struct dj_fuse *f, uint64_t h, uint64_t at[DJ_FUSE_POSITIONS])
{
    const uint64_t len = UINT64_C(1) << f->segment_log2, mask = len - 1;
    at[0] = dj_mulhi(h, (uint64_t)f->segments << f->segment_log2);
    at[1] = (at[0] + len) ^ (h >> DJ_FUSE_MAX_LOG2 & mask);
    at[2] = (at[0] + 2 * len) ^ (h & mask);
}

/* The fingerprint uses the same bits of h as the slots.  It multiplies them, because an xor of
 * them could correlate with the xor of the slots. */
static inline uint32_t dj_fuse_print(const struct dj_fuse *f, uint64_t h)
{
    return (uint32_t)(((h ^ h >> 32) * DJ_GOLDEN) >> (64 - f->width));
}

static inline uint32_t dj_fuse_slot(const uint8_t *body, uint64_t at, uint32_t width)
{
    if (width == 8)
        return body[at];
    return width == 16 ? dj_load16(body + 2 * at) : dj_load32(body + 4 * at);
}

/* --- Construction --------------------------------------------------------- */

/* Scratch space for peeling: sum, count and alone have one entry per slot, the others one per
 * key. */
struct dj_peel {
    uint64_t *sum;   /* xor of the slot's keys */
    uint8_t *count;  /* 4 x number of keys + xor of the slot's index (0 .. 2) in each */
    uint32_t *alone; /* slots with one key */
    uint64_t *order; /* the keys in the order in which they were peeled off ... */
    uint8_t *which;  /* ... and which of its slots each was peeled off at */
};

/* Find an order for n distinct numbers; false if this seed has none. sum and count must be
 * zeroed. */
bool dj_fuse_peel(const struct dj_fuse *f, const uint64_t *h, size_t n, struct dj_peel *room);
/* Fill the slots of a zeroed body, in the order found. */
void dj_fuse_fill(const struct dj_fuse *f, const struct dj_peel *room, size_t n, uint8_t *body);

/* Sort the numbers, drop duplicates, and return how many are left. */
size_t dj_fuse_sort(uint64_t *h, size_t n);

#endif
