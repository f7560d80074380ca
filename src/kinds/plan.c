/* plan.c - the steps from options to sizes that all kinds share.
 *
 * The caller gives two of capacity n, rate p and memory (if only n or memory is given, p has its
 * default), and this file computes the third.  The thesis' rule m = n k M uses a multiplier M
 * instead of p.  The spatial strategy splits the work evenly: F filters of rate p^(1/F), or of m
 * bits each.  Kinds with rules of their own call the steps that they need. */
#include "kinds/plan.h"
#include "core/base/status.h"
#include "core/bits/slots.h"
#include "kinds/kind.h"
#include <math.h>

#define LEAST_RATE 1e-300 /* the lowest rate that a file can record */

/* --- Rates ------------------------------------------------------------------- */

double dj_plan_part_rate(const struct dj_plan *plan)
{
    if (plan->kind->part_rate)
        return plan->kind->part_rate(plan);
    const bool several = plan->filters > 1; /* all of them would find a twin */
    const double p = several
                         ? dj_shape_rate_left(&plan->shape, (double)plan->capacity, plan->fp_rate)
                         : plan->fp_rate;
    return pow(p, 1.0 / plan->filters);
}

double dj_plan_rate_at(const struct dj_plan *plan, double n)
{
    return plan->kind->rate ? plan->kind->rate(plan, n)
                            : dj_shape_rate_of(&plan->shape, plan->filters, n);
}

double dj_plan_lost(const struct dj_plan *plan, double n)
{
    return plan->kind->lost ? plan->kind->lost(plan, n)
                            : dj_shape_lost_of(&plan->shape, plan->filters, n);
}

double dj_plan_rate(const struct dj_plan *plan)
{
    return fmin(fmax(dj_plan_rate_at(plan, (double)plan->capacity), LEAST_RATE), 1 - 1e-9);
}

bool dj_plan_reaches(const struct dj_shape *s, uint64_t n, double p)
{
    struct dj_shape body = *s;
    body.no_twins = true;
    if (dj_layout_is_table(s->layout))
        return 5 * n <= 4 * dj_shape_slots(s); /* four slots in five */
    return dj_shape_rate(&body, (double)n) <= 2 * p;
}

/* --- Sizes ------------------------------------------------------------------- */

int dj_plan_too_large(const struct dj_plan *plan, deja_error *err)
{
    const double twins = dj_shape_twins(&plan->shape, (double)plan->capacity);
    if (plan->fp_rate <= twins && !plan->shape.no_twins)
        return dj_fail(err, DEJA_EINVAL,
                       "rate %g: %d-bit hashes collide at a rate of %.2g among %llu keys; "
                       "lower options.capacity or raise options.fp_rate",
                       plan->fp_rate, plan->shape.layout == DJ_DATED ? DJ_DATED_BITS : 64, twins,
                       (ull)plan->capacity);
    return dj_fail(err, DEJA_EINVAL,
                   "no %s filter holds %llu keys at rate %g: lower options.capacity or raise "
                   "options.fp_rate",
                   plan->kind->name, (ull)plan->capacity, plan->fp_rate);
}

bool dj_plan_always(const struct dj_plan *plan)
{
    (void)plan;
    return true;
}

int dj_plan_check_multiplier(const deja_options *opt, const struct dj_plan *plan, deja_error *err)
{
    if (!opt->capacity || !opt->hashes || opt->memory || opt->fp_rate != 0)
        return dj_fail(err, DEJA_EINVAL,
                       "options.multiplier goes with options.capacity and options.hashes "
                       "(m = n k M), not with options.memory or options.fp_rate");
    if (!plan->kind->by_multiplier)
        return dj_fail(err, DEJA_EINVAL,
                       "options.multiplier sizes classic, blocked and spectral filters");
    return DEJA_OK;
}

/* m = n k M for each filter (thesis, equation 5.1), in counters if it has them. */
int dj_plan_by_multiplier(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const int rc = dj_plan_check_multiplier(opt, plan, err);
    if (rc < 0)
        return rc;
    const double bits =
        ceil((double)opt->capacity * opt->hashes * opt->multiplier * dj_shape_unit(&plan->shape));
    if (!(bits <= (double)DJ_MAX_BITS))
        return dj_plan_too_large(plan, err);
    plan->shape.bits = (uint64_t)bits;
    dj_shape_fewest_lines(&plan->shape, dj_plan_key_lines(plan)); /* options.c checked k */
    return dj_shape_round(&plan->shape) ? DEJA_OK : dj_plan_too_large(plan, err);
}

/* The largest power of two that is at most x > 0. */
static uint64_t power_of_2(uint64_t x)
{
    return UINT64_C(1) << (63 - __builtin_clzll(x));
}

static bool wants_power_of_2(const struct dj_plan *plan)
{
    return plan->kind->powers_of_2 && plan->kind->powers_of_2(plan);
}

/* In a given memory, a key has at most two lines unless the caller wants three: a size that is a power
 * of 2 then stays one, and the filter can be folded. */
static struct dj_key_lines lines_in_memory(const struct dj_plan *plan)
{
    struct dj_key_lines from = dj_plan_key_lines(plan);
    if (!plan->cache_lines && from.most > 2)
        from.most = 2;
    return from;
}

static int size_by_memory(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const uint32_t bodies = dj_plan_shares(plan), most_k = dj_hash_max_k(plan->hash);
    const uint64_t granule = dj_shape_granule(&plan->shape);
    plan->shape.bits = opt->memory * 8 / bodies / granule * granule;
    if (plan->shape.bits && wants_power_of_2(plan))
        plan->shape.bits = power_of_2(plan->shape.bits);
    if (!plan->shape.bits)
        return dj_fail(err, DEJA_EINVAL, "options.memory is %llu: it must be at least %llu bytes",
                       (ull)opt->memory, (ull)(granule / 8 * bodies));
    if (opt->capacity)
        dj_shape_best_lines(&plan->shape, lines_in_memory(plan), opt->capacity);
    else
        plan->capacity =
            dj_shape_capacity_lines(&plan->shape, lines_in_memory(plan), dj_plan_part_rate(plan));
    if (plan->shape.k > most_k) {
        plan->shape.k = most_k;
        if (!opt->capacity)
            plan->capacity = dj_shape_capacity(&plan->shape, dj_plan_part_rate(plan));
    }
    return DEJA_OK;
}

static int size_by_rate(struct dj_plan *plan, deja_error *err)
{
    if (!plan->capacity)
        return dj_fail(err, DEJA_EINVAL,
                       "options.capacity is 0: give the number of keys to expect");
    const uint32_t fixed_k = plan->shape.k, most_k = dj_hash_max_k(plan->hash);
    if (!dj_shape_fit_lines(&plan->shape, dj_plan_key_lines(plan), plan->capacity,
                            dj_plan_part_rate(plan)))
        return dj_plan_too_large(plan, err);
    if (plan->shape.k > most_k && !fixed_k) {
        plan->shape.k = most_k;
        if (!dj_shape_fit(&plan->shape, plan->capacity, dj_plan_part_rate(plan)))
            return dj_plan_too_large(plan, err);
    }
    if (wants_power_of_2(plan)) /* rounded up, which is at most 2^53 */
        plan->shape.bits = 2 * power_of_2(plan->shape.bits - 1);
    return DEJA_OK;
}

int dj_plan_check_two(const deja_options *opt, deja_error *err)
{
    return opt->capacity && opt->memory && opt->fp_rate != 0
               ? dj_fail(
                     err, DEJA_EINVAL,
                     "options.capacity, options.fp_rate and options.memory: give two; deja computes the third")
               : DEJA_OK;
}

int dj_plan_by_two(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const int rc = dj_plan_check_two(opt, err);
    if (rc < 0)
        return rc;
    return opt->memory ? size_by_memory(opt, plan, err) : size_by_rate(plan, err);
}

int dj_plan_settle(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (!plan->capacity)
        return dj_fail(err, DEJA_EINVAL,
                       "options.memory is %llu: too small for one key at rate %g",
                       (ull)opt->memory, plan->fp_rate);
    if (opt->multiplier != 0 || (opt->memory && opt->capacity))
        plan->fp_rate = dj_plan_rate(plan);
    return DEJA_OK;
}

int dj_plan_plain(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const int rc = opt->multiplier != 0 ? dj_plan_by_multiplier(opt, plan, err)
                                        : dj_plan_by_two(opt, plan, err);
    return rc == DEJA_OK ? dj_plan_settle(opt, plan, err) : rc;
}

/* --- Results of a plan ------------------------------------------------------------ */

/* Whether a kind can be the parts of a series.  A series does not add a key that an older part
 * has, so it cannot count keys; its parts must accept keys and keep them. */
static bool fits_a_series(const struct dj_kind *part_kind)
{
    return dj_kind_can(part_kind, DEJA_CAN_ADD) &&
           !(part_kind->can & (DEJA_CAN_COUNT | DEJA_CAN_EXPIRE));
}

bool dj_plan_fits_parts(const struct dj_kind *kind, const struct dj_kind *part_kind)
{
    if (!part_kind || !part_kind->body.contains)
        return false;
    if (dj_kind_can(kind, DEJA_CAN_GROW))
        return fits_a_series(part_kind);
    return part_kind == (kind->part_kind ? kind->part_kind : kind);
}

uint32_t dj_plan_parts(const struct dj_plan *plan)
{
    return plan->kind->parts ? plan->kind->parts : dj_plan_held(plan) + (plan->exceptions > 0);
}

uint32_t dj_plan_bodies(const struct dj_plan *plan)
{
    return plan->kind->bodies ? plan->kind->bodies(plan) : dj_plan_held(plan);
}

uint32_t dj_plan_shares(const struct dj_plan *plan)
{
    return plan->machine ? plan->filters : dj_plan_bodies(plan);
}

uint64_t dj_plan_bytes(const struct dj_plan *plan)
{
    return dj_part_body_len(&plan->shape) * dj_plan_bodies(plan) +
           dj_part_body_len(&plan->removal);
}

uint64_t dj_plan_reads(const struct dj_plan *plan)
{
    const uint32_t fixed = plan->kind->fixed_k;
    const uint32_t positions = plan->shape.layout == DJ_SPREAD ? plan->shape.k
                               : fixed                         ? fixed
                                                               : dj_shape_key_lines(&plan->shape);
    return (uint64_t)dj_plan_parts(plan) * dj_plan_lines(plan) * positions;
}

uint32_t dj_plan_lines(const struct dj_plan *plan)
{
    return plan->generations + 1;
}

struct dj_key_lines dj_plan_key_lines(const struct dj_plan *plan)
{
    const uint32_t most = plan->part_kind->most_key_lines;
    if (plan->rules == DJ_RULES_0_1 || !most)
        return (struct dj_key_lines){1, 1};
    return plan->cache_lines ? (struct dj_key_lines){plan->cache_lines, plan->cache_lines}
                             : (struct dj_key_lines){1, most};
}

uint32_t dj_plan_words(const struct dj_plan *plan)
{
    if (plan->kind->words)
        return plan->kind->words(plan);
    return dj_hash_is_single(plan->hash) ? 1 : plan->shape.k * plan->filters;
}

uint32_t dj_plan_stride(const struct dj_plan *plan, uint32_t i)
{
    return plan->kind->stride ? plan->kind->stride(plan, i) : dj_plan_words(plan);
}

const struct dj_kind *dj_plan_part_kind(const struct dj_plan *plan, uint32_t i)
{
    return plan->kind->kind_of_part ? plan->kind->kind_of_part(plan, i) : plan->part_kind;
}

/* Whether a new part has marks; deja 0.1 does not know them. */
static bool gets_marks(const struct dj_plan *plan, const struct dj_shape *s)
{
    return s->layout == DJ_TABLE && s->bits / DJ_BLOCK_BITS >= DJ_MARKED_LINES &&
           plan->rules != DJ_RULES_0_1;
}

bool dj_plan_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part)
{
    part->kind = plan->part_kind;
    part->step = i;
    part->origin = 0;
    part->shape = plan->shape;
    part->capacity = plan->capacity;
    part->stride = dj_plan_stride(plan, i);
    part->fuse = plan->fuse;
    part->fp_rate = dj_plan_part_rate(plan);
    if (part->fp_rate <= 0)
        part->fp_rate = LEAST_RATE; /* twins alone exceed a rate that was computed from a size */
    part->lines = dj_plan_lines(plan);
    part->minimal = plan->flags & DEJA_MINIMAL_INCREASE;
    if (plan->kind->part && !plan->kind->part(plan, i, part))
        return false;
    part->marked = gets_marks(plan, &part->shape);
    return true;
}
