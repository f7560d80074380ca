/* block_neon.c - the block kernel in four 128-bit quarters, for 64-bit ARM.
 *
 * The same as block_avx2.c.  There is no test of a whole register, so what is missing in the four
 * quarters is combined first, and its largest lane compared with zero. */
#include "core/bits/block.h"
#include <arm_neon.h>

/* A block, a pattern, or the position of a key's bit in each lane: four quarters.  No array, because
 * the compiler keeps an array in memory unless it unrolls all loops early. */
struct line {
    uint32x4_t a, b, c, d;
};

/* The values that every key needs, kept in registers: see block_avx2.c. */
struct shape {
    uint8_t *body;
    uint64_t n_blocks;
    const uint32_t *lane_sets;
    struct line odd, lane; /* lane: its bit in a mask */
};

static inline struct line load(const uint32_t *block)
{
    return (struct line){vld1q_u32(block), vld1q_u32(block + 4), vld1q_u32(block + 8),
                         vld1q_u32(block + 12)};
}

static inline void store_both(uint32_t *block, struct line x, struct line y)
{
    vst1q_u32(block, vorrq_u32(x.a, y.a));
    vst1q_u32(block + 4, vorrq_u32(x.b, y.b));
    vst1q_u32(block + 8, vorrq_u32(x.c, y.c));
    vst1q_u32(block + 12, vorrq_u32(x.d, y.d));
}

static inline struct shape shape_of(const struct dj_blocks *b)
{
    static const uint32_t first[4] = {1, 2, 4, 8};
    const uint32x4_t lane = vld1q_u32(first);
    return (struct shape){
        b->body,
        b->n_blocks,
        b->lane_sets,
        load(dj_block_odd),
        {lane, vshlq_n_u32(lane, 4), vshlq_n_u32(lane, 8), vshlq_n_u32(lane, 12)},
    };
}

static inline uint32_t *block_at(const struct shape *s, uint64_t hash)
{
    return (uint32_t *)(void *)(s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_blocks));
}

static inline uint32x4_t count_in(uint32x4_t source, uint32x4_t odd)
{
    return vshrq_n_u32(vmulq_u32(source, odd), 27);
}

/* The part of a key's pattern that all bodies share. */
static inline struct line make_counts(const struct shape *s, uint64_t g)
{
    const uint32x4_t source = vdupq_n_u32((uint32_t)(g >> 32));
    return (struct line){count_in(source, s->odd.a), count_in(source, s->odd.b),
                         count_in(source, s->odd.c), count_in(source, s->odd.d)};
}

/* The key's bit in each lane that is in the set. */
static inline uint32x4_t bits_in(uint32x4_t set, uint32x4_t lane, uint32x4_t count)
{
    const uint32x4_t used = vandq_u32(vtstq_u32(set, lane), vdupq_n_u32(1));
    return vshlq_u32(used, vreinterpretq_s32_u32(count));
}

static inline struct line choose_lanes(const struct shape *s, uint32_t lanes, struct line counts)
{
    const uint32x4_t set = vdupq_n_u32(lanes);
    return (struct line){bits_in(set, s->lane.a, counts.a), bits_in(set, s->lane.b, counts.b),
                         bits_in(set, s->lane.c, counts.c), bits_in(set, s->lane.d, counts.d)};
}

static inline struct line make_pattern(const struct shape *s, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    return choose_lanes(s, s->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)], make_counts(s, g));
}

static inline bool has_all(struct line block, struct line p)
{
    const uint32x4_t low = vorrq_u32(vbicq_u32(p.a, block.a), vbicq_u32(p.b, block.b));
    const uint32x4_t high = vorrq_u32(vbicq_u32(p.c, block.c), vbicq_u32(p.d, block.d));
    return vmaxvq_u32(vorrq_u32(low, high)) == 0;
}

static void neon_contains(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        found[i] = has_all(load(block_at(&s, hash[i])), make_pattern(&s, hash[i]));
    }
}

static void neon_add(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *is_new)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        uint32_t *at = block_at(&s, hash[i]);
        const struct line p = make_pattern(&s, hash[i]), block = load(at);
        is_new[i] = !has_all(block, p);
        if (is_new[i])
            store_both(at, block, p);
    }
}

static inline uint32_t *lines_at(const struct shape *s, uint32_t lines, uint64_t hash)
{
    return block_at(s, 0) + (size_t)16 * lines * dj_mulhi(hash, s->n_blocks);
}

static inline void prefetch_lines(const struct shape *s, uint32_t lines, uint64_t hash)
{
    const uint32_t *first = lines_at(s, lines, hash);
    for (uint32_t l = 0; l < lines; l++)
        DJ_PREFETCH(first + (size_t)16 * l);
}

static inline uint8_t lines_with(const uint32_t *first, uint32_t lines, struct line p)
{
    unsigned found = 0;
    for (uint32_t l = 0; l < lines; l++, first += 16)
        found |= (unsigned)has_all(load(first), p) << l;
    return (uint8_t)found;
}

static inline void find_lines(const struct dj_blocks *b, uint32_t lines, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        prefetch_lines(&s, lines, ahead[i]);
        found[i] = lines_with(lines_at(&s, lines, hash[i]), lines, make_pattern(&s, hash[i]));
    }
}

/* A constant 2, the usual number of lines, lets the compiler unroll the loop. */
static void neon_find_lines(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    if (b->lines == 2)
        find_lines(b, 2, hash, ahead, n, found);
    else
        find_lines(b, b->lines, hash, ahead, n, found);
}

static void neon_add_line(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                          const uint64_t *ahead, size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    const uint32_t lines = b->lines;
    for (size_t i = 0; i < n; i++) {
        prefetch_lines(&s, lines, ahead[i]);
        uint32_t *first = lines_at(&s, lines, hash[i]), *at = first + (size_t)16 * line;
        const struct line p = make_pattern(&s, hash[i]);
        found[i] = lines_with(first, lines, p);
        if (!(found[i] >> line & 1))
            store_both(at, load(at), p);
    }
}

static void neon_find_bodies(const struct dj_blocks *const *bodies, uint32_t n_bodies,
                             const uint64_t *hash, const uint64_t *ahead, size_t n,
                             uint32_t *having)
{
    struct {
        uint8_t *body;
        uint64_t n_blocks;
        const uint32_t *lane_sets;
    } b[DJ_BLOCK_BODIES];
    struct shape s = shape_of(bodies[0]);
    for (uint32_t j = 0; j < n_bodies; j++) {
        b[j].body = bodies[j]->body;
        b[j].n_blocks = bodies[j]->n_blocks;
        b[j].lane_sets = bodies[j]->lane_sets;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t g = hash[i] * DJ_BLOCK_MULTIPLIER;
        const struct line counts = make_counts(&s, g);
        uint32_t all = 0;
        for (uint32_t j = 0; j < n_bodies; j++) {
            s.body = b[j].body;
            s.n_blocks = b[j].n_blocks;
            DJ_PREFETCH(block_at(&s, ahead[i]));
            const uint32_t set = b[j].lane_sets[g >> 24 & (DJ_LANE_SETS - 1)];
            all |= (uint32_t)has_all(load(block_at(&s, hash[i])), choose_lanes(&s, set, counts))
                   << j;
        }
        having[i] = all;
    }
}

const struct dj_block_kernel dj_block_neon = {
    "neon", neon_contains, neon_add, neon_find_lines, neon_add_line, neon_find_bodies,
};
