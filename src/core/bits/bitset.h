/* bitset.h - single bits of a flat body: test, set, prefetch.
 *
 * Bit b is bit b mod 8 of byte b / 8, on every machine.  It is read and written as part of a
 * 64-bit word; a body is a whole number of words.  Relaxed atomics suffice, because bits are only
 * ever set; a caller that must see another thread's bits synchronizes by other means. */
#ifndef DJ_BITSET_H
#define DJ_BITSET_H
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include <stdbool.h>

static inline uint64_t *dj_bit_word(const uint8_t *body, uint64_t at)
{
    return (uint64_t *)(uintptr_t)body + at / 64;
}

static inline uint64_t dj_bit_mask(uint64_t at)
{
    return DJ_LE64(UINT64_C(1) << at % 64);
}

static inline void dj_bit_prefetch(const uint8_t *body, uint64_t at)
{
    DJ_PREFETCH(dj_bit_word(body, at));
}

static inline bool dj_bit_test(const uint8_t *body, uint64_t at)
{
    return (__atomic_load_n(dj_bit_word(body, at), __ATOMIC_RELAXED) & dj_bit_mask(at)) != 0;
}

/* True if this call set the bit. shared: other threads may be writing at the same time. */
static inline bool dj_bit_set(uint8_t *body, uint64_t at, bool shared)
{
    uint64_t *word = dj_bit_word(body, at), old;
    const uint64_t bit = dj_bit_mask(at);
    if (shared) {
        old = __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    } else {
        old = __atomic_load_n(word, __ATOMIC_RELAXED);
        __atomic_store_n(word, old | bit, __ATOMIC_RELAXED);
    }
    return !(old & bit);
}

#endif
