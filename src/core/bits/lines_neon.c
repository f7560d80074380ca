/* lines_neon.c - ends of lines, 64 bytes at a time, for 64-bit ARM; see lines_avx2.c.
 *
 * A comparison gives bytes, not bits.  Each byte keeps one bit, a different one in each of eight
 * neighbors, and three pairwise sums collect the bits of 64 bytes in one register.  Their number is
 * counted there, before they move to a general register. */
#include "core/bits/lines.h"
#include <arm_neon.h>
#include <stdint.h>

#define WIDE   64 /* bytes in a mask */
#define ALWAYS 3  /* offsets stored for every mask */

struct marks {
    uint64_t bits;
    size_t n;
};

static inline uint8x16_t marks_in(const uint8_t *at, uint8x16_t mark, uint8x16_t weight)
{
    return vandq_u8(vceqq_u8(vld1q_u8(at), mark), weight);
}

static inline struct marks marks_at(const char *p, uint8x16_t mark)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8_t *at = (const uint8_t *)p;
    const uint8x16_t weight = vld1q_u8(weights);
    const uint8x16_t pairs =
        vpaddq_u8(marks_in(at, mark, weight), marks_in(at + 16, mark, weight));
    const uint8x16_t more =
        vpaddq_u8(marks_in(at + 32, mark, weight), marks_in(at + 48, mark, weight));
    const uint8x16_t fours = vpaddq_u8(pairs, more);
    const uint8x8_t bits = vget_low_u8(vpaddq_u8(fours, fours));
    return (struct marks){vget_lane_u64(vreinterpret_u64_u8(bits), 0), vaddv_u8(vcnt_u8(bits))};
}

static inline size_t lowest(uint64_t bits)
{
    return bits ? (size_t)__builtin_ctzll(bits) : 64; /* what the instructions give */
}

static size_t ends_neon(const char *data, size_t from, size_t len, char mark, size_t *ends,
                        size_t cap)
{
    const uint8x16_t wide_mark = vdupq_n_u8((uint8_t)mark);
    size_t n = 0;
    while (cap - n >= WIDE && from < len && len - from >= WIDE) {
        struct marks m = marks_at(data + from, wide_mark);
        const size_t past = from + 1;
        for (size_t i = 0; i < ALWAYS; i++) {
            ends[n + i] = past + lowest(m.bits); /* past + 64 if no bit is left: harmless */
            m.bits &= m.bits - 1;
        }
        for (size_t i = ALWAYS; i < m.n; i++) {
            ends[n + i] = past + lowest(m.bits);
            m.bits &= m.bits - 1;
        }
        n += m.n;
        from += WIDE;
    }
    return n + dj_lines_portable.ends(data, from, len, mark, ends + n, cap - n);
}

#define TALLY 63 /* steps of four bytes each in a byte: below 256 */

static size_t count_neon(const char *data, size_t len, char mark)
{
    const uint8_t *at = (const uint8_t *)data;
    const uint8x16_t wide_mark = vdupq_n_u8((uint8_t)mark);
    size_t n = 0, left = len / WIDE;
    while (left) {
        const size_t steps = left < TALLY ? left : TALLY;
        uint8x16_t sum = vdupq_n_u8(0);
        for (size_t i = 0; i < steps; i++, at += WIDE)
            for (int j = 0; j < 4; j++)
                sum = vsubq_u8(sum, vceqq_u8(vld1q_u8(at + 16 * j), wide_mark));
        n += vaddlvq_u8(sum);
        left -= steps;
    }
    return n + dj_lines_portable.count((const char *)at, len % WIDE, mark);
}

const struct dj_lines_kernel dj_lines_neon = {"neon", ends_neon, count_neon};
