/* stats.c - what is in a filter, and what it costs.
 *
 * The rate now follows from the bits that are really set, not from what add was told; what was
 * lost so far follows from the number of keys, since a key that came when x others were inside
 * was lost with probability rate(x).  Bits far beyond what the keys explain mean that somebody
 * chose keys to fill the filter (docs/security.md). */
#include "core/base/status.h"
#include "kinds/deja_filter.h"
#include <math.h>

/* One part's share of the account. */
struct account {
    uint64_t count;  /* answered "new" ... */
    double keys;     /* ... as a number to compute with */
    double bits_set; /* slots for exact, counters for spectral */
    double came;     /* different keys that were offered: these and the lost ones */
    double distinct;
    double rate;
};

/* Different keys that came when `keys` of them were told "new": n - lost(n) = keys, by Newton's
 * method, since the derivative of lost is the rate.  A filter far beyond its capacity loses nearly
 * all of them and no longer knows how many came: not more than were offered. */
static double came_to(const struct dj_shape *s, uint32_t filters, double keys, double offered,
                      const struct dj_carried *carried)
{
    /* Before a fold or a union other bits judged: what this body would have told them. */
    const double least = keys, before = (double)carried->keys + carried->lost;
    if (carried->keys)
        keys =
            fmax(keys - (double)carried->keys, 0) + before - dj_shape_lost_of(s, filters, before);
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

static bool has_grown(const deja_filter *f)
{
    return f->plan.kind == DEJA_SCALABLE && f->n_parts > 1;
}

static uint64_t count_of(const deja_filter *f, const struct dj_part *p, double distinct)
{
    const bool uncounted = f->unclean && f->read_only; /* adds came after the last sync */
    if (uncounted && distinct < 0x1p63)
        return (uint64_t)distinct;
    return atomic_load_explicit(&p->keys, memory_order_relaxed);
}

static struct account account_of(const deja_filter *f, const struct dj_part *p)
{
    struct account a = {.bits_set = (double)p->ops->bits_set(p)};
    if (p->shape.kind == DEJA_STATIC) { /* its keys were counted, and none was judged */
        a.count = p->fuse.keys;
        a.keys = a.came = a.distinct = (double)a.count;
        a.rate = a.count ? dj_with_twins(p->fp_rate, a.keys) : 0;
        return a;
    }
    a.distinct = dj_shape_keys(&p->shape, a.bits_set);
    a.rate = isinf(a.distinct) ? 1 : dj_shape_rate(&p->shape, a.distinct);
    a.count = count_of(f, p, a.distinct);
    a.keys = (double)a.count;
    /* An unclean file does not know what was offered since its last sync, and nothing was ever
     * offered to deletions: they take what is removed. */
    const bool unknown = f->unclean || (f->plan.kind == DEJA_PAIRED && p != f->part[0]);
    const uint64_t offered = atomic_load_explicit(&f->offered, memory_order_relaxed);
    const struct dj_carried none = {0}; /* a series has an account for all parts together */
    a.came = came_to(&p->shape, f->plan.filters, a.keys, unknown ? INFINITY : (double)offered,
                     has_grown(f) ? &none : &f->carried);
    return a;
}

/* `older` is the rate of the parts before this one, which its keys had to pass as well. */
static void add_scalable(deja_stats *s, const struct dj_part *p, const struct account *a,
                         double *older)
{
    s->keys += a->count;
    s->distinct += a->distinct;
    s->lost += a->came - a->keys + a->came * *older / fmax(1 - *older, 1e-3);
    *older = dj_either(*older, a->rate);
    s->fp_now = *older;
    s->capacity += p->capacity;
}

static void add_spatial(deja_stats *s, const struct dj_part *p, const struct account *a,
                        uint32_t i)
{
    s->keys = a->count;
    s->distinct += (a->distinct - s->distinct) / (i + 1);
    s->fp_now = i ? s->fp_now * a->rate : a->rate;
    if (i > 0 && i + 1 == s->filters && !p->shape.no_twins) /* which all of them find */
        s->fp_now = dj_with_twins(s->fp_now, s->distinct);
    s->lost = a->came - a->keys;
    s->capacity = p->capacity;
}

/* The entries as a filter of its own; then what the deletions take away (paired.c).  Of the lost
 * keys, the few that the deletions claim as well were told "new" all the same. */
static void add_paired(deja_stats *s, const struct dj_part *p, const struct account *a, uint32_t i)
{
    if (i == 0) {
        add_spatial(s, p, a, 0);
        return;
    }
    s->deletions = a->count;
    s->deletions_capacity = p->capacity;
    s->keys -= a->count < s->keys ? a->count : s->keys;
    s->distinct = isinf(a->distinct) ? 0 : fmax(s->distinct - a->distinct, 0);
    s->fn_now = a->rate;
    s->fp_now *= 1 - a->rate;
}

/* A key passes all layers, so the XOR layer's rate is the whole filter's at most, and losses were
 * weighed one by one (layering.c).  The other parts count segments. */
static void add_layered(deja_stats *s, const deja_filter *f, const struct dj_part *p,
                        struct account *a)
{
    if (p->layer) {
        s->layers = p->layer > s->layers ? p->layer : s->layers;
        return;
    }
    s->keys = a->count;
    s->distinct = a->distinct;
    s->fp_now = a->rate;
    s->lost = dj_layering_lost(f);
    s->capacity = p->capacity;
    a->came = a->keys + s->lost;
}

static void describe(const deja_filter *f, deja_stats *s)
{
    s->kind = f->plan.kind;
    const bool first = f->plan.kind == DEJA_PAIRED || f->plan.kind == DEJA_LAYERED;
    s->hashes = f->part[first ? 0 : f->n_parts - 1]->shape.k;
    s->filters = f->plan.filters;
    s->hash = f->plan.hash;
    s->part_kind = f->plan.part_kind;
    s->parts = f->n_parts;
    s->fp_rate = f->plan.fp_rate;
    s->offered = atomic_load_explicit(&f->offered, memory_order_relaxed);
    s->visit = f->plan.visit;
    s->syncs = f->syncs;
    s->profile = f->plan.profile;
    s->url_rules = f->plan.url_rules;
    s->unclean = f->unclean;
    s->key_apart = (f->plan.flags & DEJA_KEY_APART) != 0;
    s->keyed = !f->plan.seeded;
    s->folds = f->plan.folds;
    s->format = f->plan.rules + UINT64_C(1);
    s->unions = f->carried.unions;
    s->removed = atomic_load_explicit(&f->removed, memory_order_relaxed);
    s->refused = atomic_load_explicit(&f->refused, memory_order_relaxed);
    s->hidden = atomic_load_explicit(&f->hidden, memory_order_relaxed);
    s->counter_bits = f->plan.shape.counter_bits;
    s->minimal_increase = (f->plan.flags & DEJA_MINIMAL_INCREASE) != 0;
    if (f->plan.kind != DEJA_LAYERED)
        return;
    s->familiar = atomic_load_explicit(&f->familiar, memory_order_relaxed);
    s->layers_most = dj_layering_most(&f->plan);
    s->layered_flags = f->plan.flags & (DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS);
    s->delimiter = f->plan.layering.delimiter;
}

/* Over all visits that saw anything, this one included (visit.c). */
static void tell_past(const struct dj_past *past, deja_stats *s)
{
    const double came = (double)s->keys + (double)s->deletions + s->lost;
    s->visits_before = past->visits;
    s->missed = (past->visits ? past->missed : 1) * (came > 0 ? fmin(s->lost / came, 1) : 1);
    s->last_lost = past->last_lost;
    s->last_distinct = past->last_distinct;
}

static void survey(deja_stats *s, const struct dj_part *p)
{
    if (p->shape.kind != DEJA_SPECTRAL)
        return;
    const struct dj_counters_sum sum = dj_counters_survey(&p->counters);
    s->saturated += sum.saturated;
    s->largest = sum.largest > s->largest ? sum.largest : s->largest;
}

/* A series that was united or folded at some time: what was lost by then, and of the keys since
 * then at most what today's rate would have taken. */
static double lost_since(const struct dj_carried *then, const deja_stats *s)
{
    const double since = s->keys > then->keys ? (double)(s->keys - then->keys) : 0;
    return then->lost + since * s->fp_now / fmax(1 - s->fp_now, 1e-3);
}

static void account_for_parts(const deja_filter *f, deja_stats *s)
{
    double older = 0, variance = 0;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        struct account a = account_of(f, p);
        if (f->plan.kind == DEJA_SCALABLE)
            add_scalable(s, p, &a, &older);
        else if (f->plan.kind == DEJA_LAYERED)
            add_layered(s, f, p, &a);
        else if (f->plan.kind == DEJA_PAIRED)
            add_paired(s, p, &a, i);
        else
            add_spatial(s, p, &a, i);
        const bool drawn = p->shape.kind != DEJA_STATIC; /* by lot: the bits that are set */
        const double sigma = drawn ? dj_shape_bits_sigma(&p->shape, a.came) : 0;
        s->bits += p->shape.bits / (p->shape.kind == DEJA_EXACT ? 64 : dj_shape_unit(&p->shape));
        survey(s, p);
        s->bytes += p->body_len;
        s->bits_set += (uint64_t)a.bits_set;
        s->bits_expected += drawn ? dj_shape_bits_set(&p->shape, a.came) : a.bits_set;
        variance += sigma * sigma;
    }
    s->bits_sigma = sqrt(variance);
    if (has_grown(f) && f->carried.keys)
        s->lost = lost_since(&f->carried, s);
}

uint32_t deja_filter_profile(const deja_filter *f)
{
    return f->plan.profile;
}

int deja_filter_stats(const deja_filter *f, deja_stats *out)
{
    if (!out || out->size < sizeof(size_t))
        return DEJA_EINVAL;
    deja_stats s = DEJA_STATS_INIT;
    describe(f, &s);
    if (f->plan.kind == DEJA_WINDOW)
        dj_window_stats(f, &s);
    else
        account_for_parts(f, &s);
    s.fill = (double)s.bits_set / (double)s.bits;
    tell_past(&f->plan.past, &s);
    if (dj_filter_is_lost(f))
        return dj_filter_lost();
    s.size = out->size;
    memcpy(out, &s, out->size < sizeof s ? out->size : sizeof s);
    return DEJA_OK;
}

int deja_filter_layer(const deja_filter *f, uint32_t number, deja_layer *out)
{
    deja_layer l = DEJA_LAYER_INIT;
    if (f->plan.kind != DEJA_LAYERED)
        return DEJA_ENOTSUP;
    if (!out || out->size < sizeof(size_t))
        return DEJA_EINVAL;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        if (p->layer != number)
            continue;
        const struct account a = account_of(f, p);
        l.segments += a.count;
        l.capacity += p->capacity;
        l.bytes += p->body_len;
        l.hashes = p->shape.k;
        l.parts++;
        l.fp_now = dj_either(l.fp_now, a.rate);
    }
    if (l.parts == 0)
        return DEJA_EINVAL;
    l.size = out->size;
    memcpy(out, &l, out->size < sizeof l ? out->size : sizeof l);
    return DEJA_OK;
}

int dj_filter_account(const deja_filter *f, deja_stats *stats, deja_error *err)
{
    const int rc = deja_filter_stats(f, stats);
    return rc == DEJA_EIO ? deja_filter_check_file(f, err) : rc;
}
