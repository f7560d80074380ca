/* recent.c - the newest keys: an exact table in memory.
 *
 * A hash table of buckets.  A bucket is one cache line with room for five fingerprints of 12 bytes;
 * a key whose bucket is full goes to the next bucket that is not.  At most seven tenths of the places
 * are used, so a key takes 18.3 bytes.  To find that a key is absent takes 1.8 neighboring lines in the
 * fullest table, and 1.1 if two fifths are used (simulated; 3.2 at four fifths, where `dedup --sieve`
 * took an eighth more processor time for ten million new lines in memory).  A key found here is
 * certainly seen.  While a sieve has no runs, a key absent here is certainly new.  The table grows by
 * half, up to its limit; then sieve.c writes its keys to a run and empties it.
 *
 * The high bits of the hash select the first bucket, so the table is nearly sorted: the sort of
 * dj_recent_sorted finds its input in cache, and the table can grow in place, from its last bucket
 * down.  That matters because the system clears every page that a program touches: of the processor
 * time of `dedup --sieve` with 10^7 new lines, that was two fifths while each growth took a new table. */
#include "sieve/recent.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/status.h"
#include <string.h>

enum {
    FIRST = 256, /* buckets of the first table */
    LEAST = 4    /* of the smallest limit */
};

_Static_assert(sizeof(struct dj_bucket) == 64, "a bucket is a cache line");

/* Where a key is. */
struct place {
    struct dj_bucket *bucket;
    unsigned at;
    size_t far; /* buckets beyond that of the key */
};

static size_t keys_in(size_t buckets)
{
    return buckets / 2 * 7 + buckets % 2 * 3;
}

/* Bytes per two buckets: 128 in the table, and 16 for each of seven keys in the copy. */
size_t dj_recent_fit(uint64_t share)
{
    return (size_t)(share / (128 + 7 * sizeof(deja_fingerprint)) * 128);
}

void dj_recent_init(struct dj_recent *r, size_t bytes, const deja_allocator *alloc)
{
    const size_t buckets = bytes / sizeof *r->bucket;
    *r = (struct dj_recent){.limit = buckets < LEAST ? LEAST : buckets, .alloc = alloc};
}

void dj_recent_clear(struct dj_recent *r)
{
    dj_free(r->alloc, r->bucket, r->buckets * sizeof *r->bucket);
    r->bucket = NULL;
    r->buckets = r->n = r->far = 0;
}

void dj_recent_fini(struct dj_recent *r)
{
    dj_recent_clear(r);
}

size_t dj_recent_most(const struct dj_recent *r)
{
    return keys_in(r->limit);
}

/* The bucket of a key. */
static inline size_t first_bucket(const struct dj_recent *r, uint64_t hash)
{
    return (size_t)dj_mulhi(hash, r->buckets);
}

/* One bit per place of the bucket that has this hash; free places may have any.  Without a branch,
 * because the number of keys in a bucket cannot be predicted. */
static inline unsigned places_with(const struct dj_bucket *b, uint64_t hash)
{
    unsigned found = 0;
    for (unsigned k = 0; k < DJ_RECENT_WIDE; k++)
        found |= (unsigned)(b->hash[k] == hash) << k;
    return found & ((1u << b->n) - 1);
}

/* Finds a key, or the place where it belongs: the end of the first bucket with room. */
static inline bool find(const struct dj_recent *r, const deja_fingerprint *key,
                        struct place *place)
{
    size_t i = first_bucket(r, key->hash);
    for (size_t far = 0;; far++) {
        struct dj_bucket *b = &r->bucket[i];
        for (unsigned found = places_with(b, key->hash); found; found &= found - 1) {
            *place = (struct place){b, (unsigned)__builtin_ctz(found), far};
            if (DJ_LIKELY(b->check[place->at] == key->check))
                return true;
        }
        *place = (struct place){b, b->n, far};
        if (DJ_LIKELY(b->n < DJ_RECENT_WIDE))
            return false;
        if (++i == r->buckets)
            i = 0;
    }
}

static inline void put(struct dj_recent *r, struct place to, const deja_fingerprint *key)
{
    to.bucket->hash[to.at] = key->hash;
    to.bucket->check[to.at] = key->check;
    to.bucket->n++;
    if (DJ_UNLIKELY(to.far > r->far))
        r->far = to.far;
}

static deja_fingerprint key_at(const struct dj_bucket *b, unsigned k)
{
    return (deja_fingerprint){b->hash[k], b->check[k], 0};
}

/* Puts the keys of a bucket where they belong. */
static void put_all(struct dj_recent *r, const struct dj_bucket *from)
{
    struct place place;
    for (unsigned k = 0; k < from->n; k++) {
        const deja_fingerprint key = key_at(from, k);
        find(r, &key, &place);
        put(r, place, &key);
    }
}

/* Grows a table of b buckets to B.  A key moves from bucket i to the bucket floor(x B) of its hash x,
 * where x >= (i - far) / b.  That is i or a later one if i >= (far + 1) B / (B - b).  So buckets from
 * the last down to that one are emptied into a place that is already in the new order.  The first
 * few, with keys that went past the end of the old table, are set aside and come last. */
static int grow(struct dj_recent *r, size_t buckets)
{
    const size_t before = r->buckets, size = sizeof *r->bucket;
    const double reach = (double)(r->far + 1) * (double)buckets / (double)(buckets - before);
    const size_t aside = reach + 2 < (double)before ? (size_t)reach + 2 : before;
    struct dj_bucket *first = dj_alloc(r->alloc, aside * size, 64);
    struct dj_bucket *all =
        first && buckets <= SIZE_MAX / size
            ? dj_alloc_more(r->alloc, r->bucket, before * size, buckets * size, 64)
            : NULL;
    if (!all) {
        dj_free(r->alloc, first, aside * size);
        return DEJA_ENOMEM;
    }
    r->bucket = all;
    r->buckets = buckets;
    r->far = 0;
    if (before) {
        memcpy(first, all, aside * size);
        memset(all, 0, aside * size);
    }
    for (size_t i = before; i-- > aside;) {
        const struct dj_bucket from = all[i];
        all[i] = (struct dj_bucket){.n = 0};
        put_all(r, &from);
    }
    for (size_t i = 0; i < aside; i++)
        put_all(r, &first[i]);
    dj_free(r->alloc, first, aside * size);
    return DEJA_OK;
}

int dj_recent_reserve(struct dj_recent *r, size_t n, bool beyond)
{
    const size_t need = r->n + n;
    size_t buckets = r->buckets ? r->buckets : FIRST;
    if (!beyond && need > keys_in(r->limit))
        return DEJA_EFULL; /* even if a long log has made the table larger */
    if (r->buckets && need <= keys_in(r->buckets))
        return DEJA_OK;
    while (need > keys_in(buckets))
        buckets += buckets / 2;
    return grow(r, !beyond && buckets > r->limit ? r->limit : buckets);
}

bool dj_recent_has(const struct dj_recent *r, const deja_fingerprint *key)
{
    struct place place;
    return r->n && find(r, key, &place);
}

void dj_recent_prefetch(const struct dj_recent *r, const deja_fingerprint *key)
{
    if (r->n)
        DJ_PREFETCH(&r->bucket[first_bucket(r, key->hash)]);
}

bool dj_recent_add(struct dj_recent *r, const deja_fingerprint *key)
{
    struct place place;
    if (find(r, key, &place))
        return false;
    put(r, place, key);
    r->n++;
    return true;
}

void dj_recent_undo(struct dj_recent *r, const deja_fingerprint *key)
{
    struct place place;
    if (!find(r, key, &place))
        return;
    place.bucket->n--;
    r->n--;
}

deja_fingerprint *dj_recent_sorted(const struct dj_recent *r)
{
    deja_fingerprint *out = dj_alloc(r->alloc, r->n * sizeof *out, 64);
    size_t n = 0;
    for (size_t i = 0; out && i < r->buckets; i++)
        for (unsigned k = 0; k < r->bucket[i].n; k++)
            out[n++] = key_at(&r->bucket[i], k);
    if (out)
        dj_prints_sort(out, n);
    return out;
}
