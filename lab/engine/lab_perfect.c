/* lab_perfect.c - a bitmap indexed by a minimal perfect hash function; see lab_perfect.h.
 *
 * libcmph's BDZ: about 2.6 bits per key.  It draws its seeds from rand(), which nothing else in
 * the command uses, so the function is the same in every process; it is built once.
 * Source: Botelho, Pagh, Ziviani, "Simple and Space-Efficient Minimal Perfect Hash Functions",
 * 2007. */
#include "lab/engine/lab_perfect.h"
#include "tools/base/fail.h"
#include <stdlib.h>

#ifdef DEJA_HAVE_CMPH
#include <cmph.h>
#include <stdio.h>
#include <string.h>

#define STRANGERS 100000u

struct reader {
    const deja_slice *key;
    uint64_t at;
};

static int read_key(void *data, char **key, cmph_uint32 *len)
{
    struct reader *r = data;
    const deja_slice k = r->key[r->at++];
    *key = malloc(k.len + 1);
    if (!*key)
        return -1;
    memcpy(*key, k.data, k.len);
    *len = (cmph_uint32)k.len;
    return (int)*len;
}

static void dispose_key(void *data, char *key, cmph_uint32 len)
{
    (void)data, (void)len;
    free(key);
}

static void rewind_keys(void *data)
{
    ((struct reader *)data)->at = 0;
}

static cmph_t *make_function(const struct lab *lab)
{
    struct reader reader = {lab->keys.added, 0}; /* the queried keys follow the added ones */
    cmph_io_adapter_t source = {&reader, (cmph_uint32)(2 * lab->keys.n), read_key, dispose_key,
                                rewind_keys};
    cmph_t *function = NULL;
    cmph_config_t *config = cmph_config_new(&source);
    if (config) {
        cmph_config_set_algo(config, CMPH_BDZ);
        function = cmph_new(config);
        cmph_config_destroy(config);
    }
    return function;
}

static cmph_uint32 slot_of(cmph_t *function, deja_slice key)
{
    return cmph_search(function, key.data, (cmph_uint32)key.len);
}

static bool is_set(const uint8_t *bits, cmph_uint32 at)
{
    return (bits[at / 8] >> at % 8 & 1) != 0;
}

static void judge(const struct lab *lab, cmph_t *function, uint8_t *bits,
                  struct lab_perfect *result)
{
    const struct lab_keys *k = &lab->keys;
    for (uint64_t i = 0; i < k->n; i++) {
        const cmph_uint32 at = slot_of(function, k->added[i]);
        bits[at / 8] = (uint8_t)(bits[at / 8] | 1u << at % 8);
    }
    for (uint64_t i = 0; i < k->n; i++) {
        result->wrong += !is_set(bits, slot_of(function, k->added[i]));
        result->wrong += is_set(bits, slot_of(function, k->asked[i]));
    }
    for (unsigned i = 0; i < STRANGERS; i++) {
        char url[64];
        const int len = snprintf(url, sizeof url, "gopher://nobody.example/%u", i);
        result->strangers +=
            is_set(bits, slot_of(function, (deja_slice){url, len > 0 ? (size_t)len : 0}));
    }
    result->strangers_asked = STRANGERS;
    result->hash_bits = 8.0 * cmph_packed_size(function) / (2.0 * (double)k->n);
}

bool lab_perfect_available(void)
{
    return true;
}

int lab_perfect(const struct lab *lab, struct lab_perfect *result, deja_error *err)
{
    uint8_t *bits = calloc(2 * lab->keys.n / 8 + 8, 1);
    cmph_t *function = make_function(lab);
    int rc = DEJA_OK;
    if (!bits || !function)
        rc = fail(err, DEJA_ENOMEM, "libcmph found no perfect hash function");
    else
        judge(lab, function, bits, result);
    if (function)
        cmph_destroy(function);
    free(bits);
    return rc;
}

#else

bool lab_perfect_available(void)
{
    return false;
}

int lab_perfect(const struct lab *lab, struct lab_perfect *result, deja_error *err)
{
    (void)lab, (void)err;
    *result = (struct lab_perfect){0};
    return DEJA_OK;
}
#endif
