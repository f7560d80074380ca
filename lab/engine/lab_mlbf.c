/* lab_mlbf.c - the filters of the multi-layer papers; see lab_mlbf.h.
 *
 * Exact implementations, with their weaknesses.  In one array, segments of different URLs combine
 * into URLs that nobody added.  In the layers, equal segments cancel out in the XOR, swapped ones
 * collide, and a layer with few distinct segments (hosts) answers yes to nearly everything.  The
 * paper leaves two things open: here, positions beyond m from the XOR are taken modulo m, and a
 * layer is created when the first URL that deep arrives; its published program does the same.
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

/* One layer of bits, all 0. */
static uint8_t *layer_room(const struct lab_mlbf *f)
{
    return f->m / 8 < SIZE_MAX ? calloc((size_t)(f->m / 8) + 1, 1) : NULL;
}

int lab_mlbf_init(struct lab_mlbf *f, uint64_t m, uint32_t k, uint64_t seed,
                  const struct lab_mlbf_how *how, deja_error *err)
{
    *f = (struct lab_mlbf){0};
    if (m == 0 || k > K_MAX)
        return fail(err, DEJA_EINVAL, "cannot create a filter of %llu bits with %u hash functions",
                    (unsigned long long)m, k);
    *f = (struct lab_mlbf){.m = m, .k = k, .seed = seed, .how = *how};
    if (how->rule != LAB_MLBF_LAYERED)
        return DEJA_OK;
    f->joint = layer_room(f);
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

deja_slice lab_mlbf_begin(const struct lab_mlbf_how *how, deja_slice line)
{
    const char *text = line.data, *end = text + line.len;
    const bool cut = how->rule != LAB_MLBF_LINE && how->delimiter == '/';
    const char *mark = cut ? memchr(text, ':', line.len) : NULL;
    const bool scheme = mark && end - mark >= 3 && memcmp(mark, "://", 3) == 0;
    const char *start = scheme ? mark + 3 : text;
    return (deja_slice){start, (size_t)(end - start)};
}

static deja_slice next_word(deja_slice *rest, char delimiter)
{
    const char *text = rest->data;
    const char *end = rest->len > 0 ? memchr(text, delimiter, rest->len) : NULL;
    const size_t len = end ? (size_t)(end - text) : rest->len;
    *rest = end ? (deja_slice){end + 1, rest->len - len - 1} : (deja_slice){NULL, 0};
    return (deja_slice){text, len};
}

deja_slice lab_mlbf_next(const struct lab_mlbf_how *how, deja_slice *rest)
{
    const deja_slice whole = *rest;
    if (how->rule != LAB_MLBF_LINE)
        return next_word(rest, how->delimiter);
    *rest = (deja_slice){NULL, 0};
    return whole;
}

uint32_t lab_mlbf_words(deja_slice line, char delimiter)
{
    uint32_t n = 0;
    for (deja_slice rest = line; rest.data != NULL; n++)
        (void)next_word(&rest, delimiter);
    return n;
}

uint32_t lab_mlbf_layer(const struct lab_mlbf_how *how, uint32_t segment)
{
    if (how->rule != LAB_MLBF_LAYERED)
        return 0;
    const uint32_t robin = how->robin < LAB_MLBF_LAYERS ? how->robin : LAB_MLBF_LAYERS;
    if (robin > 0)
        return segment % robin;
    return segment < LAB_MLBF_LAYERS ? segment : LAB_MLBF_LAYERS - 1;
}

/* H_j.  XXH3 combines a short input with its seed by XOR, so consecutive seeds would give segments
 * that differ only in the lowest bits of a character ("p2" and "p3") the same positions; seeds far
 * apart do not. */
static uint64_t position(const struct lab_mlbf *f, deja_slice segment, uint32_t j)
{
    const uint64_t seed = mix_nth(f->seed + j);
    return mix_below(XXH3_64bits_withSeed(segment.data, segment.len, seed), f->m);
}

/* --- Insert and look up -------------------------------------------------------- */

uint32_t lab_mlbf_arrays(const struct lab_mlbf *f)
{
    return f->layers + (f->joint != NULL);
}

/* Allocate the layers up to and including this one, which is below LAB_MLBF_LAYERS. */
static bool reach(struct lab_mlbf *f, uint32_t layer)
{
    while (f->layers <= layer) {
        f->layer[f->layers] = layer_room(f);
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
    for (deja_slice rest = lab_mlbf_begin(&f->how, key); rest.data != NULL; segment++) {
        const deja_slice s = lab_mlbf_next(&f->how, &rest);
        const uint32_t layer = lab_mlbf_layer(&f->how, segment);
        if (!reach(f, layer))
            return DEJA_ENOMEM;
        for (uint32_t j = 0; j < f->k; j++) {
            const uint64_t at = position(f, s, j);
            set(f->layer[layer], at);
            joint[j] ^= at;
        }
    }
    for (uint32_t j = 0; f->joint && j < f->k; j++)
        set(f->joint, joint[j] % f->m);
    return DEJA_OK;
}

bool lab_mlbf_has(const struct lab_mlbf *f, deja_slice key)
{
    uint64_t joint[K_MAX] = {0};
    uint32_t segment = 0;
    for (deja_slice rest = lab_mlbf_begin(&f->how, key); rest.data != NULL; segment++) {
        const deja_slice s = lab_mlbf_next(&f->how, &rest);
        const uint32_t layer = lab_mlbf_layer(&f->how, segment);
        if (layer >= f->layers)
            return false;
        for (uint32_t j = 0; j < f->k; j++) {
            const uint64_t at = position(f, s, j);
            if (!get(f->layer[layer], at))
                return false;
            joint[j] ^= at;
        }
    }
    for (uint32_t j = 0; f->joint && j < f->k; j++)
        if (!get(f->joint, joint[j] % f->m))
            return false;
    return true;
}
