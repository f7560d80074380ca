/* counters_neon.c - 4-bit counters in four 128-bit quarters, for 64-bit ARM; see counters_avx2.c
 * and block_neon.c. */
#include "core/bits/counters.h"
#include <arm_neon.h>

/* Four quarters; not an array, see block_neon.c. */
struct line {
    uint32x4_t a, b, c, d;
};

struct shape { /* in registers; see block_avx2.c */
    uint8_t *body;
    uint64_t n_lines;
    const uint32_t *lane_sets;
    struct line odd, lane; /* lane: its bit in a mask */
};

static inline struct line load(const uint32_t *at)
{
    return (struct line){vld1q_u32(at), vld1q_u32(at + 4), vld1q_u32(at + 8), vld1q_u32(at + 12)};
}

static inline struct shape shape_of(const struct dj_counters *c)
{
    static const uint32_t first[4] = {1, 2, 4, 8};
    const uint32x4_t lane = vld1q_u32(first);
    return (struct shape){
        c->body,
        c->n_lines,
        c->lane_sets,
        load(dj_block_odd),
        {lane, vshlq_n_u32(lane, 4), vshlq_n_u32(lane, 8), vshlq_n_u32(lane, 12)},
    };
}

static inline uint32_t *line_at(const struct shape *s, uint64_t hash)
{
    return (uint32_t *)(void *)(s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_lines));
}

/* A 1 shifted to the position of the key's counter, in each lane that is in the set. */
static inline uint32x4_t ones_in(uint32x4_t source, uint32x4_t odd, uint32x4_t set,
                                 uint32x4_t lane)
{
    const uint32x4_t product = vmulq_u32(source, odd);
    const uint32x4_t count = vshlq_n_u32(vshrq_n_u32(product, 29), 2);
    const uint32x4_t used = vandq_u32(vtstq_u32(set, lane), vdupq_n_u32(1));
    return vshlq_u32(used, vreinterpretq_s32_u32(count));
}

static inline struct line ones_of(const struct shape *s, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    const uint32x4_t set = vdupq_n_u32(s->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)]);
    const uint32x4_t source = vdupq_n_u32((uint32_t)(g >> 32));
    return (struct line){
        ones_in(source, s->odd.a, set, s->lane.a), ones_in(source, s->odd.b, set, s->lane.b),
        ones_in(source, s->odd.c, set, s->lane.c), ones_in(source, s->odd.d, set, s->lane.d)};
}

/* The mask of each counter that has a 1 in `one`. */
static inline uint32x4_t fifteen(uint32x4_t one)
{
    return vsubq_u32(vshlq_n_u32(one, 4), one);
}

/* Nonzero in the lanes whose counter is 0. */
static inline uint32x4_t lacks(uint32x4_t quarter, uint32x4_t one)
{
    return vbicq_u32(one, vtstq_u32(quarter, fifteen(one)));
}

/* Increments the counters that are not at their maximum, so that nothing carries. */
static inline uint32x4_t raised(uint32x4_t quarter, uint32x4_t one)
{
    const uint32x4_t value = vandq_u32(quarter, fifteen(one));
    return vaddq_u32(quarter, vbicq_u32(one, vceqq_u32(value, fifteen(one))));
}

/* Whether none of the counters is 0. */
static inline bool has_all(struct line l, struct line one)
{
    const uint32x4_t low = vorrq_u32(lacks(l.a, one.a), lacks(l.b, one.b));
    const uint32x4_t high = vorrq_u32(lacks(l.c, one.c), lacks(l.d, one.d));
    return vmaxvq_u32(vorrq_u32(low, high)) == 0;
}

static inline void raise(uint32_t *at, struct line l, struct line one)
{
    vst1q_u32(at, raised(l.a, one.a));
    vst1q_u32(at + 4, raised(l.b, one.b));
    vst1q_u32(at + 8, raised(l.c, one.c));
    vst1q_u32(at + 12, raised(l.d, one.d));
}

static void neon_contains(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *found)
{
    const struct shape s = shape_of(c);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(&s, ahead[i]));
        found[i] = has_all(load(line_at(&s, hash[i])), ones_of(&s, hash[i]));
    }
}

static void neon_add(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *is_new)
{
    const struct shape s = shape_of(c);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(&s, ahead[i]));
        uint32_t *at = line_at(&s, hash[i]);
        const struct line one = ones_of(&s, hash[i]), l = load(at);
        is_new[i] = !has_all(l, one);
        raise(at, l, one);
    }
}

/* --- Survey -------------------------------------------------------------- */

/* Sums for 32 counters: byte i of a register belongs to two counters of each 16 bytes. */
struct tally {
    uint8x16_t zeros, saturated, largest;
};

static inline void tally_half(struct tally *t, uint8x16_t value)
{
    t->zeros = vsubq_u8(t->zeros, vceqzq_u8(value));
    t->saturated = vsubq_u8(t->saturated, vceqq_u8(value, vdupq_n_u8(15)));
    t->largest = vmaxq_u8(t->largest, value);
}

#define TALLY_LINES 31 /* eight counters of each byte: below 256 */

static struct dj_counters_sum neon_survey(const struct dj_counters *c)
{
    const uint8x16_t none = vdupq_n_u8(0);
    const uint8_t *at = c->body, *const end = at + DJ_BLOCK_BYTES * c->n_lines;
    struct dj_counters_sum sum = {c->n_lines * DJ_BLOCK_BYTES * 2, 0, 0};
    struct tally t = {none, none, none};
    while (at < end) {
        const size_t most = (size_t)TALLY_LINES * DJ_BLOCK_BYTES;
        const uint8_t *stop = (size_t)(end - at) < most ? end : at + most;
        t.zeros = t.saturated = none;
        for (; at < stop; at += 16) {
            const uint8x16_t v = vld1q_u8(at);
            tally_half(&t, vandq_u8(v, vdupq_n_u8(15)));
            tally_half(&t, vshrq_n_u8(v, 4));
        }
        sum.used -= vaddlvq_u8(t.zeros);
        sum.saturated += vaddlvq_u8(t.saturated);
    }
    sum.largest = vmaxvq_u8(t.largest);
    return sum;
}

const struct dj_counters_kernel dj_counters_neon = {"neon", neon_contains, neon_add, neon_survey};
