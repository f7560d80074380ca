/* recent.c - the newest keys: an exact table in memory.
 *
 * A hash table of 16-byte fingerprints with open addressing and linear probing, at most 5/8 full.
 * A key found here is certainly seen.  While a sieve has no runs, a key absent here is certainly
 * new.  The table doubles up to its limit; then sieve.c writes its keys to a run and empties it.
 *
 * The high bits of the hash select the first slot, so the table is nearly sorted and the sort of
 * dj_recent_sorted finds its input in cache. */
#include "sieve/recent.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/status.h"

enum {
    FIRST = 1024, /* slots of the first table */
    IN_USE = 1    /* tag of a slot with a key */
};

static size_t keys_in(size_t slots)
{
    return slots / 8 * 5;
}

size_t dj_recent_fit(uint64_t share)
{
    return (size_t)(share / 13 * 8); /* the table, and 5/8 of it for the copy */
}

void dj_recent_init(struct dj_recent *r, size_t bytes, const deja_allocator *alloc)
{
    const size_t slots = bytes / sizeof(deja_fingerprint) / 8 * 8;
    *r = (struct dj_recent){.limit = slots < 16 ? 16 : slots, .alloc = alloc};
}

void dj_recent_clear(struct dj_recent *r)
{
    dj_free(r->alloc, r->slot, r->slots * sizeof *r->slot);
    r->slot = NULL;
    r->slots = r->n = 0;
}

void dj_recent_fini(struct dj_recent *r)
{
    dj_recent_clear(r);
}

size_t dj_recent_most(const struct dj_recent *r)
{
    return keys_in(r->limit);
}

static inline size_t first_slot(const struct dj_recent *r, uint64_t hash)
{
    return (size_t)dj_mulhi(hash, r->slots);
}

/* The slot of a key, or the free slot where it belongs. */
static inline size_t slot_of(const struct dj_recent *r, const deja_fingerprint *key)
{
    size_t i = first_slot(r, key->hash);
    while (r->slot[i].tag && !dj_print_equal(&r->slot[i], key))
        if (++i == r->slots)
            i = 0;
    return i;
}

static int resize(struct dj_recent *r, size_t slots)
{
    struct dj_recent bigger = *r;
    bigger.slots = slots;
    bigger.slot = slots > SIZE_MAX / sizeof *r->slot
                      ? NULL
                      : dj_alloc(r->alloc, slots * sizeof *r->slot, 64);
    if (!bigger.slot)
        return DEJA_ENOMEM;
    for (size_t i = 0; i < r->slots; i++)
        if (r->slot[i].tag)
            bigger.slot[slot_of(&bigger, &r->slot[i])] = r->slot[i];
    dj_free(r->alloc, r->slot, r->slots * sizeof *r->slot);
    *r = bigger;
    return DEJA_OK;
}

int dj_recent_reserve(struct dj_recent *r, size_t n, bool beyond)
{
    const size_t need = r->n + n;
    size_t slots = r->slots ? r->slots : FIRST;
    if (!beyond && need > keys_in(r->limit))
        return DEJA_EFULL; /* even if a long log has made the table larger */
    if (r->slots && need <= keys_in(r->slots))
        return DEJA_OK;
    while (need > keys_in(slots))
        slots *= 2;
    return resize(r, !beyond && slots > r->limit ? r->limit : slots);
}

bool dj_recent_has(const struct dj_recent *r, const deja_fingerprint *key)
{
    return r->n && r->slot[slot_of(r, key)].tag;
}

void dj_recent_prefetch(const struct dj_recent *r, const deja_fingerprint *key)
{
    if (r->n)
        DJ_PREFETCH(&r->slot[first_slot(r, key->hash)]);
}

bool dj_recent_add(struct dj_recent *r, const deja_fingerprint *key)
{
    deja_fingerprint *slot = &r->slot[slot_of(r, key)];
    if (slot->tag)
        return false;
    *slot = (deja_fingerprint){key->hash, key->check, IN_USE};
    r->n++;
    return true;
}

void dj_recent_undo(struct dj_recent *r, const deja_fingerprint *key)
{
    deja_fingerprint *slot = &r->slot[slot_of(r, key)];
    r->n -= slot->tag;
    *slot = (deja_fingerprint){0};
}

deja_fingerprint *dj_recent_sorted(const struct dj_recent *r)
{
    deja_fingerprint *out = dj_alloc(r->alloc, r->n * sizeof *out, 64);
    size_t n = 0;
    for (size_t i = 0; out && i < r->slots; i++)
        if (r->slot[i].tag)
            out[n++] = r->slot[i];
    if (out)
        dj_prints_sort(out, n);
    return out;
}
