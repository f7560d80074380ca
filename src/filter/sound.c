/* sound.c - checks that every filter passes, whether created, loaded or computed.
 *
 * The loader (store/format.c) checks each header before it uses a number in it.  Creating, folding,
 * rotating and growing check what they are about to make, so no operation leaves a filter that
 * cannot be loaded again.  The checks also tie the numbers that size the next filter to the actual
 * body, so a crafted file cannot make a small filter claim a huge one:
 *
 *   capacity and rate   The body reaches the rate at capacity.  That is true however the filter
 *                       was sized (src/kinds), and folding recomputes the rate.  So a header with
 *                       a rate of 1e-308 or a capacity of 2^31 is valid only with a body large
 *                       enough for it.
 *   parts               Equal parts have the capacity of the plan.  Part i of a scalable filter
 *                       has the capacity, the rate and about the size that growth and tightening
 *                       give it: half of its body would not be enough.
 *   multiplier          The body has at least n k M bits.
 *   folds               Unfolded, the body has a size that a filter can have.
 *
 * Predicted rates depend on the math library, so the checks allow a factor of 2.  That is a small
 * difference in bits, and every deja 0.1 file passes.
 *
 * A valid header can still ask for much memory; growth.c limits the memory that a filter takes
 * without being asked. */
#include "filter/sound.h"
#include "core/base/status.h"
#include <math.h>

/* --- The plan ---------------------------------------------------------------- */

static bool past_is_sound(const struct dj_plan *p)
{
    const struct dj_past *past = &p->past;
    return past->visits < p->visit && dj_is_number(past->missed, nextafter(1, 2)) &&
           dj_is_number(past->last_lost, HUGE_VAL) && past->last_distinct <= DJ_MAX_CAPACITY &&
           (past->visits || (past->missed <= 0 && past->last_lost <= 0 && !past->last_distinct));
}

/* deja never makes exact filters with F > 1, but it loads them. */
static bool is_one_filter(const struct dj_plan *p)
{
    return !(p->kind->can & (DEJA_CAN_REPEAT | DEJA_CAN_FILL));
}

static uint64_t most_capacity(const struct dj_plan *p)
{
    return p->kind->most_capacity ? p->kind->most_capacity : DJ_MAX_CAPACITY;
}

static bool can_fold(const struct dj_plan *p)
{
    return dj_kind_can(p->kind, DEJA_CAN_FOLD) && dj_kind_can(p->part_kind, DEJA_CAN_FOLD);
}

/* Whether the filter may have been sized by m = n k M, with k given. */
static bool has_multiplier(const struct dj_plan *p)
{
    return p->kind->by_multiplier && p->kind->by_multiplier(p) && p->own_k &&
           p->rules != DJ_RULES_0_1;
}

/* Checks the fields that only one kind has. */
static int check_own_fields(const struct dj_plan *p, deja_error *err)
{
    const uint32_t of_kinds =
        DEJA_MINIMAL_INCREASE | DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS | DEJA_DATES | DEJA_SPREAD;
    const uint32_t accepted = p->kind->flags | p->part_kind->flags;
    if (p->shape.counter_bits && !dj_kind_takes(p->kind, "counter_bits"))
        return dj_fail_damaged(err, "counter bits");
    if ((p->flags & of_kinds & ~accepted) || (p->own_k && p->kind->fixed_k))
        return dj_fail_damaged(err, "flags");
    if (p->flags & (DEJA_DATES | DEJA_SPREAD) && p->rules == DJ_RULES_0_1)
        return dj_fail_damaged(err, "flags");
    if (p->deletions && !dj_kind_takes(p->kind, "deletions"))
        return dj_fail_damaged(err, "number of deletions");
    return p->kind->check ? p->kind->check(p, err) : DEJA_OK;
}

int dj_plan_check(const struct dj_plan *p, uint32_t n_parts, deja_error *err)
{
    if (!p->filters || p->filters > DJ_MAX_FILTERS || (is_one_filter(p) && p->filters != 1))
        return dj_fail_damaged(err, "filters");
    if (p->machine &&
        (p->machine > p->filters || p->filters == 1 || !dj_kind_can(p->kind, DEJA_CAN_REPEAT)))
        return dj_fail_damaged(err, "number of the machine");
    if (!p->capacity || p->capacity > most_capacity(p) || !(p->fp_rate > 0 && p->fp_rate < 1))
        return dj_fail_damaged(err, "capacity or rate");
    if (!p->growth || p->growth > DJ_MAX_GROWTH || !(p->tightening > 0 && p->tightening < 1))
        return dj_fail_damaged(err, "growth or tightening");
    if (!p->visit || p->visit > DJ_MAX_VISIT)
        return dj_fail_damaged(err, "visit");
    if (!past_is_sound(p))
        return dj_fail_damaged(err, "record of earlier visits");
    if (p->folds && (p->folds > DJ_MAX_FOLDS || !can_fold(p)))
        return dj_fail_damaged(err, "number of folds");
    if (!n_parts || n_parts > DJ_MAX_PARTS ||
        (!p->kind->adds_parts && n_parts != dj_plan_parts(p)))
        return dj_fail_damaged(err, "number of parts");
    if (!dj_is_number(p->multiplier, 1e9) || (p->multiplier > 0 && !has_multiplier(p)))
        return dj_fail_damaged(err, "multiplier");
    return check_own_fields(p, err);
}

/* --- Parts ------------------------------------------------------------------- */

/* Half of the lines are for odd hashes, so there must be two. */
static bool can_have_marks(const struct dj_shape *s)
{
    return s->layout == DJ_TABLE && s->bits >= 2 * DJ_BLOCK_BITS;
}

static bool shape_is_possible(const struct dj_part *p)
{
    const struct dj_shape *s = &p->shape;
    const uint32_t fixed = p->kind->fixed_k;
    if (!s->bits || s->bits > DJ_MAX_BITS || !s->k)
        return false;
    if (s->key_lines && (s->key_lines == 1 || s->key_lines > p->kind->most_key_lines))
        return false;
    if (p->marked > 1 || (p->marked && !can_have_marks(s)))
        return false;
    if (s->layout != DJ_NO_LAYOUT && s->bits % dj_shape_granule(s))
        return false;
    return fixed ? s->k == fixed : dj_shape_splits(s);
}

static bool part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    if (!shape_is_possible(p) || !p->capacity || p->capacity > most_capacity(plan) ||
        !(p->fp_rate > 0 && p->fp_rate <= 1))
        return false;
    return plan->kind->part_is_sound ? plan->kind->part_is_sound(plan, p, i)
                                     : p->capacity == plan->capacity;
}

int dj_part_check(const struct dj_plan *plan, const struct dj_part *first, const struct dj_part *p,
                  uint32_t i, deja_error *err)
{
    if (!part_is_sound(plan, p, i))
        return dj_fail(err, DEJA_EFORMAT, "part %u is damaged", i + 1);
    const bool alike = !plan->kind->part_is_sound; /* all parts must be equal */
    if (alike && !dj_shape_same(&p->shape, &first->shape))
        return dj_fail_damaged(err, "part table");
    return DEJA_OK;
}

static bool plan_reaches_rate(const struct dj_plan *plan)
{
    return plan->kind->reaches_rate
               ? plan->kind->reaches_rate(plan)
               : dj_plan_rate_at(plan, (double)plan->capacity) <= 2 * plan->fp_rate;
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
        return dj_fail_damaged(err, "number of folds");
    if (dj_plan_words(plan) > DJ_MAX_WORDS)
        return dj_fail_damaged(err, "part table");
    if (!plan_has_multiplier(plan))
        return dj_fail_damaged(err, "multiplier");
    if (!plan_reaches_rate(plan))
        return dj_fail(err, DEJA_EFORMAT,
                       "capacity or rate is damaged: %llu bits do not hold %llu keys at rate %g",
                       (ull)plan->shape.bits, (ull)plan->capacity, plan->fp_rate);
    return DEJA_OK;
}

int dj_parts_check(const struct dj_plan *plan, const struct dj_part *part, uint32_t n_parts,
                   deja_error *err)
{
    return plan->kind->check_parts ? plan->kind->check_parts(plan, part, n_parts, err) : DEJA_OK;
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
        parts[i].capacity = f->part[i]->capacity;
        parts[i].origin = f->part[i]->origin;
    }
    if (rc == DEJA_OK)
        rc = dj_parts_check(&f->plan, parts, n_parts, err);
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
