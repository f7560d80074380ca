/* block_avx512.c - the block kernel in one 512-bit register.
 *
 * The same as block_avx2.c, but the lane mask is a mask register, so selecting the lanes is free,
 * and one masked test compares the whole block. */
#include "core/bits/block.h"
#include <immintrin.h>

/* The values that every key needs, kept in registers: see block_avx2.c. */
struct shape {
    uint8_t *body;
    uint64_t n_blocks;
    const uint32_t *lane_sets;
    __m512i odd;
};

static inline struct shape shape_of(const struct dj_blocks *b)
{
    return (struct shape){b->body, b->n_blocks, b->lane_sets,
                          _mm512_loadu_si512((const void *)dj_block_odd)};
}

static inline void *block_at(const struct shape *s, uint64_t hash)
{
    return s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_blocks);
}

struct pattern {
    __m512i bits;
    __mmask16 lanes;
};

/* The part of a key's pattern that all bodies share: the position of its bit in each lane. */
static inline __m512i make_counts(const struct shape *s, uint64_t g)
{
    const __m512i source = _mm512_set1_epi32((int)(uint32_t)(g >> 32));
    return _mm512_srli_epi32(_mm512_mullo_epi32(source, s->odd), 27);
}

static inline struct pattern choose_lanes(uint32_t set, __m512i counts)
{
    const __mmask16 lanes = (__mmask16)set;
    return (struct pattern){_mm512_maskz_sllv_epi32(lanes, _mm512_set1_epi32(1), counts), lanes};
}

static inline struct pattern make_pattern(const struct shape *s, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    return choose_lanes(s->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)], make_counts(s, g));
}

/* Lanes whose bit is not yet set. */
static inline __mmask16 missing(__m512i block, struct pattern p)
{
    return _mm512_mask_testn_epi32_mask(p.lanes, block, p.bits);
}

static void avx512_contains(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        const struct pattern p = make_pattern(&s, hash[i]);
        found[i] = missing(_mm512_load_si512(block_at(&s, hash[i])), p) == 0;
    }
}

/* In a mix of new and known keys, a branch on "new" would often be mispredicted; a store masked by
 * the missing lanes needs none.  But where nothing is missing from a clean page of a file, such a
 * store takes a microcode assist (150 ns), so it is skipped while all keys are known. */
static void avx512_add(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                       size_t n, uint8_t *is_new)
{
    const struct shape s = shape_of(b);
    uint16_t recent = 0; /* the last 16 answers */
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        void *at = block_at(&s, hash[i]);
        const struct pattern p = make_pattern(&s, hash[i]);
        const __m512i block = _mm512_load_si512(at);
        const __mmask16 lacks = missing(block, p);
        is_new[i] = lacks != 0;
        recent = (uint16_t)(recent << 1 | is_new[i]);
        if (recent)
            _mm512_mask_store_epi32(at, lacks, _mm512_or_si512(block, p.bits));
    }
}

static inline uint8_t lines_with(const uint8_t *first, uint32_t lines, struct pattern p)
{
    unsigned found = 0;
    for (uint32_t l = 0; l < lines; l++, first += DJ_BLOCK_BYTES)
        found |= (unsigned)(missing(_mm512_load_si512((const void *)first), p) == 0) << l;
    return (uint8_t)found;
}

static void avx512_find_lines(const struct dj_blocks *b, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        dj_block_prefetch_lines(b, ahead[i]);
        found[i] = lines_with(dj_block_lines_of(b, hash[i]), b->lines, make_pattern(&s, hash[i]));
    }
}

static void avx512_add_line(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                            const uint64_t *ahead, size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        dj_block_prefetch_lines(b, ahead[i]);
        uint8_t *first = dj_block_lines_of(b, hash[i]);
        uint8_t *at = first + (size_t)DJ_BLOCK_BYTES * line;
        const struct pattern p = make_pattern(&s, hash[i]);
        found[i] = lines_with(first, b->lines, p);
        if (!(found[i] >> line & 1))
            _mm512_store_si512((void *)at, _mm512_or_si512(_mm512_load_si512(at), p.bits));
    }
}

static void avx512_find_bodies(const struct dj_blocks *const *bodies, uint32_t n_bodies,
                               const uint64_t *hash, const uint64_t *ahead, size_t n,
                               uint32_t *having)
{
    struct shape s[DJ_BLOCK_BODIES];
    for (uint32_t j = 0; j < n_bodies; j++)
        s[j] = shape_of(bodies[j]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t g = hash[i] * DJ_BLOCK_MULTIPLIER;
        const __m512i counts = make_counts(&s[0], g);
        uint32_t all = 0;
        for (uint32_t j = 0; j < n_bodies; j++) {
            DJ_PREFETCH(block_at(&s[j], ahead[i]));
            const __m512i block = _mm512_load_si512(block_at(&s[j], hash[i]));
            const uint32_t set = s[j].lane_sets[g >> 24 & (DJ_LANE_SETS - 1)];
            all |= (uint32_t)(missing(block, choose_lanes(set, counts)) == 0) << j;
        }
        having[i] = all;
    }
}

const struct dj_block_kernel dj_block_avx512 = {
    "avx512", avx512_contains, avx512_add, avx512_find_lines, avx512_add_line, avx512_find_bodies,
};
