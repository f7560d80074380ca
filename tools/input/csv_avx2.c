/* csv_avx2.c - 32 bytes in a register; see csv_wide.h. */
#include "tools/input/csv_kernel.h"
#include <immintrin.h>
#include <stdint.h>

typedef __m256i wide;

static inline wide wide_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline uint64_t wide_equal(wide a, wide b, char c)
{
    const __m256i to = _mm256_set1_epi8(c);
    const uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, to));
    const uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, to));
    return low | high << 32;
}

static inline size_t lowest(uint64_t bits)
{
    return (size_t)_tzcnt_u64(bits);
}

#include "tools/input/csv_wide.h"

const struct csv_kernel csv_avx2 = {"avx2", ends_wide, cut_wide};
