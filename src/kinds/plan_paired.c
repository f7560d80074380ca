/* plan_paired.c - how large a paired filter is: keys and removals, each with a filter of its own.
 *
 * Both halves are blocked filters of rate p, one sized by the number of keys, the other by the
 * number of removals; where nobody says how many those are, as many as keys.  So each half is
 * planned as a filter of its own, by plan.c.
 *
 * A given memory is split so that both have equal bits a key, which makes equal rates.  Only when
 * the removals are known and the keys are not, the removals take what they need at p, and the keys
 * get the rest. */
#include "core/base/status.h"
#include "kinds/plan.h"
#include <math.h>

static int size_half(const deja_options *opt, uint64_t n, uint64_t memory, struct dj_plan *half,
                     deja_error *err)
{
    deja_options o = *opt;
    o.kind = o.part_kind = DEJA_BLOCKED;
    o.deletions = 0;
    o.capacity = n;
    o.memory = memory;
    return dj_plan_resolve(&o, half, err);
}

/* Of `memory` bytes, those for n keys of n + d: equal bits a key make equal rates. */
static uint64_t share_of(uint64_t memory, double n, double d)
{
    const uint64_t line = DJ_BLOCK_BITS / 8, lines = memory / line;
    const double mine = floor((double)lines * n / (n + d) + 0.5);
    return line * (uint64_t)fmax(1, fmin(mine, (double)lines - 1));
}

/* What the entries get of the memory; the deletions take the rest. */
static int split_memory(const deja_options *opt, uint64_t *entries, deja_error *err)
{
    const uint64_t least = 2 * DJ_BLOCK_BITS / 8;
    struct dj_plan removals = {0};
    if (opt->memory < least)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at least %llu, for two filters",
                       (unsigned long long)opt->memory, (unsigned long long)least);
    if (!opt->deletions || opt->capacity) {
        const double keys = opt->deletions ? (double)opt->capacity : 1;
        *entries = share_of(opt->memory, keys, opt->deletions ? (double)opt->deletions : 1);
        return DEJA_OK;
    }
    const int rc = size_half(opt, opt->deletions, 0, &removals, err);
    if (rc < 0)
        return rc;
    const uint64_t bytes = dj_part_body_len(&removals.shape);
    if (bytes >= opt->memory)
        return dj_fail(err, DEJA_EINVAL,
                       "%llu deletions at rate %g take %llu bytes, and memory is %llu",
                       (unsigned long long)opt->deletions, removals.fp_rate,
                       (unsigned long long)bytes, (unsigned long long)opt->memory);
    *entries = opt->memory - bytes;
    return DEJA_OK;
}

int dj_plan_size_paired(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    struct dj_plan entries = {0}, removals = {0};
    uint64_t memory = 0;
    int rc = opt->memory ? split_memory(opt, &memory, err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = size_half(opt, opt->capacity, memory, &entries, err);
    if (rc < 0)
        return rc;
    plan->capacity = entries.capacity;
    plan->shape = entries.shape;
    plan->deletions = opt->deletions ? opt->deletions : entries.capacity;
    /* Keys that follow from memory and rate leave the rate to the deletions, too. */
    const bool by_rate = opt->memory && !opt->capacity;
    rc = size_half(opt, plan->deletions, by_rate ? 0 : opt->memory - memory, &removals, err);
    if (rc == DEJA_OK)
        plan->removal = removals.shape;
    return rc;
}
