/* marks.h - finds bytes 16 at a time: bit i of the result is 1 if byte i equals c.
 *
 * SSE2 is part of every x86-64, and NEON of every 64-bit ARM, so nothing is chosen at run time.
 * Other processors compare eight bytes in a word; all variants give the same bits. */
#ifndef TOOLS_BASE_MARKS_H
#define TOOLS_BASE_MARKS_H
#include <stddef.h>
#include <stdint.h>
#if defined __SSE2__
#include <emmintrin.h>
#elif defined DJ_HAVE_NEON
#include <arm_neon.h>
#endif

#define MARKS_BYTES 16 /* bytes */

/* Eight bytes: a byte is zero exactly if neither its low bits, when they carry, nor its high bit
 * is set.  The product moves bit 8 i + 7 to bit 56 + i. */
static inline uint32_t marks_word(const char *at, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = 0x7f * ones;
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (uint64_t)(unsigned char)at[i] << 8 * i;
    word ^= ones * (unsigned char)c;
    const uint64_t zero = ~(((word & low) + low) | word | low);
    return (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

static inline uint32_t marks_of_portable(const char *at, char c)
{
    return marks_word(at, c) | marks_word(at + 8, c) << 8;
}

static inline uint32_t marks_of(const char *at, char c)
{
#if defined __SSE2__
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
#elif defined DJ_HAVE_NEON
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t equal = vceqq_u8(vld1q_u8((const uint8_t *)at), vdupq_n_u8((uint8_t)c));
    const uint8x16_t bits = vandq_u8(equal, vld1q_u8(weights)), pairs = vpaddq_u8(bits, bits);
    const uint8x16_t fours = vpaddq_u8(pairs, pairs); /* then all eight of each half */
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(fours, fours)), 0);
#else
    return marks_of_portable(at, c);
#endif
}

/* The position of the lowest bit; marks is not 0. */
static inline size_t marks_first(uint32_t marks)
{
    return (size_t)__builtin_ctz(marks);
}

#endif
