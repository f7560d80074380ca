/* slots_neon.c - compares a line of eight slots in four registers with the key and with zero, for
 * 64-bit ARM.
 *
 * Loads of 64-bit lanes are atomic for each lane, as slots.h demands of a lookup that meets a
 * writer.  The comparisons are narrowed to one byte per slot, in one general register. */
#include "core/bits/slots.h"
#include <arm_neon.h>

struct look {
    uint64_t hits, zeros; /* one byte per slot */
};

/* 0xff in byte i if comparison i of eight was true. */
static inline uint64_t narrowed(uint64x2_t a, uint64x2_t b, uint64x2_t c, uint64x2_t d)
{
    const uint32x4_t low = vuzp1q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
    const uint32x4_t high = vuzp1q_u32(vreinterpretq_u32_u64(c), vreinterpretq_u32_u64(d));
    const uint16x8_t all = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(all)), 0);
}

static inline uint64x2_t equal(uint64x2_t slots, uint64x2_t more, uint64x2_t key)
{
    return vceqq_u64(vorrq_u64(slots, more), key);
}

static inline struct look look_at(const uint64_t *line, uint64_t h, uint64_t extra)
{
    const uint64x2_t more = vdupq_n_u64(extra), key = vdupq_n_u64(h | extra);
    const uint64x2_t a = vld1q_u64(line), b = vld1q_u64(line + 2), c = vld1q_u64(line + 4),
                     d = vld1q_u64(line + 6);
    return (struct look){
        narrowed(equal(a, more, key), equal(b, more, key), equal(c, more, key),
                 equal(d, more, key)),
        narrowed(vceqzq_u64(a), vceqzq_u64(b), vceqzq_u64(c), vceqzq_u64(d)),
    };
}

static inline unsigned look_hit(struct look l)
{
    return l.hits != 0;
}

static inline unsigned look_full(struct look l)
{
    return l.zeros == 0;
}

/* If the line is full, slot 0 is written back as it is: a branch would be mispredicted. */
static inline void look_put(struct look l, uint64_t *line, uint64_t h)
{
    const uint64_t first = __atomic_load_n(line, __ATOMIC_RELAXED);
    const unsigned at = l.zeros ? (unsigned)__builtin_ctzll(l.zeros) / 8 : 0;
    __atomic_store_n(line + at, l.zeros ? h : first, __ATOMIC_RELAXED);
}

#include "core/bits/slots_rounds.h"

const struct dj_slots_kernel dj_slots_neon = {"neon", rounds_contains, rounds_add};
