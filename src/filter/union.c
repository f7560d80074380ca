/* union.c - merge two filters.
 *
 * A bit of a Bloom filter is set if some key set it, so the OR of two bodies is, byte for byte, the
 * body that the keys of both would have left, provided that every key has the same positions in
 * both: same kind, k, hash, secret key, visit and size (alike.c).  The fingerprints of a table are
 * added to the other table like keys.  Counters are added, and generations of a window are merged
 * by age (spectral.c, window.c).
 *
 * Filters of different sizes can be merged if one folds to the size of the other (algebra.c): the
 * larger one is folded along the way, a few kilobytes at a time.
 *
 * A scalable filter with one part counts as a filter of its part's kind.  Filters that have grown
 * in the same steps are merged part by part: a key is in the filter if any part has it, and it
 * does not matter which part that is.  A part of the union may hold more keys than it was sized
 * for; stats report that, and the next key makes the filter grow.
 *
 * If keys have different positions, because the filters have different secret keys or grew in
 * different steps, a scalable filter takes the other's parts as they are (scalable.c), with the
 * keys that they were made with (sources.h).  The false-positive rates of all parts add up.  A part
 * that it already has from an earlier merge is updated instead if the union still fits into it. */
#include "core/base/status.h"
#include "filter/alike.h"
#include "filter/combine.h"
#include "filter/dates.h"
#include "filter/growth.h"
#include "filter/sound.h"
#include "kinds/account.h"
#include "kinds/sources.h"
#include <math.h>

static double or_zero(double lost)
{
    return isfinite(lost) ? lost : 0;
}

static int begin_writing(deja_filter *into, deja_error *err)
{
    return dj_filter_explain(into, dj_filter_begin_writing(into), 0, err);
}

/* --- Tables -------------------------------------------------------------------- */

/* Adds the fingerprints of the other series like keys, and grows as needed. */
static int merge_series_of_tables(deja_filter *into, const deja_filter *from, deja_error *err)
{
    const uint64_t offered = into->offered;
    int rc = DEJA_OK;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        uint64_t hash[DJ_CHUNK], slot = 0;
        for (size_t n; rc == DEJA_OK && (n = dj_table_next(from->part[i], &slot, hash)) > 0;)
            rc = deja_filter_add_hashed(into, hash, n, NULL, NULL, err);
    }
    into->offered = offered;
    return rc;
}

static bool add_table(struct dj_part *into, const struct dj_part *from)
{
    uint64_t hash[DJ_CHUNK], slot = 0;
    uint8_t answer[DJ_CHUNK];
    for (size_t n; (n = dj_table_next(from, &slot, hash)) > 0;) {
        const size_t taken = into->kind->body.add(into, hash, hash, n, answer, true);
        into->keys += dj_sum_of(answer, taken);
        if (taken < n)
            return false; /* another process is adding to `from` */
    }
    return true;
}

static int merge_tables(deja_filter *into, const deja_filter *from, deja_error *err)
{
    if (dj_is_series(&into->plan))
        return merge_series_of_tables(into, from, err);
    struct dj_part *p = into->part[0];
    uint64_t found, absent;
    dj_table_compare(from->part[0], p, &found, &absent);
    if (absent > p->kind->body.room(p))
        return dj_fail(err, DEJA_EFULL,
                       "the union has %llu more keys, but there is room for %llu: build a filter "
                       "with a larger options.capacity and merge both into it",
                       (ull)absent, (ull)p->kind->body.room(p));
    const int rc = begin_writing(into, err);
    if (rc < 0)
        return rc;
    return add_table(p, from->part[0])
               ? DEJA_OK
               : dj_fail(err, DEJA_EFULL, "the union has more keys than there is room for");
}

/* --- Bits ---------------------------------------------------------------------- */

static int grow_to(deja_filter *f, uint32_t parts, deja_error *err)
{
    int rc = DEJA_OK;
    while (rc == DEJA_OK && f->n_parts < parts)
        rc = dj_filter_make_room(f, f->n_parts, NULL);
    return dj_filter_explain(f, rc, DEJA_CAN_ADD, err);
}

/* Records the keys that were counted and lost until now. */
static void set_earlier(deja_filter *into, double lost)
{
    into->earlier.keys = 0;
    for (uint32_t i = 0; i < into->n_parts; i++)
        into->earlier.keys = dj_count_sum(into->earlier.keys, into->part[i]->keys);
    into->earlier.lost = or_zero(lost);
}

static int count_single(deja_filter *into, const deja_stats *a, const deja_stats *b,
                        deja_error *err)
{
    deja_stats both = DEJA_STATS_INIT;
    const double lost = a->lost + b->lost;
    const int rc = deja_filter_stats(into, DEJA_STATS_BODY, &both, err);
    if (rc < 0)
        return rc;
    const uint64_t keys = dj_account_keys(both.distinct, lost, a->keys, b->keys);
    for (uint32_t i = 0; i < into->n_parts; i++)
        into->part[i]->keys = keys;
    into->earlier.keys = keys;
    into->earlier.lost = or_zero(lost);
    return DEJA_OK;
}

static int merge_bits(deja_filter *into, const deja_filter *from, const deja_stats *a,
                      const deja_stats *b, deja_error *err)
{
    const int folds =
        dj_has_grown(from) ? 0 : dj_folds_between(from->plan.shape.bits, into->plan.shape.bits);
    int rc = begin_writing(into, err);
    if (rc == DEJA_OK && dj_has_grown(from))
        rc = grow_to(into, from->n_parts, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < from->n_parts; i++)
        dj_part_unite(into->part[i], from->part[i], folds);
    /* The lost pages of a truncated file read as zeros: they do no harm, but the union is
     * incomplete. */
    rc = dj_check_whole(into, from, err);
    if (rc < 0 || !dj_has_grown(into))
        return rc < 0 ? rc : count_single(into, a, b, err);
    for (uint32_t i = 0; i < from->n_parts; i++)
        dj_account_union(into->part[i], from->part[i]->keys);
    set_earlier(into, a->lost + b->lost);
    return DEJA_OK;
}

/* --- Parts of another filter ------------------------------------------------------ */

/* What a merge will do with the parts of `from`: of a series, or of layers. */
struct intake {
    struct dj_others others;       /* the sources of `into` afterwards */
    uint32_t source[DJ_MAX_PARTS]; /* of each part, in `into` */
    uint32_t into[DJ_MAX_PARTS];   /* which part takes it; n_parts or more: a new one */
    uint32_t n_parts;              /* of `into` afterwards */
};

/* The number of this source in `into`, which is added if it is new; false: too many. */
static bool find_source(const deja_filter *into, const struct dj_source *s,
                        struct dj_others *others, uint32_t *number)
{
    const struct dj_source own = dj_source_at(into, 0);
    uint32_t i = 0;
    if (dj_source_equal(s, &own)) {
        *number = 0;
        return true;
    }
    while (i < others->n && !dj_source_equal(s, &others->source[i]))
        i++;
    if (i == DJ_MAX_OTHERS)
        return false;
    if (i == others->n)
        others->source[others->n++] = *s;
    *number = i + 1;
    return true;
}

/* Whether the keys of both fit into a part of the same size and source. */
static bool fits_into(const struct dj_part *into, const struct dj_part *from)
{
    if (into->kind->body.stored) {
        uint64_t found, absent;
        dj_table_compare(from, into, &found, &absent);
        return absent <= into->kind->body.room(into);
    }
    if (!dj_shape_same(&into->shape, &from->shape))
        return false;
    const struct dj_set_bits c = dj_count_bits(into, 0, from, 0);
    const double keys = dj_shape_keys(&into->shape, (double)c.both);
    /* If one holds all keys of the other, the union is not fuller than before. */
    return keys <= (double)into->capacity || c.both == c.a || c.both == c.b;
}

/* The part of `into` that can take this part, each at most one; DJ_MAX_PARTS: none. */
static uint32_t find_part(const deja_filter *into, const struct dj_part *from, uint32_t source,
                          uint32_t *taken)
{
    for (uint32_t i = 0; i < into->n_parts; i++)
        if (!(*taken >> i & 1) && dj_source_of(into->part[i]) == source &&
            fits_into(into->part[i], from)) {
            *taken |= UINT32_C(1) << i;
            return i;
        }
    return DJ_MAX_PARTS;
}

static int plan_intake(const deja_filter *into, const deja_filter *from, struct intake *in,
                       deja_error *err)
{
    uint32_t taken = 0;
    in->others = into->plan.others;
    in->n_parts = into->n_parts;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        const struct dj_source s = dj_source_at(from, dj_source_of(from->part[i]));
        if (!find_source(into, &s, &in->others, &in->source[i]))
            return dj_fail(err, DEJA_EFULL,
                           "the union would have more than %d secret keys: build one filter from "
                           "the lists",
                           DJ_MAX_OTHERS + 1);
        in->into[i] = find_part(into, from->part[i], in->source[i], &taken);
        if (in->into[i] == DJ_MAX_PARTS && in->n_parts < DJ_MAX_PARTS)
            in->into[i] = in->n_parts++;
        if (in->into[i] == DJ_MAX_PARTS)
            return dj_fail(err, DEJA_EFULL,
                           "the union would have more than %d parts: build one filter from the "
                           "lists",
                           DJ_MAX_PARTS);
    }
    return DEJA_OK;
}

/* Layers are combined one by one; `into` gets those that it does not have yet. */
static int plan_layers(const deja_filter *into, const deja_filter *from, struct intake *in,
                       deja_error *err)
{
    in->others.n = 0;
    in->n_parts = into->n_parts;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        in->source[i] = 0;
        in->into[i] = dj_layering_twin(into, from, i);
        if (in->into[i] == into->n_parts)
            in->into[i] = in->n_parts++;
    }
    /* Layers and their parts are limited, so this only happens to a damaged filter. */
    return in->n_parts <= DJ_MAX_PARTS ? DEJA_OK : dj_fail(err, DEJA_EFULL, "too many layers");
}

/* Describes a new part of `into`; it gets its body later. */
static void describe(struct dj_part *part, const struct dj_part *from, bool is_series,
                     uint32_t source)
{
    part->layer = from->layer;
    part->salt = from->salt;
    part->kind = from->kind;
    part->shape = from->shape;
    part->capacity = from->capacity;
    part->fp_rate = from->fp_rate;
    part->lines = from->lines;
    part->stride = from->stride;
    part->marked = from->marked;
    part->origin = is_series ? source + 1 : 0;
    part->keys = 0;
}

/* Exchanges the sources of a filter for `others`, and the state for hashing. */
static void exchange_sources(deja_filter *f, struct dj_others *others, struct dj_hasher **hasher)
{
    const struct dj_others had = f->plan.others;
    struct dj_hasher *old = f->other;
    f->plan.others = *others;
    f->other = *hasher;
    f->hasher.words = dj_plan_words(&f->plan);
    *others = had;
    *hasher = old;
}

/* Adds the new parts and sources; on failure, `into` is unchanged. */
static int make_parts(deja_filter *into, const deja_filter *from, const struct intake *in)
{
    struct dj_others others = in->others;
    struct dj_hasher *hasher = NULL;
    if (!dj_filter_make_parts(into, in->n_parts) || !dj_sources_make(into, &others, &hasher))
        return DEJA_ENOMEM;
    for (uint32_t i = 0; i < from->n_parts; i++)
        if (in->into[i] >= into->n_parts)
            describe(into->part[in->into[i]], from->part[i], dj_is_series(&into->plan),
                     in->source[i]);
    pthread_rwlock_wrlock(&into->growing);
    exchange_sources(into, &others, &hasher);
    int rc = dj_filter_check(into, in->n_parts, NULL) < 0 ? DEJA_EFULL : DEJA_OK;
    if (rc == DEJA_OK)
        rc = into->owner->grow(into, in->n_parts);
    if (rc < 0)
        exchange_sources(into, &others, &hasher);
    pthread_rwlock_unlock(&into->growing);
    dj_sources_free(into, hasher, others.n);
    return rc;
}

static void take_part(struct dj_part *into, const struct dj_part *from, bool is_new)
{
    if (is_new) {
        memcpy(into->body, from->body, (size_t)from->body_len);
        into->keys = dj_part_keys(from);
    } else if (into->kind->body.stored) {
        (void)add_table(into, from); /* `fits_into` has checked the room */
    } else {
        dj_part_unite(into, from, 0);
        dj_account_union(into, dj_part_keys(from));
    }
}

static int take_parts(deja_filter *into, const deja_filter *from, const struct intake *in,
                      deja_error *err)
{
    const uint32_t before = into->n_parts;
    int rc = begin_writing(into, err);
    if (rc < 0)
        return rc;
    if (in->n_parts > before) {
        rc = make_parts(into, from, in);
        if (rc < 0)
            return dj_filter_explain(into, rc, DEJA_CAN_ADD, err);
    }
    for (uint32_t i = 0; i < from->n_parts; i++)
        take_part(into->part[in->into[i]], from->part[i], in->into[i] >= before);
    return DEJA_OK;
}

static int merge_parts(deja_filter *into, const deja_filter *from, double lost, deja_error *err)
{
    struct intake in;
    int rc = plan_intake(into, from, &in, err);
    if (rc == DEJA_OK)
        rc = take_parts(into, from, &in, err);
    if (rc == DEJA_OK)
        set_earlier(into, lost);
    return rc;
}

static int merge_layers(deja_filter *into, const deja_filter *from, deja_error *err)
{
    struct intake in;
    int rc = plan_layers(into, from, &in, err);
    if (rc == DEJA_OK)
        rc = take_parts(into, from, &in, err);
    if (rc < 0)
        return rc;
    into->familiar = dj_count_sum(into->familiar, from->familiar);
    dj_layering_set_lost(into, dj_layering_lost(into) + dj_layering_lost(from));
    return DEJA_OK;
}

/* --- Union ---------------------------------------------------------------------- */

static int unite(deja_filter *into, const deja_filter *from, enum dj_union how, deja_error *err)
{
    deja_stats a = DEJA_STATS_INIT, b = DEJA_STATS_INIT;
    if (into->plan.kind->merge) {
        const int rc = begin_writing(into, err);
        return rc < 0 ? rc : into->plan.kind->merge(into, from, err);
    }
    if (dj_kind_can(into->plan.kind, DEJA_CAN_LAYER))
        return merge_layers(into, from, err);
    if (dj_dates_has(into))
        return dj_dates_merge(into, from, err);
    if (how == DJ_UNION_BODIES && dj_is_table(into))
        return merge_tables(into, from, err);
    int rc = deja_filter_stats(into, DEJA_STATS_BODY, &a, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(from, DEJA_STATS_BODY, &b, err);
    if (rc < 0)
        return rc;
    return how == DJ_UNION_BODIES ? merge_bits(into, from, &a, &b, err)
                                  : merge_parts(into, from, a.lost + b.lost, err);
}

int deja_filter_merge(deja_filter *into, const deja_filter *from, deja_error *err)
{
    enum dj_union how;
    if (into->read_only)
        return dj_filter_explain(into, DEJA_EINVAL, 0, err);
    int rc = dj_alike_merge(into, from, &how, err);
    if (rc < 0 || into == from)
        return rc;
    dj_filter_walk(from, true);
    rc = unite(into, from, how, err);
    dj_filter_walk(from, false);
    if (rc == DEJA_OK)
        rc = dj_check_whole(into, from, err);
    if (rc == DEJA_OK) /* a window was replaced by one that is synced, without these counts */
        rc = begin_writing(into, err);
    if (rc < 0)
        return rc;
    into->offered = dj_count_sum(into->offered, from->offered);
    into->removed = dj_count_sum(into->removed, from->removed);
    into->refused = dj_count_sum(into->refused, from->refused);
    into->unclean |= from->unclean; /* if one count is an estimate, so is the sum */
    into->earlier.unions = dj_count_sum(into->earlier.unions, 1 + from->earlier.unions);
    return DEJA_OK;
}
