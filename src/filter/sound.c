/* sound.c - the rules that every filter obeys, whoever made it.
 *
 * One set of rules serves three callers.  The loader (store/format.c) applies it to each header
 * before it believes a number in it.  Creating, folding, rotating and growing apply it to what
 * they are about to make, so no operation leaves a filter that cannot be loaded again.  And it
 * ties the numbers that size the next filter to the body that is there:
 *
 *   capacity and rate   The body reaches the rate at capacity.  Every way to size a filter
 *                       (plan.c) sees to that: from a rate, it takes the first size that reaches
 *                       it; from a size, the rate or the capacity follow.  Folding computes the
 *                       rate again.  So a rate of 1e-308 or a capacity of 2^31 needs the body
 *                       that such numbers take.
 *   parts               Equal parts have the capacity of the plan.  Part i of a scalable filter
 *                       has the capacity, the rate and about the size that growth and
 *                       tightening give it: half of its body would not do.
 *   multiplier          The body has the n k M bits.
 *   folds               Undone, they give a size that a filter can have.
 *
 * Predicted rates depend on the math library, so they are compared with a factor of 2 to spare.
 * That is nothing in bits, and every file that 0.1 wrote passes.
 *
 * A header can still ask for much by being large and honest.  So what a filter does without
 * being told a size is bounded as well: see dj_growth_fits and dj_renewal_fits. */
#include "core/base/status.h"
#include "kinds/deja_filter.h"
#include <math.h>
#include <stdio.h>

static int bad(deja_error *err, const char *field)
{
    return dj_fail(err, DEJA_EFORMAT, "%s is damaged", field);
}

/* From 0 to less than `end`; no NaN. */
static bool is_number(double x, double end)
{
    return x >= 0 && x < end;
}

/* --- The plan ---------------------------------------------------------------- */

static bool past_is_sound(const struct dj_plan *p)
{
    const struct dj_past *past = &p->past;
    return past->visits < p->visit && is_number(past->missed, nextafter(1, 2)) &&
           is_number(past->last_lost, HUGE_VAL) && past->last_distinct <= DJ_MAX_CAPACITY &&
           (past->visits || (past->missed <= 0 && past->last_lost <= 0 && !past->last_distinct));
}

static bool is_one_filter(const struct dj_plan *p)
{
    return p->kind == DEJA_SCALABLE || p->kind == DEJA_STATIC || p->kind == DEJA_WINDOW ||
           p->kind == DEJA_LAYERED || p->kind == DEJA_PAIRED;
}

/* A window's capacity can follow from the size of one generation. */
static uint64_t most_capacity(const struct dj_plan *p)
{
    return p->kind == DEJA_WINDOW ? DJ_MAX_CAPACITY * DJ_MAX_GENERATIONS : DJ_MAX_CAPACITY;
}

/* The kinds that can be halved: Bloom filters of one body, also one that has not grown. */
static bool can_fold(const struct dj_plan *p)
{
    const bool bloom = p->part_kind == DEJA_CLASSIC || p->part_kind == DEJA_BLOCKED;
    return bloom && (p->kind == p->part_kind || p->kind == DEJA_SCALABLE);
}

/* The kinds that m = n k M sizes, with k given. */
static bool has_multiplier(const struct dj_plan *p)
{
    const bool kind = p->kind == DEJA_CLASSIC || p->kind == DEJA_BLOCKED ||
                      p->kind == DEJA_SPECTRAL || p->kind == DEJA_PAIRED ||
                      (p->kind == DEJA_LAYERED && p->flags & DEJA_LAYERED_PAPER);
    return kind && p->own_k && p->rules != DJ_RULES_0_1;
}

int dj_plan_check(const struct dj_plan *p, uint32_t n_parts, deja_error *err)
{
    const bool paired = p->kind == DEJA_PAIRED;
    if (!p->filters || p->filters > DJ_MAX_FILTERS || (is_one_filter(p) && p->filters != 1))
        return bad(err, "filters");
    if (!p->capacity || p->capacity > most_capacity(p) || !(p->fp_rate > 0 && p->fp_rate < 1))
        return bad(err, "capacity or rate");
    if (!p->growth || p->growth > DJ_MAX_GROWTH || !(p->tightening > 0 && p->tightening < 1))
        return bad(err, "growth or tightening");
    if (!p->visit || p->visit > DJ_MAX_VISIT)
        return bad(err, "visit");
    if (!past_is_sound(p))
        return bad(err, "the account of earlier visits");
    if (p->folds && (p->folds > DJ_MAX_FOLDS || !can_fold(p)))
        return bad(err, "number of folds");
    if (!n_parts || n_parts > DJ_MAX_PARTS ||
        (p->kind != DEJA_SCALABLE && p->kind != DEJA_LAYERED && n_parts != dj_plan_parts(p)))
        return bad(err, "number of parts");
    if (paired ? !p->deletions || p->deletions > DJ_MAX_CAPACITY : p->deletions != 0)
        return bad(err, "number of deletions");
    if (!is_number(p->multiplier, 1e9) || (p->multiplier > 0 && !has_multiplier(p)))
        return bad(err, "multiplier");
    return DEJA_OK;
}

/* --- Parts ------------------------------------------------------------------- */

static uint64_t granule_of(const struct dj_plan *plan, uint32_t kind)
{
    switch (kind) {
    case DEJA_STATIC:
        return 1;
    case DEJA_CLASSIC:
        return 64;
    case DEJA_WINDOW:
        return (uint64_t)DJ_BLOCK_BITS * dj_plan_lines(plan);
    }
    return DJ_BLOCK_BITS;
}

static bool shape_is_possible(const struct dj_plan *plan, const struct dj_shape *s)
{
    const bool is_static = s->kind == DEJA_STATIC;
    if (!s->bits || s->bits > DJ_MAX_BITS || s->bits % granule_of(plan, s->kind) || !s->k)
        return false;
    if (is_static)
        return s->k == DJ_FUSE_POSITIONS &&
               s->bits == dj_fuse_slots(&plan->fuse) * plan->fuse.width;
    return s->k <= dj_shape_most_k(s->kind);
}

/* Whether a body of this shape has about the rate p, or less, when it holds n keys. */
static bool body_reaches(const struct dj_shape *s, uint64_t n, double p)
{
    struct dj_shape body = *s;
    body.no_twins = true;
    if (s->kind == DEJA_EXACT)
        return 5 * n <= 4 * (s->bits / 64); /* four slots in five */
    return dj_shape_rate(&body, (double)n) <= 2 * p;
}

/* A part of a series was made with the fewest bits that reach its rate. */
static bool body_is_lean(const struct dj_part *p)
{
    enum {
        FEW = 4
    };
    struct dj_shape half = p->shape;
    const uint64_t granule = p->shape.kind == DEJA_CLASSIC ? 64 : DJ_BLOCK_BITS;
    if (p->shape.bits <= FEW * granule)
        return true;
    half.bits = p->shape.bits / 2 / granule * granule;
    if (p->shape.kind == DEJA_EXACT)
        return !body_reaches(&half, p->capacity, p->fp_rate);
    return dj_shape_rate(&half, (double)p->capacity) > p->fp_rate;
}

/* The capacity and rate of part i of a series, as plan.c makes them. */
static bool is_next_in_series(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    const double rate = dj_plan_series_rate(plan, i);
    uint64_t capacity = plan->capacity;
    for (uint32_t step = 0; step < i; step++) {
        if (capacity > DJ_MAX_CAPACITY / plan->growth)
            return false;
        capacity *= plan->growth;
    }
    return p->capacity == capacity && fabs(p->fp_rate - rate) <= 1e-6 * rate &&
           body_reaches(&p->shape, p->capacity, p->fp_rate) && body_is_lean(p);
}

static bool part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    if (!shape_is_possible(plan, &p->shape) || !p->capacity || p->capacity > most_capacity(plan) ||
        !(p->fp_rate > 0 && p->fp_rate <= 1))
        return false;
    if (plan->kind == DEJA_SCALABLE)
        return is_next_in_series(plan, p, i);
    if (dj_layering_is_salted(plan) && i > 0)
        return body_reaches(&p->shape, p->capacity, p->fp_rate);
    return plan->kind == DEJA_PAIRED || p->capacity == plan->capacity;
}

/* Kinds all of whose bodies have one size. */
static bool is_alike(const struct dj_plan *plan)
{
    return plan->kind != DEJA_SCALABLE && plan->kind != DEJA_PAIRED && plan->kind != DEJA_LAYERED;
}

int dj_part_check(const struct dj_plan *plan, const struct dj_part *first, const struct dj_part *p,
                  uint32_t i, deja_error *err)
{
    char field[32];
    snprintf(field, sizeof field, "part %u", i + 1);
    if (plan->kind == DEJA_PAIRED && i == 1 && p->capacity != plan->deletions)
        return bad(err, "number of deletions");
    if (!part_is_sound(plan, p, i))
        return bad(err, field);
    if (is_alike(plan) && (p->shape.bits != first->shape.bits || p->shape.k != first->shape.k))
        return bad(err, "part table");
    return DEJA_OK;
}

/* A static filter takes no more keys, so its rate sizes nothing; those of a series were compared
 * part by part. */
static bool plan_reaches_rate(const struct dj_plan *plan)
{
    const double n = (double)plan->capacity;
    if (plan->kind == DEJA_STATIC || plan->kind == DEJA_SCALABLE)
        return true;
    if (plan->kind == DEJA_WINDOW)
        return dj_plan_window_rate(plan, n) <= 2 * plan->fp_rate;
    if (plan->kind == DEJA_EXACT)
        return body_reaches(&plan->shape, plan->capacity, plan->fp_rate);
    return dj_shape_rate_of(&plan->shape, plan->filters, n) <= 2 * plan->fp_rate;
}

/* m = n k M, rounded up; folding halves both sides. */
static bool plan_has_multiplier(const struct dj_plan *plan)
{
    const double keys = (double)plan->capacity * plan->shape.k;
    return keys * plan->multiplier * dj_shape_unit(&plan->shape) <=
           (double)plan->shape.bits * (1 + 1e-9);
}

int dj_sizes_check(const struct dj_plan *plan, deja_error *err)
{
    if (plan->folds && plan->shape.bits > DJ_MAX_BITS >> plan->folds)
        return bad(err, "number of folds");
    if (dj_plan_words(plan) > DJ_MAX_WORDS)
        return bad(err, "part table");
    if (!plan_has_multiplier(plan))
        return bad(err, "multiplier");
    if (!plan_reaches_rate(plan))
        return dj_fail(err, DEJA_EFORMAT,
                       "capacity or rate is damaged: %llu bits do not hold %llu keys at rate %g",
                       (unsigned long long)plan->shape.bits, (unsigned long long)plan->capacity,
                       plan->fp_rate);
    return DEJA_OK;
}

/* --- Filters ------------------------------------------------------------------ */

static int check_filter(const deja_filter *f, uint32_t n_parts, deja_error *err)
{
    struct dj_part parts[DJ_MAX_PARTS];
    int rc = dj_plan_check(&f->plan, n_parts, err);
    for (uint32_t i = 0; i < n_parts && rc == DEJA_OK; i++) {
        rc = dj_part_check(&f->plan, f->part[0], f->part[i], i, err);
        parts[i].shape = f->part[i]->shape;
        parts[i].layer = f->part[i]->layer;
    }
    if (rc == DEJA_OK && f->plan.kind == DEJA_LAYERED &&
        !dj_layering_is_sound(&f->plan, parts, n_parts))
        rc = bad(err, "layers in the part table");
    return rc == DEJA_OK ? dj_sizes_check(&f->plan, err) : rc;
}

int dj_filter_check(const deja_filter *f, uint32_t n_parts, deja_error *err)
{
    deja_error why = {0};
    if (check_filter(f, n_parts, &why) == DEJA_OK)
        return DEJA_OK;
    return dj_fail(err, DEJA_EINVAL,
                   "the result could not be loaded again (%s); rebuild the filter from its keys",
                   why.text);
}

/* --- What may be made without being asked for ----------------------------------- */

static uint64_t bytes_of(const deja_filter *f)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->n_parts; i++)
        bytes += f->part[i]->body_len;
    return bytes;
}

static bool fits(uint64_t have, uint64_t more, uint64_t most)
{
    return have + more <= DJ_UNASKED_BYTES || more <= most;
}

bool dj_growth_fits(const deja_filter *f, uint32_t n_parts)
{
    const uint64_t have = bytes_of(f);
    uint64_t more = 0;
    for (uint32_t i = f->n_parts; i < n_parts; i++)
        more += dj_part_body_len(&f->part[i]->shape);
    if (f->plan.kind != DEJA_SCALABLE)
        return fits(have, more, DJ_UNASKED_TIMES * have);
    const uint64_t newest = f->part[f->n_parts - 1]->body_len;
    return fits(have, more, DJ_PART_TIMES * f->plan.growth * newest);
}

bool dj_renewal_fits(const deja_filter *f, uint64_t bytes)
{
    return fits(0, bytes, DJ_UNASKED_TIMES * bytes_of(f));
}
