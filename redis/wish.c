/* wish.c - the options of a filter that a BF.* command creates.
 *
 * A filter that grows is of kind scalable; with NONSCALING it is a single part.  Parts are blocked:
 * an item costs one or two cache misses.  The first part of a growing filter gets four fifths of the
 * rate, because most clients reserve the capacity that they need: at 1 %, an item takes 10.4 bits
 * (RedisBloom's first part, with half of the rate: 11.0).
 *
 * At very low rates, memory counts more: uneven blocks would take 31 bits per item for 1e-6, where
 * RedisBloom takes 28.8 without growth and 30.2 with it.  So at 1e-5 and below, parts are classic,
 * and those of a growing filter have RedisBloom's rates: half of the rate for the first part, and
 * for each later one half of that of the part before.  The filter then takes as many bits as
 * RedisBloom's, however far it grows. */
#include "wish.h"

#define MAX_GROWTH   1024 /* of a scalable filter */
#define SPARE        0.2  /* below 0.5: the share of the rate for later parts */
#define HALVING      0.5  /* the rate of a part divided by that of the part before */
#define CLASSIC_FROM 1e-5 /* and below */

struct wish wish_defaults(void)
{
    return (struct wish){.error = settings.bf_error,
                         .capacity = settings.bf_capacity,
                         .expansion = settings.bf_expansion};
}

static deja_options fixed_options(const struct wish *w, uint32_t kind, double rate)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = (uint64_t)w->capacity;
    opt.fp_rate = rate;
    return opt;
}

/* A single blocked part is smaller than the first part of a growing filter, which has a lower
 * rate.  Near 1e-3 that needs the second cache line per item which the lower rate would get. */
static void spread_blocks(const struct wish *w, deja_options *opt)
{
    deja_plan fixed = DEJA_PLAN_INIT, first = DEJA_PLAN_INIT;
    const deja_options growing = fixed_options(w, DEJA_BLOCKED, w->error * (1 - SPARE));
    if (deja_plan_make(opt, &fixed, NULL) == DEJA_OK &&
        deja_plan_make(&growing, &first, NULL) == DEJA_OK && fixed.bytes > first.bytes)
        opt->cache_lines = first.cache_lines;
}

deja_options wish_options(const struct wish *w)
{
    const bool classic = w->error <= CLASSIC_FROM;
    const uint32_t part = classic ? DEJA_CLASSIC : DEJA_BLOCKED;
    const bool grows = !w->nonscaling && w->expansion > 0;
    deja_options opt = fixed_options(w, grows ? DEJA_SCALABLE : part, w->error);
    opt.key = w->key;
    if (grows) {
        opt.part_kind = part;
        opt.growth = (uint32_t)(w->expansion < MAX_GROWTH ? w->expansion : MAX_GROWTH);
        opt.tightening = w->tightening > 0 ? w->tightening : classic ? HALVING : SPARE;
    } else if (!classic) {
        spread_blocks(w, &opt);
    }
    return opt;
}
