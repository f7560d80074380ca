/* options.c - turns options into a plan: defaults and checks.
 *
 * Options come from programs compiled with any version of deja.h.  Their size says which fields
 * they have: missing fields count as zero, and fields that this library does not know must be zero
 * (dj_options_read).  Zero always means "not given", and the plan gets the default.
 *
 * Each option is checked against its row of the option table and against the other options; the
 * kind computes the size and checks that a filter can have it.  Only the first error is reported,
 * so the checks run in the order in which people choose options. */
#include "filter/options.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "kinds/kind.h"
#include <math.h>

int dj_options_read(const deja_options *opt, deja_options *known, deja_error *err)
{
    const deja_options init = DEJA_OPTIONS_INIT;
    *known = init;
    if (!opt)
        return DEJA_OK;
    if (opt->size < offsetof(deja_options, memory))
        return dj_fail(err, DEJA_EINVAL, "options.size is %zu: begin with DEJA_OPTIONS_INIT",
                       opt->size);
    const uint8_t *bytes = (const uint8_t *)opt;
    for (size_t i = sizeof *known; i < opt->size; i++)
        if (bytes[i])
            return dj_fail(err, DEJA_EVERSION, "options ask for something newer than deja %s",
                           deja_version());
    memcpy(known, opt, opt->size < sizeof *known ? opt->size : sizeof *known);
    known->size = sizeof *known;
    return DEJA_OK;
}

static int check_kind(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const bool dates = opt->flags & DEJA_DATES;
    const uint32_t number = opt->kind ? opt->kind : dates ? DEJA_EXACT : DEJA_BLOCKED;
    const struct dj_kind *kind = plan->kind = dj_kind_variant(dj_kind_of(number), opt->flags);
    if (!kind)
        return dj_fail(err, DEJA_ENOTSUP, "this version of deja does not have kind %u", number);
    const bool chosen = opt->part_kind && dj_kind_takes(kind, "part_kind");
    plan->part_kind = chosen            ? dj_kind_variant(dj_kind_of(opt->part_kind), opt->flags)
                      : kind->part_kind ? kind->part_kind
                                        : kind;
    if (!chosen && opt->part_kind && opt->part_kind != plan->part_kind->number)
        return dj_fail(err, DEJA_EINVAL, "options.part_kind goes with kind %s, not %s",
                       dj_kind_with("part_kind"), kind->name);
    if (!dj_plan_fits_parts(kind, plan->part_kind))
        return dj_fail(err, DEJA_EINVAL,
                       "options.part_kind: a scalable filter has blocked, classic or exact parts");
    return DEJA_OK;
}

/* Checks each option by itself; the kind copies its own. */
static int check_rows(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const int rc = dj_option_check(opt, plan->kind->number, plan->part_kind->number, err);
    return rc == DEJA_OK && plan->kind->read ? plan->kind->read(opt, plan, err) : rc;
}

static int check_hash(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    plan->hash = opt->hash ? opt->hash : DEJA_HASH_XXH3;
    const char *name = deja_hash_name(plan->hash);
    if (!name)
        return dj_fail(err, DEJA_ENOTSUP, "this version of deja does not have hash %u",
                       plan->hash);
    if (!dj_hash_is_single(plan->hash) && !plan->kind->any_hash)
        return dj_fail(err, DEJA_EINVAL,
                       "options.hash %s goes with kind classic; %s takes xxh3 or siphash", name,
                       plan->kind->name);
    if (opt->hashes > dj_hash_max_k(plan->hash))
        return dj_fail(err, DEJA_EINVAL, "options.hashes is %u: hash mixed has %u functions",
                       opt->hashes, dj_hash_max_k(plan->hash));
    return DEJA_OK;
}

static int check_filters(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    plan->filters = opt->filters ? opt->filters : 1;
    if (plan->filters > 1 && !dj_kind_can(plan->kind, DEJA_CAN_REPEAT))
        return dj_fail(err, DEJA_ENOTSUP,
                       "options.filters goes with kinds classic, blocked and spectral, not %s",
                       plan->kind->name);
    if (opt->machine && (plan->filters == 1 || opt->machine > plan->filters))
        return dj_fail(err, DEJA_EINVAL,
                       "options.machine is %llu: it must be from 1 to options.filters, which must "
                       "be 2 or more",
                       (ull)opt->machine);
    if (opt->machine && opt->format == 1)
        return dj_fail(err, DEJA_EINVAL,
                       "options.format is 1: options.machine needs format 2; omit options.format");
    plan->machine = (uint32_t)opt->machine;
    return DEJA_OK;
}

static int check_hashes(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const uint32_t fixed = plan->kind->fixed_k;
    const struct dj_key_lines from = dj_plan_key_lines(plan);
    struct dj_shape s = {.layout = plan->part_kind->layout, .k = opt->hashes};
    const uint32_t most = dj_shape_most_k(&s);
    if (fixed && opt->hashes && opt->hashes != fixed)
        return dj_fail(err, DEJA_EINVAL,
                       "options.hashes is %u: a %s filter has %u positions per key", opt->hashes,
                       plan->kind->name, fixed);
    if (!fixed && !dj_shape_fewest_lines(&s, from))
        return from.most > 1
                   ? dj_fail(err, DEJA_EINVAL,
                             "options.hashes is %u: %s takes at most %u per cache line, and the "
                             "same number in each of two or three lines",
                             opt->hashes, plan->part_kind->name, most)
                   : dj_fail(err, DEJA_EINVAL, "options.hashes is %u: %s takes at most %u",
                             opt->hashes, plan->part_kind->name, most);
    plan->shape.layout = plan->part_kind->layout;
    plan->shape.k = opt->hashes;
    plan->shape.no_twins = !dj_hash_is_single(plan->hash);
    return DEJA_OK;
}

static int check_flags(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->flags & ~(DEJA_KEY_APART | dj_option_flags()))
        return dj_fail(err, DEJA_EVERSION, "flags ask for something newer than deja %s",
                       deja_version());
    if (opt->key && opt->seed)
        return dj_fail(err, DEJA_EINVAL, "options.key and options.seed cannot be combined");
    if (opt->flags & DEJA_KEY_APART && !opt->key)
        return dj_fail(err, DEJA_EINVAL, "DEJA_KEY_APART needs options.key");
    plan->flags = opt->flags;
    return DEJA_OK;
}

/* Format 1 has rules 0, format 2 has rules 1. */
static int check_format(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->format > DJ_RULES_NEWEST + 1)
        return dj_fail(
            err, DEJA_EVERSION,
            "options.format is %llu: deja %s writes formats 1 and 2; omit it for the newest",
            (ull)opt->format, deja_version());
    if (opt->format == 1 && opt->flags & DEJA_DATES)
        return dj_fail(err, DEJA_EINVAL,
                       "options.format is 1: options.dates needs format 2; omit options.format");
    if (opt->format == 1 && opt->flags & DEJA_SPREAD)
        return dj_fail(err, DEJA_EINVAL,
                       "options.format is 1: options.spread needs format 2; omit options.format");
    if (opt->format == 1 && opt->cache_lines > 1)
        return dj_fail(err, DEJA_EINVAL,
                       "options.format is 1: its filters have one cache line per key; omit "
                       "options.format or options.cache_lines");
    plan->rules = opt->format ? (uint32_t)opt->format - 1 : DJ_RULES_NEWEST;
    plan->cache_lines = (uint32_t)opt->cache_lines;
    return DEJA_OK;
}

/* Copies the options that need no further check. */
static void take_over(const deja_options *opt, struct dj_plan *plan)
{
    plan->capacity = opt->capacity;
    plan->fp_rate = opt->fp_rate != 0 ? opt->fp_rate : DJ_DEFAULT_RATE;
    plan->growth = opt->growth ? opt->growth : DJ_DEFAULT_GROWTH;
    plan->tightening = opt->tightening != 0 ? opt->tightening : DJ_TIGHTENING;
    plan->profile = opt->url ? deja_url_rules_profile(opt->url) : 0;
    plan->url_rules = opt->url ? deja_url_rules_id(opt->url) : 0;
    plan->seeded = opt->seed != 0;
    if (plan->rules != DJ_RULES_0_1) { /* deja 0.1 files have no field for them */
        plan->own_k = opt->hashes != 0 && !plan->kind->fixed_k;
        plan->multiplier = opt->multiplier;
    }
    plan->visit = 1;
}

/* Makes a plan without sizes. */
static int begin(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int (*const checks[])(const deja_options *, struct dj_plan *,
                          deja_error *) = {check_kind,   check_rows,   check_hash, check_filters,
                                           check_format, check_hashes, check_flags};
    int rc = DEJA_OK;
    *plan = (struct dj_plan){0};
    for (size_t i = 0; i < DJ_ARRAY_LEN(checks) && rc == DEJA_OK; i++)
        rc = checks[i](opt, plan, err);
    if (rc == DEJA_OK)
        take_over(opt, plan);
    return rc;
}

static int check_result(const struct dj_plan *plan, deja_error *err)
{
    if (!dj_hash_is_single(plan->hash) && dj_hash_width(plan->hash) == 32 &&
        plan->shape.bits > UINT64_C(1) << 32)
        return dj_fail(
            err, DEJA_EINVAL,
            "options.hash %s has 32 bits and cannot address %llu bits; use xxh3, murmur3, "
            "md5 or sha1",
            deja_hash_name(plan->hash), (ull)plan->shape.bits);
    if (dj_plan_words(plan) > DJ_MAX_WORDS)
        return dj_fail(err, DEJA_EINVAL,
                       "options.filters times options.hashes is %u: it must be at most %d",
                       dj_plan_words(plan), DJ_MAX_WORDS);
    if (plan->shape.bits / 8 > SIZE_MAX / 2 / dj_plan_bodies(plan))
        return dj_fail(err, DEJA_EINVAL, "this machine cannot address a filter of that size");
    return DEJA_OK;
}

int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = begin(opt, plan, err);
    if (rc == DEJA_OK)
        rc = plan->kind->plan(opt, plan, err);
    return rc == DEJA_OK ? check_result(plan, err) : rc;
}

deja_options dj_plan_options(const struct dj_plan *plan)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = plan->kind->number;
    opt.part_kind = plan->part_kind->number;
    opt.hash = plan->hash;
    opt.filters = plan->filters;
    opt.machine = plan->machine;
    opt.growth = plan->growth;
    opt.tightening = plan->tightening;
    opt.flags = plan->flags;
    opt.counter_bits = plan->shape.counter_bits;
    opt.layers = plan->layering.layers;
    opt.delimiter = plan->layering.delimiter;
    opt.generations = plan->generations;
    opt.window_seconds = plan->window_seconds;
    opt.format = plan->rules + UINT64_C(1);
    return opt;
}

double dj_plan_rate_for(const struct dj_plan *plan, const deja_options *next)
{
    const double keys = fmax((double)next->capacity, (double)next->deletions);
    const double twins = dj_shape_twins(&plan->shape, keys);
    const double share = plan->kind->share ? plan->kind->share(next) : 0.5; /* of one part */
    return fmax(plan->fp_rate, fmin(2 * twins / share, 0.5));
}

int dj_plan_refuse_built(const struct dj_plan *plan, deja_error *err)
{
    if (dj_kind_can(plan->kind, DEJA_CAN_ADD))
        return DEJA_OK;
    return dj_fail(err, DEJA_ENOTSUP,
                   "a %s filter is made from all its keys at once and never changes: build it "
                   "(deja_builder_new)",
                   plan->kind->name);
}

/* Whether the options fix the size of the body, not only the number of keys. */
static bool is_pinned(const deja_options *opt)
{
    return opt->memory || opt->hashes || opt->multiplier != 0 || opt->filters > 1 ||
           opt->cache_lines;
}

bool deja_options_grow(deja_options *opt)
{
    deja_options grown;
    struct dj_plan plan;
    if (opt->size < offsetof(deja_options, url) || dj_options_read(opt, &grown, NULL) < 0 ||
        begin(&grown, &plan, NULL) < 0)
        return false;
    if (dj_kind_can(plan.kind, DEJA_CAN_GROW))
        return true;
    if (!dj_plan_fits_parts(&dj_scalable, plan.kind) || !dj_hash_is_single(plan.hash) ||
        is_pinned(opt))
        return false;
    grown.kind = DEJA_SCALABLE;
    grown.part_kind = plan.kind->number;
    if (grown.capacity && grown.tightening == 0)
        grown.tightening = DJ_SPARE_SHARE;
    /* If fp_rate is close to the rate of twins, there is no share to reserve. */
    if (dj_plan_resolve(&grown, &plan, NULL) < 0)
        return false;
    opt->kind = grown.kind;
    opt->part_kind = grown.part_kind;
    opt->tightening = grown.tightening;
    return true;
}

int deja_plan_make(const deja_options *opt, deja_plan *out, deja_error *err)
{
    struct dj_plan plan = {0};
    if (!out || out->size < sizeof(size_t))
        return dj_fail(err, DEJA_EINVAL, "plan.size is not set: begin with DEJA_PLAN_INIT");
    deja_options known;
    int rc = dj_options_read(opt, &known, err);
    if (rc == DEJA_OK)
        rc = dj_plan_resolve(&known, &plan, err);
    if (rc < 0)
        return rc;
    const double n = (double)plan.capacity;
    uint64_t more_bits = 0, more_bytes = 0;
    if (plan.kind->besides && !plan.kind->besides(&plan, &more_bits, &more_bytes))
        return dj_plan_too_large(&plan, err);
    const uint64_t bits = plan.shape.bits * dj_plan_bodies(&plan) + plan.removal.bits + more_bits;
    const deja_plan full = {
        .size = out->size,
        .kind = plan.kind->number,
        .hashes = plan.shape.k,
        .filters = plan.filters,
        .hash = plan.hash,
        .capacity = plan.capacity,
        .fp_rate = dj_plan_rate_at(&plan, n),
        .bits = bits,
        .bytes = dj_plan_bytes(&plan) + more_bytes,
        .bits_per_key = (double)bits / n,
        .lost = dj_plan_lost(&plan, n),
        .deletions = plan.deletions,
        .fn_rate = plan.deletions ? dj_shape_rate(&plan.removal, (double)plan.deletions) : 0,
        .generations = plan.generations,
        .lines = dj_plan_reads(&plan),
        .cache_lines = dj_shape_key_lines(&plan.shape),
    };
    memcpy(out, &full, out->size < sizeof full ? out->size : sizeof full);
    return DEJA_OK;
}
