/* plan.c - from options to numbers: defaults, checks and sizes, before any memory is touched.
 *
 * Of capacity n, rate p and memory the caller gives two (the default p counts when n or memory
 * stands alone) and the third follows.  The thesis' rule m = n k M replaces p by the multiplier.
 * The spatial strategy splits the work evenly: F filters of rate p^(1/F), or of m bits each.
 * A layered filter's plan is that of its XOR layer; the layers follow from it (layering.c).
 * A scalable filter begins with a part of capacity n and rate p (1 - r); part i is growth^i times
 * as large with rate p (1 - r) r^i, so that the rates of all parts sum to less than p.
 * A paired filter is two blocked ones, for the keys and for the removals, each sized by its own
 * number of them.
 * A window of n keys has G + 1 generations of ceil(n / G) keys and rate p / (G + 1).
 * Source: Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom Filters", 2007. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filters/filter.h"
#include <math.h>

#define DEFAULT_RATE           1e-6
#define DEFAULT_GROWTH         2
#define DEFAULT_TIGHTENING     0.7
#define DEFAULT_FIRST_CAPACITY 8000000
#define MAX_CAPACITY           (UINT64_C(1) << 53)
#define DEFAULT_GENERATIONS    1

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

/* Keys that an older part has are not added again, so that a series could not count; a static
 * part takes no keys at all; and a window never fills up.  A layer is a filter as in the papers.
 */
bool dj_plan_part_kind(uint32_t kind, uint32_t part_kind)
{
    if (!dj_part_ops_of(part_kind))
        return false;
    if (kind == DEJA_SCALABLE)
        return part_kind != DEJA_SPECTRAL && part_kind != DEJA_STATIC && part_kind != DEJA_WINDOW;
    return part_kind == (kind == DEJA_PAIRED    ? DEJA_BLOCKED
                         : kind == DEJA_LAYERED ? DEJA_CLASSIC
                                                : kind);
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
    return DEJA_OK;
}

static int check_numbers(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->fp_rate != 0 && !(opt->fp_rate > 0 && opt->fp_rate < 1))
        return dj_fail(err, DEJA_EINVAL, "fp_rate is %g: it must lie between 0 and 1",
                       opt->fp_rate);
    if (opt->multiplier != 0 && !(opt->multiplier > 0 && opt->multiplier < 1e9))
        return dj_fail(err, DEJA_EINVAL, "multiplier is %g: it must be positive", opt->multiplier);
    if (opt->capacity > MAX_CAPACITY)
        return dj_fail(err, DEJA_EINVAL, "capacity is %llu: at most 2^53",
                       (unsigned long long)opt->capacity);
    if (opt->deletions > MAX_CAPACITY)
        return dj_fail(err, DEJA_EINVAL, "deletions is %llu: at most 2^53",
                       (unsigned long long)opt->deletions);
    if (opt->tightening != 0 && !(opt->tightening > 0 && opt->tightening < 1))
        return dj_fail(err, DEJA_EINVAL, "tightening is %g: it must lie between 0 and 1",
                       opt->tightening);
    if (opt->growth > 1024)
        return dj_fail(err, DEJA_EINVAL, "growth is %u: at most 1024", opt->growth);
    if (opt->flags &
        ~(DEJA_KEY_APART | DEJA_MINIMAL_INCREASE | DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS))
        return dj_fail(err, DEJA_EVERSION, "flags ask for something newer than deja %s",
                       deja_version());
    if (opt->key && opt->seed)
        return dj_fail(err, DEJA_EINVAL, "key and seed exclude each other");
    if (opt->flags & DEJA_KEY_APART && !opt->key)
        return dj_fail(err, DEJA_EINVAL, "a key that is kept apart has to be given");
    plan->fp_rate = opt->fp_rate != 0 ? opt->fp_rate : DEFAULT_RATE;
    plan->growth = opt->growth ? opt->growth : DEFAULT_GROWTH;
    plan->tightening = opt->tightening != 0 ? opt->tightening : DEFAULT_TIGHTENING;
    plan->profile = opt->url ? deja_url_rules_profile(opt->url) : 0;
    plan->url_rules = opt->url ? deja_url_rules_id(opt->url) : 0;
    plan->flags = opt->flags;
    plan->seeded = opt->seed != 0;
    plan->visit = 1;
    return DEJA_OK;
}

/* The rate that each of the F filters, or the first part of a series, is sized for. */
static double first_rate(const struct dj_plan *plan)
{
    if (plan->kind == DEJA_SCALABLE)
        return plan->fp_rate * (1 - plan->tightening);
    return pow(plan->fp_rate, 1.0 / plan->filters);
}

static double fuse_rate(uint32_t width)
{
    return ldexp(1, -(int)width);
}

static int too_large(const struct dj_plan *plan, deja_error *err)
{
    return dj_fail(err, DEJA_EINVAL,
                   "no %s filter holds %llu keys at rate %g: lower the capacity or raise the rate",
                   deja_kind_name(plan->kind), (unsigned long long)plan->capacity, plan->fp_rate);
}

/* --- Window: P filters of one size, any of which says so ---------------------------------- */

static uint32_t lines_of(const struct dj_plan *plan)
{
    return plan->kind == DEJA_WINDOW ? plan->generations + 1 : 1;
}

/* The rate when all P generations hold their share of n keys, and what is lost among the first n:
 * those of generation j had to pass the j before it. */
static double window_rate(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_window_generation(&plan->shape, lines_of(plan));
    return 1 - pow(1 - dj_shape_rate(&s, n / plan->generations), lines_of(plan));
}

static double window_lost(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_window_generation(&plan->shape, lines_of(plan));
    const double share = n / plan->generations, full = dj_shape_rate(&s, share);
    const double own = dj_shape_lost(&s, share) / share;
    double lost = 0;
    for (uint32_t j = 0; j < plan->generations; j++)
        lost += share * (1 - pow(1 - full, j) * (1 - own));
    return lost;
}

static double generation_rate(const struct dj_plan *plan)
{
    return plan->fp_rate / lines_of(plan);
}

/* One generation's size becomes that of all. */
static bool multiply_lines(struct dj_plan *plan, const struct dj_shape *s)
{
    if (s->bits > DJ_MAX_BITS / lines_of(plan))
        return false;
    plan->shape.k = s->k;
    plan->shape.bits = s->bits * lines_of(plan);
    return true;
}

static int size_window(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    struct dj_shape s = {DEJA_BLOCKED, plan->shape.k, 0, 0};
    const uint64_t row = (uint64_t)DJ_BLOCK_BITS / 8 * lines_of(plan);
    if (opt->capacity && opt->memory && opt->fp_rate != 0)
        return dj_fail(err, DEJA_EINVAL,
                       "capacity, fp_rate and memory: give two, the third follows");
    if (!opt->capacity && !opt->memory)
        return dj_fail(err, DEJA_EINVAL, "capacity is 0: say how many keys the window is to hold");
    if (!opt->memory)
        return dj_shape_fit(&s, dj_window_quota(plan), generation_rate(plan)) &&
                       multiply_lines(plan, &s)
                   ? DEJA_OK
                   : too_large(plan, err);
    if (opt->memory > DJ_MAX_BITS / 8 || opt->memory < row)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at least %llu, at most 2^50",
                       (unsigned long long)opt->memory, (unsigned long long)row);
    s.bits = opt->memory / row * DJ_BLOCK_BITS;
    if (opt->capacity)
        dj_shape_best_k(&s, dj_window_quota(plan));
    else
        plan->capacity = dj_shape_capacity(&s, generation_rate(plan)) * plan->generations;
    if (!plan->capacity)
        return dj_fail(err, DEJA_EINVAL, "%llu bytes hold no key at rate %g",
                       (unsigned long long)opt->memory, plan->fp_rate);
    return multiply_lines(plan, &s) ? DEJA_OK : too_large(plan, err);
}

/* The rate of F filters with k positions each, and what is lost on the way to n keys. */
static double combined_rate(const struct dj_plan *plan, double n)
{
    if (plan->kind == DEJA_WINDOW)
        return window_rate(plan, n);
    if (plan->kind == DEJA_STATIC)
        return fuse_rate(plan->fuse.width);
    return pow(dj_shape_rate(&plan->shape, n), plan->filters);
}

static double combined_lost(const struct dj_plan *plan, double n)
{
    if (plan->kind == DEJA_STATIC)
        return 0; /* its keys are given, not judged */
    if (plan->kind == DEJA_WINDOW)
        return window_lost(plan, n);
    if (plan->filters == 1)
        return dj_shape_lost(&plan->shape, n);
    enum { STEPS = 256 }; /* Simpson's rule; the rate is smooth and rises like n^(k F) */
    double sum = combined_rate(plan, 0) + combined_rate(plan, n);
    for (int i = 1; i < STEPS; i++)
        sum += (i % 2 ? 4 : 2) * combined_rate(plan, n * i / STEPS);
    return sum * n / STEPS / 3;
}

/* Layers that are sized by what they hold. */
static bool is_salted(const struct dj_plan *plan)
{
    return plan->kind == DEJA_LAYERED && !(plan->flags & DEJA_LAYERED_PAPER);
}

/* m = n k M, for each filter (thesis, equation 5.1); of counters, where it has them. */
static int size_by_multiplier(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (!opt->capacity || !opt->hashes || opt->memory || opt->fp_rate != 0)
        return dj_fail(err, DEJA_EINVAL,
                       "the multiplier goes with capacity and hashes (m = n k M), not with memory "
                       "or fp_rate");
    if (plan->part_kind == DEJA_EXACT || plan->kind == DEJA_SCALABLE ||
        plan->kind == DEJA_STATIC || plan->kind == DEJA_WINDOW)
        return dj_fail(err, DEJA_EINVAL,
                       "the multiplier sizes classic, blocked and spectral filters");
    if (is_salted(plan))
        return dj_fail(
            err, DEJA_EINVAL,
            "the multiplier sizes layered filters in mode paper alone: otherwise layers "
            "are sized by what they hold");
    const double bits =
        ceil((double)opt->capacity * opt->hashes * opt->multiplier * dj_shape_unit(&plan->shape));
    if (!(bits <= (double)DJ_MAX_BITS))
        return too_large(plan, err);
    plan->shape.bits = (uint64_t)bits;
    return dj_shape_round(&plan->shape) ? DEJA_OK : too_large(plan, err);
}

static int size_by_memory(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->capacity && opt->fp_rate != 0)
        return dj_fail(err, DEJA_EINVAL,
                       "capacity, fp_rate and memory: give two, the third follows");
    if (plan->kind == DEJA_SCALABLE)
        return dj_fail(err, DEJA_ENOTSUP,
                       "a scalable filter grows with its keys; blocked, classic, exact and "
                       "spectral take a memory size");
    if (is_salted(plan))
        return dj_fail(err, DEJA_ENOTSUP,
                       "the layers of a layered filter grow with their segments; mode paper, "
                       "blocked, classic, exact and spectral take a memory size");
    const uint32_t bodies = dj_layering_bodies(plan);
    const uint64_t granule = plan->part_kind == DEJA_CLASSIC ? 64 : DJ_BLOCK_BITS;
    if (opt->memory > DJ_MAX_BITS / 8)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at most 2^50",
                       (unsigned long long)opt->memory);
    plan->shape.bits = opt->memory * 8 / bodies / granule * granule;
    if (!plan->shape.bits)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at least %llu",
                       (unsigned long long)opt->memory,
                       (unsigned long long)(granule / 8 * bodies));
    if (opt->capacity)
        dj_shape_best_k(&plan->shape, opt->capacity);
    else
        plan->capacity = dj_shape_capacity(&plan->shape, first_rate(plan));
    if (plan->shape.k > dj_hash_max_k(plan->hash)) {
        plan->shape.k = dj_hash_max_k(plan->hash);
        if (!opt->capacity)
            plan->capacity = dj_shape_capacity(&plan->shape, first_rate(plan));
    }
    struct dj_shape exact = plan->shape;
    if (plan->part_kind == DEJA_EXACT && plan->capacity > dj_shape_capacity(&exact, 0.5))
        return dj_fail(
            err, DEJA_EINVAL,
            "%llu bytes hold %llu exact keys, not %llu: give more memory, or take blocked",
            (unsigned long long)opt->memory, (unsigned long long)dj_shape_capacity(&exact, 0.5),
            (unsigned long long)plan->capacity);
    if (!plan->capacity)
        return dj_fail(err, DEJA_EINVAL, "%llu bytes hold no key at rate %g",
                       (unsigned long long)opt->memory, plan->fp_rate);
    return DEJA_OK;
}

static int size_by_rate(struct dj_plan *plan, deja_error *err)
{
    if (!plan->capacity && plan->kind == DEJA_SCALABLE)
        plan->capacity = DEFAULT_FIRST_CAPACITY;
    if (!plan->capacity)
        return dj_fail(err, DEJA_EINVAL, "capacity is 0: say how many keys to expect");
    const uint32_t fixed_k = plan->shape.k;
    if (!dj_shape_fit(&plan->shape, plan->capacity, first_rate(plan)))
        return too_large(plan, err);
    if (plan->shape.k > dj_hash_max_k(plan->hash) && !fixed_k) {
        plan->shape.k = dj_hash_max_k(plan->hash);
        if (!dj_shape_fit(&plan->shape, plan->capacity, first_rate(plan)))
            return too_large(plan, err);
    }
    return DEJA_OK;
}

/* --- Static: the rate is the fingerprints', and the keys are known when it is built --------- */

/* Bits of a fingerprint: given, or the fewest that p allows; 0 where they follow from memory. */
static int choose_width(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    static const uint32_t widths[] = {8, 16, 32};
    const uint32_t given = opt->fingerprint_bits;
    if (given && given != 8 && given != 16 && given != 32)
        return dj_fail(err, DEJA_EINVAL, "fingerprint_bits is %u: 8, 16 or 32", given);
    if (given && opt->fp_rate != 0 && fuse_rate(given) > opt->fp_rate)
        return dj_fail(err, DEJA_EINVAL, "%u-bit fingerprints have the rate %g, not %g", given,
                       fuse_rate(given), opt->fp_rate);
    plan->fuse.width = given;
    if (given || (opt->fp_rate == 0 && opt->memory && opt->capacity))
        return DEJA_OK;
    for (size_t i = 0; i < DJ_ARRAY_LEN(widths) && !plan->fuse.width; i++)
        if (fuse_rate(widths[i]) <= plan->fp_rate)
            plan->fuse.width = widths[i];
    if (!plan->fuse.width)
        return dj_fail(err, DEJA_EINVAL,
                       "a static filter reaches %g with 32-bit fingerprints, not %g; exact does",
                       fuse_rate(32), plan->fp_rate);
    return DEJA_OK;
}

/* Bytes of the body for n keys; 0: too many. */
static uint64_t fuse_bytes(struct dj_plan *plan, uint64_t n, uint32_t width)
{
    if (!dj_fuse_fit(&plan->fuse, n))
        return 0;
    plan->fuse.width = width;
    plan->shape.k = DJ_FUSE_POSITIONS;
    plan->shape.bits = dj_fuse_slots(&plan->fuse) * width;
    return dj_part_body_len(&plan->shape);
}

int dj_plan_static(struct dj_plan *plan, uint64_t n, uint64_t memory, deja_error *err)
{
    const uint32_t least = plan->fuse.width ? plan->fuse.width : 8;
    uint32_t width = plan->fuse.width ? plan->fuse.width : 32;
    if (n > DJ_FUSE_MAX_KEYS)
        return dj_fail(err, DEJA_EINVAL, "a static filter holds at most %llu keys, not %llu",
                       (unsigned long long)DJ_FUSE_MAX_KEYS, (unsigned long long)n);
    while (memory && width > least && fuse_bytes(plan, n, width) > memory)
        width /= 2;
    const uint64_t bytes = fuse_bytes(plan, n, width);
    if (memory && bytes > memory)
        return dj_fail(err, DEJA_EINVAL,
                       "%llu keys take %llu bytes with %u-bit fingerprints, and memory is %llu",
                       (unsigned long long)n, (unsigned long long)bytes, width,
                       (unsigned long long)memory);
    plan->capacity = n ? n : 1;
    return DEJA_OK;
}

/* The most keys that memory bytes hold. */
static uint64_t fuse_capacity(struct dj_plan *plan, uint64_t memory)
{
    const uint32_t width = plan->fuse.width;
    uint64_t fits = 0, many = DJ_FUSE_MAX_KEYS + 1;
    while (many - fits > 1) {
        const uint64_t mid = fits + (many - fits) / 2;
        if (fuse_bytes(plan, mid, width) <= memory)
            fits = mid;
        else
            many = mid;
    }
    return fits;
}

static int size_static(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = choose_width(opt, plan, err);
    if (rc < 0)
        return rc;
    const uint32_t width = plan->fuse.width;
    uint64_t n = opt->capacity;
    if (!n && opt->memory)
        n = fuse_capacity(plan, opt->memory);
    plan->fuse.width = width;
    if (!n)
        return opt->memory
                   ? dj_fail(err, DEJA_EINVAL, "%llu bytes hold no key",
                             (unsigned long long)opt->memory)
                   : dj_fail(err, DEJA_EINVAL, "capacity is 0: say how many keys to expect");
    rc = dj_plan_static(plan, n, opt->memory, err);
    if (rc == DEJA_OK && opt->fp_rate == 0 && (!width || opt->fingerprint_bits))
        plan->fp_rate = fuse_rate(plan->fuse.width);
    return rc;
}

int dj_plan_refuse_static(const struct dj_plan *plan, deja_error *err)
{
    if (plan->kind != DEJA_STATIC)
        return DEJA_OK;
    return dj_fail(err, DEJA_ENOTSUP,
                   "a static filter is made of all its keys at once and never changes: "
                   "deja_builder_new begins one, `deja build -k static` makes one");
}

static int check_result(const struct dj_plan *plan, deja_error *err)
{
    if (!dj_hash_is_single(plan->hash) && dj_hash_width(plan->hash) == 32 &&
        plan->shape.bits > UINT64_C(1) << 32)
        return dj_fail(err, DEJA_EINVAL,
                       "hash %s gives 32 bits and cannot address %llu; take xxh3, murmur3, md5 or "
                       "sha1",
                       deja_hash_name(plan->hash), (unsigned long long)plan->shape.bits);
    if (dj_plan_words(plan) > DJ_MAX_WORDS)
        return dj_fail(err, DEJA_EINVAL, "filters times hashes is %u: at most %d",
                       dj_plan_words(plan), DJ_MAX_WORDS);
    if (plan->shape.bits / 8 > SIZE_MAX / 2 / dj_layering_bodies(plan))
        return dj_fail(err, DEJA_EINVAL, "this machine cannot address a filter of that size");
    return DEJA_OK;
}

/* The rate that follows from a size, kept off the ends that a file cannot record. */
double dj_plan_rate(const struct dj_plan *plan)
{
    return fmin(fmax(combined_rate(plan, (double)plan->capacity), 1e-300), 1 - 1e-9);
}

/* --- All together --------------------------------------------------------------------------- */

/* Everything but the size. */
static int read_options(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int (*const checks[])(const deja_options *, struct dj_plan *, deja_error *) = {
        check_kind,    check_strangers, check_counters, dj_layering_read, check_hash,
        check_filters, check_window,    check_hashes,   check_numbers};
    int rc = DEJA_OK;
    *plan = (struct dj_plan){0};
    for (size_t i = 0; i < DJ_ARRAY_LEN(checks) && rc == DEJA_OK; i++)
        rc = checks[i](opt, plan, err);
    plan->capacity = opt->capacity;
    return rc;
}

/* The size of any kind but paired, which is two of them. */
static int size_alone(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->multiplier != 0)
        return size_by_multiplier(opt, plan, err);
    if (plan->kind == DEJA_STATIC)
        return size_static(opt, plan, err);
    if (plan->kind == DEJA_WINDOW)
        return size_window(opt, plan, err);
    return opt->memory ? size_by_memory(opt, plan, err) : size_by_rate(plan, err);
}

/* The rate, where it follows from the size, and whether all of it is possible. */
static int settle(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (plan->kind != DEJA_STATIC && (opt->multiplier != 0 || (opt->memory && opt->capacity)))
        plan->fp_rate = dj_plan_rate(plan);
    return check_result(plan, err);
}

/* --- Paired: keys and removals, each with a filter of its own ------------------------------- */

static int size_half(const deja_options *opt, uint64_t n, uint64_t memory, struct dj_plan *half,
                     deja_error *err)
{
    deja_options o = *opt;
    o.kind = o.part_kind = DEJA_BLOCKED;
    o.deletions = 0;
    o.capacity = n;
    o.memory = memory;
    int rc = read_options(&o, half, err);
    if (rc == DEJA_OK)
        rc = size_alone(&o, half, err);
    return rc == DEJA_OK ? settle(&o, half, err) : rc;
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

static int size_paired(const deja_options *opt, struct dj_plan *plan, deja_error *err)
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

int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = read_options(opt, plan, err);
    if (rc == DEJA_OK)
        rc = plan->kind == DEJA_PAIRED ? size_paired(opt, plan, err) : size_alone(opt, plan, err);
    return rc == DEJA_OK ? settle(opt, plan, err) : rc;
}

uint32_t dj_plan_parts(const struct dj_plan *plan)
{
    return plan->kind == DEJA_PAIRED ? 2 : plan->filters;
}

uint64_t dj_plan_bytes(const struct dj_plan *plan)
{
    return dj_part_body_len(&plan->shape) * dj_layering_bodies(plan) +
           dj_part_body_len(&plan->removal);
}

uint32_t dj_plan_words(const struct dj_plan *plan)
{
    if (plan->kind == DEJA_LAYERED) {
        const struct dj_cut cut = dj_layering_cut(plan);
        return dj_segments_row(&cut);
    }
    return dj_hash_is_single(plan->hash) ? 1 : plan->shape.k * plan->filters;
}

uint32_t dj_plan_stride(const struct dj_plan *plan, uint32_t i)
{
    if (plan->kind != DEJA_LAYERED)
        return dj_plan_words(plan);
    if (i > 0 || is_salted(plan))
        return 1; /* a segment, or the XOR of all */
    /* Addresses; a single number would be a hash to make them of. */
    return plan->shape.k > 1 ? plan->shape.k : 2;
}

bool dj_plan_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part)
{
    part->ops = dj_part_ops_of(plan->part_kind);
    part->shape = plan->shape;
    part->capacity = plan->capacity;
    part->stride = dj_plan_stride(plan, i);
    part->fuse = plan->fuse;
    part->fp_rate = plan->kind == DEJA_STATIC ? fuse_rate(plan->fuse.width) : first_rate(plan);
    part->lines = lines_of(plan);
    if (plan->kind == DEJA_WINDOW)
        part->fp_rate = generation_rate(plan);
    part->minimal = plan->flags & DEJA_MINIMAL_INCREASE;
    if (plan->kind == DEJA_PAIRED && i == 1) {
        part->shape = plan->removal;
        part->capacity = plan->deletions;
    }
    if (plan->kind != DEJA_SCALABLE || i == 0)
        return true;
    for (uint32_t step = 0; step < i; step++) {
        if (part->capacity > MAX_CAPACITY / plan->growth)
            return false;
        part->capacity *= plan->growth;
        part->fp_rate *= plan->tightening;
    }
    part->shape.k = 0; /* a tighter rate wants more positions */
    return dj_shape_fit(&part->shape, part->capacity, part->fp_rate);
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
    const uint64_t bits = plan.shape.bits * dj_layering_bodies(&plan) + plan.removal.bits;
    const deja_plan full = {
        .size = out->size,
        .kind = plan.kind,
        .hashes = plan.shape.k,
        .filters = plan.filters,
        .hash = plan.hash,
        .capacity = plan.capacity,
        .fp_rate = combined_rate(&plan, n),
        .bits = bits,
        .bytes = dj_plan_bytes(&plan),
        .bits_per_key = (double)bits / n,
        .lost = combined_lost(&plan, n),
        .deletions = plan.deletions,
        .fn_rate = plan.deletions ? dj_shape_rate(&plan.removal, (double)plan.deletions) : 0,
        .generations = plan.generations,
    };
    memcpy(out, &full, out->size < sizeof full ? out->size : sizeof full);
    return DEJA_OK;
}
