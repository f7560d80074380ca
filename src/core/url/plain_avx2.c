/* plain_avx2.c - 32 bytes in a register; see plain_wide.h. */
#include "core/base/bylength.h"
#include "core/url/plain_reason.h"
#include <immintrin.h>

#define CHUNK  32
#define HALF   16
#define INLINE __attribute__((always_inline)) static inline /* lets constants unroll loops */

typedef __m256i wide;

static inline wide wide_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline wide wide_two(const char *low, const char *high)
{
    return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)high),
                            _mm_loadu_si128((const __m128i *)(const void *)low));
}

static inline wide wide_equal(wide bytes, char c)
{
    return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
}

static inline wide table(const uint8_t rows[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)rows));
}

static inline wide wide_rows(wide bytes)
{
    static const uint8_t row_bit[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table(row_bit), high);
}

static inline wide wide_none(wide bytes, wide row, const uint8_t rows[16])
{
    const __m256i in = _mm256_and_si256(_mm256_shuffle_epi8(table(rows), bytes), row);
    return _mm256_cmpeq_epi8(in, _mm256_setzero_si256());
}

static inline wide wide_letters(wide bytes)
{
    return _mm256_andnot_si256(wide_equal(bytes, 'x'),
                               _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8('a' - 1)));
}

static inline wide wide_or(wide a, wide b)
{
    return _mm256_or_si256(a, b);
}

static inline wide wide_and(wide a, wide b)
{
    return _mm256_and_si256(a, b);
}

static inline uint64_t wide_bits(wide bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

struct bits4 {
    uint64_t of[4];
};

static inline struct bits4 wide_bits4(wide a, wide b, wide c, wide d)
{
    return (struct bits4){{wide_bits(a), wide_bits(b), wide_bits(c), wide_bits(d)}};
}

#include "core/url/plain_wide.h"

const struct dj_plain_kernel dj_plain_avx2 = {"avx2", wide_look, wide_glance};
