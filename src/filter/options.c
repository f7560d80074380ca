/* options.c - what the caller said, as what was meant: defaults, and what cannot be is refused.
 *
 * Options come from programs of any age.  Their size tells how far they go: fields that are
 * missing are zero, and fields that this library does not know have to be (dj_options_read).
 * Zero always means "not said", so a plan begins with defaults in the places of zeros.
 *
 * Here every number is looked at by itself and beside the kind that it goes with; how large the
 * filter becomes, and whether that is possible, is plan.c's business.  The first thing that is
 * wrong is the one that is told, so the order of the checks is that of what people choose: the
 * kind, what belongs to one kind alone, hashes, numbers, and flags at last. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "kinds/plan.h"

#define DEFAULT_RATE        1e-6
#define DEFAULT_GROWTH      2
#define DEFAULT_GENERATIONS 1

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
    plan->kind = opt->kind ? opt->kind : DEJA_BLOCKED;
    if (!deja_kind_name(plan->kind))
        return dj_fail(err, DEJA_ENOTSUP, "kind %u is not in this version", plan->kind);
    plan->part_kind = plan->kind;
    if (plan->kind == DEJA_LAYERED)
        plan->part_kind = DEJA_CLASSIC;
    if (plan->kind == DEJA_SCALABLE)
        plan->part_kind = opt->part_kind ? opt->part_kind : DEJA_BLOCKED;
    else if (plan->kind == DEJA_PAIRED)
        plan->part_kind = DEJA_BLOCKED;
    if (plan->kind != DEJA_SCALABLE && opt->part_kind && opt->part_kind != plan->part_kind)
        return dj_fail(err, DEJA_EINVAL, "part_kind goes with kind scalable");
    if (!dj_plan_part_kind(plan->kind, plan->part_kind))
        return dj_fail(err, DEJA_EINVAL,
                       "a scalable filter is made of blocked, classic or exact parts");
    return DEJA_OK;
}

static int check_counters(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const uint32_t bits = opt->counter_bits;
    if (plan->kind != DEJA_SPECTRAL && bits)
        return dj_fail(err, DEJA_EINVAL, "counter_bits goes with kind spectral, not %s",
                       deja_kind_name(plan->kind));
    if (plan->kind != DEJA_SPECTRAL && opt->flags & DEJA_MINIMAL_INCREASE)
        return dj_fail(err, DEJA_EINVAL, "minimal increase goes with kind spectral, not %s",
                       deja_kind_name(plan->kind));
    if (bits && !dj_shape_has_counters(bits))
        return dj_fail(err, DEJA_EINVAL, "counter_bits is %u: counters have 4, 8, 16 or 32 bits",
                       bits);
    if (plan->kind == DEJA_SPECTRAL)
        plan->shape.counter_bits = bits ? bits : 4;
    return DEJA_OK;
}

/* Numbers that one kind alone knows what to do with. */
static int check_strangers(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const struct {
        const char *field;
        uint32_t kind;
        bool given;
    } own[] = {
        {"layers", DEJA_LAYERED, opt->layers},
        {"delimiter", DEJA_LAYERED, opt->delimiter},
        {"generations", DEJA_WINDOW, opt->generations},
        {"window_seconds", DEJA_WINDOW, opt->window_seconds},
        {"deletions", DEJA_PAIRED, opt->deletions},
        {"fingerprint_bits", DEJA_STATIC, opt->fingerprint_bits},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(own); i++)
        if (own[i].given && plan->kind != own[i].kind)
            return dj_fail(err, DEJA_EINVAL, "%s goes with kind %s, not %s", own[i].field,
                           deja_kind_name(own[i].kind), deja_kind_name(plan->kind));
    return DEJA_OK;
}

static int check_hash(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    plan->hash = opt->hash ? opt->hash : DEJA_HASH_XXH3;
    const char *name = deja_hash_name(plan->hash);
    if (!name)
        return dj_fail(err, DEJA_ENOTSUP, "hash %u is not in this version", plan->hash);
    if (!dj_hash_is_single(plan->hash) && plan->kind != DEJA_CLASSIC)
        return dj_fail(err, DEJA_EINVAL,
                       "hash %s works with kind classic; %s takes xxh3 or siphash", name,
                       deja_kind_name(plan->kind));
    if (opt->hashes > dj_hash_max_k(plan->hash))
        return dj_fail(err, DEJA_EINVAL, "mixed has %u different functions, not %u",
                       dj_hash_max_k(plan->hash), opt->hashes);
    return DEJA_OK;
}

static int check_filters(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    plan->filters = opt->filters ? opt->filters : 1;
    if (plan->filters > DJ_MAX_FILTERS)
        return dj_fail(err, DEJA_EINVAL, "filters is %u: at most %d", plan->filters,
                       DJ_MAX_FILTERS);
    if (plan->filters > 1 &&
        (plan->kind == DEJA_EXACT || plan->kind == DEJA_SCALABLE || plan->kind == DEJA_STATIC ||
         plan->kind == DEJA_PAIRED || plan->kind == DEJA_WINDOW || plan->kind == DEJA_LAYERED))
        return dj_fail(err, DEJA_ENOTSUP,
                       "%s cannot be made of several filters; classic, "
                       "blocked and spectral can",
                       deja_kind_name(plan->kind));
    return DEJA_OK;
}

static int check_window(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (plan->kind != DEJA_WINDOW)
        return DEJA_OK;
    plan->generations = opt->generations ? opt->generations : DEFAULT_GENERATIONS;
    plan->window_seconds = opt->window_seconds;
    if (plan->generations > DJ_MAX_GENERATIONS)
        return dj_fail(err, DEJA_EINVAL, "generations is %u: at most %d", plan->generations,
                       DJ_MAX_GENERATIONS);
    if (plan->window_seconds > DJ_MAX_SECONDS)
        return dj_fail(err, DEJA_EINVAL, "window_seconds is %llu: at most 2^40",
                       (unsigned long long)plan->window_seconds);
    return DEJA_OK;
}

static int check_hashes(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const uint32_t most = dj_shape_most_k(plan->part_kind);
    if (plan->kind == DEJA_STATIC && opt->hashes && opt->hashes != DJ_FUSE_POSITIONS)
        return dj_fail(err, DEJA_EINVAL, "hashes is %u: a static filter has %d positions a key",
                       opt->hashes, DJ_FUSE_POSITIONS);
    if (plan->kind != DEJA_STATIC && opt->hashes > most)
        return dj_fail(err, DEJA_EINVAL, "hashes is %u: %s takes at most %u", opt->hashes,
                       deja_kind_name(plan->part_kind), most);
    plan->shape.kind = plan->part_kind;
    plan->shape.k = opt->hashes;
    plan->shape.no_twins = !dj_hash_is_single(plan->hash);
    return DEJA_OK;
}

static int check_numbers(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->fp_rate != 0 && !(opt->fp_rate > 0 && opt->fp_rate < 1))
        return dj_fail(err, DEJA_EINVAL, "fp_rate is %g: it must lie between 0 and 1",
                       opt->fp_rate);
    if (opt->multiplier != 0 && !(opt->multiplier > 0 && opt->multiplier < 1e9))
        return dj_fail(err, DEJA_EINVAL, "multiplier is %g: it must be positive", opt->multiplier);
    if (opt->capacity > DJ_MAX_CAPACITY)
        return dj_fail(err, DEJA_EINVAL, "capacity is %llu: at most 2^53",
                       (unsigned long long)opt->capacity);
    if (opt->deletions > DJ_MAX_CAPACITY)
        return dj_fail(err, DEJA_EINVAL, "deletions is %llu: at most 2^53",
                       (unsigned long long)opt->deletions);
    if (opt->tightening != 0 && !(opt->tightening > 0 && opt->tightening < 1))
        return dj_fail(err, DEJA_EINVAL, "tightening is %g: it must lie between 0 and 1",
                       opt->tightening);
    if (opt->growth > DJ_MAX_GROWTH)
        return dj_fail(err, DEJA_EINVAL, "growth is %u: at most 1024", opt->growth);
    plan->capacity = opt->capacity;
    plan->fp_rate = opt->fp_rate != 0 ? opt->fp_rate : DEFAULT_RATE;
    plan->growth = opt->growth ? opt->growth : DEFAULT_GROWTH;
    plan->tightening = opt->tightening != 0 ? opt->tightening : DJ_TIGHTENING;
    return DEJA_OK;
}

static int check_flags(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->flags &
        ~(DEJA_KEY_APART | DEJA_MINIMAL_INCREASE | DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS))
        return dj_fail(err, DEJA_EVERSION, "flags ask for something newer than deja %s",
                       deja_version());
    if (opt->key && opt->seed)
        return dj_fail(err, DEJA_EINVAL, "key and seed exclude each other");
    if (opt->flags & DEJA_KEY_APART && !opt->key)
        return dj_fail(err, DEJA_EINVAL, "a key that is kept apart has to be given");
    plan->flags = opt->flags;
    return DEJA_OK;
}

/* Format 1 is that of rules 0, format 2 that of rules 1. */
static int check_format(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->format > DJ_RULES_NEWEST + 1)
        return dj_fail(err, DEJA_EVERSION,
                       "format is %llu: deja %s writes formats 1 and 2; omit it for the newest",
                       (unsigned long long)opt->format, deja_version());
    plan->rules = opt->format ? (uint32_t)opt->format - 1 : DJ_RULES_NEWEST;
    return DEJA_OK;
}

/* What cannot be wrong. */
static void take_over(const deja_options *opt, struct dj_plan *plan)
{
    plan->profile = opt->url ? deja_url_rules_profile(opt->url) : 0;
    plan->url_rules = opt->url ? deja_url_rules_id(opt->url) : 0;
    plan->seeded = opt->seed != 0;
    if (plan->rules != DJ_RULES_0_1) { /* files of deja 0.1 have no place for it */
        plan->own_k = opt->hashes != 0 && plan->kind != DEJA_STATIC;
        plan->multiplier = opt->multiplier;
    }
    plan->visit = 1;
}

int dj_options_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int (*const checks[])(const deja_options *, struct dj_plan *, deja_error *) = {
        check_kind,    check_strangers, check_counters, dj_layering_read,
        check_hash,    check_filters,   check_window,   check_hashes,
        check_numbers, check_flags,     check_format};
    int rc = DEJA_OK;
    *plan = (struct dj_plan){0};
    for (size_t i = 0; i < DJ_ARRAY_LEN(checks) && rc == DEJA_OK; i++)
        rc = checks[i](opt, plan, err);
    if (rc == DEJA_OK)
        take_over(opt, plan);
    return rc;
}

/* The size of the body is given, not just how many keys it is for. */
static bool is_pinned(const deja_options *opt)
{
    return opt->memory || opt->hashes || opt->multiplier != 0 || opt->filters > 1;
}

bool deja_options_grow(deja_options *opt)
{
    deja_options grown;
    struct dj_plan plan;
    if (opt->size < offsetof(deja_options, url) || dj_options_read(opt, &grown, NULL) < 0 ||
        dj_options_plan(&grown, &plan, NULL) < 0)
        return false;
    if (plan.kind == DEJA_SCALABLE)
        return true;
    if (!dj_plan_part_kind(DEJA_SCALABLE, plan.kind) || !dj_hash_is_single(plan.hash) ||
        is_pinned(opt))
        return false;
    grown.kind = DEJA_SCALABLE;
    grown.part_kind = plan.kind;
    if (grown.capacity && grown.tightening == 0)
        grown.tightening = DJ_SPARE_SHARE;
    /* A rate close to that of equal hashes leaves no share to keep back. */
    if (dj_plan_resolve(&grown, &plan, NULL) < 0)
        return false;
    opt->kind = grown.kind;
    opt->part_kind = grown.part_kind;
    opt->tightening = grown.tightening;
    return true;
}
