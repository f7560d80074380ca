/* plan.c - from options to sizes, before any memory is touched.
 *
 * Of capacity n, rate p and memory the caller gives two (the default p counts when n or memory
 * stands alone) and the third follows.  The thesis' rule m = n k M replaces p by the multiplier.
 * The spatial strategy splits the work evenly: F filters of rate p^(1/F), or of m bits each.
 * A layered filter's plan is that of its XOR layer; the layers follow from it (layering.c), and
 * deja_plan_make counts the most that they can take.
 * A scalable filter begins with a part of capacity n and rate p (1 - r), where r is the
 * tightening; part i is growth^i times as large, and the rates of all parts sum to less than p. If
 * r is at least 1/2, part i has the rate p (1 - r) r^i.  A smaller r is the share of p that is
 * kept back in case the first part does not suffice; the other parts divide it as r = 0.7 would:
 * part i has the rate p r (1 - 0.7) 0.7^(i-1).  (Shrinking by a factor of 10 each time, the sixth
 * part of a blocked series would take 150 bits per key.)  Files of rules 0 have p (1 - r) r^i for
 * every r.
 * Kinds with a rule of their own have a file of their own: plan_paired.c, plan_static.c,
 * plan_window.c.  What the options are, and which of them are refused at sight, is in options.c.
 * Source: Almeida, Baquero, Preguica, Hutchison,
 * "Scalable Bloom Filters", 2007. */
#include "kinds/plan.h"
#include "core/base/status.h"
#include <math.h>
#include <string.h>

#define DEFAULT_FIRST_CAPACITY 8000000
#define LEAST_RATE             1e-300 /* that a file can record */

/* --- Rates ------------------------------------------------------------------- */

/* The rate that each part is sized for; of a series, the first. */
static double first_rate(const struct dj_plan *plan)
{
    if (plan->kind == DEJA_STATIC)
        return dj_plan_fuse_rate(plan->fuse.width);
    if (plan->kind == DEJA_WINDOW)
        return dj_plan_window_part_rate(plan);
    if (plan->kind == DEJA_SCALABLE)
        return plan->fp_rate * (1 - plan->tightening);
    const bool several = plan->filters > 1; /* twins are found by all of them */
    const double p = several
                         ? dj_shape_rate_left(&plan->shape, (double)plan->capacity, plan->fp_rate)
                         : plan->fp_rate;
    return pow(p, 1.0 / plan->filters);
}

double dj_plan_series_rate(const struct dj_plan *plan, uint32_t i)
{
    const bool spare = plan->tightening < 0.5 && i > 0 && plan->rules != DJ_RULES_0_1;
    const double ratio = spare ? DJ_TIGHTENING : plan->tightening;
    double rate = spare ? plan->fp_rate * plan->tightening * (1 - ratio) : first_rate(plan);
    for (uint32_t step = spare; step < i; step++)
        rate *= ratio;
    return rate;
}

/* The rate of F filters with k positions each, and what is lost on the way to n keys. */
static double combined_rate(const struct dj_plan *plan, double n)
{
    if (plan->kind == DEJA_WINDOW)
        return dj_plan_window_rate(plan, n);
    if (plan->kind == DEJA_STATIC)
        return dj_with_twins(dj_plan_fuse_rate(plan->fuse.width), n);
    return dj_shape_rate_of(&plan->shape, plan->filters, n);
}

static double combined_lost(const struct dj_plan *plan, double n)
{
    if (plan->kind == DEJA_STATIC)
        return 0; /* its keys are given, not judged */
    if (plan->kind == DEJA_WINDOW)
        return dj_plan_window_lost(plan, n);
    return dj_shape_lost_of(&plan->shape, plan->filters, n);
}

/* The rate that follows from a size, kept off the ends that a file cannot record. */
double dj_plan_rate(const struct dj_plan *plan)
{
    return fmin(fmax(combined_rate(plan, (double)plan->capacity), LEAST_RATE), 1 - 1e-9);
}

/* --- Sizes ------------------------------------------------------------------- */

int dj_plan_too_large(const struct dj_plan *plan, deja_error *err)
{
    const double twins = dj_twins((double)plan->capacity);
    if (plan->fp_rate <= twins && !plan->shape.no_twins)
        return dj_fail(err, DEJA_EINVAL,
                       "rate %g: hashes of 64 bits are equal at a rate of %.2g among %llu keys; "
                       "lower the capacity or raise the rate",
                       plan->fp_rate, twins, (unsigned long long)plan->capacity);
    return dj_fail(err, DEJA_EINVAL,
                   "no %s filter holds %llu keys at rate %g: lower the capacity or raise the rate",
                   deja_kind_name(plan->kind), (unsigned long long)plan->capacity, plan->fp_rate);
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
    if (dj_layering_is_salted(plan))
        return dj_fail(
            err, DEJA_EINVAL,
            "the multiplier sizes layered filters in mode paper alone: otherwise layers "
            "are sized by what they hold");
    const double bits =
        ceil((double)opt->capacity * opt->hashes * opt->multiplier * dj_shape_unit(&plan->shape));
    if (!(bits <= (double)DJ_MAX_BITS))
        return dj_plan_too_large(plan, err);
    plan->shape.bits = (uint64_t)bits;
    return dj_shape_round(&plan->shape) ? DEJA_OK : dj_plan_too_large(plan, err);
}

/* The largest power of two that is not above x > 0. */
static uint64_t power_of_2(uint64_t x)
{
    return UINT64_C(1) << (63 - __builtin_clzll(x));
}

static int size_by_memory(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (plan->kind == DEJA_SCALABLE)
        return dj_fail(err, DEJA_ENOTSUP,
                       "a scalable filter grows with its keys; blocked, classic, exact and "
                       "spectral take a memory size");
    if (dj_layering_is_salted(plan))
        return dj_fail(err, DEJA_ENOTSUP,
                       "the layers of a layered filter grow with their segments; mode paper, "
                       "blocked, classic, exact and spectral take a memory size");
    const uint32_t bodies = dj_layering_bodies(plan);
    const uint64_t granule = plan->part_kind == DEJA_CLASSIC ? 64 : DJ_BLOCK_BITS;
    if (opt->memory > DJ_MAX_BITS / 8)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at most 2^50",
                       (unsigned long long)opt->memory);
    plan->shape.bits = opt->memory * 8 / bodies / granule * granule;
    if (plan->shape.bits && dj_layering_wants_power_of_2(plan))
        plan->shape.bits = power_of_2(plan->shape.bits);
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
        return dj_plan_too_large(plan, err);
    if (plan->shape.k > dj_hash_max_k(plan->hash) && !fixed_k) {
        plan->shape.k = dj_hash_max_k(plan->hash);
        if (!dj_shape_fit(&plan->shape, plan->capacity, first_rate(plan)))
            return dj_plan_too_large(plan, err);
    }
    if (dj_layering_wants_power_of_2(plan)) /* rounded up, which is at most 2^53 */
        plan->shape.bits = 2 * power_of_2(plan->shape.bits - 1);
    return DEJA_OK;
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

/* The two that were given, and the third that follows from them. */
static int size_by_two(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = DEJA_OK;
    if (opt->capacity && opt->memory && opt->fp_rate != 0)
        return dj_fail(err, DEJA_EINVAL,
                       "capacity, fp_rate and memory: give two, the third follows");
    if (plan->kind == DEJA_WINDOW)
        rc = dj_plan_size_window(opt, plan, err);
    else
        rc = opt->memory ? size_by_memory(opt, plan, err) : size_by_rate(plan, err);
    if (rc == DEJA_OK && !plan->capacity)
        return dj_fail(err, DEJA_EINVAL, "%llu bytes hold no key at rate %g",
                       (unsigned long long)opt->memory, plan->fp_rate);
    return rc;
}

static int size_any(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (plan->kind == DEJA_PAIRED)
        return dj_plan_size_paired(opt, plan, err);
    if (opt->multiplier != 0)
        return size_by_multiplier(opt, plan, err);
    if (plan->kind == DEJA_STATIC)
        return dj_plan_size_static(opt, plan, err);
    return size_by_two(opt, plan, err);
}

/* The rate, where it follows from the size, and whether all of it is possible. */
static int settle(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (plan->kind != DEJA_STATIC && (opt->multiplier != 0 || (opt->memory && opt->capacity)))
        plan->fp_rate = dj_plan_rate(plan);
    return check_result(plan, err);
}

int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = dj_options_plan(opt, plan, err);
    if (rc == DEJA_OK)
        rc = size_any(opt, plan, err);
    return rc == DEJA_OK ? settle(opt, plan, err) : rc;
}

/* --- What a plan comes to --------------------------------------------------------- */

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
    if (i > 0 || dj_layering_is_salted(plan))
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
    part->fp_rate = first_rate(plan);
    if (part->fp_rate <= 0)
        part->fp_rate = LEAST_RATE; /* twins left nothing of a rate that followed from a size */
    part->lines = dj_plan_lines(plan);
    part->minimal = plan->flags & DEJA_MINIMAL_INCREASE;
    if (plan->kind == DEJA_PAIRED && i == 1) {
        part->shape = plan->removal;
        part->capacity = plan->deletions;
    }
    if (plan->kind != DEJA_SCALABLE || i == 0)
        return true;
    for (uint32_t step = 0; step < i; step++) {
        if (part->capacity > DJ_MAX_CAPACITY / plan->growth)
            return false;
        part->capacity *= plan->growth;
    }
    part->fp_rate = dj_plan_series_rate(plan, i);
    part->shape.k = 0; /* a tighter rate wants more positions */
    return dj_shape_fit_body(&part->shape, part->capacity, part->fp_rate);
}

/* Cache lines that a lookup reads: of a series, in each part; of layers, besides theirs. */
static uint64_t lines_read(const struct dj_plan *plan)
{
    const uint32_t bodies = plan->deletions ? 2 : plan->filters;
    if (plan->kind == DEJA_STATIC || plan->part_kind == DEJA_CLASSIC)
        return (uint64_t)bodies * plan->shape.k;
    return (uint64_t)bodies * dj_plan_lines(plan);
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
    uint64_t layer_bits = 0, layer_bytes = 0;
    if (!dj_layering_most_bits(&plan, &layer_bits, &layer_bytes))
        return dj_plan_too_large(&plan, err);
    const uint64_t bits =
        plan.shape.bits * dj_layering_bodies(&plan) + plan.removal.bits + layer_bits;
    const deja_plan full = {
        .size = out->size,
        .kind = plan.kind,
        .hashes = plan.shape.k,
        .filters = plan.filters,
        .hash = plan.hash,
        .capacity = plan.capacity,
        .fp_rate = combined_rate(&plan, n),
        .bits = bits,
        .bytes = dj_plan_bytes(&plan) + layer_bytes,
        .bits_per_key = (double)bits / n,
        .lost = combined_lost(&plan, n),
        .deletions = plan.deletions,
        .fn_rate = plan.deletions ? dj_shape_rate(&plan.removal, (double)plan.deletions) : 0,
        .generations = plan.generations,
        .lines = lines_read(&plan),
    };
    memcpy(out, &full, out->size < sizeof full ? out->size : sizeof full);
    return DEJA_OK;
}
