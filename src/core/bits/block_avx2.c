/* block_avx2.c - the block kernel in two 256-bit halves.
 *
 * For each half: broadcast the source to eight lanes, multiply by the lanes' odd numbers, keep
 * five bits as a shift count, and shift a 1 in the lanes that the mask names, a 0 elsewhere.  The
 * block's missing bits are the and-not of the two; vptest checks whether there are any. */
#include "core/bits/block.h"
#include <immintrin.h>

/* The values that every key needs, kept in registers.  The answers are bytes, which may alias the
 * filter's fields, so the compiler would otherwise reload these for each key. */
struct shape {
    uint8_t *body;
    uint64_t n_blocks;
    const uint32_t *lane_sets;
    __m256i odd[2], lane[2];
};

static inline struct shape shape_of(const struct dj_blocks *b)
{
    const __m256i *odd = (const __m256i *)(const void *)dj_block_odd;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (struct shape){
        b->body,
        b->n_blocks,
        b->lane_sets,
        {_mm256_loadu_si256(odd), _mm256_loadu_si256(odd + 1)},
        {lane, _mm256_add_epi32(lane, _mm256_set1_epi32(8))},
    };
}

static inline __m256i *block_at(const struct shape *s, uint64_t hash)
{
    return (__m256i *)(void *)(s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_blocks));
}

struct pattern {
    __m256i low, high;
};

/* The part of a key's pattern that all bodies share: the position of its bit in each lane. */
struct counts {
    __m256i low, high;
};

static inline struct counts make_counts(const struct shape *s, uint64_t g)
{
    const __m256i source = _mm256_set1_epi32((int)(uint32_t)(g >> 32));
    return (struct counts){_mm256_srli_epi32(_mm256_mullo_epi32(source, s->odd[0]), 27),
                           _mm256_srli_epi32(_mm256_mullo_epi32(source, s->odd[1]), 27)};
}

static inline struct pattern choose_lanes(const struct shape *s, uint32_t set, struct counts c)
{
    const __m256i lanes = _mm256_set1_epi32((int)set), one = _mm256_set1_epi32(1);
    return (struct pattern){
        _mm256_sllv_epi32(_mm256_and_si256(_mm256_srlv_epi32(lanes, s->lane[0]), one), c.low),
        _mm256_sllv_epi32(_mm256_and_si256(_mm256_srlv_epi32(lanes, s->lane[1]), one), c.high)};
}

static inline struct pattern make_pattern(const struct shape *s, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    return choose_lanes(s, s->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)], make_counts(s, g));
}

static inline int has_all(__m256i low, __m256i high, struct pattern p)
{
    const __m256i lacks =
        _mm256_or_si256(_mm256_andnot_si256(low, p.low), _mm256_andnot_si256(high, p.high));
    return _mm256_testz_si256(lacks, lacks);
}

static void avx2_contains(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        const __m256i *block = block_at(&s, hash[i]);
        const struct pattern p = make_pattern(&s, hash[i]);
        found[i] = (uint8_t)has_all(_mm256_load_si256(block), _mm256_load_si256(block + 1), p);
    }
}

static void avx2_add(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *is_new)
{
    const struct shape s = shape_of(b);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(block_at(&s, ahead[i]));
        __m256i *block = block_at(&s, hash[i]);
        const struct pattern p = make_pattern(&s, hash[i]);
        const __m256i low = _mm256_load_si256(block);
        const __m256i high = _mm256_load_si256(block + 1);
        is_new[i] = (uint8_t)!has_all(low, high, p);
        if (is_new[i]) {
            _mm256_store_si256(block, _mm256_or_si256(low, p.low));
            _mm256_store_si256(block + 1, _mm256_or_si256(high, p.high));
        }
    }
}

static inline __m256i *lines_at(const struct shape *s, uint32_t lines, uint64_t hash)
{
    return block_at(s, 0) + (size_t)2 * lines * dj_mulhi(hash, s->n_blocks);
}

static inline void prefetch_lines(const struct shape *s, uint32_t lines, uint64_t hash)
{
    const __m256i *first = lines_at(s, lines, hash);
    for (uint32_t l = 0; l < lines; l++)
        DJ_PREFETCH(first + (size_t)2 * l);
}

static inline uint8_t lines_with(const __m256i *first, uint32_t lines, struct pattern p)
{
    unsigned found = 0;
    for (uint32_t l = 0; l < lines; l++, first += 2)
        found |= (unsigned)has_all(_mm256_load_si256(first), _mm256_load_si256(first + 1), p) << l;
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
static void avx2_find_lines(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    if (b->lines == 2)
        find_lines(b, 2, hash, ahead, n, found);
    else
        find_lines(b, b->lines, hash, ahead, n, found);
}

static void avx2_add_line(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                          const uint64_t *ahead, size_t n, uint8_t *found)
{
    const struct shape s = shape_of(b);
    const uint32_t lines = b->lines;
    for (size_t i = 0; i < n; i++) {
        prefetch_lines(&s, lines, ahead[i]);
        __m256i *first = lines_at(&s, lines, hash[i]), *block = first + (size_t)2 * line;
        const struct pattern p = make_pattern(&s, hash[i]);
        found[i] = lines_with(first, lines, p);
        if (!(found[i] >> line & 1)) {
            _mm256_store_si256(block, _mm256_or_si256(_mm256_load_si256(block), p.low));
            _mm256_store_si256(block + 1, _mm256_or_si256(_mm256_load_si256(block + 1), p.high));
        }
    }
}

static void avx2_find_bodies(const struct dj_blocks *const *bodies, uint32_t n_bodies,
                             const uint64_t *hash, const uint64_t *ahead, size_t n,
                             uint32_t *having)
{
    struct {
        uint8_t *body;
        uint64_t n_blocks;
        const uint32_t *lane_sets;
    } b[DJ_BLOCK_BODIES];
    const struct shape s = shape_of(bodies[0]);
    for (uint32_t j = 0; j < n_bodies; j++) {
        b[j].body = bodies[j]->body;
        b[j].n_blocks = bodies[j]->n_blocks;
        b[j].lane_sets = bodies[j]->lane_sets;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t g = hash[i] * DJ_BLOCK_MULTIPLIER;
        const struct counts c = make_counts(&s, g);
        uint32_t all = 0;
        for (uint32_t j = 0; j < n_bodies; j++) {
            DJ_PREFETCH(b[j].body + DJ_BLOCK_BYTES * dj_mulhi(ahead[i], b[j].n_blocks));
            const __m256i *block =
                (const __m256i *)(const void *)(b[j].body +
                                                DJ_BLOCK_BYTES * dj_mulhi(hash[i], b[j].n_blocks));
            const struct pattern p =
                choose_lanes(&s, b[j].lane_sets[g >> 24 & (DJ_LANE_SETS - 1)], c);
            all |= (uint32_t)has_all(_mm256_load_si256(block), _mm256_load_si256(block + 1), p)
                   << j;
        }
        having[i] = all;
    }
}

const struct dj_block_kernel dj_block_avx2 = {
    "avx2", avx2_contains, avx2_add, avx2_find_lines, avx2_add_line, avx2_find_bodies,
};
