/* popcount.c - count the set bits of a body.
 *
 * Baseline x86-64 has no popcount instruction, and gcc's substitute uses a lookup table; so the
 * same loop is also compiled for processors that have the instruction. */
#include "core/bits/popcount.h"

static inline __attribute__((always_inline)) uint64_t count(const uint8_t *body, uint64_t len)
{
    const uint64_t *word = (const uint64_t *)(const void *)body;
    uint64_t set = 0;
    for (uint64_t i = 0; i < len / 8; i++)
        set += (uint64_t)__builtin_popcountll(__atomic_load_n(word + i, __ATOMIC_RELAXED));
    return set;
}

#ifdef __x86_64__
static __attribute__((target("popcnt"))) uint64_t count_popcnt(const uint8_t *body, uint64_t len)
{
    return count(body, len);
}

uint64_t dj_popcount(const uint8_t *body, uint64_t len)
{
    return __builtin_cpu_supports("popcnt") ? count_popcnt(body, len) : count(body, len);
}
#else
uint64_t dj_popcount(const uint8_t *body, uint64_t len)
{
    return count(body, len);
}
#endif
