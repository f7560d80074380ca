/* lines_avx2.c - ends of lines, 64 bytes at a time.
 *
 * A comparison gives a 64-bit mask with one bit per mark.  A line with a URL is about that long,
 * so the number of bits changes from mask to mask, and a loop over them would be mispredicted
 * constantly.  Instead, three offsets are always stored, and the position in ends[] advances by
 * the number of bits: the next mask overwrites the excess.  Only masks with more than three bits
 * loop.  Because of the excess stores, the wide loop stops 64 entries before ends[] is full and
 * leaves the rest to the portable variant. */
#include "core/bits/lines.h"
#include <immintrin.h>
#include <stdint.h>

#define WIDE   64 /* bytes in a mask */
#define ALWAYS 3  /* offsets stored for every mask */

static inline uint64_t mask_of(const char *p, __m256i mark)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
    const uint32_t low_bits = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, mark));
    const uint32_t high_bits = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, mark));
    return (uint64_t)high_bits << 32 | low_bits;
}

static size_t ends_avx2(const char *data, size_t from, size_t len, char mark, size_t *ends,
                        size_t cap)
{
    const __m256i wide_mark = _mm256_set1_epi8(mark);
    size_t n = 0;
    while (cap - n >= WIDE && from < len && len - from >= WIDE) {
        uint64_t bits = mask_of(data + from, wide_mark);
        const size_t in_mask = (size_t)_mm_popcnt_u64(bits);
        const size_t past = from + 1;
        for (size_t i = 0; i < ALWAYS; i++) {
            ends[n + i] = past + (size_t)_tzcnt_u64(bits); /* 64 if no bit is left: harmless */
            bits = _blsr_u64(bits);
        }
        for (size_t i = ALWAYS; i < in_mask; i++) {
            ends[n + i] = past + (size_t)_tzcnt_u64(bits);
            bits = _blsr_u64(bits);
        }
        n += in_mask;
        from += WIDE;
    }
    return n + dj_lines_portable.ends(data, from, len, mark, ends + n, cap - n);
}

static size_t count_avx2(const char *data, size_t len, char mark)
{
    const __m256i wide_mark = _mm256_set1_epi8(mark);
    size_t n = 0;
    size_t i = 0;
    for (; len - i >= WIDE; i += WIDE)
        n += (size_t)_mm_popcnt_u64(mask_of(data + i, wide_mark));
    return n + dj_lines_portable.count(data + i, len - i, mark);
}

const struct dj_lines_kernel dj_lines_avx2 = {"avx2", ends_avx2, count_avx2};
