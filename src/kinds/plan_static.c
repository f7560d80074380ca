/* plan_static.c - how large a static filter is: slots by its keys, and the rate by their width.
 *
 * The rate of a static filter does not depend on how full it is: a stranger's fingerprint of w
 * bits is right by chance at 2^-w (and a twin's always; core/math/rate.c).  So w, which is 8, 16
 * or 32, is given, or the least that p allows, or the widest that fits into the memory for n keys;
 * and the number of slots follows from n alone (core/bits/fuse.h).  Of memory and rate, n is the
 * most that fits.
 *
 * A filter is sized twice: for the keys that the options expect, which is what a plan tells, and
 * by its builder for the keys that really came. */
#include "core/base/status.h"
#include "kinds/plan.h"
#include <math.h>

double dj_plan_fuse_rate(uint32_t width)
{
    return ldexp(1, -(int)width);
}

/* Bits of a fingerprint: given, or the fewest that p allows; 0 where they follow from memory. */
static int choose_width(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    static const uint32_t widths[] = {8, 16, 32};
    const uint32_t given = opt->fingerprint_bits;
    const double n = (double)opt->capacity;
    if (given && given != 8 && given != 16 && given != 32)
        return dj_fail(err, DEJA_EINVAL, "fingerprint_bits is %u: 8, 16 or 32", given);
    if (given && opt->fp_rate != 0 && dj_plan_fuse_rate(given) > opt->fp_rate)
        return dj_fail(err, DEJA_EINVAL, "%u-bit fingerprints have the rate %g, not %g", given,
                       dj_plan_fuse_rate(given), opt->fp_rate);
    plan->fuse.width = given;
    if (given || (opt->fp_rate == 0 && opt->memory && opt->capacity))
        return DEJA_OK;
    for (size_t i = 0; i < DJ_ARRAY_LEN(widths) && !plan->fuse.width; i++)
        if (dj_with_twins(dj_plan_fuse_rate(widths[i]), n) <= plan->fp_rate)
            plan->fuse.width = widths[i];
    if (plan->fp_rate <= dj_twins(n))
        return dj_plan_too_large(plan, err);
    if (!plan->fuse.width)
        return dj_fail(err, DEJA_EINVAL,
                       "a static filter reaches %.2g with 32-bit fingerprints, not %g; exact does",
                       dj_with_twins(dj_plan_fuse_rate(32), n), plan->fp_rate);
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

int dj_plan_size_static(const deja_options *opt, struct dj_plan *plan, deja_error *err)
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
        plan->fp_rate = dj_plan_fuse_rate(plan->fuse.width);
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
