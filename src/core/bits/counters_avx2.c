/* counters_avx2.c - which keys have no counter at 0, for counters of 4 bits, in 256-bit halves.
 *
 * As in block_avx2.c, with fifteen in the place of one bit: a lane in which the fifteen meet
 * nothing is a counter that is 0. */
#include "core/bits/counters.h"
#include <immintrin.h>

struct shape { /* in registers; see block_avx2.c */
    const uint8_t *body;
    uint64_t n_lines;
    const uint32_t *lane_sets;
    __m256i odd[2], lane[2];
};

static inline struct shape shape_of(const struct dj_counters *c)
{
    const __m256i *odd = (const __m256i *)(const void *)dj_block_odd;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (struct shape){
        c->body,
        c->n_lines,
        c->lane_sets,
        {_mm256_loadu_si256(odd), _mm256_loadu_si256(odd + 1)},
        {lane, _mm256_add_epi32(lane, _mm256_set1_epi32(8))},
    };
}

static inline const __m256i *line_at(const struct shape *s, uint64_t hash)
{
    return (const __m256i *)(const void *)(s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_lines));
}

/* All ones in the lanes whose counter is 0 and wanted. */
static inline __m256i lacks(const struct shape *s, const __m256i *line, __m256i source,
                            __m256i lanes, int half)
{
    const __m256i product = _mm256_mullo_epi32(source, s->odd[half]);
    const __m256i count = _mm256_slli_epi32(_mm256_srli_epi32(product, 29), 2);
    const __m256i used =
        _mm256_and_si256(_mm256_srlv_epi32(lanes, s->lane[half]), _mm256_set1_epi32(1));
    const __m256i fifteen = _mm256_sub_epi32(_mm256_slli_epi32(used, 4), used);
    const __m256i wanted = _mm256_sllv_epi32(fifteen, count);
    const __m256i value = _mm256_and_si256(_mm256_load_si256(line + half), wanted);
    return _mm256_and_si256(_mm256_cmpeq_epi32(value, _mm256_setzero_si256()), wanted);
}

void dj_counters_avx2(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                      size_t n, uint8_t *found)
{
    const struct shape s = shape_of(c);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(&s, ahead[i]));
        const uint64_t g = hash[i] * DJ_BLOCK_MULTIPLIER;
        const __m256i *line = line_at(&s, hash[i]);
        const __m256i lanes = _mm256_set1_epi32((int)s.lane_sets[g >> 24 & (DJ_LANE_SETS - 1)]);
        const __m256i source = _mm256_set1_epi32((int)(uint32_t)(g >> 32));
        const __m256i any =
            _mm256_or_si256(lacks(&s, line, source, lanes, 0), lacks(&s, line, source, lanes, 1));
        found[i] = (uint8_t)_mm256_testz_si256(any, any);
    }
}
