/* algebra.c - merge two filters, fold one, and estimate how many keys two filters share.
 *
 * Union.  A bit of a Bloom filter is set if some key set it, so the OR of two bodies is, byte for
 * byte, the body that the keys of both would have left, provided that every key has the same
 * positions in both: same kind, k, hash, secret key, visit and size.  The fingerprints of a table
 * are added to the other table like keys.
 *
 * Fold.  Positions come from the high bits of a hash: pos(m) = floor(h m / 2^64).  For any real x,
 * floor(floor(x) / 2) = floor(x / 2); with x = h m / 2^64 that gives
 *
 *     floor(pos(m) / 2) = floor(h (m / 2) / 2^64) = pos(m / 2)
 *
 * for every even m.  So positions 2i and 2i + 1 become position i, and the OR of neighbors is
 * exactly the body that the same keys leave in a filter of half the size.  (If positions were
 * reduced modulo m, the OR of the two halves would be.)  In a classic part a position is a bit, in
 * a blocked part it is a block; the bits of a key within it do not depend on the size.
 *
 * So filters of different sizes can be merged if one folds to the size of the other: the larger
 * one is folded along the way, a few kilobytes at a time.
 *
 * A scalable filter with one part counts as a filter of its part's kind.  Filters that have grown
 * are merged part by part if they have grown in the same steps: a key is in the filter if any part
 * has it, and it does not matter which part that is.  A part of the union may hold more keys than
 * it was sized for; stats report that, and the next key makes the filter grow.
 *
 * Overlap.  The set bits give an estimate of the number of distinct keys (core/math), including
 * for the union of two filters, whose bits are counted without building it: common = n(a) + n(b) -
 * n(a or b). docs/math.md derives the standard deviation.
 * Source: Broder, Mitzenmacher, "Network Applications of Bloom Filters: A Survey", 2004. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/bits/popcount.h"
#include "filter/dates.h"
#include "filter/filter.h"
#include "filter/growth.h"
#include <math.h>

/* --- Do keys have the same positions in both? ------------------------------- */

static int differ(deja_error *err, const char *what, const char *a, const char *b)
{
    return dj_fail(err, DEJA_EMISMATCH, "the filters differ in %s: %s and %s", what,
                   a ? a : "unknown", b ? b : "unknown");
}

static int differ_in_number(deja_error *err, const char *what, uint64_t a, uint64_t b)
{
    return dj_fail(err, DEJA_EMISMATCH, "the filters differ in %s: %llu and %llu", what, (ull)a,
                   (ull)b);
}

static int check_form(const struct dj_plan *a, const struct dj_plan *b, deja_error *err)
{
    if (a->profile != b->profile)
        return differ(err, "the URL profile of their keys",
                      a->profile ? deja_profile_name(a->profile) : "none",
                      b->profile ? deja_profile_name(b->profile) : "none");
    if (a->url_rules != b->url_rules)
        return dj_fail(err, DEJA_EMISMATCH,
                       "the filters differ in the URL rules of their keys: %016llx and %016llx of "
                       "profile %s (other parameters, another version, or only one has IDNA)",
                       (ull)a->url_rules, (ull)b->url_rules, deja_profile_name(a->profile));
    return DEJA_OK;
}

static bool is_series(const struct dj_plan *p)
{
    return dj_kind_can(p->kind, DEJA_CAN_GROW);
}

/* The kind of its parts, if it is a series of them. */
static const struct dj_kind *kind_of(const struct dj_plan *p)
{
    return is_series(p) ? p->part_kind : p->kind;
}

static bool has_grown(const deja_filter *f)
{
    return is_series(&f->plan) && f->n_parts > 1;
}

/* Tables of fingerprints; the others are bits. */
static bool is_table(const deja_filter *f)
{
    return kind_of(&f->plan)->body.stored;
}

static int check_kind(const struct dj_plan *x, const struct dj_plan *y, deja_error *err)
{
    const struct dj_kind *kind = kind_of(x);
    if ((x->flags ^ y->flags) & DEJA_DATES && kind->number == kind_of(y)->number)
        return dj_fail(err, DEJA_EMISMATCH,
                       "only one of the filters has dates: build both with options.dates, or "
                       "neither");
    if (kind != kind_of(y))
        return differ(err, "kind", kind->name, kind_of(y)->name);
    if (dj_kind_can(kind, DEJA_CAN_MERGE))
        return DEJA_OK;
    return kind->no_merge
               ? dj_fail(err, DEJA_ENOTSUP, "%s", kind->no_merge)
               : dj_fail(err, DEJA_ENOTSUP,
                         "%s filters cannot be merged; classic, blocked and exact filters can",
                         kind->name);
}

static int check_alike(const deja_filter *a, const deja_filter *b, deja_error *err)
{
    const struct dj_plan *x = &a->plan, *y = &b->plan;
    const int rc = check_kind(x, y, err);
    if (rc < 0)
        return rc;
    if (x->hash != y->hash)
        return differ(err, "hash", deja_hash_name(x->hash), deja_hash_name(y->hash));
    if (dj_hash_changed(x->hash, x->rules, y->rules))
        return dj_fail(err, DEJA_EMISMATCH,
                       "the filters differ in their format, %u and %u: deja 0.2 hashes keys with "
                       "%s differently; rebuild the older one from its keys",
                       x->rules + 1, y->rules + 1, deja_hash_name(x->hash));
    if (x->filters != y->filters)
        return differ_in_number(err, "the number of filters (F)", x->filters, y->filters);
    if (x->shape.k != y->shape.k)
        return differ_in_number(err, "hashes (k)", x->shape.k, y->shape.k);
    if (memcmp(a->key, b->key, DEJA_KEY_LEN) != 0)
        return dj_fail(
            err, DEJA_EMISMATCH,
            "the filters differ in their secret key (check values %016llx and %016llx): "
            "build both with the same options.key or options.seed",
            (ull)dj_key_derive(a->key, DJ_STREAM_CHECK, 0),
            (ull)dj_key_derive(b->key, DJ_STREAM_CHECK, 0));
    if (x->visit != y->visit)
        return differ_in_number(err, "visit", x->visit, y->visit);
    return check_form(x, y, err);
}

/* How many folds turn the size of `large` into the size of `small`; -1 if that is impossible. */
static int folds_between(const deja_filter *large, const deja_filter *small)
{
    const uint64_t wish = small->plan.shape.bits;
    uint64_t bits = large->plan.shape.bits;
    int folds = 0;
    for (; bits > wish && bits % 2 == 0; bits /= 2) /* the size of `small` is valid */
        folds++;
    return bits == wish ? folds : -1;
}

static int no_fold(const deja_filter *a, const deja_filter *b, deja_error *err)
{
    return dj_fail(
        err, DEJA_EMISMATCH,
        "the filters differ in size, %llu and %llu bits, and neither folds to the size of the "
        "other: build them with the same options.memory, or one with 2, 4, 8 .. times as much",
        (ull)a->plan.shape.bits, (ull)b->plan.shape.bits);
}

static int other_steps(deja_error *err, uint32_t i, const struct dj_shape *a,
                       const struct dj_shape *b)
{
    return dj_fail(
        err, DEJA_EMISMATCH,
        "the filters have grown in different steps: part %u has %llu bits in one and %llu in the other; "
        "build both with the same options.capacity and options.fp_rate, or build one filter from the keys of both",
        i + 1, (ull)a->bits, (ull)b->bits);
}

static int cannot_follow(const deja_filter *from, deja_error *err)
{
    return dj_fail(
        err, DEJA_EMISMATCH,
        "one filter has grown to %u parts and the other cannot grow: merge into the one "
        "that has grown",
        from->n_parts);
}

/* Whether the parts of two series have the same sizes, including those that `into` does not have
 * yet. */
static int check_steps(const deja_filter *into, const deja_filter *from, deja_error *err)
{
    for (uint32_t i = 0; i < from->n_parts; i++) {
        struct dj_part next = {0};
        const struct dj_part *other = into->part[i];
        if (i >= into->n_parts) {
            if (!is_series(&into->plan))
                return cannot_follow(from, err);
            if (!dj_plan_part(&into->plan, i, &next))
                return dj_fail(err, DEJA_EFULL,
                               "the filter cannot grow any further: build one from both lists");
            other = &next;
        }
        if (other->shape.bits != from->part[i]->shape.bits ||
            other->shape.k != from->part[i]->shape.k)
            return other_steps(err, i, &other->shape, &from->part[i]->shape);
    }
    return DEJA_OK;
}

/* --- A body after some folds ------------------------------------------------ */

static uint64_t folded_word(const struct dj_part *p, int folds, uint64_t word)
{
    return p->kind->body.folded_word(p, folds, word);
}

static uint64_t folded_words(const struct dj_part *p, int folds)
{
    return (p->shape.bits >> folds) / 64;
}

/* into |= from, folded */
static void or_part(struct dj_part *into, const struct dj_part *from, int folds)
{
    for (uint64_t i = 0; i < folded_words(from, folds); i++)
        dj_store64(into->body + 8 * i, dj_part_word(into, i) | folded_word(from, folds, i));
}

static void or_bodies(deja_filter *into, const deja_filter *from, int folds)
{
    dj_filter_walk(from, true);
    for (uint32_t i = 0; i < from->n_parts; i++)
        or_part(into->part[i], from->part[i], folds);
    dj_filter_walk(from, false);
}

/* --- Union ------------------------------------------------------------------ */

/* Checks that both files are still intact, so that the bytes read from them are valid. */
static int check_whole(const deja_filter *a, const deja_filter *b, deja_error *err)
{
    const int rc = deja_filter_check_file(a, err);
    return rc < 0 ? rc : deja_filter_check_file(b, err);
}

/* The fingerprints of a table, a piece at a time. */
#define PIECE DJ_CHUNK
static size_t next_hashes(const struct dj_part *p, uint64_t *slot, uint64_t hash[PIECE])
{
    return p->kind->body.stored(p, slot, hash);
}

static uint64_t sum_of(const uint8_t *answer, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

/* Counts the fingerprints of `in` that are in `of` and those that are not. */
static void compare_tables(const struct dj_part *in, const struct dj_part *of, uint64_t *found,
                           uint64_t *absent)
{
    uint64_t hash[PIECE], slot = 0;
    uint8_t answer[PIECE];
    *found = *absent = 0;
    for (size_t n; (n = next_hashes(in, &slot, hash)) > 0; *absent += n) {
        of->kind->body.contains(of, hash, hash, n, answer);
        *found += sum_of(answer, n);
    }
    *absent -= *found;
}

/* Adds the fingerprints of the other series like keys, and grows as needed. */
static int merge_series_of_tables(deja_filter *into, const deja_filter *from, deja_error *err)
{
    const uint64_t offered = into->offered;
    int rc = DEJA_OK;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        uint64_t hash[PIECE], slot = 0;
        for (size_t n; rc == DEJA_OK && (n = next_hashes(from->part[i], &slot, hash)) > 0;)
            rc = deja_filter_add_hashed(into, hash, n, NULL, NULL, err);
    }
    into->offered = offered;
    return rc < 0 ? rc : check_whole(into, from, err);
}

static int merge_tables(deja_filter *into, const deja_filter *from, deja_error *err)
{
    if (is_series(&into->plan))
        return merge_series_of_tables(into, from, err);
    if (has_grown(from))
        return cannot_follow(from, err);
    struct dj_part *p = into->part[0];
    uint64_t hash[PIECE], slot = 0, found, absent;
    uint8_t answer[PIECE];
    compare_tables(from->part[0], p, &found, &absent);
    if (absent > p->kind->body.room(p))
        return dj_fail(err, DEJA_EFULL,
                       "the union has %llu more keys, but there is room for %llu: build a filter "
                       "with a larger options.capacity and merge both into it",
                       (ull)absent, (ull)p->kind->body.room(p));
    const int rc = dj_filter_explain(into, dj_filter_begin_writing(into), 0, err);
    if (rc < 0)
        return rc;
    for (size_t n; (n = next_hashes(from->part[0], &slot, hash)) > 0;) {
        const size_t taken = p->kind->body.add(p, hash, hash, n, answer, true);
        p->keys += sum_of(answer, taken);
        if (taken < n) /* another process is adding to `from` */
            return dj_fail(err, DEJA_EFULL, "the union has more keys than there is room for");
    }
    return check_whole(into, from, err);
}

/* How many keys of a union count as "new": the estimate from its bits minus the lost keys, but at
 * least the larger count of the two filters and at most their sum. */
static uint64_t keys_of_union(double distinct, double lost, uint64_t a, uint64_t b)
{
    const double least = (double)(a > b ? a : b), most = (double)a + (double)b;
    const double keys = fmax(least, fmin(most, floor(distinct - lost + 0.5)));
    return keys < 0x1p63 ? (uint64_t)keys : UINT64_C(1) << 63; /* counts may come from a file */
}

static int check_sizes(const deja_filter *into, const deja_filter *from, int *folds,
                       deja_error *err)
{
    *folds = folds_between(from, into);
    if (has_grown(into) || has_grown(from))
        return check_steps(into, from, err);
    if (*folds < 0 && folds_between(into, from) < 0)
        return no_fold(into, from, err);
    if (*folds < 0)
        return dj_fail(err, DEJA_EMISMATCH,
                       "the filters differ in size, %llu and %llu bits: fold the first one, or "
                       "merge into the smaller",
                       (ull)into->plan.shape.bits, (ull)from->plan.shape.bits);
    return DEJA_OK;
}

static int grow_to(deja_filter *f, uint32_t parts, deja_error *err)
{
    int rc = DEJA_OK;
    while (rc == DEJA_OK && f->n_parts < parts)
        rc = dj_filter_make_room(f, f->n_parts, NULL);
    return dj_filter_explain(f, rc, DEJA_CAN_ADD, err);
}

/* Sets the number of keys of a part of the union. */
static void count_part(struct dj_part *p, uint64_t other)
{
    const double set = (double)p->kind->body.bits_set(p), bits = (double)p->shape.bits;
    const double distinct = dj_shape_keys(&p->shape, set);
    const double sigma = dj_shape_bits_sigma(&p->shape, distinct) / p->shape.k / (1 - set / bits);
    const uint64_t most = p->keys > other ? p->keys : other;
    /* If the keys of one filter explain the bits, the other one had the same keys. */
    if (distinct - 5 * sigma <= (double)most)
        p->keys = most;
    else
        p->keys = keys_of_union(distinct, 0, p->keys, other);
}

/* Counts the keys of a series that has grown, each part from its own bits. */
static void count_series(deja_filter *into, const deja_filter *from, double lost)
{
    for (uint32_t i = 0; i < from->n_parts; i++)
        count_part(into->part[i], from->part[i]->keys);
    into->earlier.keys = 0;
    for (uint32_t i = 0; i < into->n_parts; i++)
        into->earlier.keys += into->part[i]->keys;
    into->earlier.lost = isfinite(lost) ? lost : 0;
}

static int merge_bits(deja_filter *into, const deja_filter *from, deja_error *err)
{
    deja_stats a = DEJA_STATS_INIT, b = DEJA_STATS_INIT, both = DEJA_STATS_INIT;
    int folds;
    int rc = check_sizes(into, from, &folds, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_stats(into, DEJA_STATS_BODY, &a, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(from, DEJA_STATS_BODY, &b, err);
    if (rc == DEJA_OK)
        rc = dj_filter_explain(into, dj_filter_begin_writing(into), 0, err);
    if (rc == DEJA_OK && has_grown(from))
        rc = grow_to(into, from->n_parts, err);
    if (rc < 0)
        return rc;
    or_bodies(into, from, folds);
    rc = check_whole(into, from, err); /* zeros from a lost file do no harm, but are not a union */
    const double lost = a.lost + b.lost;
    if (rc == DEJA_OK && has_grown(into)) {
        count_series(into, from, lost);
        return DEJA_OK;
    }
    if (rc == DEJA_OK)
        rc = deja_filter_stats(into, DEJA_STATS_BODY, &both, err);
    if (rc < 0)
        return rc;
    const uint64_t keys = keys_of_union(both.distinct, lost, a.keys, b.keys);
    for (uint32_t i = 0; i < into->n_parts; i++)
        into->part[i]->keys = keys;
    into->earlier.keys = keys;
    into->earlier.lost = isfinite(lost) ? lost : 0;
    return DEJA_OK;
}

int deja_filter_merge(deja_filter *into, const deja_filter *from, deja_error *err)
{
    if (into->read_only)
        return dj_filter_explain(into, DEJA_EINVAL, 0, err);
    int rc = check_alike(into, from, err);
    if (rc < 0 || into == from)
        return rc;
    rc = dj_dates_has(into) ? dj_dates_merge(into, from, err)
         : is_table(into)   ? merge_tables(into, from, err)
                            : merge_bits(into, from, err);
    if (rc < 0)
        return rc;
    into->offered = dj_count_sum(into->offered, from->offered);
    into->unclean |= from->unclean; /* if one count is an estimate, so is the sum */
    into->earlier.unions = dj_count_sum(into->earlier.unions, 1 + from->earlier.unions);
    return DEJA_OK;
}

/* --- Fold -------------------------------------------------------------------- */

static int check_fold(const deja_filter *f, uint32_t times, deja_error *err)
{
    const struct dj_shape *s = &f->plan.shape;
    const uint64_t granule = dj_shape_granule(s->layout);
    const struct dj_kind *kind = kind_of(&f->plan);
    if (f->read_only)
        return dj_filter_explain(f, DEJA_EINVAL, 0, err);
    if (kind->no_fold)
        return dj_fail(err, DEJA_ENOTSUP, "%s", kind->no_fold);
    if (has_grown(f))
        return dj_fail(err, DEJA_ENOTSUP,
                       "the filter has grown to %u parts and cannot be folded: build one filter "
                       "from the same keys",
                       f->n_parts);
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
            "has a multiple of %llu * 2^t bits, such as one made with options.memory = 64 MiB",
            (ull)s->bits, can, times, (ull)granule);
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
    if (is_series(&plan))
        plan.fp_rate = fmin(plan.fp_rate / (1 - plan.tightening), 1 - 1e-9);
    plan.folds += times;
    plan.multiplier = ldexp(plan.multiplier, -(int)times); /* for the remaining bits */
    rc = f->owner->next(f, &plan, &half, err);
    if (rc < 0)
        return rc;
    or_bodies(half, f, (int)times);
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

struct counts {
    uint64_t a, b, both; /* set bits of a, b and a | b at the smaller size */
};

static struct counts count_parts(const struct dj_part *a, int folds_a, const struct dj_part *b,
                                 int folds_b)
{
    enum {
        LOT = 256
    };
    uint64_t in_a[LOT], in_b[LOT];
    struct counts c = {0, 0, 0};
    const uint64_t words = folded_words(a, folds_a);
    for (uint64_t at = 0; at < words; at += LOT) {
        const uint64_t n = words - at < LOT ? words - at : LOT;
        for (uint64_t i = 0; i < n; i++) {
            in_a[i] = folded_word(a, folds_a, at + i);
            in_b[i] = folded_word(b, folds_b, at + i);
        }
        c.a += dj_popcount((const uint8_t *)in_a, 8 * n);
        c.b += dj_popcount((const uint8_t *)in_b, 8 * n);
        for (uint64_t i = 0; i < n; i++)
            in_a[i] |= in_b[i];
        c.both += dj_popcount((const uint8_t *)in_a, 8 * n);
    }
    return c;
}

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
    const int folds_a = folds_between(a, b), folds_b = folds_between(b, a);
    if (folds_a < 0 && folds_b < 0)
        return no_fold(a, b, err);
    double sum = 0, variance = 0;
    struct dj_shape s = a->plan.shape;
    s.bits >>= folds_a > 0 ? folds_a : 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct counts c = count_parts(a->part[i], folds_a > 0 ? folds_a : 0, b->part[i],
                                            folds_b > 0 ? folds_b : 0);
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
    int rc = check_alike(a, b, err);
    if (rc < 0)
        return rc;
    if (!is_table(a) && (has_grown(a) || has_grown(b)))
        return dj_fail(
            err, DEJA_ENOTSUP,
            "a filter has grown to %u parts, so the shared keys cannot be estimated from bits: "
            "build both with a larger options.capacity, or with exact parts, which are counted",
            a->n_parts > b->n_parts ? a->n_parts : b->n_parts);
    dj_filter_walk(a, true);
    dj_filter_walk(b, true);
    if (is_table(a)) {
        uint64_t sum = 0, found, absent;
        for (uint32_t i = 0; i < a->n_parts; i++)
            for (uint32_t j = 0; j < b->n_parts; j++, sum += found)
                compare_tables(a->part[i], b->part[j], &found, &absent);
        *keys = (double)sum;
    } else {
        rc = common_bits(a, b, keys, &deviation, err);
    }
    dj_filter_walk(a, false);
    dj_filter_walk(b, false);
    if (sigma)
        *sigma = deviation;
    return rc < 0 ? rc : check_whole(a, b, err);
}
