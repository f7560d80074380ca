/* alike.c - what two filters need in common to be combined; lists every difference.
 *
 * Bodies can be combined if every key has the same positions in both: same kind, k, hash, secret
 * key, visit and size.  The parts of a series are queried one by one, each with its own hash, so a
 * series can take the parts of another filter if only the kind of parts, the hash function and the
 * form of keys are the same. */
#include "filter/alike.h"
#include "core/base/status.h"
#include "filter/combine.h"
#include "kinds/sources.h"
#include <stdarg.h>
#include <stdio.h>

/* --- The list --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note(struct dj_differences *d, const char *fmt,
                                                       ...)
{
    va_list ap;
    if (d->n == DJ_MAX_DIFFERENCES)
        return;
    va_start(ap, fmt);
    vsnprintf(d->line[d->n++], sizeof d->line[0], fmt, ap);
    va_end(ap);
}

static void note_number(struct dj_differences *d, const char *what, uint64_t a, uint64_t b)
{
    if (a != b)
        note(d, "%s: %llu and %llu", what, (ull)a, (ull)b);
}

/* All of them in one line, as far as there is room. */
static int conclude(const struct dj_differences *d, const char *remedy, deja_error *err)
{
    char list[200];
    size_t len = 0;
    if (!d->n)
        return DEJA_OK;
    for (uint32_t i = 0; i < d->n && len < sizeof list; i++) {
        const int more =
            snprintf(list + len, sizeof list - len, "%s%s", i ? "; " : "", d->line[i]);
        len += more > 0 ? (size_t)more : 0;
    }
    return dj_fail(err, DEJA_EMISMATCH, "the filters differ in %s%s", list, remedy);
}

/* --- Differences --------------------------------------------------------------- */

static bool same_kind(const struct dj_plan *x, const struct dj_plan *y)
{
    return dj_kind_of_bodies(x) == dj_kind_of_bodies(y);
}

static bool same_key(const deja_filter *a, const deja_filter *b)
{
    return memcmp(a->key, b->key, DEJA_KEY_LEN) == 0;
}

static void compare_kinds(const struct dj_plan *x, const struct dj_plan *y,
                          struct dj_differences *d)
{
    const struct dj_kind *kind = dj_kind_of_bodies(x), *other = dj_kind_of_bodies(y);
    if (kind->number != other->number)
        note(d, "kind: %s and %s", kind->name, other->name);
    else if ((x->flags ^ y->flags) & DEJA_DATES)
        note(d, "dates: only one of them has dates");
    else if ((x->flags ^ y->flags) & DEJA_SPREAD)
        note(d, "spread: only one of them spreads its counters");
    if (x->hash != y->hash)
        note(d, "hash: %s and %s", deja_hash_name(x->hash), deja_hash_name(y->hash));
    note_number(d, "number of filters (F)", x->filters, y->filters);
    note_number(d, "machine", x->machine, y->machine);
}

static const char *profile_of(const struct dj_plan *p)
{
    const char *name = p->profile ? deja_profile_name(p->profile) : "none";
    return name ? name : "unknown";
}

static void compare_urls(const struct dj_plan *x, const struct dj_plan *y,
                         struct dj_differences *d)
{
    if (x->profile != y->profile)
        note(d, "URL profile of their keys: %s and %s", profile_of(x), profile_of(y));
    else if (x->url_rules != y->url_rules)
        note(d, "URL rules of profile %s (parameters, version or IDNA): %016llx and %016llx",
             profile_of(x), (ull)x->url_rules, (ull)y->url_rules);
}

/* The options that only some kinds have. */
static void compare_own(const struct dj_plan *x, const struct dj_plan *y, struct dj_differences *d)
{
    static const struct {
        uint32_t flag;
        const char *what;
    } modes[] = {{DEJA_LAYERED_PAPER, "paper mode"}, {DEJA_LAYERED_WORDS, "words mode"}};
    for (size_t i = 0; i < DJ_ARRAY_LEN(modes); i++)
        if ((x->flags ^ y->flags) & modes[i].flag)
            note(d, "%s: %s and %s", modes[i].what, x->flags & modes[i].flag ? "yes" : "no",
                 y->flags & modes[i].flag ? "yes" : "no");
    note_number(d, "counter bits", x->shape.counter_bits, y->shape.counter_bits);
    note_number(d, "generations", x->generations, y->generations);
    note_number(d, "seconds of the window", x->window_seconds, y->window_seconds);
    note_number(d, "layers", x->layering.layers, y->layering.layers);
    note_number(d, "delimiter", x->layering.delimiter, y->layering.delimiter);
}

static void compare_hashes(const deja_filter *a, const deja_filter *b, struct dj_differences *d)
{
    const struct dj_plan *x = &a->plan, *y = &b->plan;
    if (x->hash == y->hash && dj_hash_changed(x->hash, x->rules, y->rules))
        note(d, "format: %u and %u (deja 0.2 hashes keys with %s differently)", x->rules + 1,
             y->rules + 1, deja_hash_name(x->hash));
    if (!same_key(a, b))
        note(d, "secret key: check values %016llx and %016llx",
             (ull)dj_key_derive(a->key, DJ_STREAM_CHECK, 0),
             (ull)dj_key_derive(b->key, DJ_STREAM_CHECK, 0));
    note_number(d, "visit", x->visit, y->visit);
    if (a->plan.others.n || b->plan.others.n)
        note(d, "secret keys: one has parts of merged filters with keys of their own");
    if (same_kind(x, y))
        note_number(d, "hashes (k)", x->shape.k, y->shape.k);
    if (same_kind(x, y))
        note_number(d, "cache lines per key", dj_shape_key_lines(&x->shape),
                    dj_shape_key_lines(&y->shape));
}

/* Sizes must be equal, or one must fold to the size of the other. */
static void compare_sizes(const deja_filter *a, const deja_filter *b, struct dj_differences *d)
{
    const uint64_t x = a->plan.shape.bits, y = b->plan.shape.bits;
    const struct dj_kind *kind = dj_kind_of_bodies(&a->plan);
    const bool can_fold = dj_kind_can(kind, DEJA_CAN_FOLD);
    if (x == y || dj_is_table(a) || !same_kind(&a->plan, &b->plan))
        return;
    if (!can_fold)
        note(d, "size: %llu and %llu bits", (ull)x, (ull)y);
    else if (dj_folds_between(x, y) < 0 && dj_folds_between(y, x) < 0)
        note(d, "size: %llu and %llu bits, and neither folds to the size of the other", (ull)x,
             (ull)y);
}

/* A layered filter adds parts as its layers fill; those that both have must be alike. */
static void compare_layers(const deja_filter *a, const deja_filter *b, struct dj_differences *d)
{
    if (!dj_kind_can(a->plan.kind, DEJA_CAN_LAYER) || !same_kind(&a->plan, &b->plan))
        return;
    for (uint32_t i = 1; i < b->n_parts; i++) {
        const uint32_t twin = dj_layering_twin(a, b, i);
        const struct dj_part *x = twin < a->n_parts ? a->part[twin] : b->part[i], *y = b->part[i];
        if (!dj_shape_same(&x->shape, &y->shape)) {
            note(d, "size of layer %u: %llu and %llu bits", y->layer, (ull)x->shape.bits,
                 (ull)y->shape.bits);
            return;
        }
    }
}

/* Whether one of its sources is a secret that the other does not have as its own. */
static bool has_other_secret(const deja_filter *f, const deja_filter *than)
{
    const struct dj_source own = dj_source_at(than, 0);
    for (uint32_t i = 0; i <= f->plan.others.n; i++) {
        const struct dj_source s = dj_source_at(f, i);
        if (!s.seeded && !dj_source_equal(&s, &own))
            return true;
    }
    return false;
}

/* A file whose key is stored separately must not contain another, and a file that others may read
 * because its key is not secret must not get one that is. */
static void compare_secrets(const deja_filter *into, const deja_filter *from,
                            struct dj_differences *d)
{
    const bool same = same_key(into, from);
    if ((into->plan.flags | from->plan.flags) & DEJA_KEY_APART && (!same || from->plan.others.n))
        note(d, "secret key, and a file does not contain its own");
    else if (into->plan.seeded && has_other_secret(from, into))
        note(d, "secrecy of the key: the first has one from a seed, so merge it into the other");
}

/* --- Can they be combined? --------------------------------------------------------- */

static int check_can(const deja_filter *f, uint32_t capability, deja_error *err)
{
    const struct dj_kind *kind = dj_kind_of_bodies(&f->plan);
    const bool merge = capability == DEJA_CAN_MERGE;
    if (merge && f->plan.flags & DEJA_MINIMAL_INCREASE)
        return dj_fail(err, DEJA_ENOTSUP,
                       "filters with options.minimal_increase cannot be merged: their counters "
                       "depend on the order of all adds; build one filter from both lists");
    if (dj_kind_can(kind, capability))
        return DEJA_OK;
    return kind->no_merge
               ? dj_fail(err, DEJA_ENOTSUP, "%s", kind->no_merge)
               : dj_fail(err, DEJA_ENOTSUP,
                         "%s filters cannot be %s; classic, blocked and exact filters can",
                         kind->name, merge ? "merged" : "compared");
}

static int check_both(const deja_filter *a, const deja_filter *b, uint32_t capability,
                      deja_error *err)
{
    if (!same_kind(&a->plan, &b->plan))
        return DEJA_OK; /* that difference is listed */
    const int rc = check_can(a, capability, err);
    return rc < 0 ? rc : check_can(b, capability, err);
}

/* Whether a series can take parts of the other filter, at least as far as kinds are concerned.  The
 * days of a key are in one place, so filters with dates need the same hashes. */
static bool takes_parts(const deja_filter *into, const deja_filter *from)
{
    return dj_is_series(&into->plan) && !((into->plan.flags | from->plan.flags) & DEJA_DATES) &&
           same_kind(&into->plan, &from->plan) && from->plan.filters == 1 &&
           dj_hash_is_single(from->plan.hash);
}

static void compare_positions(const deja_filter *a, const deja_filter *b, struct dj_differences *d)
{
    compare_hashes(a, b, d);
    compare_sizes(a, b, d);
}

static void list_for_merge(const deja_filter *into, const deja_filter *from,
                           struct dj_differences *d)
{
    d->n = 0;
    compare_kinds(&into->plan, &from->plan, d);
    if (takes_parts(into, from)) {
        compare_secrets(into, from, d);
    } else {
        compare_positions(into, from, d);
        if (same_kind(&into->plan, &from->plan))
            compare_own(&into->plan, &from->plan, d);
        compare_layers(into, from, d);
    }
    compare_urls(&into->plan, &from->plan, d);
}

/* Whether the parts of two series have the same sizes, including those that `into` does not have
 * yet. */
static bool same_steps(const deja_filter *into, const deja_filter *from)
{
    for (uint32_t i = 0; i < from->n_parts; i++) {
        struct dj_part next = {0};
        const struct dj_part *mine = into->part[i], *other = from->part[i];
        if (i >= into->n_parts) {
            if (i == DJ_MAX_PARTS || !dj_plan_part(&into->plan, i, &next))
                return false;
            mine = &next;
        }
        if (mine->origin || other->origin || !dj_shape_same(&mine->shape, &other->shape))
            return false;
    }
    return dj_series_len(into) == into->n_parts;
}

static bool bodies_fit(const deja_filter *into, const deja_filter *from)
{
    if (dj_is_table(into))
        return dj_series_len(into) == into->n_parts && dj_series_len(from) == from->n_parts;
    if (dj_has_grown(into) || dj_has_grown(from))
        return dj_is_series(&into->plan) && same_steps(into, from);
    return dj_folds_between(from->plan.shape.bits, into->plan.shape.bits) >= 0;
}

/* Differences that only matter to a filter that cannot take the other's parts. */
static int check_fixed(const deja_filter *into, const deja_filter *from, deja_error *err)
{
    const bool dated = into->plan.flags & DEJA_DATES; /* it takes keys, not bodies */
    if (dj_has_grown(from) && !dj_is_series(&into->plan) && !dated)
        return dj_fail(
            err, DEJA_EMISMATCH,
            "one filter has grown to %u parts and the other cannot grow: merge into the one "
            "that has grown",
            from->n_parts);
    if (!dj_is_table(into) && dj_kind_can(into->plan.kind, DEJA_CAN_FOLD) &&
        !bodies_fit(into, from))
        return dj_fail(err, DEJA_EMISMATCH,
                       "the filters differ in size: %llu and %llu bits; fold the first one, or "
                       "merge into the smaller",
                       (ull)into->plan.shape.bits, (ull)from->plan.shape.bits);
    return DEJA_OK;
}

int dj_alike_merge(const deja_filter *into, const deja_filter *from, enum dj_union *how,
                   deja_error *err)
{
    struct dj_differences d;
    int rc = check_both(into, from, DEJA_CAN_MERGE, err);
    if (rc < 0)
        return rc;
    list_for_merge(into, from, &d);
    rc = conclude(&d, "; rebuild one with the options and the key of the other", err);
    if (rc < 0)
        return rc;
    *how = DJ_UNION_BODIES;
    if (!takes_parts(into, from))
        return check_fixed(into, from, err);
    d.n = 0;
    compare_positions(into, from, &d);
    if (d.n || !bodies_fit(into, from))
        *how = DJ_UNION_PARTS;
    return DEJA_OK;
}

int dj_alike_compare(const deja_filter *a, const deja_filter *b, deja_error *err)
{
    struct dj_differences d = {.n = 0};
    const int rc = check_both(a, b, DEJA_CAN_OVERLAP, err);
    if (rc < 0)
        return rc;
    compare_kinds(&a->plan, &b->plan, &d);
    compare_positions(a, b, &d);
    compare_urls(&a->plan, &b->plan, &d);
    return conclude(&d, "", err);
}

bool deja_filter_difference(const deja_filter *into, const deja_filter *from, size_t i,
                            deja_error *line)
{
    struct dj_differences d;
    list_for_merge(into, from, &d);
    if (i >= d.n)
        return false;
    dj_fail(line, DEJA_EMISMATCH, "%s", d.line[i]);
    return true;
}
