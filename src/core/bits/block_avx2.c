/* block_avx2.c - the block kernel in two 256-bit halves.
 *
 * For each half: spread the source over eight lanes, multiply by the lanes' odd numbers, keep
 * five bits as a shift count, and shift a 1 in the lanes that the mask names, a 0 elsewhere.
 * vptest then tells whether the block has all of these bits. */
#include "core/bits/block.h"
#include <immintrin.h>

struct pattern {
    __m256i low, high;
};

static inline __m256i half_pattern(__m256i source, __m256i lanes, __m256i odd, __m256i lane)
{
    const __m256i count = _mm256_srli_epi32(_mm256_mullo_epi32(source, odd), 27);
    const __m256i used = _mm256_and_si256(_mm256_srlv_epi32(lanes, lane), _mm256_set1_epi32(1));
    return _mm256_sllv_epi32(used, count);
}

static inline struct pattern make_pattern(const struct dj_blocks *b, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    const __m256i lanes = _mm256_set1_epi32(b->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)]);
    const __m256i source = _mm256_set1_epi32((int)(uint32_t)(g >> 32));
    const __m256i *odd = (const __m256i *)(const void *)dj_block_odd;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i eight = _mm256_set1_epi32(8);
    return (struct pattern){
        half_pattern(source, lanes, _mm256_loadu_si256(odd), lane),
        half_pattern(source, lanes, _mm256_loadu_si256(odd + 1), _mm256_add_epi32(lane, eight)),
    };
}

static void avx2_contains(const struct dj_blocks *b, const uint64_t *hash, size_t n,
                          uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        const __m256i *block = (const __m256i *)(const void *)dj_block_of(b, hash[i]);
        const struct pattern p = make_pattern(b, hash[i]);
        found[i] = (uint8_t)(_mm256_testc_si256(_mm256_load_si256(block), p.low) &
                             _mm256_testc_si256(_mm256_load_si256(block + 1), p.high));
    }
}

static void avx2_add(const struct dj_blocks *b, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        __m256i *block = (__m256i *)(void *)dj_block_of(b, hash[i]);
        const struct pattern p = make_pattern(b, hash[i]);
        const __m256i low = _mm256_load_si256(block);
        const __m256i high = _mm256_load_si256(block + 1);
        is_new[i] = (uint8_t) !(_mm256_testc_si256(low, p.low) & _mm256_testc_si256(high, p.high));
        _mm256_store_si256(block, _mm256_or_si256(low, p.low));
        _mm256_store_si256(block + 1, _mm256_or_si256(high, p.high));
    }
}

const struct dj_block_kernel dj_block_avx2 = {"avx2", avx2_contains, avx2_add};
