/* slots_avx2.c - holds a line of eight slots in two registers, compares both with the key and with
 * zero, and writes them back with the key blended into its slot. */
#include "core/bits/slots.h"
#include <immintrin.h>

struct look {
    __m256i low, high;
    unsigned hits, zeros; /* one bit per slot */
};

static inline unsigned equal_slots(__m256i low, __m256i high, __m256i to)
{
    const __m256d in_low = _mm256_castsi256_pd(_mm256_cmpeq_epi64(low, to));
    const __m256d in_high = _mm256_castsi256_pd(_mm256_cmpeq_epi64(high, to));
    return (unsigned)_mm256_movemask_pd(in_low) | (unsigned)_mm256_movemask_pd(in_high) << 4;
}

static inline struct look look_at(const uint64_t *line, uint64_t h, uint64_t extra)
{
    const __m256i *at = (const __m256i *)(const void *)line;
    const __m256i more = _mm256_set1_epi64x((long long)extra);
    const __m256i key = _mm256_set1_epi64x((long long)(h | extra));
    struct look l = {_mm256_load_si256(at), _mm256_load_si256(at + 1), 0, 0};
    l.hits = equal_slots(_mm256_or_si256(l.low, more), _mm256_or_si256(l.high, more), key);
    l.zeros = equal_slots(l.low, l.high, _mm256_setzero_si256());
    return l;
}

static inline unsigned look_hit(struct look l)
{
    return l.hits != 0;
}

static inline unsigned look_full(struct look l)
{
    return l.zeros == 0;
}

static inline void look_put(struct look l, uint64_t *line, uint64_t h)
{
    const int free = __builtin_ctz(l.zeros | 1u << DJ_SLOTS); /* DJ_SLOTS if full: no slot */
    const __m256i key = _mm256_set1_epi64x((long long)h);
    const __m256i slot = _mm256_set1_epi64x(free);
    const __m256i in_low = _mm256_cmpeq_epi64(slot, _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i in_high = _mm256_cmpeq_epi64(slot, _mm256_setr_epi64x(4, 5, 6, 7));
    __m256i *to = (__m256i *)(void *)line;
    _mm256_store_si256(to, _mm256_blendv_epi8(l.low, key, in_low));
    _mm256_store_si256(to + 1, _mm256_blendv_epi8(l.high, key, in_high));
}

#include "core/bits/slots_rounds.h"

const struct dj_slots_kernel dj_slots_avx2 = {"avx2", rounds_contains, rounds_add};
