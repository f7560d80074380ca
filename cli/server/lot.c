/* lot.c - a batch of keys as requests to shards; see lot.h. */
#include "cli/server/lot.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <stdlib.h>
#include <string.h>

uint32_t lot_shard(deja_slice key, uint32_t n)
{
    return (uint32_t)mix_below(mix64(mix_fnv1a(MIX_FNV1A, key.data, key.len)), n);
}

void lot_free(struct lot *lot)
{
    free(lot->index);
    free(lot->argv);
    free(lot->len);
    free(lot->request);
    free(lot->first);
}

/* Counting sort: counts the keys of each shard, then computes where each shard starts. */
static bool sort_keys(uint32_t shards, const deja_slice *key, size_t n, const uint8_t *want,
                      struct lot *lot, size_t *begin)
{
    uint32_t *shard = malloc((n ? n : 1) * sizeof *shard);
    if (!shard)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!want || want[i]) {
            shard[i] = lot_shard(key[i], shards);
            begin[shard[i] + 1]++;
        }
    for (uint32_t i = 0; i < shards; i++)
        begin[i + 1] += begin[i];
    lot->n = begin[shards];
    for (size_t i = 0; i < n; i++)
        if (!want || want[i])
            lot->index[begin[shard[i]]++] = i; /* begin[i] becomes the end of shard i */
    free(shard);
    return true;
}

static void make_requests(const struct lot_to *to, const char *verb, const deja_slice *key,
                          struct lot *lot, const size_t *end)
{
    size_t at = 0, words = 0;
    for (uint32_t i = 0; i < to->n; i++)
        while (at < end[i]) {
            const size_t n = end[i] - at < LOT_KEYS ? end[i] - at : LOT_KEYS;
            struct wire_request *r = &lot->request[lot->n_requests];
            *r = (struct wire_request){
                lot->argv + words, lot->len + words, (int)n + 2, i, NULL, 0, false, false};
            lot->first[lot->n_requests++] = at;
            r->argv[0] = verb;
            r->len[0] = strlen(verb);
            r->argv[1] = to->name[i];
            r->len[1] = strlen(to->name[i]);
            for (size_t j = 0; j < n; j++, at++) {
                r->argv[j + 2] = key[lot->index[at]].data ? key[lot->index[at]].data : "";
                r->len[j + 2] = key[lot->index[at]].len;
            }
            words += n + 2;
        }
}

int lot_make(const struct lot_to *to, const char *verb, const deja_slice *key, size_t n,
             const uint8_t *want, struct lot *lot, deja_error *err)
{
    const size_t requests = n / LOT_KEYS + to->n + 1, words = n + 2 * requests;
    size_t *begin = calloc(to->n + 1, sizeof *begin);
    *lot = (struct lot){0};
    lot->index = malloc((n + 1) * sizeof *lot->index);
    lot->argv = malloc(words * sizeof *lot->argv);
    lot->len = malloc(words * sizeof *lot->len);
    lot->request = malloc(requests * sizeof *lot->request);
    lot->first = malloc(requests * sizeof *lot->first);
    const bool fine = begin && lot->index && lot->argv && lot->len && lot->request && lot->first &&
                      sort_keys(to->n, key, n, want, lot, begin);
    if (fine)
        make_requests(to, verb, key, lot, begin);
    free(begin);
    return fine ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu keys", n);
}
