/* batch.c - processes batches of keys: argument checks, hashing and prefetching.
 *
 * A batch is processed in chunks.  While one chunk is answered key by key, the memory for the next
 * chunk is prefetched; during that time, the chunk after it is hashed.  So a batch takes little
 * longer than hashing or memory access alone, whichever is slower.  Single calls bypass all this:
 * they hash the key and call the kind. */
#include "core/base/status.h"
#include "filter/dates.h"
#include "filter/filter.h"
#include "filter/growth.h"
#include <string.h>

#define LOT_NUMBERS 512                 /* hashes computed at once: a key has up to DJ_MAX_WORDS */
#define NEAR_BYTES  ((uint64_t)2 << 20) /* the level-2 cache of most processors has at most this */

size_t deja_filter_hash_words(const deja_filter *f)
{
    return f->hasher.words;
}

void deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *hash)
{
    if (f->plan.kind->rows)
        f->plan.kind->rows(f, keys, n, hash);
    else
        dj_hasher_hash(&f->hasher, keys, n, hash);
}

/* The state of a batch. */
struct batch {
    const deja_filter *f;
    const deja_slice *keys; /* NULL: the caller gave hashes */
    const uint64_t *hash;   /* of the keys from `first` up to `hashed` */
    size_t n, first, hashed, fetched;
    bool for_add;
    const uint64_t *stuck; /* after an add that stopped early: the first key that did not fit */
    unsigned turn;
    uint64_t buf[2][LOT_NUMBERS];
};

/* One of keys and hash is NULL, here and in all functions below. */
static void batch_init(struct batch *b, const deja_filter *f, const deja_slice *keys,
                       const uint64_t *hash, size_t n, bool for_add)
{
    b->f = f;
    b->keys = keys;
    b->hash = hash;
    b->n = n;
    b->for_add = for_add;
    b->stuck = NULL;
    b->turn = 0;
}

static void batch_begin(struct batch *b, size_t at, size_t n)
{
    b->n = n;
    b->fetched = at;
    b->first = b->keys ? at : 0;
    b->hashed = b->keys ? at : n;
}

static void hash_lot(struct batch *b)
{
    const size_t left = b->n - b->hashed;
    const size_t lot = LOT_NUMBERS / b->f->hasher.words;
    uint64_t *buf = b->buf[b->turn++ & 1];
    b->hash = buf;
    b->first = b->hashed;
    b->hashed += left < lot ? left : lot;
    deja_filter_hash_batch(b->f, b->keys + b->first, b->hashed - b->first, buf);
}

/* The hashes of the next chunk; those of the previous chunk stay valid. */
static const uint64_t *next_chunk(struct batch *b, size_t *n)
{
    if (b->fetched == b->hashed && b->hashed < b->n)
        hash_lot(b);
    const uint64_t *hash = b->hash + (b->fetched - b->first) * b->f->hasher.words;
    const size_t left = b->hashed - b->fetched;
    *n = left < DJ_CHUNK ? left : DJ_CHUNK;
    b->fetched += *n;
    return hash;
}

static void prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    if (n)
        f->plan.kind->prefetch(f, hash, n, for_add);
}

/* The `ahead` of a chunk of n keys: the next n hashes.  If there are fewer, prefetches them here
 * and returns the chunk itself. */
static const uint64_t *ahead_of(const struct batch *b, const uint64_t *hash, size_t n,
                                const uint64_t *next, size_t next_n)
{
    if (next_n == n)
        return next;
    prefetch(b->f, next, next_n, b->for_add);
    return hash;
}

static void run_contains(struct batch *b, uint8_t *found)
{
    size_t n, next_n;
    batch_begin(b, 0, b->n);
    const uint64_t *hash = next_chunk(b, &n), *next;
    prefetch(b->f, hash, n, false);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        b->f->plan.kind->contains(b->f, hash, ahead_of(b, hash, n, next, next_n), n, found);
        found += n;
    }
}

static int run_add(struct batch *b, deja_filter *f, uint8_t *is_new, size_t *done, bool shared)
{
    uint8_t unasked[DJ_CHUNK];
    size_t n, next_n;
    const uint64_t *hash = next_chunk(b, &n), *next;
    prefetch(b->f, hash, n, true);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        /* cppcheck-suppress legacyUninitvar ; it is for output */
        uint8_t *answers = is_new ? is_new + *done : unasked;
        const size_t taken =
            f->plan.kind->add(f, hash, ahead_of(b, hash, n, next, next_n), n, answers, shared);
        *done += taken;
        b->stuck = hash + taken * f->hasher.words;
        if (taken < n)
            return DEJA_EFULL;
    }
    return DEJA_OK;
}

static int add_held(deja_filter *f, struct batch *b, uint8_t *is_new, size_t *done)
{
    const size_t before = *done;
    const bool sole = dj_writer_enter(&f->writer);
    dj_dates_begin(f);
    int rc = run_add(b, f, is_new, done, !sole);
    if (dj_filter_is_lost(f))
        rc = dj_filter_lost();
    else
        dj_writer_count(&f->offered, *done - before, !sole);
    dj_writer_leave(&f->writer, sole);
    return rc;
}

/* A filter grows or turns only between two pieces of a batch, not within a piece.  A piece is at
 * most as long as the room in the newest part or generation; a layered filter itself stops before
 * a key for which it has no room.  So batches leave the same bodies as single calls.
 *
 * Several threads share the room: each claims what its piece may take, so that together they do not
 * overfill a part, whose rate would rise steeply.  A single key claims nothing, because the locked
 * instructions would cost more than one key too many. */
#define GROWING_PIECE 1024

/* Claims room for up to `most` keys; returns for how many.  The claim comes before the look at the
 * room: a piece that ends in between is then counted twice, not missed. */
static uint64_t claim_room(deja_filter *f, uint64_t most)
{
    if (most == 1)
        return f->plan.kind->room(f) > 0;
    const uint64_t before = atomic_fetch_add(&f->claimed, most), room = f->plan.kind->room(f);
    const uint64_t left = room > before ? room - before : 0, got = left < most ? left : most;
    if (got < most)
        atomic_fetch_sub(&f->claimed, most - got);
    return got;
}

static void return_room(deja_filter *f, uint64_t most, uint64_t claimed)
{
    if (most > 1)
        atomic_fetch_sub(&f->claimed, claimed);
}

static int add_growing(deja_filter *f, struct batch *b, uint8_t *is_new, size_t *done)
{
    const size_t n = b->n;
    int rc = DEJA_OK;
    while (*done < n && rc == DEJA_OK) {
        dj_filter_hold(f);
        const uint32_t parts = f->n_parts;
        const size_t most = n - *done < GROWING_PIECE ? n - *done : GROWING_PIECE;
        const uint64_t room = claim_room(f, most);
        if (room) {
            batch_begin(b, *done, *done + (size_t)room);
            rc = add_held(f, b, is_new, done);
            return_room(f, most, room);
        }
        dj_filter_release(f);
        if (!room)
            rc = dj_filter_ensure_room(f);
        else if (rc == DEJA_EFULL)
            rc = dj_filter_make_room(f, parts, b->stuck);
    }
    return rc;
}

/* Call before adding. */
static inline int begin_adding(deja_filter *f)
{
    if (!f->plan.kind->add)
        return DEJA_ENOTSUP;
    return f->read_only ? DEJA_EINVAL : dj_filter_begin_adding(f);
}

static int add(deja_filter *f, const deja_slice *keys, const uint64_t *hash, size_t n,
               uint8_t *is_new, size_t *done)
{
    struct batch b;
    size_t taken = 0;
    batch_init(&b, f, keys, hash, n, true);
    int rc = begin_adding(f);
    if (rc == DEJA_OK && f->plan.kind->room)
        rc = add_growing(f, &b, is_new, &taken);
    else if (rc == DEJA_OK) {
        batch_begin(&b, 0, n);
        rc = add_held(f, &b, is_new, &taken);
    }
    if (rc == DEJA_EIO && dj_filter_is_lost(f))
        taken = 0; /* which of them were added is unknown */
    if (done)
        *done = taken;
    return rc;
}

/* Updates a reader's window after changes by the writer of its file. */
static void follow_writer(const deja_filter *reader)
{
    deja_filter *f = (deja_filter *)(uintptr_t)reader;
    if (!f->plan.kind->follow || !f->owner->follow || !f->owner->follow(f, false))
        return;
    pthread_rwlock_unlock(&f->growing);
    pthread_rwlock_wrlock(&f->growing);
    f->owner->follow(f, true);
    pthread_rwlock_unlock(&f->growing);
    pthread_rwlock_rdlock(&f->growing);
}

/* A filter may wrongly answer "seen" but never "new", so if its file is lost, all keys are
 * seen. */
static void contain(const deja_filter *f, const deja_slice *keys, const uint64_t *hash, size_t n,
                    uint8_t *found)
{
    struct batch b;
    batch_init(&b, f, keys, hash, n, false);
    dj_filter_hold(f);
    follow_writer(f);
    run_contains(&b, found);
    if (dj_filter_is_lost(f))
        memset(found, 1, n);
    dj_filter_release(f);
}

int deja_filter_add_batch(deja_filter *f, const deja_slice *keys, size_t n, uint8_t *is_new,
                          size_t *done, deja_error *err)
{
    return dj_filter_explain(f, add(f, keys, NULL, n, is_new, done), DEJA_CAN_ADD, err);
}

int deja_filter_add_hashed(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *is_new,
                           size_t *done, deja_error *err)
{
    return dj_filter_explain(f, add(f, NULL, hash, n, is_new, done), DEJA_CAN_ADD, err);
}

void deja_filter_contains_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                uint8_t *found)
{
    contain(f, keys, NULL, n, found);
}

void deja_filter_contains_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                                 uint8_t *found)
{
    contain(f, NULL, hash, n, found);
}

/* --- Removals and counts ------------------------------------------------- */

/* Removes keys one by one while the memory for the next chunk is fetched. */
static void run_remove(struct batch *b, deja_filter *f, uint8_t *removed, bool shared)
{
    size_t n, next_n;
    uint64_t taken = 0;
    batch_begin(b, 0, b->n);
    const uint64_t *hash = next_chunk(b, &n), *next;
    prefetch(f, hash, n, true);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        prefetch(f, next, next_n, true);
        for (size_t i = 0; i < n; i++) {
            const bool answer = f->plan.kind->remove(f, hash[i], shared);
            taken += answer;
            if (removed)
                *removed++ = answer;
        }
    }
    dj_writer_count(&f->removed, taken, shared);
    dj_writer_count(&f->refused, b->n - taken, shared);
}

static int take_out(deja_filter *f, const deja_slice *keys, const uint64_t *hash, size_t n,
                    uint8_t *removed, size_t *done)
{
    struct batch b;
    batch_init(&b, f, keys, hash, n, true);
    int rc = f->read_only ? DEJA_EINVAL : DEJA_OK;
    if (!deja_filter_can(f, DEJA_CAN_REMOVE))
        rc = DEJA_ENOTSUP;
    if (rc == DEJA_OK)
        rc = dj_filter_begin_writing(f);
    if (rc == DEJA_OK) {
        const bool sole = dj_writer_enter(&f->writer);
        run_remove(&b, f, removed, !sole);
        dj_writer_leave(&f->writer, sole);
        if (dj_filter_is_lost(f))
            rc = dj_filter_lost();
    }
    if (done)
        *done = rc == DEJA_OK ? n : 0;
    return rc;
}

static int count(const deja_filter *f, const deja_slice *keys, const uint64_t *hashes, size_t n,
                 uint64_t *counts)
{
    struct batch b;
    size_t now, next_n;
    if (!deja_filter_can(f, DEJA_CAN_COUNT))
        return DEJA_ENOTSUP;
    batch_init(&b, f, keys, hashes, n, false);
    batch_begin(&b, 0, n);
    const uint64_t *hash = next_chunk(&b, &now), *next;
    prefetch(f, hash, now, true); /* like an add, a count reads all counters */
    for (; now; hash = next, now = next_n) {
        next = next_chunk(&b, &next_n);
        prefetch(f, next, next_n, true);
        for (size_t i = 0; i < now; i++)
            *counts++ = f->plan.kind->count(f, hash[i]);
    }
    return dj_filter_is_lost(f) ? dj_filter_lost() : DEJA_OK;
}

int deja_filter_remove_batch(deja_filter *f, const deja_slice *keys, size_t n, uint8_t *removed,
                             size_t *done, deja_error *err)
{
    return dj_filter_explain(f, take_out(f, keys, NULL, n, removed, done), DEJA_CAN_REMOVE, err);
}

int deja_filter_remove_hashed(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *removed,
                              size_t *done, deja_error *err)
{
    return dj_filter_explain(f, take_out(f, NULL, hash, n, removed, done), DEJA_CAN_REMOVE, err);
}

int deja_filter_count_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                            uint64_t *counts, deja_error *err)
{
    return dj_filter_explain(f, count(f, keys, NULL, n, counts), DEJA_CAN_COUNT, err);
}

int deja_filter_count_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                             uint64_t *counts, deja_error *err)
{
    return dj_filter_explain(f, count(f, NULL, hash, n, counts), DEJA_CAN_COUNT, err);
}

int deja_filter_remove(deja_filter *f, deja_slice key, bool *removed, deja_error *err)
{
    uint8_t answer = 0;
    const int rc = deja_filter_remove_batch(f, &key, 1, &answer, NULL, err);
    if (rc == DEJA_OK && removed)
        *removed = answer;
    return rc;
}

int deja_filter_count(const deja_filter *f, deja_slice key, uint64_t *count, deja_error *err)
{
    return deja_filter_count_batch(f, &key, 1, count, err);
}

/* --- Prefixes, and time ------------------------------------------------------ */

int deja_filter_prefix_batch(const deja_filter *f, const deja_slice *prefix, size_t n,
                             uint8_t *found, deja_error *err)
{
    if (!deja_filter_can(f, DEJA_CAN_PREFIX))
        return dj_filter_explain(f, DEJA_ENOTSUP, DEJA_CAN_PREFIX, err);
    dj_filter_hold(f);
    for (size_t at = 0; at < n; at += DJ_CHUNK)
        f->plan.kind->prefix(f, prefix + at, n - at < DJ_CHUNK ? n - at : DJ_CHUNK, found + at);
    dj_filter_release(f);
    return dj_filter_is_lost(f) ? dj_filter_explain(f, dj_filter_lost(), 0, err) : DEJA_OK;
}

int deja_filter_prefix(const deja_filter *f, deja_slice prefix, bool *found, deja_error *err)
{
    uint8_t answer = 0;
    const int rc = deja_filter_prefix_batch(f, &prefix, 1, &answer, err);
    if (rc == DEJA_OK)
        *found = answer;
    return rc;
}

int deja_filter_set_clock(deja_filter *f, uint64_t seconds, deja_error *err)
{
    if (!dj_kind_can(f->plan.kind, DEJA_CAN_EXPIRE) && !dj_dates_has(f))
        return dj_filter_explain(f, DEJA_ENOTSUP, DEJA_CAN_EXPIRE, err);
    if (seconds > DJ_MAX_SECONDS)
        return dj_fail(err, DEJA_EINVAL, "seconds is %llu: it must be at most %llu", (ull)seconds,
                       (ull)DJ_MAX_SECONDS);
    atomic_store_explicit(&f->clock.given, seconds, memory_order_relaxed);
    return DEJA_OK;
}

/* --- Single keys ---------------------------------------------------------- */

/* A single call takes about as long as its cache miss, and the processor can begin the next one
 * only if few instructions separate them.  So filters that have one hash per key and never get
 * more room take a short path. */
static inline bool is_plain(const deja_filter *f)
{
    return !f->plan.kind->room && !f->plan.kind->rows && f->hasher.words == 1;
}

static inline int add_plain(deja_filter *f, deja_slice key, uint8_t *is_new)
{
    const int rc = begin_adding(f);
    if (rc < 0)
        return rc;
    const uint64_t hash = dj_hasher_one(&f->hasher, key);
    if (f->bytes > NEAR_BYTES) /* the miss begins before the wait for earlier stores */
        f->plan.kind->prefetch(f, &hash, 1, true);
    const bool sole = dj_writer_enter(&f->writer);
    if (dj_dates_has(f))
        dj_dates_begin(f);
    const size_t taken = f->plan.kind->add(f, &hash, &hash, 1, is_new, !sole);
    const bool lost = dj_filter_is_lost(f);
    if (!lost)
        dj_writer_count(&f->offered, taken, !sole);
    dj_writer_leave(&f->writer, sole);
    if (lost)
        return dj_filter_lost();
    return taken ? DEJA_OK : DEJA_EFULL;
}

int deja_filter_add(deja_filter *f, deja_slice key, bool *is_new, deja_error *err)
{
    uint8_t answer = 0;
    const int rc = is_plain(f) ? add_plain(f, key, &answer) : add(f, &key, NULL, 1, &answer, NULL);
    if (rc < 0)
        return dj_filter_explain(f, rc, DEJA_CAN_ADD, err);
    if (is_new)
        *is_new = answer;
    return rc;
}

/* Its rows of up to DJ_MAX_WORDS numbers stay out of the short path. */
static __attribute__((noinline)) bool contains_row(const deja_filter *f, deja_slice key)
{
    uint64_t row[DJ_MAX_WORDS];
    uint8_t found = 0;
    deja_filter_hash_batch(f, &key, 1, row);
    dj_filter_hold(f);
    follow_writer(f);
    f->plan.kind->contains(f, row, row, 1, &found);
    const bool lost = dj_filter_is_lost(f);
    dj_filter_release(f);
    return found || lost;
}

bool deja_filter_contains(const deja_filter *f, deja_slice key)
{
    if (!is_plain(f))
        return contains_row(f, key);
    const uint64_t hash = dj_hasher_one(&f->hasher, key);
    uint8_t found = 0;
    f->plan.kind->contains(f, &hash, &hash, 1, &found);
    return found | dj_filter_is_lost(f);
}
