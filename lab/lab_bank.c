/* lab_bank.c - several filters that see the same keys; see lab_bank.h. */
#include "lab_bank.h"
#include "fail.h"
#include <stdlib.h>

void lab_bank_fini(struct lab_bank *b)
{
    for (size_t i = 0; i < b->n; i++)
        deja_filter_free(b->filter[i]);
    free(b->hash);
    *b = (struct lab_bank){0};
}

int lab_bank_init(struct lab_bank *b, const struct lab *lab, const struct lab_bloom_spec *spec,
                  uint64_t seed, deja_error *err)
{
    int rc = DEJA_OK;
    *b = (struct lab_bank){.lab = lab};
    for (size_t i = 0; i < spec->n && i < LAB_BANK && rc == DEJA_OK; i++) {
        deja_options *o = &b->options[i];
        *o = (deja_options)DEJA_OPTIONS_INIT;
        o->kind = DEJA_CLASSIC;
        o->hash = spec->hash;
        o->hashes = spec->k;
        o->filters = spec->filters;
        o->capacity = lab->keys.n;
        o->multiplier = spec->multiplier[i];
        o->seed = seed;
        rc = deja_filter_new(o, &b->filter[i], err);
        b->n += rc == DEJA_OK;
    }
    if (rc == DEJA_OK) {
        b->hash = malloc(LAB_CHUNK * deja_filter_hash_words(b->filter[0]) * sizeof *b->hash);
        if (b->hash == NULL)
            rc = fail(err, DEJA_ENOMEM, "no memory for hashes");
    }
    if (rc < 0)
        lab_bank_fini(b);
    return rc;
}

int lab_bank_next_visit(struct lab_bank *b, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < b->n && rc == DEJA_OK; i++) {
        deja_options next = DEJA_OPTIONS_INIT;
        next.capacity = b->options[i].capacity;
        next.hashes = b->options[i].hashes;
        next.multiplier = b->options[i].multiplier;
        rc = deja_filter_rotate(b->filter[i], &next, err);
    }
    return rc;
}

static int add_chunk(struct lab_bank *b, uint64_t first, size_t n, lab_seen *fn, void *ctx,
                     deja_error *err)
{
    uint8_t flag[LAB_CHUNK];
    for (size_t i = 0; i < b->n; i++) {
        size_t done = 0;
        const int rc = deja_filter_add_hashed(b->filter[i], b->hash, n, flag, &done);
        if (rc < 0)
            return fail(err, rc, "%s", deja_strerror(rc));
        for (size_t j = 0; j < n; j++)
            flag[j] = !flag[j]; /* new: not seen */
        if (fn != NULL)
            fn(ctx, i, first, flag, n);
    }
    return DEJA_OK;
}

static int ask_chunk(struct lab_bank *b, uint64_t first, size_t n, lab_seen *fn, void *ctx,
                     deja_error *err)
{
    uint8_t flag[LAB_CHUNK];
    (void)err;
    for (size_t i = 0; i < b->n; i++) {
        deja_filter_contains_hashed(b->filter[i], b->hash, n, flag);
        fn(ctx, i, first, flag, n);
    }
    return DEJA_OK;
}

typedef int chunk_fn(struct lab_bank *b, uint64_t first, size_t n, lab_seen *fn, void *ctx,
                     deja_error *err);

static int each_chunk(struct lab_bank *b, const deja_slice *keys, uint64_t n, chunk_fn *chunk,
                      lab_seen *fn, void *ctx, deja_error *err)
{
    for (uint64_t at = 0; at < n; at += LAB_CHUNK) {
        const size_t some = n - at < LAB_CHUNK ? (size_t)(n - at) : LAB_CHUNK;
        if (lab_stopped(b->lab))
            return LAB_STOPPED;
        deja_filter_hash_batch(b->filter[0], keys + at, some, b->hash);
        const int rc = chunk(b, at, some, fn, ctx, err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
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

static double ones(const uint8_t *flag, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += flag[i];
    return (double)sum;
}

void lab_count_seen(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    (void)first;
    ((double *)ctx)[filter] += ones(seen, n);
}

#define PIECE 4096 /* keys between two looks at Ctrl-C */

int lab_fill(const struct lab *lab, deja_filter *f, const deja_slice *keys, uint64_t n,
             double *hits, deja_error *err)
{
    uint8_t flag[PIECE];
    double seen = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        size_t done = 0;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        const int rc = deja_filter_add_batch(f, keys + at, some, flag, &done);
        if (rc < 0)
            return fail(err, rc, "%s", deja_strerror(rc));
        seen += (double)some - ones(flag, some);
    }
    if (hits != NULL)
        *hits = seen;
    return DEJA_OK;
}

int lab_ask(const struct lab *lab, const deja_filter *f, const deja_slice *keys, uint64_t n,
            double *hits, deja_error *err)
{
    uint8_t flag[PIECE];
    (void)err;
    *hits = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        deja_filter_contains_batch(f, keys + at, some, flag);
        *hits += ones(flag, some);
    }
    return DEJA_OK;
}
