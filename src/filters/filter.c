/* filter.c - argument checks, hashing, and the rhythm of a batch.
 *
 * A batch goes through in chunks.  A chunk is hashed; then, while the chunk before it is answered
 * key by key, its memory is asked for; and while that is on its way the next one is hashed.  So
 * the time of a batch is nearer to the larger of hashing and memory than to their sum.  A single
 * call is a batch of one. */
#include "filters/filter.h"
#include "core/base/alloc.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define LOT_NUMBERS 512 /* hashes made at once: a key needs up to DJ_MAX_WORDS */

/* Growth has to get its turn while others look up without end; glibc prefers readers unless told.
 */
static int init_growing(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;
    if (pthread_rwlockattr_init(&attr))
        return -1;
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    const int rc = pthread_rwlock_init(lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    return rc;
}

bool dj_filter_make_parts(deja_filter *f, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts; i++)
        if (!f->part[i] && !(f->part[i] = dj_alloc(f->alloc, sizeof *f->part[i], 8)))
            return false;
    return true;
}

static void free_parts(deja_filter *f, const deja_allocator *alloc)
{
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        dj_free(alloc, f->part[i], sizeof *f->part[i]);
}

deja_filter *dj_filter_make(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                            const deja_allocator *alloc)
{
    deja_filter *f = dj_alloc(alloc, sizeof *f, 64);
    if (!f)
        return NULL;
    if (alloc) {
        f->alloc_copy = *alloc;
        f->alloc = &f->alloc_copy;
    }
    f->plan = *plan;
    memcpy(f->key, key, DEJA_KEY_LEN);
    const uint32_t words = dj_plan_words(plan), parts = dj_plan_parts(plan);
    uint64_t *salts = dj_alloc(f->alloc, words * sizeof *salts, 8);
    if (!salts || !dj_filter_make_parts(f, parts) || init_growing(&f->growing)) {
        free_parts(f, alloc);
        dj_free(f->alloc, salts, words * sizeof *salts);
        dj_free(alloc, f, sizeof *f);
        return NULL;
    }
    dj_hasher_init(&f->hasher, plan->hash, key, plan->visit, words, salts);
    for (uint32_t i = 0; i < parts; i++) {
        dj_plan_part(plan, i, f->part[i]);
        f->part[i]->salt = i ? dj_part_salt(key, plan->visit, i) : 0;
    }
    dj_layering_init(f);
    return f;
}

uint64_t dj_part_salt(const uint8_t key[DEJA_KEY_LEN], uint64_t visit, uint32_t i)
{
    return dj_key_derive(key, DJ_STREAM_PART, (visit << 16) + i) | 1;
}

#define SWAP(type, a, b)                                                                          \
    do {                                                                                          \
        type swapped = (a);                                                                       \
        (a) = (b);                                                                                \
        (b) = swapped;                                                                            \
    } while (0)

void dj_filter_swap(deja_filter *a, deja_filter *b)
{
    uint8_t key[DEJA_KEY_LEN];
    memcpy(key, a->key, DEJA_KEY_LEN);
    memcpy(a->key, b->key, DEJA_KEY_LEN);
    memcpy(b->key, key, DEJA_KEY_LEN);
    SWAP(struct dj_plan, a->plan, b->plan);
    SWAP(struct dj_hasher, a->hasher, b->hasher);
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        SWAP(struct dj_part *, a->part[i], b->part[i]);
    SWAP(uint32_t, a->n_parts, b->n_parts);
    SWAP(uint64_t, a->offered, b->offered);
    SWAP(uint64_t, a->removed, b->removed);
    SWAP(uint64_t, a->refused, b->refused);
    SWAP(uint64_t, a->hidden, b->hidden);
    SWAP(uint64_t, a->familiar, b->familiar);
    SWAP(uint64_t, a->lost, b->lost);
    SWAP(struct dj_layers, a->layers, b->layers);
    SWAP(struct dj_carried, a->carried, b->carried);
    SWAP(struct dj_window, a->window, b->window);
    SWAP(bool, a->touched, b->touched);
    SWAP(bool, a->unclean, b->unclean);
    SWAP(uint64_t, a->syncs, b->syncs);
    SWAP(void *, a->store, b->store);
    dj_writer_reset(&a->writer);
    dj_writer_reset(&b->writer);
}

void dj_filter_walk(const deja_filter *f, bool begin)
{
    if (f->owner->walk)
        f->owner->walk(f, begin);
}

int dj_filter_lost(void)
{
    errno = EIO;
    return DEJA_EIO;
}

int deja_filter_vouch(const deja_filter *f, deja_error *err)
{
    return f->owner->vouch ? f->owner->vouch(f, err) : DEJA_OK;
}

void dj_filter_unmake(deja_filter *f)
{
    const deja_allocator copy = f->alloc_copy;
    const deja_allocator *alloc = f->alloc ? &copy : NULL;
    pthread_rwlock_destroy(&f->growing);
    free_parts(f, alloc);
    dj_free(alloc, f->hasher.salts, f->hasher.words * sizeof *f->hasher.salts);
    dj_free(alloc, f, sizeof *f);
}

void deja_filter_free(deja_filter *f)
{
    if (!f)
        return;
    f->owner->free(f);
    dj_filter_unmake(f);
}

int dj_filter_key(const deja_options *opt, uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    if (opt->key)
        memcpy(key, opt->key, DEJA_KEY_LEN);
    else if (opt->seed)
        dj_key_from_seed(opt->seed, key);
    else if (!dj_random(key, DEJA_KEY_LEN))
        return dj_fail_errno(err, "no random bytes from the kernel for the filter's key");
    return DEJA_OK;
}

size_t deja_filter_hash_words(const deja_filter *f)
{
    return f->hasher.words;
}

void deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *hash)
{
    if (f->plan.kind != DEJA_LAYERED) {
        dj_hasher_hash(&f->hasher, keys, n, hash);
        return;
    }
    const struct dj_cut cut = dj_layering_cut(&f->plan);
    dj_segments_hash(&cut, &f->hasher, keys, n, hash);
}

bool dj_filter_grows(const deja_filter *f)
{
    return f->plan.kind == DEJA_SCALABLE || f->plan.kind == DEJA_LAYERED ||
           f->plan.kind == DEJA_WINDOW;
}

/* The lock is not part of what a filter says: looking up leaves it as it was. */
static pthread_rwlock_t *lock_of(const deja_filter *f)
{
    return &((deja_filter *)(uintptr_t)f)->growing;
}

void dj_filter_hold(const deja_filter *f)
{
    if (dj_filter_grows(f))
        pthread_rwlock_rdlock(lock_of(f));
}

void dj_filter_release(const deja_filter *f)
{
    if (dj_filter_grows(f))
        pthread_rwlock_unlock(lock_of(f));
}

/* A batch on its way: where its hashes come from, and how far it is. */
struct batch {
    const deja_filter *f;
    const deja_slice *keys; /* or NULL, when it brings its hashes */
    const uint64_t *hash;   /* of key number `first` and those behind it, up to `hashed` */
    size_t n, first, hashed, fetched;
    bool for_add;
    const uint64_t *stuck; /* an add that stopped early: the first key that was not taken */
    unsigned turn;
    uint64_t buf[2][LOT_NUMBERS];
};

/* Either keys or hash; the other is NULL. */
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

/* The hashes of the next chunk; those of the chunk before stay valid. */
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

/* What comes after a chunk of n keys, as its answers are to ask for it: n more hashes, or, where
 * fewer come, those asked for right here and the chunk itself. */
static const uint64_t *ahead_of(const struct batch *b, const uint64_t *hash, size_t n,
                                const uint64_t *next, size_t next_n)
{
    if (next_n == n)
        return next;
    dj_parts_prefetch(b->f, next, next_n, b->for_add);
    return hash;
}

static void run_contains(struct batch *b, uint8_t *found)
{
    size_t n, next_n;
    batch_begin(b, 0, b->n);
    const uint64_t *hash = next_chunk(b, &n), *next;
    dj_parts_prefetch(b->f, hash, n, false);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        dj_parts_contain(b->f, hash, ahead_of(b, hash, n, next, next_n), n, found);
        found += n;
    }
}

static int run_add(struct batch *b, deja_filter *f, uint8_t *is_new, size_t *done, bool shared)
{
    uint8_t unasked[DJ_CHUNK];
    size_t n, next_n;
    const uint64_t *hash = next_chunk(b, &n), *next;
    dj_parts_prefetch(b->f, hash, n, true);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        /* cppcheck-suppress legacyUninitvar ; it is for answers */
        uint8_t *answers = is_new ? is_new + *done : unasked;
        const size_t taken =
            dj_parts_add(f, hash, ahead_of(b, hash, n, next, next_n), n, answers, shared);
        *done += taken;
        b->stuck = hash + taken * f->hasher.words;
        if (taken < n)
            return DEJA_EFULL;
    }
    return DEJA_OK;
}

static int add_held(deja_filter *f, struct batch *b, uint8_t *is_new, size_t *done)
{
    const bool sole = dj_writer_enter(&f->writer);
    const int rc = run_add(b, f, is_new, done, !sole);
    dj_writer_leave(&f->writer, sole);
    return dj_filter_is_lost(f) ? dj_filter_lost() : rc;
}

/* A filter that grows or turns changes its parts or generations between two pieces of a batch, not
 * within one.  A piece is no longer than the room in the newest part or generation; a layered
 * filter ends its piece by itself before a key for which it has no room.  So batches leave the
 * same bodies as single calls. */
#define GROWING_PIECE 1024

static bool is_window(const deja_filter *f)
{
    return f->plan.kind == DEJA_WINDOW;
}

static uint64_t room_for_piece(deja_filter *f)
{
    if (f->plan.kind == DEJA_LAYERED)
        return GROWING_PIECE;
    return is_window(f) ? dj_window_room(f) : dj_scalable_room(f);
}

/* `parts` were there when the room was gone. */
static int make_room(deja_filter *f, uint32_t parts, const struct batch *b)
{
    if (f->plan.kind == DEJA_LAYERED)
        return dj_layered_grow(f, parts, b->stuck);
    return is_window(f) ? dj_window_turn(f) : dj_scalable_grow(f, parts);
}

static int add_growing(deja_filter *f, struct batch *b, uint8_t *is_new, size_t *done)
{
    const size_t n = b->n;
    int rc = DEJA_OK;
    while (*done < n && rc == DEJA_OK) {
        dj_filter_hold(f);
        const uint32_t parts = f->n_parts;
        const uint64_t room = room_for_piece(f);
        if (room) {
            const size_t most = room < GROWING_PIECE ? (size_t)room : GROWING_PIECE;
            batch_begin(b, *done, n - *done < most ? n : *done + most);
            rc = add_held(f, b, is_new, done);
        }
        dj_filter_release(f);
        if (!room || rc == DEJA_EFULL)
            rc = make_room(f, parts, b);
    }
    return rc;
}

static int add_batch(deja_filter *f, struct batch *b, uint8_t *is_new, size_t *done)
{
    size_t taken = 0;
    int rc = f->plan.kind == DEJA_STATIC ? DEJA_ENOTSUP : f->read_only ? DEJA_EINVAL : DEJA_OK;
    if (rc == DEJA_OK && !atomic_load_explicit(&f->touched, memory_order_acquire))
        rc = f->owner->touch(f);
    if (rc == DEJA_OK && dj_filter_grows(f))
        rc = add_growing(f, b, is_new, &taken);
    else if (rc == DEJA_OK) {
        batch_begin(b, 0, b->n);
        rc = add_held(f, b, is_new, &taken);
    }
    if (rc == DEJA_EIO && dj_filter_is_lost(f))
        taken = 0; /* nobody can tell which of them are inside */
    atomic_fetch_add_explicit(&f->offered, taken, memory_order_relaxed);
    if (done)
        *done = taken;
    return rc;
}

/* A reader's window learns what its file's writer has done to it. */
static void hear_news(const deja_filter *reader)
{
    deja_filter *f = (deja_filter *)(uintptr_t)reader;
    if (!is_window(f) || !f->owner->news || !f->owner->news(f, false))
        return;
    pthread_rwlock_unlock(&f->growing);
    pthread_rwlock_wrlock(&f->growing);
    f->owner->news(f, true);
    pthread_rwlock_unlock(&f->growing);
    pthread_rwlock_rdlock(&f->growing);
}

/* "Seen" is what a filter may say wrongly; "new" it may not, and so one that is lost does not. */
static void contains_held(const deja_filter *f, struct batch *b, uint8_t *found)
{
    run_contains(b, found);
    if (dj_filter_is_lost(f))
        memset(found, 1, b->n);
}

static void contains_batch(const deja_filter *f, struct batch *b, uint8_t *found)
{
    dj_filter_hold(f);
    hear_news(f);
    contains_held(f, b, found);
    dj_filter_release(f);
}

int deja_filter_add_batch(deja_filter *f, const deja_slice *keys, size_t n, uint8_t *is_new,
                          size_t *done)
{
    struct batch b;
    batch_init(&b, f, keys, NULL, n, true);
    return add_batch(f, &b, is_new, done);
}

void deja_filter_contains_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                uint8_t *found)
{
    struct batch b;
    batch_init(&b, f, keys, NULL, n, false);
    contains_batch(f, &b, found);
}

int deja_filter_add_hashed(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *is_new,
                           size_t *done)
{
    struct batch b;
    batch_init(&b, f, NULL, hash, n, true);
    return add_batch(f, &b, is_new, done);
}

void deja_filter_contains_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                                 uint8_t *found)
{
    struct batch b;
    batch_init(&b, f, NULL, hash, n, false);
    contains_batch(f, &b, found);
}

/* --- Removals and counts ------------------------------------------------- */

static bool can_count(const deja_filter *f)
{
    return f->part[0]->ops->count != NULL;
}

static bool can_remove(const deja_filter *f)
{
    return f->plan.kind == DEJA_PAIRED ||
           (can_count(f) && !(f->plan.flags & DEJA_MINIMAL_INCREASE));
}

/* Taken one by one, with the memory of the next chunk on its way. */
static void run_remove(struct batch *b, deja_filter *f, uint8_t *removed, bool shared)
{
    size_t n, next_n;
    uint64_t taken = 0;
    batch_begin(b, 0, b->n);
    const uint64_t *hash = next_chunk(b, &n), *next;
    dj_parts_prefetch(f, hash, n, true);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        dj_parts_prefetch(f, next, next_n, true);
        for (size_t i = 0; i < n; i++) {
            const bool answer = dj_parts_remove(f, hash[i], shared);
            taken += answer;
            if (removed)
                *removed++ = answer;
        }
    }
    atomic_fetch_add_explicit(&f->removed, taken, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->refused, b->n - taken, memory_order_relaxed);
}

static int remove_batch(deja_filter *f, struct batch *b, uint8_t *removed, size_t *done)
{
    int rc = f->read_only ? DEJA_EINVAL : DEJA_OK;
    if (!can_remove(f))
        rc = DEJA_ENOTSUP;
    if (rc == DEJA_OK && !atomic_load_explicit(&f->touched, memory_order_acquire))
        rc = f->owner->touch(f);
    if (rc == DEJA_OK) {
        const bool sole = dj_writer_enter(&f->writer);
        run_remove(b, f, removed, !sole);
        dj_writer_leave(&f->writer, sole);
        if (dj_filter_is_lost(f))
            rc = dj_filter_lost();
    }
    if (done)
        *done = rc == DEJA_OK ? b->n : 0;
    return rc;
}

static int count_batch(const deja_filter *f, struct batch *b, uint32_t *counts)
{
    size_t n, next_n;
    if (!can_count(f))
        return DEJA_ENOTSUP;
    batch_begin(b, 0, b->n);
    const uint64_t *hash = next_chunk(b, &n), *next;
    dj_parts_prefetch(f, hash, n, false);
    for (; n; hash = next, n = next_n) {
        next = next_chunk(b, &next_n);
        dj_parts_prefetch(f, next, next_n, false);
        for (size_t i = 0; i < n; i++)
            *counts++ = dj_parts_count(f, hash[i]);
    }
    return dj_filter_is_lost(f) ? dj_filter_lost() : DEJA_OK;
}

int deja_filter_remove_batch(deja_filter *f, const deja_slice *keys, size_t n, uint8_t *removed,
                             size_t *done)
{
    struct batch b;
    batch_init(&b, f, keys, NULL, n, true);
    return remove_batch(f, &b, removed, done);
}

int deja_filter_remove_hashed(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *removed,
                              size_t *done)
{
    struct batch b;
    batch_init(&b, f, NULL, hash, n, true);
    return remove_batch(f, &b, removed, done);
}

int deja_filter_count_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                            uint32_t *counts)
{
    struct batch b;
    batch_init(&b, f, keys, NULL, n, false);
    return count_batch(f, &b, counts);
}

int deja_filter_count_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                             uint32_t *counts)
{
    struct batch b;
    batch_init(&b, f, NULL, hash, n, false);
    return count_batch(f, &b, counts);
}

int deja_filter_remove(deja_filter *f, deja_slice key, bool *removed)
{
    uint8_t answer = 0;
    const int rc = deja_filter_remove_batch(f, &key, 1, &answer, NULL);
    if (rc == DEJA_OK && removed)
        *removed = answer;
    return rc;
}

int deja_filter_count(const deja_filter *f, deja_slice key, uint64_t *count)
{
    uint32_t answer = 0;
    const int rc = deja_filter_count_batch(f, &key, 1, &answer);
    if (rc == DEJA_OK)
        *count = answer;
    return rc;
}

/* --- Single keys ---------------------------------------------------------- */

int deja_filter_add(deja_filter *f, deja_slice key, bool *is_new)
{
    uint8_t answer = 0;
    const int rc = deja_filter_add_batch(f, &key, 1, &answer, NULL);
    if (rc == DEJA_OK && is_new)
        *is_new = answer;
    return rc;
}

bool deja_filter_contains(const deja_filter *f, deja_slice key)
{
    uint8_t found = 0;
    deja_filter_contains_batch(f, &key, 1, &found);
    return found;
}
