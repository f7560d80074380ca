/* scalable.c - a filter that grows: a series of parts with tightening rates.
 *
 * When the newest part holds as many keys as it was sized for, the next one is added.  It is
 * `growth` times as large, and its rate is lower, so that the rates of all parts sum to less than
 * p.  Keys go to the newest part; a key is seen if any part has it.  So the price of not knowing n
 * is a lookup in each part and the bits for the lower rates.  The price stays low because sizes
 * grow geometrically: 8 million keys at first, then 16, 32, 64 million.
 *
 * The first part has capacity n and rate p (1 - r), where r is the tightening; part i has capacity
 * n growth^i.  If r is at least 1/2, part i has the rate p (1 - r) r^i.  A smaller r is the share
 * of p that is reserved for the parts after the first, which divide it as r = 0.7 would: part i has
 * the rate p r (1 - 0.7) 0.7^(i-1).  (If rates shrank by a factor of 10 each time, the sixth part
 * of a blocked series would take 150 bits per key.)  Files with rules 0 have p (1 - r) r^i for all
 * r.
 *
 * Parts of other filters can be merged into the list (filter/union.c).  Each is a part like the
 * others but belongs to no series: it gets no new keys, and it does not affect the size of later
 * parts.  Its rate adds to that of the filter.  If its filter hashes keys differently, the row of
 * a key has a hash for it (sources.h).
 *
 * Growing changes the list of parts under a write lock; add and contains hold a read lock.
 * Source: Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom Filters", 2007. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "kinds/account.h"
#include "kinds/sources.h"
#include <math.h>

#define DEFAULT_FIRST_CAPACITY 8000000
#define PART_TIMES             UINT64_C(8) /* lower rates need more bits; enough for r >= 0.1 */
#define CACHED_BODY            (UINT64_C(4) << 20) /* a body up to this size stays in the cache */

/* --- Plan ------------------------------------------------------------------ */

static int scalable_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->multiplier != 0)
        return dj_plan_check_multiplier(opt, plan, err);
    int rc = dj_plan_check_two(opt, err);
    if (rc < 0)
        return rc;
    if (opt->memory)
        return dj_fail(err, DEJA_ENOTSUP,
                       "options.memory: a scalable filter grows with its keys; kinds blocked, "
                       "classic, exact and spectral take a memory size");
    if (!plan->capacity)
        plan->capacity = DEFAULT_FIRST_CAPACITY;
    return dj_plan_by_two(opt, plan, err);
}

static double first_rate(const struct dj_plan *plan)
{
    return plan->fp_rate * (1 - plan->tightening);
}

static double rate_of_part(const struct dj_plan *plan, uint32_t i)
{
    const bool spare = plan->tightening < 0.5 && i > 0 && plan->rules != DJ_RULES_0_1;
    const double ratio = spare ? DJ_TIGHTENING : plan->tightening;
    double rate = spare ? plan->fp_rate * plan->tightening * (1 - ratio) : first_rate(plan);
    for (uint32_t step = spare; step < i; step++)
        rate *= ratio;
    return rate;
}

static bool scalable_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part)
{
    if (i == 0)
        return true;
    for (uint32_t step = 0; step < i; step++) {
        if (part->capacity > DJ_MAX_CAPACITY / plan->growth)
            return false;
        part->capacity *= plan->growth;
    }
    part->fp_rate = rate_of_part(plan, i);
    part->shape.k = 0; /* a lower rate needs more positions */
    return dj_shape_fit_body_lines(&part->shape, dj_plan_key_lines(plan), part->capacity,
                                   part->fp_rate);
}

static double scalable_share(const deja_options *next)
{
    return 1 - next->tightening; /* of the first part */
}

/* --- Answers ----------------------------------------------------------------- */

#define NONE DJ_MAX_PARTS /* no part */

/* The parts of one source, except part `except`. */
struct group {
    struct dj_part *part[DJ_MAX_PARTS];
    uint32_t n;
};

static struct group group_of(const deja_filter *f, uint32_t source, uint32_t except)
{
    struct group g;
    g.n = 0;
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (i != except && dj_source_of(f->part[i]) == source)
            g.part[g.n++] = f->part[i];
    return g;
}

static void prefetch_group(const struct group *g, const uint64_t *hash, size_t n)
{
    for (uint32_t i = 0; i < g->n; i++)
        g->part[i]->kind->body.prefetch(g->part[i], hash, n, false);
}

/* Blocked parts are queried together: a key's bits are computed once, and the first lines of all
 * parts are fetched at the same time. */
static void ask_blocked(const struct group *g, const uint64_t *hash, const uint64_t *ahead,
                        size_t n, uint8_t *seen)
{
    const struct dj_blocks *blocks[DJ_MAX_PARTS];
    for (uint32_t i = 0; i < g->n; i++)
        blocks[i] = &g->part[i]->blocks;
    dj_key_lines_find_any(g->part[0]->kernel, blocks, g->n, hash, ahead, n, seen);
}

/* Sets seen[j] for each key that one of these parts has.  for_add: parts with dates note that
 * these keys were seen today. */
static void ask_group(const struct group *g, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *seen, bool for_add)
{
    uint8_t found[DJ_CHUNK];
    if (g->n && g->part[0]->kind == &dj_blocked) {
        ask_blocked(g, hash, ahead, n, seen);
        return;
    }
    prefetch_group(g, ahead, n);
    memset(seen, 0, n);
    for (uint32_t i = 0; i < g->n; i++) {
        struct dj_part *p = g->part[i];
        if (for_add && p->kind->body.touch)
            p->kind->body.touch(p, hash, n, found);
        else
            p->kind->body.contains(p, hash, hash, n, found);
        for (size_t j = 0; j < n; j++)
            seen[j] |= found[j];
    }
}

/* The hashes of one source: themselves if a row has only one, otherwise copied to buf. */
static const uint64_t *column(const deja_filter *f, const uint64_t *rows, uint32_t source,
                              size_t n, uint64_t buf[DJ_CHUNK])
{
    const uint32_t words = f->hasher.words;
    if (words == 1)
        return rows;
    for (size_t j = 0; j < n; j++)
        buf[j] = rows[j * words + source];
    return buf;
}

/* Sets seen[j] for each key that a part other than `except` has, source by source. */
static void ask_all(const deja_filter *f, uint32_t except, const uint64_t *rows,
                    const uint64_t *ahead, size_t n, uint8_t *seen, bool for_add)
{
    uint64_t now[DJ_CHUNK], next[DJ_CHUNK];
    uint8_t more[DJ_CHUNK];
    for (uint32_t i = 0; i < f->hasher.words; i++) {
        const struct group g = group_of(f, i, except);
        ask_group(&g, column(f, rows, i, n, now), column(f, ahead, i, n, next), n, i ? more : seen,
                  for_add);
        for (size_t j = 0; i && j < n; j++)
            seen[j] |= more[j];
    }
}

static void scalable_prefetch(const deja_filter *f, const uint64_t *rows, size_t n, bool for_add)
{
    const uint32_t newest = for_add ? dj_series_newest(f) : NONE; /* keys are added only there */
    uint64_t buf[DJ_CHUNK];
    for (uint32_t i = 0; i < f->hasher.words; i++) {
        const struct group g = group_of(f, i, newest);
        const uint64_t *hash = column(f, rows, i, n, buf);
        if (i == 0 && for_add)
            f->part[newest]->kind->body.prefetch(f->part[newest], hash, n, true);
        prefetch_group(&g, hash, n);
    }
}

/* Whether to look up keys in the newest part as well before adding to it.  Its lines are then
 * fetched one by one with those of the other parts, and known keys need no add.  In the cache, an
 * add alone is faster. */
static bool look_before_adding(const struct dj_part *newest)
{
    return newest->kind == &dj_blocked && newest->body_len > CACHED_BODY;
}

static size_t add_to_newest(deja_filter *f, const uint64_t *rows, const uint64_t *ahead, size_t n,
                            uint8_t *is_new, bool shared)
{
    const uint32_t at = dj_series_newest(f);
    struct dj_part *newest = f->part[at];
    uint8_t seen[DJ_CHUNK], part_new[DJ_CHUNK], place[DJ_CHUNK] = {0};
    uint64_t rest[DJ_CHUNK], buf[DJ_CHUNK];
    const bool look = look_before_adding(newest);
    if (!look)
        newest->kind->body.prefetch(newest, column(f, ahead, 0, n, buf), n, true);
    ask_all(f, look ? NONE : at, rows, ahead, n, seen, true);
    const uint64_t *hash = column(f, rows, 0, n, buf);
    size_t n_rest = 0;
    for (size_t j = 0; j < n; j++) {
        is_new[j] = 0;
        rest[n_rest] = hash[j];
        place[n_rest] = (uint8_t)j;
        n_rest += !seen[j];
    }
    const size_t taken = newest->kind->body.add(newest, rest, rest, n_rest, part_new, shared);
    for (size_t j = 0; j < taken; j++)
        is_new[place[j]] = part_new[j];
    dj_part_count_new(newest, part_new, taken, shared);
    dj_part_mark(newest, rest, part_new, taken);
    return taken == n_rest ? n : place[taken];
}

static size_t scalable_add(deja_filter *f, const uint64_t *rows, const uint64_t *ahead, size_t n,
                           uint8_t *is_new, bool shared)
{
    struct dj_part *p = f->part[0];
    if (f->n_parts > 1)
        return add_to_newest(f, rows, ahead, n, is_new, shared);
    const size_t taken = p->kind->body.add(p, rows, ahead, n, is_new, shared);
    dj_part_count_new(p, is_new, taken, shared);
    dj_part_mark(p, rows, is_new, taken);
    return taken;
}

static void scalable_contains(const deja_filter *f, const uint64_t *rows, const uint64_t *ahead,
                              size_t n, uint8_t *found)
{
    const struct dj_part *p = f->part[0];
    if (f->n_parts > 1)
        ask_all(f, NONE, rows, ahead, n, found, false);
    else
        p->kind->body.contains(p, rows, ahead, n, found);
}

static uint32_t scalable_words(const struct dj_plan *plan)
{
    return 1 + plan->others.n;
}

static uint32_t scalable_stride(const struct dj_plan *plan, uint32_t i)
{
    (void)plan, (void)i;
    return 1; /* `column` has picked the hashes of a part's source */
}

/* --- Growth ------------------------------------------------------------------ */

static uint64_t scalable_room(deja_filter *f)
{
    const struct dj_part *newest = f->part[dj_series_newest(f)];
    const uint64_t keys = dj_part_keys(newest);
    return keys < newest->capacity ? newest->capacity - keys : 0;
}

static int scalable_make_room(deja_filter *f, const uint64_t *row, uint32_t *n_parts)
{
    const uint32_t i = f->n_parts;
    (void)row;
    if (i == DJ_MAX_PARTS)
        return DEJA_EFULL;
    if (!dj_filter_make_parts(f, i + 1))
        return DEJA_ENOMEM;
    if (!dj_plan_part(&f->plan, dj_series_len(f), f->part[i]))
        return DEJA_EFULL;
    *n_parts = i + 1;
    return DEJA_OK;
}

static uint64_t scalable_most_growth(const deja_filter *f)
{
    return PART_TIMES * f->plan.growth * f->part[dj_series_newest(f)]->body_len;
}

/* --- Statistics and file ------------------------------------------------------- */

/* A merged part gets no new keys, so it has room for those that it holds. */
static uint64_t capacity_of(const struct dj_part *p, uint64_t keys)
{
    return p->origin && keys < p->capacity ? keys : p->capacity;
}

/* fp_now is the rate of the older parts, whose false positives lost some of this part's keys. */
static void add_part(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                     struct dj_account *a, uint32_t i)
{
    const double older = s->fp_now;
    (void)f, (void)i;
    s->capacity += capacity_of(p, a->count);
    s->keys += a->count;
    s->distinct += a->distinct;
    s->lost += a->came - a->keys + a->came * older / fmax(1 - older, 1e-3);
    s->fp_now = dj_either(older, a->rate);
}

/* After a union or a fold: returns the keys lost before it plus, for the keys since then, at most
 * the number that the current rate would have lost. */
static double lost_since(const struct dj_earlier *then, const deja_stats *s)
{
    const double since = s->keys > then->keys ? (double)(s->keys - then->keys) : 0;
    return then->lost + since * s->fp_now / fmax(1 - s->fp_now, 1e-3);
}

static void scalable_stats(const deja_filter *f, deja_stats *s)
{
    dj_account_for(f, s, add_part);
    if (f->n_parts > 1 && f->earlier.keys)
        s->lost = lost_since(&f->earlier, s);
}

static void scalable_outline(const deja_filter *f, deja_stats *o)
{
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const uint64_t keys = dj_part_keys(p);
        o->capacity += capacity_of(p, keys);
        o->keys += keys;
        o->excess += keys > p->capacity ? keys - p->capacity : 0;
    }
    o->entries = o->keys;
}

/* Whether a part has about the fewest bits that reach its rate: half of them would not. */
static bool body_is_lean(const struct dj_part *p)
{
    enum {
        FEW = 4
    };
    struct dj_shape half = p->shape;
    const uint64_t granule = dj_shape_granule(&p->shape);
    if (p->shape.bits <= FEW * granule)
        return true;
    half.bits = p->shape.bits / 2 / granule * granule;
    if (dj_layout_is_table(p->shape.layout))
        return !dj_plan_reaches(&half, p->capacity, p->fp_rate);
    return dj_shape_rate(&half, (double)p->capacity) > p->fp_rate;
}

/* Whether a part of the series has the capacity, rate and approximate size given by growth and
 * tightening.  A merged part has its own; no later part is sized by these. */
static bool scalable_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    const double rate = rate_of_part(plan, p->step);
    uint64_t capacity = plan->capacity;
    if (p->origin)
        return i > 0 && dj_source_of(p) <= plan->others.n &&
               dj_plan_reaches(&p->shape, p->capacity, p->fp_rate);
    for (uint32_t step = 0; step < p->step; step++) {
        if (capacity > DJ_MAX_CAPACITY / plan->growth)
            return false;
        capacity *= plan->growth;
    }
    return p->capacity == capacity && fabs(p->fp_rate - rate) <= 1e-6 * rate &&
           dj_plan_reaches(&p->shape, p->capacity, p->fp_rate) && body_is_lean(p);
}

static const char *const options[] = {"part_kind", NULL};
const struct dj_kind dj_scalable = {
    .name = "scalable",
    .number = DEJA_SCALABLE,
    .help = "parts that are added as keys arrive: it grows, and its rate stays",
    .can = DEJA_CAN_ADD | DEJA_CAN_GROW | DEJA_CAN_MERGE | DEJA_CAN_FOLD | DEJA_CAN_OVERLAP |
           DEJA_CAN_DATE,
    .options = options,
    .adds_parts = true,
    .part_kind = &dj_blocked,
    .plan = scalable_plan,
    .part_rate = first_rate,
    .part = scalable_part,
    .rows = dj_sources_hash,
    .words = scalable_words,
    .stride = scalable_stride,
    .prefetch = scalable_prefetch,
    .add = scalable_add,
    .marks = true,
    .contains = scalable_contains,
    .room = scalable_room,
    .make_room = scalable_make_room,
    .most_growth = scalable_most_growth,
    .stats = scalable_stats,
    .outline = scalable_outline,
    .share = scalable_share,
    .part_is_sound = scalable_part_is_sound,
    .reaches_rate = dj_plan_always, /* the rates were compared part by part */
};
