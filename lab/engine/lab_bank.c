/* lab_bank.c - many filters that get the same keys; see lab_bank.h. */
#include "lab/engine/lab_bank.h"
#include "lab/engine/lab_filter.h"
#include "tools/base/fail.h"
#include <stdlib.h>
#include <string.h>

void lab_bank_fini(struct lab_bank *b)
{
    for (size_t i = 0; i < b->n; i++)
        deja_filter_free(b->filter[i]);
    free(b->hash);
    free(b->narrow);
    *b = (struct lab_bank){0};
}

static deja_options options_of(const struct lab_bank *b, size_t member)
{
    const struct lab_bloom_spec *s = &b->spec;
    deja_options o = DEJA_OPTIONS_INIT;
    o.kind = DEJA_CLASSIC;
    o.hash = s->hash;
    o.hashes = s->k[member / s->n_m];
    o.filters = s->filters;
    o.capacity = b->lab->keys.n;
    o.multiplier = s->multiplier[member % s->n_m];
    return o;
}

static int make_filters(struct lab_bank *b, uint64_t seed, deja_error *err)
{
    const size_t n = b->spec.n_k * b->spec.n_m;
    int rc = n <= LAB_BANK ? DEJA_OK : fail(err, DEJA_EINVAL, "more filters than a bank has");
    while (rc == DEJA_OK && b->n < n) {
        deja_options o = options_of(b, b->n);
        o.seed = seed;
        rc = deja_filter_new(&o, &b->filter[b->n], err);
        b->n += rc == DEJA_OK;
    }
    return rc;
}

static size_t words(const deja_filter *f)
{
    return deja_filter_hash_words(f);
}

static int make_room(struct lab_bank *b, deja_error *err)
{
    b->widest = b->filter[0];
    for (size_t i = 1; i < b->n; i++)
        if (words(b->filter[i]) > words(b->widest))
            b->widest = b->filter[i];
    const size_t bytes = LAB_CHUNK * words(b->widest) * sizeof *b->hash;
    b->hash = malloc(bytes);
    b->narrow = malloc(bytes);
    return b->hash && b->narrow ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for hashes");
}

int lab_bank_init(struct lab_bank *b, const struct lab *lab, const struct lab_bloom_spec *spec,
                  uint64_t seed, deja_error *err)
{
    *b = (struct lab_bank){.lab = lab, .spec = *spec};
    int rc = make_filters(b, seed, err);
    if (rc == DEJA_OK)
        rc = make_room(b, err);
    if (rc < 0)
        lab_bank_fini(b);
    return rc;
}

int lab_bank_renew(struct lab_bank *b, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < b->n && rc == DEJA_OK; i++) {
        if (b->idle[i] && b->filter[i] != b->widest) /* all filters use its salts */
            continue;
        const deja_options same = options_of(b, i);
        deja_options next = DEJA_OPTIONS_INIT;
        next.capacity = same.capacity;
        next.hashes = same.hashes;
        next.multiplier = same.multiplier;
        rc = deja_filter_rotate(b->filter[i], &next, err);
    }
    return rc;
}

/* --- Chunks -------------------------------------------------------------------- */

/* The hashes of n keys for filters that use `few` per key. */
static const uint64_t *narrowed(struct lab_bank *b, size_t n, size_t few)
{
    const size_t all = words(b->widest);
    if (few == all)
        return b->hash;
    for (size_t i = 0; i < n; i++)
        memcpy(b->narrow + i * few, b->hash + i * all, few * sizeof *b->hash);
    return b->narrow;
}

/* What one filter does with a chunk; flag is set to 1 for each key reported as seen. */
typedef int chunk_fn(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag);

static int add_chunk(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag)
{
    size_t done = 0;
    const int rc = deja_filter_add_hashed(f, hash, n, flag, &done, NULL);
    for (size_t i = 0; i < n; i++)
        flag[i] = !flag[i]; /* not new means seen */
    return rc;
}

static int ask_chunk(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag)
{
    deja_filter_contains_hashed(f, hash, n, flag);
    return DEJA_OK;
}

static int each_filter(struct lab_bank *b, uint64_t first, size_t n, chunk_fn *chunk, lab_seen *fn,
                       void *ctx, deja_error *err)
{
    uint8_t flag[LAB_CHUNK] = {0};
    const uint64_t *hash = NULL;
    for (size_t i = 0; i < b->n; i++) {
        if (lab_stopped(b->lab))
            return LAB_STOPPED;
        if (i % b->spec.n_m == 0) /* the next k */
            hash = narrowed(b, n, words(b->filter[i]));
        if (b->idle[i])
            continue;
        const int rc = chunk(b->filter[i], hash, n, flag);
        if (rc < 0)
            return fail(err, rc, "%s", deja_strerror(rc));
        if (fn)
            fn(ctx, i, first, flag, n);
    }
    return DEJA_OK;
}

static int each_chunk(struct lab_bank *b, const deja_slice *keys, uint64_t n, chunk_fn *chunk,
                      lab_seen *fn, void *ctx, deja_error *err)
{
    int rc = DEJA_OK;
    for (uint64_t at = 0; at < n && rc == DEJA_OK; at += LAB_CHUNK) {
        const size_t some = n - at < LAB_CHUNK ? (size_t)(n - at) : LAB_CHUNK;
        deja_filter_hash_batch(b->widest, keys + at, some, b->hash);
        rc = each_filter(b, at, some, chunk, fn, ctx, err);
    }
    return rc;
}

int lab_bank_add(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx,
                 deja_error *err)
{
    return each_chunk(b, keys, n, add_chunk, fn, ctx, err);
}

int lab_bank_ask(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx,
                 deja_error *err)
{
    return each_chunk(b, keys, n, ask_chunk, fn, ctx, err);
}

void lab_count_seen(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n)
{
    (void)first;
    ((double *)ctx)[member] += (double)lab_ones(seen, n);
}
