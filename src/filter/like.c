/* like.c - the options that make a filter like another, so that both can be merged body by body.
 *
 * A plan records capacity and rate, or the multiplier, from which sizes are computed; the same
 * numbers give the same sizes.  If they do not, because the filter was given a size in bytes or was
 * folded, its size in bytes, its k and its cache lines do. */
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/options.h"
#include <string.h>

static bool gives_same_size(const deja_options *opt, const struct dj_plan *plan)
{
    struct dj_plan same;
    return dj_plan_resolve(opt, &same, NULL) == DEJA_OK &&
           dj_shape_same(&same.shape, &plan->shape) &&
           dj_shape_same(&same.removal, &plan->removal);
}

static void copy_size(const deja_filter *f, deja_options *opt)
{
    const struct dj_plan *p = &f->plan;
    opt->capacity = p->capacity;
    opt->deletions = p->deletions;
    opt->multiplier = p->multiplier;
    opt->hashes = p->own_k ? p->shape.k : 0;
    opt->fp_rate = p->multiplier > 0 ? 0 : p->fp_rate;
    if (dj_kind_can(p->kind, DEJA_CAN_BUILD) || gives_same_size(opt, p))
        return;
    deja_options by_bytes = *opt;
    by_bytes.multiplier = by_bytes.fp_rate = 0;
    by_bytes.hashes = p->kind->fixed_k ? 0 : p->shape.k;
    by_bytes.memory = p->shape.bits / 8 * dj_plan_shares(p);
    if (dj_kind_takes(p->kind, "cache_lines"))
        by_bytes.cache_lines = dj_shape_key_lines(&p->shape);
    if (gives_same_size(&by_bytes, p))
        *opt = by_bytes;
}

int deja_options_like(const deja_filter *f, deja_options *opt, deja_error *err)
{
    deja_options like = dj_plan_options(&f->plan), known;
    const int rc = dj_options_read(opt, &known, err);
    if (rc < 0)
        return rc;
    like.fingerprint_bits = f->plan.fuse.width;
    like.key = f->key;
    like.alloc = known.alloc;
    like.url = known.url;
    copy_size(f, &like);
    like.size = opt->size;
    memcpy(opt, &like, opt->size < sizeof like ? opt->size : sizeof like);
    return DEJA_OK;
}
