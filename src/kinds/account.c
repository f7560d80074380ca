/* account.c - computes the statistics of a filter from the bits of each part.
 *
 * The current rate is computed from the bits that are set, not from the number of keys.  The losses
 * so far are computed from the number of keys: a key that arrived when the filter held x others
 * was lost with probability rate(x).  Far more bits than the keys explain mean that someone chose
 * keys to fill the filter (docs/security.md). */
#include "kinds/account.h"
#include <math.h>

/* Computes how many distinct keys were offered if `keys` of them were answered "new": solves n -
 * lost(n) = keys for n with Newton's method; the derivative of lost is the rate.  A filter far
 * beyond its capacity loses nearly all keys, so n is uncertain; it is at most `offered`. */
static double came_to(const struct dj_shape *s, uint32_t filters, double keys, double offered,
                      const struct dj_earlier *earlier)
{
    /* Keys before a fold or a union were judged by different bits, so compute as if
     * this body had judged them. */
    const double least = keys, before = (double)earlier->keys + earlier->lost;
    if (earlier->keys)
        keys =
            fmax(keys - (double)earlier->keys, 0) + before - dj_shape_lost_of(s, filters, before);
    double n = fmax(keys, before);
    for (int i = 0; i < 16 && n < offered; i++) {
        const double slope = 1 - dj_shape_rate_of(s, filters, n);
        const double missing = keys - (n - dj_shape_lost_of(s, filters, n));
        if (missing < 0.01 || (slope < 1e-3 && isinf(offered)))
            break;
        n += missing / fmax(slope, 1e-3);
    }
    return fmax(least, fmin(keys + dj_shape_lost_of(s, filters, n), offered));
}

static uint64_t count_of(const deja_filter *f, const struct dj_part *p, double distinct)
{
    const bool uncounted = f->unclean && f->read_only; /* keys were added after the last sync */
    if (uncounted && distinct < 0x1p63)
        return (uint64_t)distinct;
    return atomic_load_explicit(&p->keys, memory_order_relaxed);
}

struct dj_account dj_account_of(const deja_filter *f, const struct dj_part *p, bool is_series)
{
    struct dj_account a = {.bits_set = (double)p->kind->body.bits_set(p)};
    a.distinct = dj_shape_keys(&p->shape, a.bits_set);
    a.rate = isinf(a.distinct) ? 1 : dj_shape_rate(&p->shape, a.distinct);
    a.count = count_of(f, p, a.distinct);
    a.keys = (double)a.count;
    /* An unclean file has no record of the keys offered after its last sync, and the keys in
     * `deletions` were removed, not offered. */
    const bool unknown = f->unclean || (f->plan.deletions && p != f->part[0]);
    const uint64_t offered = atomic_load_explicit(&f->offered, memory_order_relaxed);
    const struct dj_earlier none = {0};
    a.came = came_to(&p->shape, dj_plan_held(&f->plan), a.keys,
                     unknown ? INFINITY : (double)offered, is_series ? &none : &f->earlier);
    return a;
}

static uint64_t units(const struct dj_shape *s)
{
    return dj_layout_is_table(s->layout) ? dj_shape_slots(s) : s->bits / dj_shape_unit(s);
}

void dj_account_for(const deja_filter *f, deja_stats *s, dj_account_fn *add)
{
    const bool is_series = dj_kind_can(f->plan.kind, DEJA_CAN_GROW) && f->n_parts > 1;
    double variance = 0;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        struct dj_account a = dj_account_of(f, p, is_series);
        add(f, s, p, &a, i);
        const double sigma = dj_shape_bits_sigma(&p->shape, a.came);
        s->bits += units(&p->shape);
        s->bytes += p->body_len;
        s->bits_set += (uint64_t)a.bits_set;
        s->bits_expected += dj_shape_bits_set(&p->shape, a.came);
        variance += sigma * sigma;
    }
    s->bits_sigma = sqrt(variance);
}

uint64_t dj_account_keys(double distinct, double lost, uint64_t a, uint64_t b)
{
    const double least = (double)(a > b ? a : b), most = (double)a + (double)b;
    const double keys = fmax(least, fmin(most, floor(distinct - lost + 0.5)));
    return keys < 0x1p63 ? (uint64_t)keys : UINT64_C(1) << 63; /* counts may come from a file */
}

void dj_account_union(struct dj_part *p, uint64_t other)
{
    const double set = (double)p->kind->body.bits_set(p), bits = (double)units(&p->shape);
    const double distinct = dj_shape_keys(&p->shape, set);
    const double sigma = dj_shape_bits_sigma(&p->shape, distinct) / p->shape.k / (1 - set / bits);
    const uint64_t most = p->keys > other ? p->keys : other;
    /* If the keys of one filter explain the bits, the other one had the same keys. */
    if (distinct - 5 * sigma <= (double)most)
        p->keys = most;
    else
        p->keys = dj_account_keys(distinct, 0, p->keys, other);
}
