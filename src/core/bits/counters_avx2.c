/* counters_avx2.c - 4-bit counters in two 256-bit halves.
 *
 * The same as block_avx2.c, with a mask of 15 over each counter instead of one bit: if the masked
 * lane is 0, the counter is 0; if it equals the mask, the counter is at its maximum. */
#include "core/bits/counters.h"
#include <immintrin.h>

struct shape { /* in registers; see block_avx2.c */
    uint8_t *body;
    uint64_t n_lines;
    const uint32_t *lane_sets;
    __m256i odd[2], lane[2];
};

static inline struct shape shape_of(const struct dj_counters *c)
{
    const __m256i *odd = (const __m256i *)(const void *)dj_block_odd;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (struct shape){
        c->body,
        c->n_lines,
        c->lane_sets,
        {_mm256_loadu_si256(odd), _mm256_loadu_si256(odd + 1)},
        {lane, _mm256_add_epi32(lane, _mm256_set1_epi32(8))},
    };
}

static inline __m256i *line_at(const struct shape *s, uint64_t hash)
{
    return (__m256i *)(void *)(s->body + DJ_BLOCK_BYTES * dj_mulhi(hash, s->n_lines));
}

/* Half of a key's pattern: for each of its counters, 1 and 15 shifted to the counter's
 * position. */
struct pattern {
    __m256i one, fifteen;
};

static inline struct pattern half_pattern(const struct shape *s, __m256i source, __m256i lanes,
                                          int half)
{
    const __m256i product = _mm256_mullo_epi32(source, s->odd[half]);
    const __m256i count = _mm256_slli_epi32(_mm256_srli_epi32(product, 29), 2);
    const __m256i used =
        _mm256_and_si256(_mm256_srlv_epi32(lanes, s->lane[half]), _mm256_set1_epi32(1));
    const __m256i one = _mm256_sllv_epi32(used, count);
    return (struct pattern){one, _mm256_sub_epi32(_mm256_slli_epi32(one, 4), one)};
}

/* Nonzero in the lanes whose counter is 0. */
static inline __m256i lacks(__m256i line, struct pattern p)
{
    const __m256i value = _mm256_and_si256(line, p.fifteen);
    return _mm256_and_si256(_mm256_cmpeq_epi32(value, _mm256_setzero_si256()), p.one);
}

/* Increment in the lanes whose counter is not at its maximum, so that nothing carries. */
static inline __m256i raised(__m256i line, struct pattern p)
{
    const __m256i value = _mm256_and_si256(line, p.fifteen);
    return _mm256_add_epi32(line,
                            _mm256_andnot_si256(_mm256_cmpeq_epi32(value, p.fifteen), p.one));
}

struct patterns {
    struct pattern low, high;
};

static inline struct patterns patterns_of(const struct shape *s, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    const __m256i lanes = _mm256_set1_epi32((int)s->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)]);
    const __m256i source = _mm256_set1_epi32((int)(uint32_t)(g >> 32));
    return (struct patterns){half_pattern(s, source, lanes, 0), half_pattern(s, source, lanes, 1)};
}

static inline uint8_t has_all(__m256i low, __m256i high, const struct patterns *p)
{
    const __m256i any = _mm256_or_si256(lacks(low, p->low), lacks(high, p->high));
    return (uint8_t)_mm256_testz_si256(any, any);
}

static void avx2_contains(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *found)
{
    const struct shape s = shape_of(c);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(&s, ahead[i]));
        const __m256i *line = line_at(&s, hash[i]);
        const struct patterns p = patterns_of(&s, hash[i]);
        found[i] = has_all(_mm256_load_si256(line), _mm256_load_si256(line + 1), &p);
    }
}

static void avx2_add(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *is_new)
{
    const struct shape s = shape_of(c);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(&s, ahead[i]));
        __m256i *line = line_at(&s, hash[i]);
        const struct patterns p = patterns_of(&s, hash[i]);
        const __m256i low = _mm256_load_si256(line), high = _mm256_load_si256(line + 1);
        is_new[i] = !has_all(low, high, &p);
        _mm256_store_si256(line, raised(low, p.low));
        _mm256_store_si256(line + 1, raised(high, p.high));
    }
}

/* --- Survey -------------------------------------------------------------- */

/* Sums for 64 counters: byte i of a vector belongs to two counters of each 32 bytes. */
struct tally {
    __m256i zeros, saturated, largest;
};

static inline void tally_half(struct tally *t, __m256i value)
{
    const __m256i fifteen = _mm256_set1_epi8(15);
    t->zeros = _mm256_sub_epi8(t->zeros, _mm256_cmpeq_epi8(value, _mm256_setzero_si256()));
    t->saturated = _mm256_sub_epi8(t->saturated, _mm256_cmpeq_epi8(value, fifteen));
    t->largest = _mm256_max_epu8(t->largest, value);
}

static inline uint64_t sum_bytes(__m256i v)
{
    uint64_t part[4];
    _mm256_storeu_si256((__m256i *)(void *)part, _mm256_sad_epu8(v, _mm256_setzero_si256()));
    return part[0] + part[1] + part[2] + part[3];
}

static uint64_t largest_byte(__m256i v)
{
    uint8_t byte[32];
    uint64_t most = 0;
    _mm256_storeu_si256((__m256i *)(void *)byte, v);
    for (unsigned i = 0; i < sizeof byte; i++)
        most = byte[i] > most ? byte[i] : most;
    return most;
}

#define TALLY_LINES 63 /* four counters of each byte: below 256 */

static struct dj_counters_sum avx2_survey(const struct dj_counters *c)
{
    const __m256i fifteen = _mm256_set1_epi8(15), none = _mm256_setzero_si256();
    const __m256i *at = (const __m256i *)(const void *)c->body, *end = at + 2 * c->n_lines;
    struct dj_counters_sum sum = {c->n_lines * DJ_BLOCK_BYTES * 2, 0, 0};
    __m256i largest = none;
    while (at < end) {
        const __m256i *stop = end - at < 2 * TALLY_LINES ? end : at + 2 * TALLY_LINES;
        struct tally t = {none, none, largest};
        for (; at < stop; at++) {
            const __m256i v = _mm256_load_si256(at);
            tally_half(&t, _mm256_and_si256(v, fifteen));
            tally_half(&t, _mm256_and_si256(_mm256_srli_epi16(v, 4), fifteen));
        }
        sum.used -= sum_bytes(t.zeros);
        sum.saturated += sum_bytes(t.saturated);
        largest = t.largest;
    }
    sum.largest = largest_byte(largest);
    return sum;
}

const struct dj_counters_kernel dj_counters_avx2 = {"avx2", avx2_contains, avx2_add, avx2_survey};
