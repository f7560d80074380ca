/* block.c - the portable kernel, the shared add to a line, and the choice of a kernel.
 *
 * The portable kernel walks the eight 64-bit words of a block, two lanes in each.  It uses relaxed
 * atomics, which cost nothing on common machines and make a lookup concurrent with an add well
 * defined.  A shared add sets bits by atomic OR: two writers in one block both succeed, so no
 * key is lost.  A key is new if this call set at least one of its bits. */
#include "core/bits/block.h"
#include <assert.h>
#include <pthread.h>

const uint32_t dj_block_odd[16] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xc2b2ae35, 0x85ebca6b, 0x1b873593, 0xcc9e2d51, 0x165667b1, 0x27d4eb2f, 0xe6546b65, 0x9e3779b1,
};

struct pattern {
    uint64_t word[8];
};

static uint32_t lane_bit(uint32_t source, uint32_t lanes, unsigned lane)
{
    const uint32_t used = lanes >> lane & 1;
    return used << (source * dj_block_odd[lane] >> 27);
}

static struct pattern make_pattern(const struct dj_blocks *b, uint64_t hash)
{
    const uint64_t g = hash * DJ_BLOCK_MULTIPLIER;
    const uint32_t lanes = b->lane_sets[g >> 24 & (DJ_LANE_SETS - 1)];
    const uint32_t source = (uint32_t)(g >> 32);
    struct pattern p;
    for (unsigned w = 0; w < 8; w++)
        p.word[w] = DJ_LE64(lane_bit(source, lanes, 2 * w) |
                            (uint64_t)lane_bit(source, lanes, 2 * w + 1) << 32);
    return p;
}

static bool has_all(const uint64_t *block, const struct pattern *p)
{
    uint64_t missing = 0;
    for (unsigned w = 0; w < 8; w++)
        missing |= p->word[w] & ~__atomic_load_n(block + w, __ATOMIC_RELAXED);
    return missing == 0;
}

static void portable_contains(const struct dj_blocks *b, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(dj_block_of(b, ahead[i]));
        const struct pattern p = make_pattern(b, hash[i]);
        found[i] = has_all((const uint64_t *)(const void *)dj_block_of(b, hash[i]), &p);
    }
}

static void portable_add(const struct dj_blocks *b, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(dj_block_of(b, ahead[i]));
        uint64_t *block = (uint64_t *)(void *)dj_block_of(b, hash[i]);
        const struct pattern p = make_pattern(b, hash[i]);
        uint64_t old[8], missing = 0;
        for (unsigned w = 0; w < 8; w++) {
            old[w] = __atomic_load_n(block + w, __ATOMIC_RELAXED);
            missing |= p.word[w] & ~old[w];
        }
        is_new[i] = missing != 0;
        for (unsigned w = 0; missing && w < 8; w++)
            __atomic_store_n(block + w, old[w] | p.word[w], __ATOMIC_RELAXED);
    }
}

/* True if this call set at least one of the bits. */
static bool set_shared(uint64_t *block, const struct pattern *p)
{
    uint64_t missing = 0;
    for (unsigned w = 0; w < 8; w++) {
        /* Most keys of a crawl are repeats, so read the word before locking its cache line. */
        if ((p->word[w] & ~__atomic_load_n(block + w, __ATOMIC_RELAXED)) == 0)
            continue;
        missing |= p->word[w] & ~__atomic_fetch_or(block + w, p->word[w], __ATOMIC_RELAXED);
    }
    return missing != 0;
}

/* Which of the lines starting at `first` contain the pattern, one bit per line. */
static uint8_t lines_with(const struct dj_blocks *b, const uint64_t *first,
                          const struct pattern *p)
{
    unsigned found = 0;
    for (uint32_t l = 0; l < b->lines; l++)
        found |= (unsigned)has_all(first + (size_t)8 * l, p) << l;
    return (uint8_t)found;
}

static void portable_find_lines(const struct dj_blocks *b, const uint64_t *hash,
                                const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        dj_block_prefetch_lines(b, ahead[i]);
        const struct pattern p = make_pattern(b, hash[i]);
        found[i] = lines_with(b, (const uint64_t *)(void *)dj_block_lines_of(b, hash[i]), &p);
    }
}

static void portable_add_line(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        dj_block_prefetch_lines(b, ahead[i]);
        uint64_t *first = (uint64_t *)(void *)dj_block_lines_of(b, hash[i]);
        uint64_t *block = first + (size_t)8 * line;
        const struct pattern p = make_pattern(b, hash[i]);
        found[i] = lines_with(b, first, &p);
        for (unsigned w = 0; !(found[i] >> line & 1) && w < 8; w++)
            __atomic_store_n(block + w, __atomic_load_n(block + w, __ATOMIC_RELAXED) | p.word[w],
                             __ATOMIC_RELAXED);
    }
}

void dj_block_add_line_shared(const struct dj_blocks *b, uint32_t line, const uint64_t *hash,
                              const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++) {
        dj_block_prefetch_lines(b, ahead[i]);
        uint64_t *first = (uint64_t *)(void *)dj_block_lines_of(b, hash[i]);
        const struct pattern p = make_pattern(b, hash[i]);
        const unsigned others = lines_with(b, first, &p) & ~(1u << line);
        const bool had = !set_shared(first + (size_t)8 * line, &p);
        found[i] = (uint8_t)(others | (unsigned)had << line);
    }
}

static void portable_find_bodies(const struct dj_blocks *const *bodies, uint32_t n_bodies,
                                 const uint64_t *hash, const uint64_t *ahead, size_t n,
                                 uint32_t *having)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t all = 0;
        for (uint32_t j = 0; j < n_bodies; j++) {
            const struct dj_blocks *b = bodies[j];
            DJ_PREFETCH(dj_block_of(b, ahead[i]));
            const struct pattern p = make_pattern(b, hash[i]);
            const uint64_t *block = (const uint64_t *)(const void *)dj_block_of(b, hash[i]);
            all |= (uint32_t)has_all(block, &p) << j;
        }
        having[i] = all;
    }
}

const struct dj_block_kernel dj_block_portable = {
    "portable",          portable_contains, portable_add,
    portable_find_lines, portable_add_line, portable_find_bodies,
};

static uint32_t draw_lanes(uint32_t k, uint64_t draw)
{
    uint8_t lane[16];
    for (uint8_t i = 0; i < 16; i++)
        lane[i] = i;
    uint64_t state = (16 * (uint64_t)k + draw + 1) * DJ_GOLDEN;
    for (unsigned i = 15; i > 0; i--) {
        state += DJ_GOLDEN;
        const unsigned j = (unsigned)(dj_mix64(state) % (i + 1));
        const uint8_t swap = lane[i];
        lane[i] = lane[j];
        lane[j] = swap;
    }
    unsigned mask = 0;
    for (uint32_t i = 0; i < k; i++)
        mask |= 1u << lane[i];
    return mask;
}

static uint32_t lane_sets_of[16 + 1][DJ_LANE_SETS]; /* for each k */

static void make_lane_sets(void)
{
    for (uint32_t k = 0; k <= 16; k++)
        for (unsigned i = 0; i < DJ_LANE_SETS; i++) {
            const uint32_t drawn = draw_lanes(k, i >> 4);
            lane_sets_of[k][i] = (drawn << (i & 15) | drawn >> (16 - (i & 15))) & 0xffff;
        }
}

const uint32_t *dj_block_lane_sets(uint32_t k)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    assert(k <= 16);
    (void)pthread_once(&once, make_lane_sets);
    return lane_sets_of[k];
}

const struct dj_block_kernel *dj_block_at(size_t i)
{
    const struct dj_block_kernel *usable[3];
    size_t n = 0;
#ifndef DJ_TSAN
#ifdef DJ_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        usable[n++] = &dj_block_avx512;
#endif
#ifdef DJ_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        usable[n++] = &dj_block_avx2;
#endif
#ifdef DJ_HAVE_NEON
    usable[n++] = &dj_block_neon;
#endif
#endif
    usable[n++] = &dj_block_portable;
    return i < n ? usable[i] : NULL;
}

const struct dj_block_kernel *dj_block_best(void)
{
    return dj_block_at(0);
}
