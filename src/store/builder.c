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
 * can choose a set that fails.
 *
 * except.c handles exceptions: keys that the filter must not find, not even by mistake. */
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
        b->keys.cap = (size_t)hint;
        b->keys.hash = dj_alloc(b->alloc, b->keys.cap * sizeof *b->keys.hash, 64);
        b->keys.cap = b->keys.hash ? b->keys.cap : 0;
    }
    *out = b;
    return DEJA_OK;
}

void dj_hashes_free(struct dj_hashes *h, const deja_allocator *alloc)
{
    dj_free(alloc, h->hash, h->cap * sizeof *h->hash);
    *h = (struct dj_hashes){0};
}

static void clear(deja_builder *b)
{
    dj_hashes_free(&b->keys, b->alloc);
    dj_hashes_free(&b->never, b->alloc);
    dj_hashes_free(&b->unless_added, b->alloc);
    b->offered = 0;
    b->so_far = (deja_excepted){0};
}

void deja_builder_free(deja_builder *b)
{
    if (!b)
        return;
    clear(b);
    dj_free(b->alloc, b, sizeof *b);
}

static int no_memory(const struct dj_hashes *h, size_t n, deja_error *err)
{
    return dj_fail(err, DEJA_ENOMEM, "out of memory for %zu more keys after %zu", n, h->n);
}

/* Grows by half, so the total cost of copying is small. */
int dj_hashes_reserve(struct dj_hashes *h, size_t n, const deja_allocator *alloc, deja_error *err)
{
    if (n <= h->cap - h->n)
        return DEJA_OK;
    if (n > SIZE_MAX / 4 / sizeof *h->hash - h->n)
        return no_memory(h, n, err);
    size_t cap = h->cap + h->cap / 2;
    cap = cap < FIRST_KEYS ? FIRST_KEYS : cap;
    cap = cap < h->n + n ? h->n + n : cap;
    uint64_t *hash = dj_alloc(alloc, cap * sizeof *hash, 64);
    if (!hash)
        return no_memory(h, n, err);
    if (h->n)
        memcpy(hash, h->hash, h->n * sizeof *hash);
    dj_free(alloc, h->hash, h->cap * sizeof *hash);
    h->hash = hash;
    h->cap = cap;
    return DEJA_OK;
}

void deja_builder_hash_batch(const deja_builder *b, const deja_slice *keys, size_t n,
                             uint64_t *hash)
{
    dj_hasher_hash(&b->hasher, keys, n, hash);
}

static int append(const deja_builder *b, struct dj_hashes *to, const uint64_t *hash, size_t n,
                  deja_error *err)
{
    const int rc = dj_hashes_reserve(to, n, b->alloc, err);
    if (rc < 0 || n == 0)
        return rc;
    memcpy(to->hash + to->n, hash, n * sizeof *hash);
    to->n += n;
    return DEJA_OK;
}

static int append_keys(const deja_builder *b, struct dj_hashes *to, const deja_slice *keys,
                       size_t n, deja_error *err)
{
    const int rc = dj_hashes_reserve(to, n, b->alloc, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i += LOT)
        dj_hasher_hash(&b->hasher, keys + i, n - i < LOT ? n - i : LOT, to->hash + to->n + i);
    to->n += n;
    return DEJA_OK;
}

int deja_builder_add_hashed(deja_builder *b, const uint64_t *hash, size_t n, deja_error *err)
{
    const int rc = append(b, &b->keys, hash, n, err);
    b->offered += rc == DEJA_OK ? n : 0;
    return rc;
}

int deja_builder_add_batch(deja_builder *b, const deja_slice *keys, size_t n, deja_error *err)
{
    const int rc = append_keys(b, &b->keys, keys, n, err);
    b->offered += rc == DEJA_OK ? n : 0;
    return rc;
}

int deja_builder_add(deja_builder *b, deja_slice key, deja_error *err)
{
    return deja_builder_add_batch(b, &key, 1, err);
}

static int check_exceptions(const deja_builder *b, unsigned flags, deja_error *err)
{
    if (flags & ~DEJA_EXCEPT_UNLESS_ADDED)
        return dj_fail_flags(err, flags & ~DEJA_EXCEPT_UNLESS_ADDED);
    return b->plan.rules == DJ_RULES_0_1
               ? dj_fail(err, DEJA_EINVAL,
                         "options.format is 1: deja 0.1 cannot read a filter with exceptions")
               : DEJA_OK;
}

static struct dj_hashes *exceptions(deja_builder *b, unsigned flags)
{
    return flags & DEJA_EXCEPT_UNLESS_ADDED ? &b->unless_added : &b->never;
}

int deja_builder_except_hashed(deja_builder *b, const uint64_t *hash, size_t n, unsigned flags,
                               deja_error *err)
{
    const int rc = check_exceptions(b, flags, err);
    return rc < 0 ? rc : append(b, exceptions(b, flags), hash, n, err);
}

int deja_builder_except_batch(deja_builder *b, const deja_slice *keys, size_t n, unsigned flags,
                              deja_error *err)
{
    const int rc = check_exceptions(b, flags, err);
    return rc < 0 ? rc : append_keys(b, exceptions(b, flags), keys, n, err);
}

int deja_builder_excepted(const deja_builder *b, deja_excepted *out, deja_error *err)
{
    if (!out || out->size < sizeof(size_t))
        return dj_fail(err, DEJA_EINVAL,
                       "excepted.size is not set: begin with DEJA_EXCEPTED_INIT");
    deja_excepted all = b->excepted;
    all.size = out->size;
    memcpy(out, &all, out->size < sizeof all ? out->size : sizeof all);
    return DEJA_OK;
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
    for (size_t i = 0; i < b->keys.n; i++)
        b->keys.hash[i] = dj_fuse_remix(f, b->keys.hash[i]);
    b->keys.n = dj_fuse_sort(b->keys.hash, b->keys.n);
}

static void unmix(deja_builder *b, const struct dj_fuse *f)
{
    for (size_t i = 0; i < b->keys.n; i++)
        b->keys.hash[i] = dj_fuse_unmix(f, b->keys.hash[i]);
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
    return dj_fuse_peel(f, b->keys.hash, b->keys.n, &s->room);
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
    int rc = dj_static_size(&s->plan, b->keys.n, b->memory, err);
    if (rc == DEJA_OK) {
        s->n = b->keys.n;
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

/* Finds out which exceptions the solution finds by mistake, with a body of its own, because the
 * sizes of a filter must be known before it is made. */
static int find_exceptions(const deja_builder *b, struct solution *s, struct dj_hashes *mistaken,
                           deja_error *err)
{
    const size_t len = (size_t)dj_part_body_len(&s->plan.shape);
    uint8_t *body = dj_alloc(b->alloc, len, 64);
    if (!body)
        return dj_fail_memory(err);
    dj_fuse_fill(&s->plan.fuse, &s->room, s->n, body);
    int rc = dj_except_find(b, body, &s->plan, mistaken, err);
    dj_free(b->alloc, body, len);
    const uint64_t bytes = dj_plan_bytes(&s->plan);
    if (rc == DEJA_OK && b->memory && bytes > b->memory)
        rc = dj_fail(err, DEJA_EINVAL,
                     "options.memory is %llu: the filter takes %llu bytes with %u exceptions",
                     (ull)b->memory, (ull)bytes, s->plan.exceptions);
    return rc;
}

static int make_filter(deja_builder *b, const char *path, unsigned flags, const struct solution *s,
                       const struct dj_hashes *mistaken, deja_filter **out, deja_error *err)
{
    int rc = path ? dj_file_create(path, flags, &s->plan, b->key, b->alloc, out, err)
                  : dj_filter_in_memory(&s->plan, b->key, b->alloc, out, err);
    if (rc < 0)
        return rc;
    fill(b, s, *out);
    if (dj_except_any(b))
        rc = dj_except_finish(b, mistaken, *out, err);
    if (rc == DEJA_OK)
        rc = deja_filter_check_file(*out, err);
    if (rc < 0) {
        deja_filter_free(*out);
        *out = NULL;
    }
    return rc;
}

int deja_builder_finish(deja_builder *b, const char *path, unsigned flags, deja_filter **out,
                        deja_error *err)
{
    struct solution s;
    struct dj_hashes mistaken = {0};
    *out = NULL;
    int rc = dj_file_check_flags(flags, err);
    if (rc < 0)
        return rc;
    if (dj_except_any(b))
        dj_except_sort(b);
    rc = solve(b, &s, err);
    if (rc < 0)
        return rc;
    if (dj_except_any(b))
        rc = find_exceptions(b, &s, &mistaken, err);
    if (rc == DEJA_OK)
        rc = make_filter(b, path, flags, &s, &mistaken, out, err);
    solution_fini(b, &s);
    dj_hashes_free(&mistaken, b->alloc);
    if (rc == DEJA_OK) {
        b->excepted = b->so_far;
        clear(b);
    }
    return rc;
}
