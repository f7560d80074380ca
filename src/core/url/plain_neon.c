/* plain_neon.c - 32 bytes in two registers, for 64-bit ARM; see plain_wide.h.
 *
 * A comparison gives bytes, not bits.  Each byte keeps one bit, a different one in each of eight
 * neighbors, and pairwise sums collect them: three sums for one result, seven for four. */
#include "core/base/bylength.h"
#include "core/url/plain_reason.h"
#include <arm_neon.h>

#define CHUNK  32
#define HALF   16
#define INLINE __attribute__((always_inline)) static inline /* lets constants unroll loops */

typedef uint8x16x2_t wide;

static inline uint8x16_t half_at(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline wide wide_two(const char *low, const char *high)
{
    return (wide){{half_at(low), half_at(high)}};
}

static inline wide wide_load(const char *at)
{
    return wide_two(at, at + HALF);
}

static inline wide wide_equal(wide bytes, char c)
{
    const uint8x16_t to = vdupq_n_u8((uint8_t)c);
    return (wide){{vceqq_u8(bytes.val[0], to), vceqq_u8(bytes.val[1], to)}};
}

/* A shift by eight or more gives 0. */
static inline uint8x16_t rows_of(uint8x16_t bytes)
{
    return vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4)));
}

static inline wide wide_rows(wide bytes)
{
    return (wide){{rows_of(bytes.val[0]), rows_of(bytes.val[1])}};
}

static inline uint8x16_t none_of(uint8x16_t bytes, uint8x16_t row, uint8x16_t table)
{
    const uint8x16_t in = vqtbl1q_u8(table, vandq_u8(bytes, vdupq_n_u8(15)));
    return vceqzq_u8(vandq_u8(in, row));
}

static inline wide wide_none(wide bytes, wide row, const uint8_t rows[16])
{
    const uint8x16_t table = vld1q_u8(rows);
    return (wide){
        {none_of(bytes.val[0], row.val[0], table), none_of(bytes.val[1], row.val[1], table)}};
}

static inline uint8x16_t letters_of(uint8x16_t bytes)
{
    return vbicq_u8(vcgeq_u8(bytes, vdupq_n_u8('a')), vceqq_u8(bytes, vdupq_n_u8('x')));
}

static inline wide wide_letters(wide bytes)
{
    return (wide){{letters_of(bytes.val[0]), letters_of(bytes.val[1])}};
}

static inline wide wide_or(wide a, wide b)
{
    return (wide){{vorrq_u8(a.val[0], b.val[0]), vorrq_u8(a.val[1], b.val[1])}};
}

static inline wide wide_and(wide a, wide b)
{
    return (wide){{vandq_u8(a.val[0], b.val[0]), vandq_u8(a.val[1], b.val[1])}};
}

/* The first of three sums: byte i has the bits of bytes 2 i and 2 i + 1. */
static inline uint8x16_t pairs_of(wide bytes)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    return vpaddq_u8(vandq_u8(bytes.val[0], weight), vandq_u8(bytes.val[1], weight));
}

static inline uint64_t wide_bits(wide bytes)
{
    const uint8x16_t pairs = pairs_of(bytes), fours = vpaddq_u8(pairs, pairs);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(fours, fours)), 0);
}

struct bits4 {
    uint64_t of[4];
};

static inline struct bits4 wide_bits4(wide a, wide b, wide c, wide d)
{
    const uint8x16_t low = vpaddq_u8(pairs_of(a), pairs_of(b));
    const uint8x16_t high = vpaddq_u8(pairs_of(c), pairs_of(d));
    const uint32x4_t all = vreinterpretq_u32_u8(vpaddq_u8(low, high));
    return (struct bits4){{vgetq_lane_u32(all, 0), vgetq_lane_u32(all, 1), vgetq_lane_u32(all, 2),
                           vgetq_lane_u32(all, 3)}};
}

#include "core/url/plain_wide.h"

const struct dj_plain_kernel dj_plain_neon = {"neon", wide_look, wide_glance};
