/* sources.c - the secret keys for the parts of a merged filter; see sources.h. */
#include "kinds/sources.h"
#include "core/base/alloc.h"
#include <string.h>

struct dj_source dj_source_at(const deja_filter *f, uint32_t i)
{
    if (i > 0)
        return f->plan.others.source[i - 1];
    struct dj_source own = {
        .visit = f->plan.visit, .rules = f->plan.rules, .seeded = f->plan.seeded};
    memcpy(own.key, f->key, DEJA_KEY_LEN);
    return own;
}

bool dj_source_equal(const struct dj_source *a, const struct dj_source *b)
{
    return a->visit == b->visit && a->rules == b->rules &&
           memcmp(a->key, b->key, DEJA_KEY_LEN) == 0;
}

bool dj_sources_make(const deja_filter *f, const struct dj_others *others, struct dj_hasher **out)
{
    *out = NULL;
    if (!others->n)
        return true;
    *out = dj_alloc(f->alloc, others->n * sizeof **out, 64);
    for (uint32_t i = 0; *out && i < others->n; i++) {
        const struct dj_source *s = &others->source[i];
        const struct dj_hashing what = {
            .hash = f->plan.hash, .rules = s->rules, .visit = s->visit, .words = 1};
        dj_hasher_init(&(*out)[i], &what, s->key, NULL); /* a series needs no salts */
    }
    return *out;
}

void dj_sources_free(const deja_filter *f, struct dj_hasher *other, uint32_t n)
{
    dj_free(f->alloc, other, n * sizeof *other);
}

void dj_sources_hash(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *row)
{
    const uint32_t words = f->hasher.words;
    uint64_t hash[DJ_CHUNK];
    if (words == 1) {
        dj_hasher_hash(&f->hasher, keys, n, row);
        return;
    }
    for (size_t at = 0; at < n; at += DJ_CHUNK) {
        const size_t lot = n - at < DJ_CHUNK ? n - at : DJ_CHUNK;
        for (uint32_t i = 0; i < words; i++) {
            dj_hasher_hash(i ? &f->other[i - 1] : &f->hasher, keys + at, lot, hash);
            for (size_t j = 0; j < lot; j++)
                row[(at + j) * words + i] = hash[j];
        }
    }
}

uint32_t dj_series_newest(const deja_filter *f)
{
    uint32_t i = f->n_parts - 1;
    while (i > 0 && f->part[i]->origin)
        i--;
    return i;
}

uint32_t dj_series_len(const deja_filter *f)
{
    return f->part[dj_series_newest(f)]->step + 1;
}
