/* paired.c - deletion with two filters: one of entries, one of deletions.
 *
 * A bit of a Bloom filter belongs to many keys, so a key cannot be taken out of one.  It can be
 * put into another one.  Part 0 holds the keys that were added, part 1 those that were removed,
 * both blocked (blocked.c), and
 *
 *     in the filter  =  in the entries  and not  in the deletions
 *
 * Part 1 sees every hash through a salt, as spatial parts do, so that what the one claims wrongly
 * tells nothing about the other.  With the rates p_A of the entries and p_D of the deletions,
 *
 *     a stranger is found with        p_A (1 - p_D)      lower than that of the entries alone
 *     a member is NOT found with      p_D                the one kind that forgets
 *
 * The price is paid by two sorts of keys.  One that was removed and comes back stays removed: a
 * deletion cannot be taken back, as little as an add.  One that never was removed, and that the
 * deletions claim all the same, is missed from that moment on.  Both are told "new" by every add:
 * to fetch a page again is better than to lose it.  These adds are counted as hidden.
 *
 * Remove refuses a key that is not found, as there is nothing to remove.  A stranger that is found
 * and removed takes nothing from other keys: it only uses up room among the deletions.
 *
 * Neither part changes by what happens in the other, and bits are only ever turned on: adds,
 * removals and lookups of several threads may meet in any order.  A key that is removed while it
 * is added is in or out, whichever came last.
 *
 * Each half is a blocked filter of rate p, planned as a filter of its own: one sized by the number
 * of keys, the other by the number of removals, which is that of the keys unless it is given.  A
 * given memory is split so that both have equal bits per key, which makes equal rates.  Only when
 * the removals are known and the keys are not, the removals take what they need at p, and the keys
 * get the rest.
 *
 * Limits: no union, since a key that is removed here and added there has no right answer; no fold,
 * since a smaller part 1 forgets keys that are found now.  What is to come back again and again
 * wants counters (spectral.c).
 * Source: the lecture on compressed caches, "Bloom filter deletions". */
#include "core/base/status.h"
#include "kinds/spatial.h"
#include <math.h>

enum {
    ENTRIES,
    DELETIONS
};

/* What the deletions say about a chunk. */
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
    p->kind->body.add(p, hash, hash, n, is_new, shared); /* a Bloom kind takes all */
    dj_part_count_new(p, is_new, n);
    ask_deletions(f, hash, n, gone);
    for (size_t i = 0; i < n; i++) {
        is_new[i] |= gone[i];
        hidden += gone[i];
    }
    if (hidden)
        atomic_fetch_add_explicit(&f->hidden, hidden, memory_order_relaxed);
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
    p->kind->body.add(p, seen, seen, 1, &removed, shared); /* 0: another thread was faster */
    dj_part_count_new(p, &removed, 1);
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

/* Of `memory` bytes, those for n keys of n + d: equal bits a key make equal rates. */
static uint64_t share_of(uint64_t memory, double n, double d)
{
    const uint64_t line = DJ_BLOCK_BITS / 8, lines = memory / line;
    const double mine = floor((double)lines * n / (n + d) + 0.5);
    return line * (uint64_t)fmax(1, fmin(mine, (double)lines - 1));
}

/* What the entries get of the memory; the deletions take the rest. */
static int split_memory(const deja_options *opt, const struct dj_plan *plan, uint64_t *entries,
                        deja_error *err)
{
    const uint64_t least = 2 * DJ_BLOCK_BITS / 8;
    struct dj_plan removals;
    if (opt->memory < least)
        return dj_fail(err, DEJA_EINVAL,
                       "options.memory is %llu: at least %llu bytes, for two filters",
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
    /* Keys that follow from memory and rate leave the rate to the deletions, too. */
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

/* --- Account and file -------------------------------------------------------- */

/* The entries as a filter of its own; then what the deletions take away.  Of the lost keys, the
 * few that the deletions claim as well were told "new" all the same. */
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

/* Removed keys are not keys any more, and still take room among the entries. */
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

/* The entries may have any capacity here: dj_sizes_check compares the plan's with the rate. */
static bool paired_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    return i != DELETIONS || p->capacity == plan->deletions;
}

static void paired_take_shapes(struct dj_plan *plan, const struct dj_part *part)
{
    plan->removal = part[DELETIONS].shape;
}

static const char *const options[] = {"deletions", NULL};
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
    .no_merge = "paired filters cannot be united: a key that one removed and the other added "
                "has no right answer; classic, blocked and exact ones can",
    .no_fold = "paired filters cannot be folded: smaller deletions would forget keys that "
               "are found now; classic and blocked can",
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
