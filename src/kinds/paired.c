/* paired.c - deletion with two filters: one for entries, one for deletions.
 *
 * A bit of a Bloom filter belongs to many keys, so a key cannot be removed from it, but it can be
 * added to a second filter.  Part 0 holds the keys that were added, part 1 those that were removed,
 * both blocked (blocked.c), and
 *
 *     in the filter  =  in the entries  and not  in the deletions
 *
 * Part 1 salts every hash, as spatial parts do, so the false positives of the two parts are
 * independent.  With the rates p_A of the entries and p_D of the deletions,
 *
 *     a key that was never added is found with probability    p_A (1 - p_D)   less than p_A
 *     a key that was added is NOT found with probability      p_D             the kind forgets
 *
 * This affects two kinds of keys.  A key that was removed and is added again stays removed,
 * because a deletion cannot be undone.  A key that was never removed but is a false positive of
 * the deletions is missed from then on.  Every add of either key answers "new": fetching a page
 * again is better than losing it.  These adds are counted as hidden.
 *
 * Remove refuses a key that is not found.  Removing a false positive harms no other key; it only
 * uses up capacity of the deletions.
 *
 * The parts do not affect each other, and bits are only ever set, so adds, removals and lookups of
 * several threads may run in any order.  If a key is added and removed at the same time, either
 * outcome is possible.
 *
 * Each part is a blocked filter of rate p, planned on its own: one for the number of keys, the
 * other for the number of removals, which defaults to the number of keys.  If memory is given, it
 * is split to give both the same bits per key and thus the same rate.  If the number of removals
 * is given and the number of keys is not, the deletions get the memory that they need for rate p,
 * and the entries get the rest.
 *
 * Limits: there is no union, because no answer is right for a key that one filter removed and the
 * other added.  There is no fold, because with a smaller part 1 the filter would forget keys that
 * it finds now.  For keys that are removed and added repeatedly, use counters (spectral.c).
 * Source: the lecture on compressed caches, "Bloom filter deletions". */
#include "core/base/status.h"
#include "kinds/spatial.h"
#include <math.h>

enum {
    ENTRIES,
    DELETIONS
};

/* Looks up a chunk in the deletions. */
static void ask_deletions(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *gone)
{
    const struct dj_part *p = f->part[DELETIONS];
    uint64_t buf[DJ_CHUNK];
    const uint64_t *seen = dj_spatial_view(f, DELETIONS, hash, n, buf);
    p->kind->body.contains(p, seen, seen, n, gone);
}

static size_t paired_add(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                         uint8_t *is_new, bool shared)
{
    struct dj_part *p = f->part[ENTRIES];
    uint8_t gone[DJ_CHUNK];
    uint64_t hidden = 0;
    dj_spatial_prefetch(f, ahead, n, true);
    p->kind->body.add(p, hash, hash, n, is_new, shared); /* a Bloom filter takes all */
    dj_part_count_new(p, is_new, n, shared);
    ask_deletions(f, hash, n, gone);
    for (size_t i = 0; i < n; i++) {
        is_new[i] |= gone[i];
        hidden += gone[i];
    }
    if (hidden)
        dj_writer_count(&f->hidden, hidden, shared);
    return n;
}

static void find(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *found)
{
    const struct dj_part *p = f->part[ENTRIES];
    uint8_t gone[DJ_CHUNK];
    p->kind->body.contains(p, hash, hash, n, found);
    ask_deletions(f, hash, n, gone);
    for (size_t i = 0; i < n; i++)
        found[i] &= !gone[i];
}

static void paired_contains(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    dj_spatial_prefetch(f, ahead, n, false);
    find(f, hash, n, found);
}

static bool paired_remove(deja_filter *f, uint64_t hash, bool shared)
{
    struct dj_part *p = f->part[DELETIONS];
    uint64_t buf[DJ_CHUNK];
    uint8_t found, removed;
    find(f, &hash, 1, &found);
    if (!found)
        return false;
    const uint64_t *seen = dj_spatial_view(f, DELETIONS, &hash, 1, buf);
    p->kind->body.add(p, seen, seen, 1, &removed, shared); /* 0: another thread removed it */
    dj_part_count_new(p, &removed, 1, shared);
    return removed;
}

/* --- Plan ------------------------------------------------------------------ */

static int size_half(const deja_options *opt, const struct dj_plan *plan, uint64_t n,
                     uint64_t memory, struct dj_plan *half, deja_error *err)
{
    deja_options o = *opt;
    o.capacity = n;
    o.memory = memory;
    *half = *plan;
    half->kind = half->part_kind;
    half->capacity = n;
    half->shape.k = opt->hashes;
    return half->kind->plan(&o, half, err);
}

/* The share of `memory` for n of n + d keys: the same bits per key give the same rate. */
static uint64_t share_of(uint64_t memory, double n, double d)
{
    const uint64_t line = DJ_BLOCK_BITS / 8, lines = memory / line;
    const double mine = floor((double)lines * n / (n + d) + 0.5);
    return line * (uint64_t)fmax(1, fmin(mine, (double)lines - 1));
}

/* Computes the share of the memory for the entries; the deletions get the rest. */
static int split_memory(const deja_options *opt, const struct dj_plan *plan, uint64_t *entries,
                        deja_error *err)
{
    const uint64_t least = 2 * DJ_BLOCK_BITS / 8;
    struct dj_plan removals;
    if (opt->memory < least)
        return dj_fail(err, DEJA_EINVAL,
                       "options.memory is %llu: it must be at least %llu bytes, for two filters",
                       (ull)opt->memory, (ull)least);
    if (!opt->deletions || opt->capacity) {
        const double keys = opt->deletions ? (double)opt->capacity : 1;
        *entries = share_of(opt->memory, keys, opt->deletions ? (double)opt->deletions : 1);
        return DEJA_OK;
    }
    const int rc = size_half(opt, plan, opt->deletions, 0, &removals, err);
    if (rc < 0)
        return rc;
    const uint64_t bytes = dj_part_body_len(&removals.shape);
    if (bytes >= opt->memory)
        return dj_fail(err, DEJA_EINVAL,
                       "%llu deletions at rate %g take %llu bytes, and options.memory is %llu",
                       (ull)opt->deletions, removals.fp_rate, (ull)bytes, (ull)opt->memory);
    *entries = opt->memory - bytes;
    return DEJA_OK;
}

static int paired_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    struct dj_plan entries, removals;
    uint64_t memory = 0;
    int rc = opt->memory ? split_memory(opt, plan, &memory, err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = size_half(opt, plan, opt->capacity, memory, &entries, err);
    if (rc < 0)
        return rc;
    plan->capacity = entries.capacity;
    plan->shape = entries.shape;
    plan->deletions = opt->deletions ? opt->deletions : entries.capacity;
    /* If the number of keys was computed from memory and rate, size the deletions by the rate as
     * well. */
    const bool by_rate = opt->memory && !opt->capacity;
    rc = size_half(opt, plan, plan->deletions, by_rate ? 0 : opt->memory - memory, &removals, err);
    if (rc < 0)
        return rc;
    plan->removal = removals.shape;
    return dj_plan_settle(opt, plan, err);
}

static bool paired_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part)
{
    if (i == DELETIONS) {
        part->shape = plan->removal;
        part->capacity = plan->deletions;
    }
    return true;
}

/* --- Statistics and file ------------------------------------------------------- */

/* Adds the entries as a filter of their own, then the effect of the deletions.  A few keys that
 * count as lost are also false positives of the deletions and were answered "new". */
static void add_part(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                     struct dj_account *a, uint32_t i)
{
    if (i == ENTRIES) {
        dj_spatial_account(f, s, p, a, 0);
        return;
    }
    s->deletions = a->count;
    s->deletions_capacity = p->capacity;
    s->keys -= a->count < s->keys ? a->count : s->keys;
    s->distinct = isinf(a->distinct) ? 0 : fmax(s->distinct - a->distinct, 0);
    s->fn_now = a->rate;
    s->fp_now *= 1 - a->rate;
}

static void paired_stats(const deja_filter *f, deja_stats *s)
{
    dj_account_for(f, s, add_part);
}

/* Removed keys no longer count as keys, but still take up capacity of the entries. */
static void paired_outline(const deja_filter *f, deja_stats *o)
{
    const struct dj_part *p = f->part[ENTRIES];
    const uint64_t removed = dj_part_keys(f->part[DELETIONS]);
    o->capacity = p->capacity;
    o->entries = dj_part_keys(p);
    o->keys = o->entries - (removed < o->entries ? removed : o->entries);
    o->excess = o->entries > p->capacity ? o->entries - p->capacity : 0;
}

static int paired_check(const struct dj_plan *plan, deja_error *err)
{
    return plan->deletions && plan->deletions <= DJ_MAX_CAPACITY
               ? DEJA_OK
               : dj_fail_damaged(err, "number of deletions");
}

/* The entries may have any capacity here: dj_sizes_check compares the plan's capacity with the
 * rate. */
static bool paired_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    return i != DELETIONS || p->capacity == plan->deletions;
}

static void paired_take_shapes(struct dj_plan *plan, const struct dj_part *part)
{
    plan->removal = part[DELETIONS].shape;
}

static const char *const options[] = {"deletions", "cache_lines", NULL};
static const struct dj_field record[] = {
    DJ_FIELD(336, struct dj_record, removed),
    DJ_FIELD(344, struct dj_record, refused),
    DJ_FIELD(432, struct dj_record, hidden),
};
const struct dj_kind dj_paired = {
    .name = "paired",
    .number = DEJA_PAIRED,
    .help = "entries and deletions: remove keys for good; it FORGETS some others",
    .can = DEJA_CAN_ADD | DEJA_CAN_REMOVE | DEJA_CAN_FORGET,
    .options = options,
    .no_merge = "paired filters cannot be merged: a key that one removed and the other added has "
                "no right answer; classic, blocked and exact filters can",
    .no_fold = "paired filters cannot be folded: smaller deletions would forget keys that are "
               "found now; classic and blocked filters can",
    .layout = DJ_BLOCKS,
    .part_kind = &dj_blocked,
    .plan = paired_plan,
    .parts = 2,
    .by_multiplier = dj_plan_always,
    .part = paired_part,
    .prefetch = dj_spatial_prefetch,
    .add = paired_add,
    .contains = paired_contains,
    .remove = paired_remove,
    .stats = paired_stats,
    .outline = paired_outline,
    .record = DJ_FIELDS(record),
    .check = paired_check,
    .part_is_sound = paired_part_is_sound,
    .take_shapes = paired_take_shapes,
};
