/* csv_neon.c - 32 bytes in two registers, for 64-bit ARM; see csv_wide.h.
 *
 * A comparison gives bytes, not bits; core/bits/lines_neon.c explains how they become bits. */
#include "tools/input/csv_kernel.h"
#include <arm_neon.h>
#include <stdint.h>

typedef uint8x16x2_t wide;

static inline wide wide_load(const char *at)
{
    const uint8_t *bytes = (const uint8_t *)at;
    return (wide){{vld1q_u8(bytes), vld1q_u8(bytes + 16)}};
}

static inline uint8x16_t pairs_of(wide bytes, uint8x16_t to)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    return vpaddq_u8(vandq_u8(vceqq_u8(bytes.val[0], to), weight),
                     vandq_u8(vceqq_u8(bytes.val[1], to), weight));
}

static inline uint64_t wide_equal(wide a, wide b, char c)
{
    const uint8x16_t to = vdupq_n_u8((uint8_t)c);
    const uint8x16_t fours = vpaddq_u8(pairs_of(a, to), pairs_of(b, to));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0);
}

static inline size_t lowest(uint64_t bits)
{
    return bits ? (size_t)__builtin_ctzll(bits) : 64; /* what the instructions give */
}

#include "tools/input/csv_wide.h"

const struct csv_kernel csv_neon = {"neon", ends_wide, cut_wide};
