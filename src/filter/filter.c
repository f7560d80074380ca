/* filter.c - makes, swaps and frees filters, and reports the capabilities of each; batch.c handles
 * keys. */
#include "filter/filter.h"
#include "core/base/alloc.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "filter/options.h"
#include "kinds/sources.h"
#include <errno.h>
#include <string.h>

/* Prefers writers, so that continuous lookups cannot block growth; glibc's default prefers readers.
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

static void free_parts(const deja_filter *f)
{
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        dj_free(f->alloc, f->part[i], sizeof *f->part[i]);
}

static uint32_t count_salts(uint32_t hash, uint32_t words)
{
    return dj_hash_is_single(hash) ? 0 : words;
}

deja_filter *dj_filter_make(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                            const deja_allocator *alloc)
{
    deja_filter *f = dj_alloc(alloc, sizeof *f, 64);
    if (!f)
        return NULL;
    f->alloc = dj_alloc_keep(alloc, &f->alloc_copy);
    f->plan = *plan;
    memcpy(f->key, key, DEJA_KEY_LEN);
    const uint32_t words = dj_plan_words(plan), parts = dj_plan_parts(plan);
    const uint32_t n_salts = count_salts(plan->hash, words);
    uint64_t *salts = n_salts ? dj_alloc(f->alloc, n_salts * sizeof *salts, 8) : NULL;
    if ((n_salts && !salts) || !dj_filter_make_parts(f, parts) ||
        !dj_sources_make(f, &plan->others, &f->other) || init_growing(&f->growing)) {
        free_parts(f);
        dj_sources_free(f, f->other, plan->others.n);
        dj_free(f->alloc, salts, n_salts * sizeof *salts);
        dj_free(f->alloc, f, sizeof *f);
        return NULL;
    }
    const struct dj_hashing what = {.hash = plan->hash,
                                    .rules = plan->rules,
                                    .visit = plan->visit,
                                    .words = words,
                                    .pieces = dj_kind_can(plan->kind, DEJA_CAN_LAYER)};
    dj_hasher_init(&f->hasher, &what, key, salts);
    for (uint32_t i = 0; i < parts; i++) {
        dj_plan_part(plan, i, f->part[i]);
        const uint32_t place = dj_plan_place(plan) + i;
        f->part[i]->salt = place ? dj_part_salt(key, plan->visit, place) : 0;
    }
    if (plan->kind->made)
        plan->kind->made(f);
    return f;
}

void dj_filter_attached(deja_filter *f, uint32_t n_parts)
{
    f->n_parts = n_parts;
    f->bytes = 0;
    for (uint32_t i = 0; i < n_parts; i++)
        f->bytes += f->part[i]->body_len;
    if (f->plan.kind->attached)
        f->plan.kind->attached(f);
}

void dj_filter_swap(deja_filter *a, deja_filter *b)
{
    char swapped[offsetof(deja_filter, clock)];
    memcpy(swapped, a, sizeof swapped);
    memcpy(a, b, sizeof swapped);
    memcpy(b, swapped, sizeof swapped);
    dj_writer_reset(&a->writer);
    dj_writer_reset(&b->writer);
}

int dj_filter_begin_writing(deja_filter *f)
{
    const int rc = atomic_load_explicit(&f->writing, memory_order_acquire)
                       ? DEJA_OK
                       : f->owner->begin_writing(f);
    if (rc == DEJA_OK && f->owner->change_all)
        f->owner->change_all(f);
    return rc;
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

int deja_filter_check_file(const deja_filter *f, deja_error *err)
{
    return f->owner->check ? f->owner->check(f, err) : DEJA_OK;
}

/* Capabilities of the kind that this filter lacks because of its options or parts. */
static uint32_t ruled_out(const deja_filter *f)
{
    static const uint32_t of_parts[] = {DEJA_CAN_MERGE, DEJA_CAN_FOLD, DEJA_CAN_OVERLAP};
    const bool has_grown = dj_kind_can(f->plan.kind, DEJA_CAN_GROW) && f->n_parts > 1;
    uint32_t out = 0;
    if (f->plan.flags & DEJA_MINIMAL_INCREASE)
        out |= DEJA_CAN_REMOVE | DEJA_CAN_MERGE;
    if (!(f->plan.flags & DEJA_DATES))
        out |= DEJA_CAN_DATE;
    if (f->plan.flags & (DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS))
        out |= DEJA_CAN_PREFIX;
    for (size_t i = 0; i < DJ_ARRAY_LEN(of_parts); i++)
        if (!dj_kind_can(f->plan.part_kind, of_parts[i]))
            out |= of_parts[i];
    if (has_grown)
        out |= DEJA_CAN_FOLD;
    if (has_grown && !dj_kind_can(f->plan.part_kind, DEJA_CAN_FILL))
        out |= DEJA_CAN_OVERLAP;
    return out;
}

bool deja_filter_can(const deja_filter *f, uint32_t capability)
{
    return dj_kind_can(f->plan.kind, capability) && !(ruled_out(f) & capability);
}

void dj_filter_unmake(deja_filter *f)
{
    pthread_rwlock_destroy(&f->growing);
    free_parts(f);
    dj_sources_free(f, f->other, f->plan.others.n);
    dj_free(f->alloc, f->hasher.salts,
            count_salts(f->hasher.hash, f->hasher.words) * sizeof *f->hasher.salts);
    dj_free(f->alloc, f, sizeof *f);
}

void deja_filter_free(deja_filter *f)
{
    if (!f)
        return;
    f->owner->free(f);
    dj_filter_unmake(f);
}

int dj_filter_begin(const deja_options *opt, deja_options *known, struct dj_plan *plan,
                    uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    int rc = dj_options_read(opt, known, err);
    if (rc == DEJA_OK)
        rc = dj_plan_resolve(known, plan, err);
    if (rc == DEJA_OK)
        rc = dj_plan_refuse_built(plan, err);
    return rc == DEJA_OK ? dj_filter_key(known, key, err) : rc;
}

int dj_filter_key(const deja_options *opt, uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    if (opt->key)
        memcpy(key, opt->key, DEJA_KEY_LEN);
    else if (opt->seed)
        dj_key_from_seed(opt->seed, key);
    else if (!dj_random(key, DEJA_KEY_LEN))
        return dj_fail_errno(err, "cannot get random bytes for the filter's key");
    return DEJA_OK;
}

/* Locking does not change the contents of a filter, so a const filter can be locked. */
static pthread_rwlock_t *lock_of(const deja_filter *f)
{
    return &((deja_filter *)(uintptr_t)f)->growing;
}

void dj_filter_hold(const deja_filter *f)
{
    if (f->plan.kind->room)
        pthread_rwlock_rdlock(lock_of(f));
}

void dj_filter_release(const deja_filter *f)
{
    if (f->plan.kind->room)
        pthread_rwlock_unlock(lock_of(f));
}
