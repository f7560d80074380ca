/* bylength.h - sort keys by length without branches.
 *
 * Code that branches on a key's length is fast only if the branch is predicted.  URL lengths are
 * close to random, and a misprediction takes longer than the work itself.  So each batch of keys
 * is first sorted into length classes, and each class is then processed in one run. */
#ifndef DJ_BYLENGTH_H
#define DJ_BYLENGTH_H
#include "deja.h"

#define DJ_LOT     256 /* keys in one batch */
#define DJ_LENGTHS 5   /* 1 .. 32, 33 .. 64, 65 .. 96, 97 .. 128 bytes, and all other lengths */
#define DJ_FEW     8   /* fewer keys than this are not worth sorting */

struct dj_lot {
    uint8_t who[DJ_LENGTHS][DJ_LOT]; /* indexes of the keys in each length class */
    uint64_t counts;                 /* keys in each class, nine bits per class */
};

static inline size_t dj_lot_count(uint64_t counts, size_t length)
{
    return counts >> 9 * length & 511;
}

/* Sort up to DJ_LOT keys and prefetch their bytes, which will not be read in order. */
static inline void dj_lot_sort(struct dj_lot *lot, const deja_slice *keys, size_t n)
{
    uint64_t counts = 0; /* one integer, so that it stays in a register */
    for (size_t i = 0; i < n; i++) {
        const size_t by_32 = (keys[i].len - 1) / 32; /* the empty key wraps to the last class */
        const size_t length = by_32 < DJ_LENGTHS - 1 ? by_32 : DJ_LENGTHS - 1;
        lot->who[length][dj_lot_count(counts, length)] = (uint8_t)i;
        counts += UINT64_C(1) << 9 * length;
        __builtin_prefetch(keys[i].data);
    }
    lot->counts = counts;
}

#endif
