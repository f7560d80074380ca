/* fuse.h - a binary fuse filter: three fingerprints that add up to the key's own.
 *
 * An array of slots of `width` bits is cut into segments of a power of two.  A key has one slot
 * in each of three neighbouring segments and a fingerprint; it is in the set when the xor of the
 * three slots is the fingerprint.  For n keys that is a system of n equations, and 9/8 n slots
 * are enough to solve it by peeling: some slot belongs to one key only, so it can be set last, to
 * whatever that key needs; without that key another slot is alone, and so on.  Neighbouring
 * segments are what lets so few slots do: the peeling begins at both ends, where slots have fewer
 * keys, and eats its way inwards.
 *
 * Few keys need more: the shape of the array follows the formulas that the authors found by
 * experiment.  A seed for which the peeling gets stuck is replaced by the next one.
 *
 * Source: Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. */
#ifndef DJ_FUSE_H
#define DJ_FUSE_H
#include "core/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>

#define DJ_FUSE_POSITIONS 3
#define DJ_FUSE_MAX_LOG2  18 /* of the slots in a segment */
#define DJ_FUSE_MAX_SLOTS (UINT64_C(1) << 32)
#define DJ_FUSE_MAX_KEYS  UINT64_C(3000000000) /* 9/8 of them are below 2^32 */

struct dj_fuse {           /* docs/format.md */
    uint32_t width;        /* bits of a fingerprint: 8, 16 or 32 */
    uint32_t segment_log2; /* slots in a segment */
    uint32_t segments;     /* that a first slot may lie in; two more follow */
    uint64_t seed;
    uint64_t keys; /* different ones; a filter of none says no without looking */
};

/* Segments for n keys (width is not looked at, seed stays); false when there are too many. */
bool dj_fuse_fit(struct dj_fuse *f, uint64_t n);
/* Are these numbers that a filter can have? */
bool dj_fuse_is_sound(const struct dj_fuse *f);

static inline uint64_t dj_fuse_slots(const struct dj_fuse *f)
{
    return ((uint64_t)f->segments + DJ_FUSE_POSITIONS - 1) << f->segment_log2;
}

/* The number that a key's hash becomes under the seed, and back. */
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

/* The bits of h that choose slots also choose the fingerprint: multiplied, since a fingerprint
 * that were an xor of them could fall in with the xor of the slots. */
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

/* Room to peel in.  The first three are for the slots, the others for the keys. */
struct dj_peel {
    uint64_t *sum;   /* xor of the keys of a slot */
    uint8_t *count;  /* how many, times 4, plus the xor of which of their slots it is */
    uint32_t *alone; /* slots that have one key */
    uint64_t *order; /* the keys as they were peeled off ... */
    uint8_t *which;  /* ... and which of their slots they had alone */
};

/* Find an order for n different numbers; false when this seed has none.  sum and count are all
 * zero before it. */
bool dj_fuse_peel(const struct dj_fuse *f, const uint64_t *h, size_t n, struct dj_peel *room);
/* Set the slots of a body of zeros, in the order that was found. */
void dj_fuse_fill(const struct dj_fuse *f, const struct dj_peel *room, size_t n, uint8_t *body);

/* Sort numbers, drop the repeated ones, and return how many are left. */
size_t dj_fuse_sort(uint64_t *h, size_t n);

#endif
