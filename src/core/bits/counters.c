/* counters.c - increments, decrements and minimum of counters packed in cache lines; see
 * counters.h. */
#include "core/bits/counters.h"

#define LANES 16u

/* The offsets of a key's k counters in their line, in bits. */
struct places {
    uint16_t at[LANES];
};

static void places_from_sets(const struct dj_counters *c, uint64_t g, struct places *p)
{
    const uint32_t source = (uint32_t)(g >> 32);
    unsigned n = 0;
    for (uint32_t lanes = c->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)]; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        p->at[n++] = (uint16_t)(32 * lane + 4 * (source * dj_block_odd[lane] >> 29));
    }
}

/* The remaining lane numbers are packed into a word, four bits each; a drawn one is removed. */
static void places_by_drawing(const struct dj_counters *c, uint64_t x, struct places *p)
{
    const uint64_t in_lane = 32 / c->bits;
    uint64_t left = UINT64_C(0xfedcba9876543210);
    for (uint32_t i = 0; i < c->k; i++) {
        const unsigned at = 4 * (unsigned)dj_mulhi(x, LANES - i);
        const uint64_t lane = left >> at & 15, below = (UINT64_C(1) << at) - 1;
        left = (left & below) | (left >> 4 & ~below);
        x *= LANES - i;
        p->at[i] = (uint16_t)(32 * lane + c->bits * dj_mulhi(x, in_lane));
        x *= in_lane;
    }
}

static struct places places_of(const struct dj_counters *c, uint64_t hash)
{
    struct places p;
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    if (c->bits == 4)
        places_from_sets(c, g, &p);
    else
        places_by_drawing(c, g, &p);
    return p;
}

static uint32_t largest(const struct dj_counters *c)
{
    return UINT32_MAX >> (32 - c->bits);
}

static uint64_t *word_at(const uint8_t *line, unsigned at)
{
    return (uint64_t *)(uintptr_t)(line + at / 64 * 8);
}

static uint32_t get(const struct dj_counters *c, const uint8_t *line, unsigned at)
{
    const uint64_t word = DJ_LE64(__atomic_load_n(word_at(line, at), __ATOMIC_RELAXED));
    return (uint32_t)(word >> at % 64) & largest(c);
}

/* Adds `by`, 1 or -1, to a counter.  Adjacent counters in the word never change, because no
 * counter overflows or underflows. */
static void change(uint8_t *line, unsigned at, uint64_t by)
{
    uint64_t *word = word_at(line, at);
    const uint64_t old = DJ_LE64(__atomic_load_n(word, __ATOMIC_RELAXED));
    __atomic_store_n(word, DJ_LE64(old + (by << at % 64)), __ATOMIC_RELAXED);
}

struct range {
    uint32_t least, most;
};

static struct range range_of(const struct dj_counters *c, const uint8_t *line,
                             const struct places *p)
{
    struct range r = {UINT32_MAX, 0};
    for (uint32_t i = 0; i < c->k; i++) {
        const uint32_t value = get(c, line, p->at[i]);
        r.least = value < r.least ? value : r.least;
        r.most = value > r.most ? value : r.most;
    }
    return r;
}

uint32_t dj_counters_min(const struct dj_counters *c, uint64_t hash)
{
    const struct places p = places_of(c, hash);
    return range_of(c, dj_counters_line(c, hash), &p).least;
}

bool dj_counters_up(const struct dj_counters *c, uint64_t hash, bool minimal)
{
    const struct places p = places_of(c, hash);
    uint8_t *line = dj_counters_line(c, hash);
    const struct range r = range_of(c, line, &p);
    for (uint32_t i = 0; i < c->k; i++) {
        const uint32_t value = get(c, line, p.at[i]);
        if (value != largest(c) && (!minimal || value == r.least))
            change(line, p.at[i], 1);
    }
    return r.least == 0;
}

bool dj_counters_down(const struct dj_counters *c, uint64_t hash, bool *gone)
{
    const struct places p = places_of(c, hash);
    uint8_t *line = dj_counters_line(c, hash);
    const uint32_t least = range_of(c, line, &p).least;
    *gone = least == 1;
    if (least == 0 || least == largest(c))
        return false;
    for (uint32_t i = 0; i < c->k; i++)
        if (get(c, line, p.at[i]) != largest(c))
            change(line, p.at[i], UINT64_MAX);
    return true;
}

static void portable_contains(const struct dj_counters *c, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(dj_counters_line(c, ahead[i]));
        found[i] = dj_counters_min(c, hash[i]) != 0;
    }
}

static void portable_add(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(dj_counters_line(c, ahead[i]));
        is_new[i] = dj_counters_up(c, hash[i], false);
    }
}

/* Returns the bits that are set only in counters that may exceed `most`, which is below the
 * maximum: a larger number has a bit at or above the highest bit of most + 1. */
static uint32_t telling(uint32_t top, uint32_t most)
{
    const uint32_t highest = UINT32_C(1) << (31 - __builtin_clz(most + 1));
    return top & ~(highest - 1);
}

/* Process whole words: folding a word onto itself gathers all bits of a counter into its lowest
 * one, and only words that may hold a new maximum are unpacked. */
static inline __attribute__((always_inline)) struct dj_counters_sum
survey(const struct dj_counters *c)
{
    struct dj_counters_sum sum = {0, 0, 0};
    const uint32_t top = largest(c);
    const uint64_t lowest = UINT64_MAX / top; /* a 1 in each counter */
    uint64_t tells = lowest * telling(top, 0);
    for (uint64_t at = 0; at < DJ_BLOCK_BYTES * c->n_lines; at += 8) {
        const uint64_t word = DJ_LE64(__atomic_load_n(word_at(c->body + at, 0), __ATOMIC_RELAXED));
        uint64_t any = word, all = word;
        for (uint32_t by = 1; by < c->bits; by *= 2) {
            any |= any >> by;
            all &= all >> by;
        }
        sum.used += (uint64_t)__builtin_popcountll(any & lowest);
        sum.saturated += (uint64_t)__builtin_popcountll(all & lowest);
        if (!(word & tells))
            continue;
        for (uint32_t by = 0; by < 64; by += c->bits) {
            const uint64_t value = word >> by & top;
            sum.largest = value > sum.largest ? value : sum.largest;
        }
        tells = sum.largest == top ? 0 : lowest * telling(top, (uint32_t)sum.largest);
    }
    return sum;
}

#ifdef __x86_64__
static __attribute__((target("popcnt"))) struct dj_counters_sum
survey_popcnt(const struct dj_counters *c) /* see popcount.c */
{
    return survey(c);
}

static struct dj_counters_sum portable_survey(const struct dj_counters *c)
{
    return __builtin_cpu_supports("popcnt") ? survey_popcnt(c) : survey(c);
}
#else
static struct dj_counters_sum portable_survey(const struct dj_counters *c)
{
    return survey(c);
}
#endif

const struct dj_counters_kernel dj_counters_portable = {"portable", portable_contains,
                                                        portable_add, portable_survey};

const struct dj_counters_kernel *dj_counters_best(uint32_t bits)
{
#if defined(DJ_HAVE_AVX2) && !defined(DJ_TSAN)
    if (bits == 4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return &dj_counters_avx2;
#endif
#if defined(DJ_HAVE_NEON) && !defined(DJ_TSAN)
    if (bits == 4)
        return &dj_counters_neon;
#endif
    (void)bits;
    return &dj_counters_portable;
}

void dj_counters_merge(const struct dj_counters *into, const struct dj_counters *from)
{
    const uint64_t top = largest(into);
    for (uint64_t at = 0; at < DJ_BLOCK_BYTES * into->n_lines; at += 8) {
        uint64_t *word = word_at(into->body + at, 0);
        const uint64_t mine = DJ_LE64(__atomic_load_n(word, __ATOMIC_RELAXED));
        const uint64_t other =
            DJ_LE64(__atomic_load_n(word_at(from->body + at, 0), __ATOMIC_RELAXED));
        uint64_t sums = 0;
        if (!other)
            continue;
        for (uint32_t by = 0; by < 64; by += into->bits) {
            const uint64_t sum = (mine >> by & top) + (other >> by & top);
            sums |= (sum < top ? sum : top) << by;
        }
        __atomic_store_n(word, DJ_LE64(sums), __ATOMIC_RELAXED);
    }
}
