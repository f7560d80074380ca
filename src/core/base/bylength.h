/* bylength.h - keys sorted by length, without a branch.
 *
 * Code that handles a key of 40 bytes in another way than one of 70 is fast as long as the
 * processor guesses the way right.  The lengths of URLs are as good as random, and a wrong guess
 * takes longer than the work itself.  So a lot of keys is first sorted by length, and then each
 * way is gone by all of its keys in a row. */
#ifndef DJ_BYLENGTH_H
#define DJ_BYLENGTH_H
#include "deja.h"

#define DJ_LOT     256 /* keys in a lot */
#define DJ_LENGTHS 5   /* 1 .. 32, 33 .. 64, 65 .. 96, 97 .. 128 bytes, and all others */
#define DJ_FEW     8   /* keys that are not worth sorting */

struct dj_lot {
    uint8_t who[DJ_LENGTHS][DJ_LOT]; /* numbers of the keys of each length */
    uint64_t counts;                 /* how many, nine bits for each */
};

static inline size_t dj_lot_count(uint64_t counts, size_t length)
{
    return counts >> 9 * length & 511;
}

/* Sort up to DJ_LOT keys, and have their bytes fetched: they will not be read in order. */
static inline void dj_lot_sort(struct dj_lot *lot, const deja_slice *keys, size_t n)
{
    uint64_t counts = 0; /* one number, so that it stays in a register */
    for (size_t i = 0; i < n; i++) {
        const size_t by_32 = (keys[i].len - 1) / 32; /* of the empty key: beyond all */
        const size_t length = by_32 < DJ_LENGTHS - 1 ? by_32 : DJ_LENGTHS - 1;
        lot->who[length][dj_lot_count(counts, length)] = (uint8_t)i;
        counts += UINT64_C(1) << 9 * length;
        __builtin_prefetch(keys[i].data);
    }
    lot->counts = counts;
}

#endif
