/* spectral_spread.c - a spectral filter whose counters lie anywhere in the array.
 *
 * This is the kind `spectral` with the option `spread`: the same number and name, but another body
 * (core/bits/spread.h) and the sizes of a classic filter: n keys at rate p take m = -n ln p / (ln
 * 2)^2 counters, 14.4 per key at 1e-3.  A cache line holds few wide counters, so the keys of a
 * crowded line hide each other; that costs the layout with one line per key 1.2 times as many
 * counters at 4 bits and four times as many at 32.  The price of spreading is a cache miss for each
 * counter.
 *
 * Threads that add or remove take turns for each batch: the counters of a key are in many lines, so
 * there is no smaller thing to lock.  Their memory is fetched before the lock.  Lookups take no
 * lock.
 *
 * Source: Cohen, Matias, "Spectral Bloom Filters", 2003. */
#include "core/bits/spread.h"
#include "kinds/spectral.h"

_Static_assert(DJ_SPREAD_MOST == DJ_MAX_HASHES, "a key has at most this many counters");

static void spread_init(struct dj_part *p)
{
    p->counters = (struct dj_counters){
        .body = p->body,
        .n_lines = p->shape.bits / DJ_BLOCK_BITS,
        .bits = p->shape.counter_bits,
        .k = p->shape.k,
    };
    p->counters_kernel = dj_counters_best(p->shape.counter_bits); /* only its survey */
}

static void spread_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    dj_spread_prefetch(&p->counters, hash, n, for_add);
}

static size_t spread_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                         uint8_t *is_new, bool shared)
{
    if (shared)
        dj_line_lock(&p->adding);
    dj_spread_add(&p->counters, hash, ahead, n, p->minimal, is_new);
    if (shared)
        dj_line_unlock(&p->adding);
    return n;
}

static void spread_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    dj_spread_contains(&p->counters, hash, ahead, n, found);
}

static enum dj_removal spread_remove(struct dj_part *p, uint64_t hash, bool shared)
{
    bool gone;
    if (shared)
        dj_line_lock(&p->adding);
    const bool removed = dj_spread_down(&p->counters, hash, &gone);
    if (shared)
        dj_line_unlock(&p->adding);
    return !removed ? DJ_REFUSED : gone ? DJ_GONE : DJ_FEWER;
}

static uint32_t spread_count(const struct dj_part *p, uint64_t hash)
{
    return dj_spread_min(&p->counters, hash);
}

const struct dj_kind dj_spectral_spread = {
    .name = "spectral",
    .number = DEJA_SPECTRAL,
    .help = "spectral, with the counters of a key anywhere in the array",
    .can = DEJA_CAN_ADD | DEJA_CAN_REMOVE | DEJA_CAN_COUNT | DEJA_CAN_REPEAT | DEJA_CAN_MERGE,
    .options = dj_spectral_options,
    .flags = DEJA_MINIMAL_INCREASE | DEJA_SPREAD,
    .layout = DJ_SPREAD,
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
    .body = {.init = spread_init,
             .prefetch = spread_prefetch,
             .add = spread_add,
             .contains = spread_contains,
             .bits_set = dj_spectral_used,
             .remove = spread_remove,
             .count = spread_count,
             .unite = dj_spectral_unite},
};
