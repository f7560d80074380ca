/* builder.c - builds a static filter from a stream of keys.
 *
 * Keys are hashed as they arrive, and only the hashes are kept: 8 bytes per key, however long the
 * keys are.  At the end they are sorted, which finds duplicates and makes later work
 * cache-friendly, and then peeled (core/bits/fuse.h).
 *
 * Memory per key: 8 bytes for the hash, up to 20 while the array grows; during peeling 32 bytes.
 * Of these, 10 hold a sum and a count for each of the 1.125 slots, 4.5 the queue of slots, and 9
 * the order that is found.
 *
 * A seed fails if the slots of some keys form a cycle: practically never for large sets, sometimes
 * for a few keys.  The next seed gives different numbers for the same hashes.  Seeds are derived
 * from the filter's key, so the same key and set give the same file, and nobody without the key
 * can choose a set that fails. */
#include "store/builder.h"
#include "core/base/alloc.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/memory.h"
#include "filter/options.h"
#include "kinds/static.h"
#include "store/create.h"

#define FIRST_KEYS 4096
#define LOT        256

int deja_builder_new(const deja_options *opt, deja_builder **out, deja_error *err)
{
    deja_options known;
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    *out = NULL;
    int rc = dj_options_read(opt, &known, err);
    if (rc < 0)
        return rc;
    if (!deja_kind_can(known.kind, DEJA_CAN_BUILD))
        return dj_fail(err, DEJA_EINVAL,
                       "options.kind: a builder makes static filters; use kind static");
    /* The size is computed at the end: plan for one key now. */
    const uint64_t hint = known.capacity, memory = known.memory;
    known.capacity = 1;
    rc = dj_plan_resolve(&known, &plan, err);
    if (rc == DEJA_OK)
        rc = dj_filter_key(&known, key, err);
    if (rc < 0)
        return rc;
    deja_builder *b = dj_alloc(known.alloc, sizeof *b, 64);
    if (!b)
        return dj_fail_memory(err);
    b->alloc = dj_alloc_keep(known.alloc, &b->alloc_copy);
    b->plan = plan;
    b->memory = memory;
    if (memory && known.fp_rate == 0 && !known.fingerprint_bits)
        b->plan.fuse.width = 0; /* the widest that fits */
    memcpy(b->key, key, DEJA_KEY_LEN);
    const struct dj_hashing what = {
        .hash = plan.hash, .rules = plan.rules, .visit = plan.visit, .words = 1};
    dj_hasher_init(&b->hasher, &what, key, NULL);
    if (hint && hint <= DJ_FUSE_MAX_KEYS) { /* may be far too high: a failure is harmless */
        b->cap = (size_t)hint;
        b->hash = dj_alloc(b->alloc, b->cap * sizeof *b->hash, 64);
        b->cap = b->hash ? b->cap : 0;
    }
    *out = b;
    return DEJA_OK;
}

static void clear(deja_builder *b)
{
    dj_free(b->alloc, b->hash, b->cap * sizeof *b->hash);
    b->hash = NULL;
    b->n = b->cap = 0;
    b->offered = 0;
}

void deja_builder_free(deja_builder *b)
{
    if (!b)
        return;
    clear(b);
    dj_free(b->alloc, b, sizeof *b);
}

static int no_memory(const deja_builder *b, size_t n, deja_error *err)
{
    return dj_fail(err, DEJA_ENOMEM, "out of memory for %zu more keys after %zu", n, b->n);
}

/* Makes room for n more.  Grows by half, so the total cost of copying is small. */
static int reserve(deja_builder *b, size_t n, deja_error *err)
{
    if (n <= b->cap - b->n)
        return DEJA_OK;
    if (n > SIZE_MAX / 4 / sizeof *b->hash - b->n)
        return no_memory(b, n, err);
    size_t cap = b->cap + b->cap / 2;
    cap = cap < FIRST_KEYS ? FIRST_KEYS : cap;
    cap = cap < b->n + n ? b->n + n : cap;
    uint64_t *hash = dj_alloc(b->alloc, cap * sizeof *hash, 64);
    if (!hash)
        return no_memory(b, n, err);
    if (b->n)
        memcpy(hash, b->hash, b->n * sizeof *hash);
    dj_free(b->alloc, b->hash, b->cap * sizeof *hash);
    b->hash = hash;
    b->cap = cap;
    return DEJA_OK;
}

void deja_builder_hash_batch(const deja_builder *b, const deja_slice *keys, size_t n,
                             uint64_t *hash)
{
    dj_hasher_hash(&b->hasher, keys, n, hash);
}

int deja_builder_add_hashed(deja_builder *b, const uint64_t *hash, size_t n, deja_error *err)
{
    const int rc = reserve(b, n, err);
    if (rc < 0 || n == 0)
        return rc;
    memcpy(b->hash + b->n, hash, n * sizeof *hash);
    b->n += n;
    b->offered += n;
    return DEJA_OK;
}

int deja_builder_add_batch(deja_builder *b, const deja_slice *keys, size_t n, deja_error *err)
{
    const int rc = reserve(b, n, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i += LOT)
        dj_hasher_hash(&b->hasher, keys + i, n - i < LOT ? n - i : LOT, b->hash + b->n + i);
    b->n += n;
    b->offered += n;
    return DEJA_OK;
}

int deja_builder_add(deja_builder *b, deja_slice key, deja_error *err)
{
    return deja_builder_add_batch(b, &key, 1, err);
}

/* --- Solving ---------------------------------------------------------------- */

/* The solution for a set of keys. */
struct solution {
    struct dj_plan plan;
    struct dj_peel room;
    size_t n;       /* keys */
    uint64_t slots; /* in `room` */
};

static void free_slots(const deja_builder *b, struct solution *s)
{
    const size_t slots = (size_t)s->slots;
    dj_free(b->alloc, s->room.sum, slots * sizeof *s->room.sum);
    dj_free(b->alloc, s->room.count, slots * sizeof *s->room.count);
    dj_free(b->alloc, s->room.alone, slots * sizeof *s->room.alone);
    s->room.sum = NULL;
    s->room.count = NULL;
    s->room.alone = NULL;
}

/* Returns at least 1, because an allocator need not support size 0. */
static size_t keys_room(const struct solution *s)
{
    return s->n ? s->n : 1;
}

static void solution_fini(const deja_builder *b, struct solution *s)
{
    const size_t n = keys_room(s);
    free_slots(b, s);
    dj_free(b->alloc, s->room.order, n * sizeof *s->room.order);
    dj_free(b->alloc, s->room.which, n * sizeof *s->room.which);
    s->room.order = NULL;
    s->room.which = NULL;
}

static int make_room(const deja_builder *b, struct solution *s, deja_error *err)
{
    struct dj_peel *room = &s->room;
    const size_t slots = (size_t)s->slots, n = keys_room(s);
    room->sum = dj_alloc(b->alloc, slots * sizeof *room->sum, 64);
    room->count = dj_alloc(b->alloc, slots * sizeof *room->count, 64);
    room->alone = dj_alloc(b->alloc, slots * sizeof *room->alone, 64);
    room->order = dj_alloc(b->alloc, n * sizeof *room->order, 64);
    room->which = dj_alloc(b->alloc, n * sizeof *room->which, 64);
    if (room->sum && room->count && room->alone && room->order && room->which)
        return DEJA_OK;
    return dj_fail(err, DEJA_ENOMEM,
                   "out of memory: building a static filter of %zu keys takes %.0f MB more", n,
                   ((double)slots * 13 + (double)n * 9) / 1e6);
}

/* Mixes the hashes with the seed, sorts them and drops duplicates. */
static void remix(deja_builder *b, const struct dj_fuse *f)
{
    for (size_t i = 0; i < b->n; i++)
        b->hash[i] = dj_fuse_remix(f, b->hash[i]);
    b->n = dj_fuse_sort(b->hash, b->n);
}

static void unmix(deja_builder *b, const struct dj_fuse *f)
{
    for (size_t i = 0; i < b->n; i++)
        b->hash[i] = dj_fuse_unmix(f, b->hash[i]);
}

static bool try_seed(deja_builder *b, struct solution *s, unsigned attempt)
{
    struct dj_fuse *f = &s->plan.fuse;
    if (attempt) { /* solve has prepared the first attempt */
        unmix(b, f);
        f->seed = dj_key_derive(b->key, DJ_STREAM_STATIC, attempt);
        remix(b, f);
        memset(s->room.sum, 0, (size_t)s->slots * sizeof *s->room.sum);
        memset(s->room.count, 0, (size_t)s->slots * sizeof *s->room.count);
    }
    return dj_fuse_peel(f, b->hash, b->n, &s->room);
}

static int try_seeds(deja_builder *b, struct solution *s, deja_error *err)
{
    bool solved = false;
    for (unsigned i = 0; i < DJ_BUILDER_SEEDS && !solved; i++)
        solved = try_seed(b, s, i);
    if (solved)
        return DEJA_OK;
    return dj_fail(
        err, DEJA_EFULL,
        "no static filter was found for these %zu keys with %d seeds: the keys were chosen "
        "to prevent it, or this machine has a hardware fault; try another options.key",
        s->n, DJ_BUILDER_SEEDS);
}

/* Drops duplicates, sizes the filter, and finds a seed and an order. */
static int solve(deja_builder *b, struct solution *s, deja_error *err)
{
    *s = (struct solution){.plan = b->plan};
    struct dj_fuse *f = &s->plan.fuse;
    f->seed = dj_key_derive(b->key, DJ_STREAM_STATIC, 0);
    remix(b, f);
    int rc = dj_static_size(&s->plan, b->n, b->memory, err);
    if (rc == DEJA_OK) {
        s->n = b->n;
        s->slots = dj_fuse_slots(f);
        rc = make_room(b, s, err);
    }
    if (rc == DEJA_OK)
        rc = try_seeds(b, s, err);
    free_slots(b, s);
    unmix(b, f);
    if (rc < 0)
        solution_fini(b, s);
    else if (!b->plan.fuse.width)
        s->plan.fp_rate = dj_static_rate(f->width);
    return rc;
}

/* Writes the solution into a filter of its plan, whose bodies are zeros. */
static void fill(const deja_builder *b, const struct solution *s, deja_filter *f)
{
    dj_fuse_fill(&s->plan.fuse, &s->room, s->n, f->part[0]->body);
    atomic_store(&f->part[0]->keys, s->n);
    atomic_store(&f->offered, b->offered);
}

/* --- The filter ---------------------------------------------------------------- */

int deja_builder_finish(deja_builder *b, const char *path, unsigned flags, deja_filter **out,
                        deja_error *err)
{
    struct solution s;
    *out = NULL;
    int rc = dj_file_check_flags(flags, err);
    if (rc == DEJA_OK)
        rc = solve(b, &s, err);
    if (rc < 0)
        return rc;
    rc = path ? dj_file_create(path, flags, &s.plan, b->key, b->alloc, out, err)
              : dj_filter_in_memory(&s.plan, b->key, b->alloc, out, err);
    if (rc == DEJA_OK) {
        fill(b, &s, *out);
        rc = deja_filter_check_file(*out, err);
    }
    solution_fini(b, &s);
    if (rc == DEJA_OK) {
        clear(b);
    } else {
        deja_filter_free(*out);
        *out = NULL;
    }
    return rc;
}
