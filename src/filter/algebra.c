/* algebra.c - fold a filter, and estimate how many keys two filters share; union.c merges them.
 *
 * Fold.  Positions come from the high bits of a hash: pos(m) = floor(h m / 2^64).  For any real x,
 * floor(floor(x) / 2) = floor(x / 2); with x = h m / 2^64 that gives
 *
 *     floor(pos(m) / 2) = floor(h (m / 2) / 2^64) = pos(m / 2)
 *
 * for every even m.  So positions 2i and 2i + 1 become position i, and the OR of neighbors is
 * exactly the body that the same keys leave in a filter of half the size.  (If positions were
 * reduced modulo m, it would be the OR of the two halves.)  In a classic part a position is a bit,
 * in a blocked part it is a block; the bits of a key within it do not depend on the size.
 *
 * Overlap.  The set bits give an estimate of the number of distinct keys (core/math), including
 * for the union of two filters, whose bits are counted without building it: common = n(a) + n(b) -
 * n(a or b). docs/math.md derives the standard deviation.
 * Source: Broder, Mitzenmacher, "Network Applications of Bloom Filters: A Survey", 2004. */
#include "core/base/status.h"
#include "filter/alike.h"
#include "filter/combine.h"
#include "kinds/sources.h"
#include <math.h>

/* --- Fold -------------------------------------------------------------------- */

static int check_fold(const deja_filter *f, uint32_t times, deja_error *err)
{
    const struct dj_shape *s = &f->plan.shape;
    const uint64_t granule = dj_shape_granule(s);
    const struct dj_kind *kind = dj_kind_of_bodies(&f->plan);
    if (f->read_only)
        return dj_filter_explain(f, DEJA_EINVAL, 0, err);
    if (kind->no_fold)
        return dj_fail(err, DEJA_ENOTSUP, "%s", kind->no_fold);
    if (dj_has_grown(f))
        return dj_fail(err, DEJA_ENOTSUP,
                       "the filter has %s %u parts and cannot be folded: build one filter "
                       "from the same keys",
                       dj_series_len(f) < f->n_parts ? "merged" : "grown to", f->n_parts);
    if (!dj_kind_can(kind, DEJA_CAN_FOLD))
        return dj_fail(err, DEJA_ENOTSUP,
                       "%s filters cannot be folded; classic and blocked filters can", kind->name);
    uint64_t units = s->bits / granule;
    uint32_t can = 0;
    for (; units % 2 == 0; units /= 2)
        can++;
    if (times > can)
        return dj_fail(
            err, DEJA_EINVAL,
            "its %llu bits can be halved %u times, not %u: a filter that folds t times "
            "has a multiple of %llu * 2^t bits, such as one made with options.memory = %u MiB",
            (ull)s->bits, can, times, (ull)granule, 32 * (dj_shape_key_lines(s) == 3 ? 3u : 2u));
    if (f->plan.folds + (uint64_t)times > DJ_MAX_FOLDS) /* the loader would refuse the file */
        return dj_fail(err, DEJA_EINVAL, "the filter was folded %llu times, and the limit is %u",
                       (ull)f->plan.folds, DJ_MAX_FOLDS);
    return DEJA_OK;
}

int deja_filter_fold(deja_filter *f, uint32_t times, deja_error *err)
{
    deja_stats before = DEJA_STATS_INIT;
    deja_filter *half = NULL;
    int rc = check_fold(f, times, err);
    if (rc < 0 || times == 0)
        return rc;
    rc = deja_filter_stats(f, DEJA_STATS_BODY, &before, err);
    if (rc < 0)
        return rc;
    struct dj_plan plan = f->plan;
    plan.shape.bits >>= times;
    plan.fp_rate = dj_plan_rate(&plan); /* of a filter with this capacity and size */
    if (dj_is_series(&plan))
        plan.fp_rate = fmin(plan.fp_rate / (1 - plan.tightening), 1 - 1e-9);
    plan.folds += times;
    plan.multiplier = ldexp(plan.multiplier, -(int)times); /* for the remaining bits */
    rc = f->owner->next(f, &plan, &half, err);
    if (rc < 0)
        return rc;
    dj_filter_walk(f, true);
    for (uint32_t i = 0; i < f->n_parts; i++)
        dj_part_unite(half->part[i], f->part[i], (int)times);
    dj_filter_walk(f, false);
    for (uint32_t i = 0; i < half->n_parts; i++)
        half->part[i]->keys = before.keys;
    half->offered = f->offered;
    half->earlier = (struct dj_earlier){f->earlier.unions, before.keys,
                                        isfinite(before.lost) ? before.lost : 0};
    rc = f->owner->replace(f, half, err);
    deja_filter_free(half);
    return rc;
}

/* --- Overlap ------------------------------------------------------------------ */

/* e^x - 1 - x: with x throws per bit, this divided by m is the variance of log(clear bits). */
static double excess(double x)
{
    return fabs(x) < 1e-4 ? x * x / 2 : expm1(x) - x;
}

static double common_sigma(const struct dj_shape *s, double a, double b, double all, double common)
{
    const double per = s->k / (double)s->bits; /* throws per bit and key */
    const double variance =
        excess(per * all) - excess(per * a) - excess(per * b) + 2 * excess(per * common);
    return sqrt(fmax(variance, 0) * (double)s->bits) / s->k;
}

static int common_bits(const deja_filter *a, const deja_filter *b, double *keys, double *sigma,
                       deja_error *err)
{
    const int folds_a = dj_folds_between(a->plan.shape.bits, b->plan.shape.bits);
    const int folds_b = dj_folds_between(b->plan.shape.bits, a->plan.shape.bits);
    double sum = 0, variance = 0;
    struct dj_shape s = a->plan.shape;
    s.bits >>= folds_a > 0 ? folds_a : 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct dj_set_bits c = dj_count_bits(a->part[i], folds_a > 0 ? folds_a : 0,
                                                   b->part[i], folds_b > 0 ? folds_b : 0);
        const double in_a = dj_shape_keys(&s, (double)c.a), in_b = dj_shape_keys(&s, (double)c.b);
        const double in_any = dj_shape_keys(&s, (double)c.both);
        if (isinf(in_any))
            return dj_fail(err, DEJA_EFULL,
                           "all bits of the union are set: build both filters with a larger "
                           "options.capacity");
        const double common = fmax(0, fmin(in_a + in_b - in_any, fmin(in_a, in_b)));
        const double one = common_sigma(&s, in_a, in_b, in_any, common);
        sum += common;
        variance += one * one;
    }
    *keys = sum / a->n_parts;
    *sigma = sqrt(variance) / a->n_parts;
    return DEJA_OK;
}

int deja_filter_overlap(const deja_filter *a, const deja_filter *b, double *keys, double *sigma,
                        deja_error *err)
{
    double deviation = 0;
    int rc = dj_alike_compare(a, b, err);
    if (rc < 0)
        return rc;
    if (!dj_is_table(a) && (dj_has_grown(a) || dj_has_grown(b)))
        return dj_fail(
            err, DEJA_ENOTSUP,
            "a filter has grown to %u parts, so the shared keys cannot be estimated from bits: "
            "build both with a larger options.capacity, or with exact parts, which are counted",
            a->n_parts > b->n_parts ? a->n_parts : b->n_parts);
    dj_filter_walk(a, true);
    dj_filter_walk(b, true);
    if (dj_is_table(a)) {
        uint64_t sum = 0, found, absent;
        for (uint32_t i = 0; i < a->n_parts; i++)
            for (uint32_t j = 0; j < b->n_parts; j++, sum += found)
                dj_table_compare(a->part[i], b->part[j], &found, &absent);
        *keys = (double)sum;
    } else {
        rc = common_bits(a, b, keys, &deviation, err);
    }
    dj_filter_walk(a, false);
    dj_filter_walk(b, false);
    if (sigma)
        *sigma = deviation;
    return rc < 0 ? rc : dj_check_whole(a, b, err);
}
