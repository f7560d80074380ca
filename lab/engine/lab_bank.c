/* lab_bank.c - many filters that get the same keys; see lab_bank.h. */
#include "lab/engine/lab_bank.h"
#include "lab/engine/lab_task.h"
#include <string.h>

static deja_options options_of(const struct lab_bank *b, size_t member)
{
    const struct lab_bloom_spec *s = &b->spec;
    deja_options o = lab_options(b->task, DEJA_CLASSIC);
    o.hash = s->hash;
    o.hashes = s->k[member / s->n_m];
    o.filters = s->filters;
    o.multiplier = s->multiplier[member % s->n_m];
    return o;
}

static size_t words(const deja_filter *f)
{
    return deja_filter_hash_words(f);
}

struct lab_bank *lab_bank(struct lab_task *t, const struct lab_bloom_spec *spec)
{
    const size_t n = spec->n_k * spec->n_m;
    struct lab_bank *b = lab_alloc(t, sizeof *b);
    if (n > LAB_BANK)
        lab_failed(t, DEJA_EINVAL, "a bank of %zu filters: the maximum is %d", n, LAB_BANK);
    if (t->rc < 0)
        return NULL;
    *b = (struct lab_bank){.task = t, .spec = *spec};
    for (; b->n < n; b->n++) {
        const deja_options o = options_of(b, b->n);
        deja_filter *f = b->filter[b->n] = lab_filter(t, &o);
        if (!f)
            return NULL;
        if (!b->widest || words(f) > words(b->widest))
            b->widest = f;
    }
    const size_t bytes = LAB_CHUNK * words(b->widest) * sizeof *b->hash;
    b->hash = lab_alloc(t, bytes);
    b->narrow = lab_alloc(t, bytes);
    return t->rc == DEJA_OK ? b : NULL;
}

void lab_bank_renew(struct lab_bank *b)
{
    for (size_t i = 0; b && i < b->n && lab_going(b->task); i++) {
        if (b->idle[i] && b->filter[i] != b->widest) /* all filters use its salts */
            continue;
        const deja_options same = options_of(b, i);
        deja_options next = DEJA_OPTIONS_INIT;
        next.capacity = same.capacity;
        next.hashes = same.hashes;
        next.multiplier = same.multiplier;
        lab_checked(b->task, deja_filter_rotate(b->filter[i], &next, b->task->err));
    }
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
typedef int chunk_fn(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag,
                     deja_error *err);

static int add_chunk(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag,
                     deja_error *err)
{
    const int rc = deja_filter_add_hashed(f, hash, n, flag, NULL, err);
    for (size_t i = 0; i < n; i++)
        flag[i] = !flag[i]; /* not new means seen */
    return rc;
}

static int ask_chunk(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *flag,
                     deja_error *err)
{
    (void)err;
    deja_filter_contains_hashed(f, hash, n, flag);
    return DEJA_OK;
}

static void each_filter(struct lab_bank *b, uint64_t first, size_t n, chunk_fn *chunk,
                        lab_seen *fn, void *ctx)
{
    uint8_t flag[LAB_CHUNK] = {0};
    const uint64_t *hash = NULL;
    for (size_t i = 0; i < b->n && lab_going(b->task); i++) {
        if (i % b->spec.n_m == 0) /* the next k */
            hash = narrowed(b, n, words(b->filter[i]));
        if (b->idle[i])
            continue;
        lab_checked(b->task, chunk(b->filter[i], hash, n, flag, b->task->err));
        if (fn)
            fn(ctx, i, first, flag, n);
    }
}

static void each_chunk(struct lab_bank *b, const deja_slice *keys, uint64_t n, chunk_fn *chunk,
                       lab_seen *fn, void *ctx)
{
    for (uint64_t at = 0; b && at < n && lab_going(b->task); at += LAB_CHUNK) {
        const size_t some = n - at < LAB_CHUNK ? (size_t)(n - at) : LAB_CHUNK;
        deja_filter_hash_batch(b->widest, keys + at, some, b->hash);
        each_filter(b, at, some, chunk, fn, ctx);
    }
}

void lab_bank_add(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx)
{
    each_chunk(b, keys, n, add_chunk, fn, ctx);
}

void lab_bank_ask(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx)
{
    each_chunk(b, keys, n, ask_chunk, fn, ctx);
}

void lab_count_seen(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n)
{
    (void)first;
    ((double *)ctx)[member] += (double)lab_ones(seen, n);
}

void lab_bank_count(struct lab_task *t, const struct lab_bloom_spec *spec, double *filling,
                    double *full)
{
    const struct lab_keys *k = &t->lab->keys;
    struct lab_bank *b = lab_bank(t, spec);
    lab_bank_add(b, k->added, k->n, filling ? lab_count_seen : NULL, filling);
    lab_bank_ask(b, k->asked, k->n, lab_count_seen, full);
}
