/* bitset.h - single bits of a flat body: test, set, fetch.
 *
 * Bit b is bit b mod 8 of byte b / 8, on every machine; it is read and written as part of a
 * 64-bit word, which the body has whole.  Relaxed atomics: a bit is only ever turned on, and
 * whoever has to know about another thread's bits has other means. */
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

/* Whether it was this call that set it.  shared: other threads may be writing, too. */
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
