/* spectral.c - counters instead of bits: counting and removal.
 *
 * A key has k counters in one cache line (core/bits/counters.h), or anywhere in the array
 * with the option `spread` (spectral_spread.c).  Add increments each of them,
 * remove decrements them, and the smallest is the key's count or higher, because other keys can
 * only increase it (minimum selection).  A nonzero counter acts as a set bit: the rate and the
 * share of counts that are too high are the same as for a blocked filter with as many bits as
 * there are counters.
 *
 * Minimal increase increments only the counters at the minimum, which is enough for this key and
 * disturbs other keys less.  But a counter then no longer holds the sum of its keys, and
 * decrementing it would reduce the counts of other keys, so remove is refused.
 *
 * Remove refuses a key with a zero counter: it was never added.  It cannot recognize a false
 * positive; removing one reduces the counts of other keys, which may then be missed.  A saturated
 * counter is never decremented.
 *
 * All counters of a key are in one line, so writers lock a line.  The locks are in a small table
 * that only filters with several writers use.  Lookups take no lock.
 *
 * Sources: Fan, Cao, Almeida, Broder, "Summary Cache", 2000 (counting filters); Cohen, Matias,
 * "Spectral Bloom Filters", 2003 (minimum selection, minimal increase). */
#include "kinds/spectral.h"
#include "core/base/bytes.h"
#include "core/base/status.h"

static void spectral_init(struct dj_part *p)
{
    p->counters = (struct dj_counters){
        .body = p->body,
        .n_lines = p->shape.bits / DJ_BLOCK_BITS,
        .bits = p->shape.counter_bits,
        .k = p->shape.k,
        .lane_sets = dj_block_lane_sets(p->shape.k),
    };
    p->counters_kernel = dj_counters_best(p->shape.counter_bits);
}

/* --- Locks --------------------------------------------------------------- */

static atomic_bool *lock_of(struct dj_part *p, uint64_t hash)
{
    return &p->line_lock[dj_mulhi(hash, p->counters.n_lines) % DJ_LINE_LOCKS];
}

/* --- The operations ------------------------------------------------------ */

static void spectral_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n,
                              bool for_add)
{
    (void)for_add;
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(dj_counters_line(&p->counters, hash[i]));
}

static size_t spectral_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *is_new, bool shared)
{
    const struct dj_counters c = p->counters;
    if (!shared && !p->minimal) {
        p->counters_kernel->add(&c, hash, ahead, n, is_new);
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(dj_counters_line(&c, ahead[i]));
        if (shared)
            dj_line_lock(lock_of(p, hash[i]));
        is_new[i] = dj_counters_up(&c, hash[i], p->minimal);
        if (shared)
            dj_line_unlock(lock_of(p, hash[i]));
    }
    return n;
}

static void spectral_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                              size_t n, uint8_t *found)
{
    p->counters_kernel->contains(&p->counters, hash, ahead, n, found);
}

static enum dj_removal spectral_remove(struct dj_part *p, uint64_t hash, bool shared)
{
    bool gone;
    if (shared)
        dj_line_lock(lock_of(p, hash));
    const bool removed = dj_counters_down(&p->counters, hash, &gone);
    if (shared)
        dj_line_unlock(lock_of(p, hash));
    return !removed ? DJ_REFUSED : gone ? DJ_GONE : DJ_FEWER;
}

static uint32_t spectral_count(const struct dj_part *p, uint64_t hash)
{
    return dj_counters_min(&p->counters, hash);
}

uint64_t dj_spectral_used(const struct dj_part *p)
{
    return p->counters_kernel->survey(&p->counters).used;
}

/* Each counter becomes what it would be if all keys had been added to it. */
void dj_spectral_unite(struct dj_part *into, const struct dj_part *from)
{
    dj_counters_merge(&into->counters, &from->counters);
}

/* --- One part, or F parts that must agree -------------------------------------- */

/* The hash of a key for part i; with counters, a key is always a single number. */
static uint64_t seen_by(const deja_filter *f, uint32_t i, uint64_t hash)
{
    return f->part[i]->salt ? dj_mix64(hash ^ f->part[i]->salt) : hash;
}

static enum dj_removal remove_from(struct dj_part *p, uint64_t hash, bool shared)
{
    return p->kind->body.remove(p, hash, shared);
}

/* Whether all parts have the key. */
static bool all_can_remove(const deja_filter *f, uint64_t hash)
{
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (f->part[i]->kind->body.count(f->part[i], seen_by(f, i, hash)) == 0)
            return false;
    return true;
}

/* Removes a key from F parts and combines their answers.  A part in which all counters of the key
 * are saturated keeps them, like a single saturated counter; the other parts decrement theirs. */
static enum dj_removal remove_from_all(deja_filter *f, uint64_t hash, bool shared)
{
    enum dj_removal answer = DJ_REFUSED;
    if (!all_can_remove(f, hash))
        return DJ_REFUSED;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const enum dj_removal one = remove_from(f->part[i], seen_by(f, i, hash), shared);
        answer = one > answer ? one : answer;
    }
    return answer;
}

static void forget_key(struct dj_part *p)
{
    uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    while (keys && !atomic_compare_exchange_weak_explicit(
                       &p->keys, &keys, keys - 1, memory_order_relaxed, memory_order_relaxed))
        ;
}

bool dj_spectral_remove(deja_filter *f, uint64_t hash, bool shared)
{
    enum dj_removal answer;
    if (f->n_parts == 1) {
        answer = remove_from(f->part[0], hash, shared);
    } else {
        /* No other thread may remove between the check of all parts and the change of each.
         * Concurrent adds are harmless: they only increment. */
        pthread_rwlock_wrlock(&f->growing);
        answer = remove_from_all(f, hash, shared);
        pthread_rwlock_unlock(&f->growing);
    }
    for (uint32_t i = 0; answer == DJ_GONE && i < f->n_parts; i++)
        forget_key(f->part[i]);
    return answer != DJ_REFUSED;
}

uint32_t dj_spectral_count(const deja_filter *f, uint64_t hash)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const uint32_t count = p->kind->body.count(p, seen_by(f, i, hash));
        least = count < least ? count : least;
    }
    return least;
}

/* --- Plan and statistics ----------------------------------------------------- */

int dj_spectral_read(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    (void)err; /* the option table checks the range */
    plan->shape.counter_bits = opt->counter_bits ? opt->counter_bits : DJ_DEFAULT_COUNTER_BITS;
    return DEJA_OK;
}

int dj_spectral_check(const struct dj_plan *plan, deja_error *err)
{
    return dj_shape_has_counters(plan->shape.counter_bits) ? DEJA_OK
                                                           : dj_fail_damaged(err, "counter bits");
}

void dj_spectral_stats(const deja_filter *f, deja_stats *s)
{
    dj_spatial_stats(f, s);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const struct dj_counters_sum sum = p->counters_kernel->survey(&p->counters);
        s->saturated += sum.saturated;
        s->largest = sum.largest > s->largest ? sum.largest : s->largest;
    }
}

const char *const dj_spectral_options[] = {"counter_bits", NULL};
const struct dj_field dj_spectral_record[2] = {
    DJ_FIELD(336, struct dj_record, removed),
    DJ_FIELD(344, struct dj_record, refused),
};
const struct dj_kind dj_spectral = {
    .name = "spectral",
    .number = DEJA_SPECTRAL,
    .help = "counters instead of bits: remove keys, count how many times each was added",
    .can = DEJA_CAN_ADD | DEJA_CAN_REMOVE | DEJA_CAN_COUNT | DEJA_CAN_REPEAT | DEJA_CAN_MERGE,
    .options = dj_spectral_options,
    .flags = DEJA_MINIMAL_INCREASE | DEJA_SPREAD,
    .variant = &dj_spectral_spread,
    .variant_flag = DEJA_SPREAD,
    .layout = DJ_BLOCKS,
    .read = dj_spectral_read,
    .plan = dj_plan_plain,
    .by_multiplier = dj_plan_always,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .contains = dj_spatial_contains,
    .remove = dj_spectral_remove,
    .count = dj_spectral_count,
    .stats = dj_spectral_stats,
    .record = DJ_SPECTRAL_RECORD,
    .check = dj_spectral_check,
    .body = {.init = spectral_init,
             .prefetch = spectral_prefetch,
             .add = spectral_add,
             .contains = spectral_contains,
             .bits_set = dj_spectral_used,
             .remove = spectral_remove,
             .count = spectral_count,
             .unite = dj_spectral_unite},
};
