/* audit.c - how many new keys a filter has mistaken for seen; see audit.h. */
#include "cli/session/audit.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/interval.h"
#include "tools/base/mix.h"
#include <math.h>

void audit_init(struct audit *a, size_t most, uint64_t seed)
{
    *a = (struct audit){.most = most, .random = seed};
}

void audit_fini(struct audit *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->key[i].data);
    free(a->key);
    free(a->slot);
    *a = (struct audit){0};
}

static int out_of_memory(const struct audit *a, deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for a sample of %zu keys; use a smaller --audit",
                a->n);
}

/* --- The sample ---------------------------------------------------------------- */

/* Where the next key that was found goes; a->most: it is not in the sample. */
static size_t place(struct audit *a)
{
    a->found++;
    if (a->n < a->most)
        return a->n;
    const uint64_t at = mix_below(mix_next(&a->random), a->found);
    return at < a->most ? (size_t)at : a->most;
}

static int keep_key(struct audit *a, size_t at, deja_slice key, uint64_t position, deja_error *err)
{
    char *copy = malloc(key.len ? key.len : 1);
    struct audit_key *room = array_grow(a->key, &a->key_cap, at + 1, sizeof *room);
    a->key = room ? room : a->key;
    if (!copy || !room) {
        free(copy);
        return out_of_memory(a, err);
    }
    if (key.len)
        memcpy(copy, key.data, key.len);
    if (at < a->n)
        free(a->key[at].data);
    else
        a->n++;
    a->key[at] = (struct audit_key){.at = position, .data = copy, .len = key.len};
    return DEJA_OK;
}

int audit_take(struct audit *a, const struct batch *b, deja_error *err)
{
    for (size_t i = 0, key = 0; i < b->block.n; i++) {
        if (!b->block.keys[i].data)
            continue;
        const size_t at = b->answer[key] ? a->most : place(a);
        const int rc =
            at < a->most ? keep_key(a, at, b->block.keys[i], a->at + key, err) : DEJA_OK;
        if (rc < 0)
            return rc;
        key++;
    }
    a->at += b->keyed;
    return DEJA_OK;
}

/* --- The check ------------------------------------------------------------------ */

static int by_position(const void *a, const void *b)
{
    const struct audit_key *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The slot with this key, or a free one. */
static size_t slot_of(const struct audit *a, uint64_t hash, const void *data, size_t len)
{
    size_t at = (size_t)hash & (a->slots - 1);
    for (; a->slot[at]; at = (at + 1) & (a->slots - 1)) {
        const struct audit_key *k = &a->key[a->slot[at] - 1];
        if (k->hash == hash && k->len == len && memcmp(k->data, data, len) == 0)
            break;
    }
    return at;
}

int audit_begin_check(struct audit *a, const deja_filter *hasher, deja_error *err)
{
    a->slots = 16;
    while (a->slots < 4 * a->n)
        a->slots *= 2;
    a->slot = calloc(a->slots, sizeof *a->slot);
    if (!a->slot)
        return out_of_memory(a, err);
    if (a->n)
        qsort(a->key, a->n, sizeof *a->key, by_position);
    for (size_t i = 0; i < a->n; i++) {
        struct audit_key *k = &a->key[i];
        deja_filter_hash_batch(hasher, &(deja_slice){k->data, k->len}, 1, &k->hash);
        size_t *slot = &a->slot[slot_of(a, k->hash, k->data, k->len)];
        if (!*slot)
            *slot = i + 1;
        k->first = *slot - 1;
    }
    a->total = a->at;
    a->at = 0;
    return DEJA_OK;
}

static int fail_changed(deja_error *err)
{
    return fail(err, DEJA_EIO,
                "the input changed before --audit read it again, so the loss was not measured; "
                "the output is complete");
}

/* The key at position a->at. */
static int check_key(struct audit *a, uint64_t hash, deja_slice key, uint64_t keep,
                     deja_error *err)
{
    const size_t found = a->slot[slot_of(a, hash, key.data, key.len)];
    const bool sampled = a->done < a->n && a->key[a->done].at == a->at;
    if (sampled && (!found || a->key[a->done].first != found - 1))
        return fail_changed(err);
    if (sampled) {
        a->lost += a->key[found - 1].earlier < keep;
        a->done++;
    }
    if (found)
        a->key[found - 1].earlier++;
    a->at++;
    return DEJA_OK;
}

int audit_check(struct audit *a, const struct batch *b, uint64_t keep, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0, key = 0; i < b->block.n && rc == DEJA_OK; i++)
        if (b->block.keys[i].data)
            rc = check_key(a, b->hash[key++], b->block.keys[i], keep, err);
    return rc;
}

int audit_end_check(const struct audit *a, deja_error *err)
{
    return a->done == a->n && a->at == a->total ? DEJA_OK : fail_changed(err);
}

struct audit_loss audit_loss(const struct audit *a)
{
    const double found = (double)a->found, lost = (double)a->lost, rest = (double)(a->n - a->lost);
    if (a->n == a->found)
        return (struct audit_loss){lost, lost, lost};
    const struct interval share = interval_of_share(a->lost, a->n);
    /* At least those of the sample were lost; at least the others were not. */
    return (struct audit_loss){found * lost / (double)a->n, fmax(found * share.low, lost),
                               fmin(found * share.high, found - rest)};
}
