/* spectral.c - counters in the place of bits: how often, and remove.
 *
 * A key takes k counters of one cache line (core/bits/counters.h); add raises each of them by one,
 * remove lowers them, and the smallest tells how often the key came, or more: other keys can only
 * raise it.  This is minimum selection.  A counter that is not 0 is a bit that is set: the rate,
 * and the share of counts that are too large, are those of a blocked filter with as many bits as
 * there are counters.
 *
 * Minimal increase raises only the counters that are at the minimum.  That is all that the count
 * of this key needs, so others suffer less.  But a counter then no longer holds the sum of its
 * keys, and lowering it would take what belongs to others: it excludes remove.
 *
 * Remove refuses a key with a counter at 0, which was never added.  A stranger whose counters are
 * all taken, a false positive, cannot be told from a member: removing one takes counts away from
 * others, which may then be missed.  A counter at its maximum is never lowered.
 *
 * Each key is one line, so that writers take turns at lines: a small table of locks, which only
 * filters with several writers use.  Looking up takes none.
 *
 * Sources: Fan, Cao, Almeida, Broder, "Summary Cache", 2000 (counting filters); Cohen, Matias,
 * "Spectral Bloom Filters", 2003 (minimum selection, minimal increase). */
#include "core/bits/counters.h"
#include "kinds/part.h"
#include <sched.h>

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

/* --- Turns --------------------------------------------------------------- */

static atomic_bool *lock_of(struct dj_part *p, uint64_t hash)
{
    return &p->line_lock[dj_mulhi(hash, p->counters.n_lines) % DJ_LINE_LOCKS];
}

static void lock(atomic_bool *l)
{
    while (atomic_exchange_explicit(l, true, memory_order_acquire))
        while (atomic_load_explicit(l, memory_order_relaxed))
            sched_yield();
}

static void unlock(atomic_bool *l)
{
    atomic_store_explicit(l, false, memory_order_release);
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
            lock(lock_of(p, hash[i]));
        is_new[i] = dj_counters_up(&c, hash[i], p->minimal);
        if (shared)
            unlock(lock_of(p, hash[i]));
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
        lock(lock_of(p, hash));
    const bool removed = dj_counters_down(&p->counters, hash, &gone);
    if (shared)
        unlock(lock_of(p, hash));
    return !removed ? DJ_REFUSED : gone ? DJ_GONE : DJ_FEWER;
}

static uint32_t spectral_count(const struct dj_part *p, uint64_t hash)
{
    return dj_counters_min(&p->counters, hash);
}

static uint64_t spectral_used(const struct dj_part *p)
{
    return dj_counters_survey(&p->counters).used;
}

const struct dj_part_ops dj_spectral_ops = {
    "spectral",        DEJA_SPECTRAL, spectral_init,   spectral_prefetch, spectral_add,
    spectral_contains, spectral_used, spectral_remove, spectral_count,
};
