/* lab_mlbf.c - the multi-layer Bloom filter as in its paper; see lab_mlbf.h.
 *
 * An exact implementation, with its weaknesses: equal segments cancel out in the XOR, swapped ones
 * collide, and a layer with few distinct segments (hosts) answers yes to nearly everything.  The
 * paper leaves two things open: here, positions beyond m from the XOR are taken modulo m, and a
 * layer is created when the first URL that deep arrives.
 * Sources: Saha, Navale, Navandar, "A Multi-Layer Bloom Filter for Duplicated URL Detection",
 * after Cen, Xu, Sun, 2010; Sharma, "Searching in large dataset using multi-layered Bloom filter",
 * 2021 (words in turn). */
#include "lab/engine/lab_mlbf.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define K_MAX 32u

int lab_mlbf_init(struct lab_mlbf *f, uint64_t m, uint32_t k, uint64_t seed, char delimiter,
                  uint32_t robin, deja_error *err)
{
    *f = (struct lab_mlbf){0};
    if (m == 0 || k > K_MAX)
        return fail(err, DEJA_EINVAL, "cannot create a filter of %llu bits with %u hash functions",
                    (unsigned long long)m, k);
    *f = (struct lab_mlbf){.m = m, .k = k, .seed = seed, .delimiter = delimiter};
    f->robin = robin < LAB_MLBF_LAYERS ? robin : LAB_MLBF_LAYERS;
    f->joint = calloc(m / 8 + 1, 1);
    return f->joint ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for a filter");
}

void lab_mlbf_fini(struct lab_mlbf *f)
{
    for (uint32_t i = 0; i < f->layers; i++)
        free(f->layer[i]);
    free(f->joint);
    *f = (struct lab_mlbf){0};
}

static bool get(const uint8_t *bits, uint64_t at)
{
    return (bits[at / 8] >> at % 8 & 1) != 0;
}

static void set(uint8_t *bits, uint64_t at)
{
    bits[at / 8] = (uint8_t)(bits[at / 8] | 1u << at % 8);
}

/* --- Segments ---------------------------------------------------------------- */

/* The rest of a line; data is NULL after the last segment. */
static deja_slice begin(const struct lab_mlbf *f, deja_slice key)
{
    const char *text = key.data, *end = text + key.len;
    const char *mark = f->delimiter == '/' ? memchr(text, ':', key.len) : NULL;
    const bool scheme = mark && end - mark >= 3 && memcmp(mark, "://", 3) == 0;
    const char *start = scheme ? mark + 3 : text;
    return (deja_slice){start, (size_t)(end - start)};
}

static deja_slice next_segment(deja_slice *rest, char delimiter)
{
    const char *text = rest->data;
    const char *end = rest->len > 0 ? memchr(text, delimiter, rest->len) : NULL;
    const size_t len = end ? (size_t)(end - text) : rest->len;
    *rest = end ? (deja_slice){end + 1, rest->len - len - 1} : (deja_slice){NULL, 0};
    return (deja_slice){text, len};
}

uint32_t lab_mlbf_words(deja_slice line, char delimiter)
{
    uint32_t n = 0;
    for (deja_slice rest = line; rest.data != NULL; n++)
        (void)next_segment(&rest, delimiter);
    return n;
}

static uint32_t layer_of(const struct lab_mlbf *f, uint32_t segment)
{
    if (f->robin > 0)
        return segment % f->robin;
    return segment < LAB_MLBF_LAYERS ? segment : LAB_MLBF_LAYERS - 1;
}

static uint64_t position(const struct lab_mlbf *f, deja_slice segment, uint32_t j)
{
    return mix_below(XXH3_64bits_withSeed(segment.data, segment.len, f->seed + j), f->m);
}

/* --- Insert and look up -------------------------------------------------------- */

/* Allocate the layers up to and including this one; layer_of keeps it below LAB_MLBF_LAYERS. */
static bool reach(struct lab_mlbf *f, uint32_t layer)
{
    while (f->layers <= layer) {
        f->layer[f->layers] = calloc(f->m / 8 + 1, 1);
        if (!f->layer[f->layers])
            return false;
        f->layers++;
    }
    return true;
}

int lab_mlbf_add(struct lab_mlbf *f, deja_slice key)
{
    uint64_t joint[K_MAX] = {0};
    uint32_t segment = 0;
    for (deja_slice rest = begin(f, key); rest.data != NULL; segment++) {
        const deja_slice s = next_segment(&rest, f->delimiter);
        const uint32_t layer = layer_of(f, segment);
        if (!reach(f, layer))
            return DEJA_ENOMEM;
        for (uint32_t j = 0; j < f->k; j++) {
            const uint64_t at = position(f, s, j);
            set(f->layer[layer], at);
            joint[j] ^= at;
        }
    }
    for (uint32_t j = 0; j < f->k; j++)
        set(f->joint, joint[j] % f->m);
    return DEJA_OK;
}

bool lab_mlbf_has(const struct lab_mlbf *f, deja_slice key)
{
    uint64_t joint[K_MAX] = {0};
    uint32_t segment = 0;
    for (deja_slice rest = begin(f, key); rest.data != NULL; segment++) {
        const deja_slice s = next_segment(&rest, f->delimiter);
        const uint32_t layer = layer_of(f, segment);
        if (layer >= f->layers)
            return false;
        for (uint32_t j = 0; j < f->k; j++) {
            const uint64_t at = position(f, s, j);
            if (!get(f->layer[layer], at))
                return false;
            joint[j] ^= at;
        }
    }
    for (uint32_t j = 0; j < f->k; j++)
        if (!get(f->joint, joint[j] % f->m))
            return false;
    return true;
}
