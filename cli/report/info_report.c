/* info_report.c - draws conclusions from the statistics of a file: is it over its capacity, how
 * much room is left, and are more bits set than its keys explain?
 *
 * Room and planned rate come from plans for the same body: the plan for its capacity gives the
 * rate, and the plan for that rate gives the number of keys.
 *
 * Pollution.  The number of bits that n keys set has a known mean and deviation (docs/math.md).
 * Keys chosen to fill the filter set more.  An alarm is raised if the excess is larger than
 * ordinary keys ever cause. */
#include "cli/report/info_report.h"
#include "cli/session/command.h"
#include <math.h>

#define ALARM_SIGMA 6.0 /* ordinary keys exceed this in one of a billion filters */
#define ALARM_KEYS  100 /* fewer do no harm, and allow no statistics */

/* Options of a filter with the same body; the caller sets the number of keys or the rate. */
static deja_options same_body(const struct info_report *r)
{
    const deja_stats *s = &r->s;
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = s->kind;
    opt.hash = s->hash;
    opt.filters = s->filters;
    opt.machine = s->machine;
    opt.hashes = s->hashes;
    opt.cache_lines = s->cache_lines > 1 ? s->cache_lines : 0;
    const uint32_t unit = deja_kind_can(s->kind, DEJA_CAN_FILL) ? 64
                          : s->counter_bits                     ? s->counter_bits
                                                                : 1;
    opt.memory = s->bits * unit / 8 * (s->machine ? s->filters : 1);
    opt.counter_bits = s->counter_bits;
    opt.flags = s->flags & DEJA_SPREAD;
    opt.generations = (uint32_t)s->generations;
    if (deja_kind_can(s->kind, DEJA_CAN_LAYER)) { /* as its XOR layer */
        opt.kind = DEJA_CLASSIC;
        opt.memory = r->layer[0].bytes;
    }
    return opt;
}

/* A filter made with -n and -m, or with the multiplier, has its own rate at capacity; the rate in
 * its file is only the default. */
static double rate_planned(const struct info_report *r)
{
    const deja_stats *s = &r->s;
    deja_options opt = same_body(r);
    deja_plan plan = DEJA_PLAN_INIT;
    opt.capacity = s->capacity;
    if (deja_kind_can(s->kind, DEJA_CAN_BUILD))
        return s->fp_now;
    if (deja_kind_can(s->kind, DEJA_CAN_GROW) || s->deletions_capacity ||
        deja_plan_make(&opt, &plan, NULL) != DEJA_OK)
        return s->fp_rate + s->merged_rate;
    return deja_kind_can(s->kind, DEJA_CAN_FILL) ? plan.fp_rate : fmax(s->fp_rate, plan.fp_rate);
}

/* The number of keys at which the body has rate p, at least its capacity. */
static double keys_at_rate(const struct info_report *r, double p)
{
    const deja_stats *s = &r->s;
    deja_options opt = same_body(r);
    deja_plan plan = DEJA_PLAN_INIT;
    opt.fp_rate = p;
    if (deja_kind_can(s->kind, DEJA_CAN_GROW) || deja_kind_can(s->kind, DEJA_CAN_FILL) ||
        deja_kind_can(s->kind, DEJA_CAN_BUILD) || s->deletions_capacity ||
        deja_plan_make(&opt, &plan, NULL) != DEJA_OK)
        return (double)s->capacity;
    return fmax((double)plan.capacity, (double)s->capacity);
}

/* The number of set bits above the expected number, in standard deviations.  0 if nothing can be
 * concluded: the keys were estimated from the bits, all bits are set, or keys were removed from
 * counters, so that the count lacks keys that were mistaken for seen. */
static double surprise(const deja_stats *s)
{
    const bool fewer = s->removed && s->counter_bits;
    if (s->unclean || fewer || !isfinite(s->distinct) || !(s->bits_sigma > 0))
        return 0;
    return ((double)s->bits_set - s->bits_expected) / s->bits_sigma;
}

/* The possible error in the number of keys if it was estimated from the set bits: five standard
 * deviations of the bits, of which the next key would set k (1 - fill). */
static double doubt(const deja_stats *s)
{
    const double a_key = s->hashes * (1 - s->fill);
    return s->unclean && a_key > 0 ? 5 * s->bits_sigma / a_key : 0;
}

static void conclude(struct info_report *r)
{
    const deja_stats *s = &r->s;
    r->surprise = surprise(s);
    r->polluted = r->surprise > ALARM_SIGMA && s->keys >= ALARM_KEYS;
    const uint64_t taken = s->keys + s->deletions; /* the bits of a removed key stay */
    const bool over = (double)taken - doubt(s) > (double)s->capacity;
    r->over_capacity = deja_kind_can(s->kind, DEJA_CAN_EXPIRE) ? s->crowded != 0
                       : deja_kind_can(s->kind, DEJA_CAN_GROW)
                           ? !s->unclean && s->excess > 0 /* after a union */
                           : over;
    r->rate_planned = rate_planned(r);
    r->room = deja_kind_can(s->kind, DEJA_CAN_BUILD)
                  ? 0
                  : keys_at_rate(r, r->rate_planned) - (double)taken;
}

int info_report_make(struct info_report *r, const uint8_t *key, deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f;
    expect.key = key;
    int rc = deja_filter_open(r->path, 0, &expect, &f, err);
    if (rc < 0)
        return rc;
    r->s = (deja_stats)DEJA_STATS_INIT;
    rc = deja_filter_stats(f, DEJA_STATS_BODY, &r->s, err);
    for (uint32_t i = 0;
         rc == DEJA_OK && deja_kind_can(r->s.kind, DEJA_CAN_LAYER) && i <= r->s.layers; i++) {
        r->layer[i % INFO_LAYERS] = (deja_layer)DEJA_LAYER_INIT;
        rc = deja_filter_layer(f, i, &r->layer[i % INFO_LAYERS], err);
    }
    deja_filter_free(f);
    if (rc == DEJA_OK)
        conclude(r);
    return rc;
}
