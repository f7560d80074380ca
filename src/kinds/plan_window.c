/* plan_window.c - how large a window is: P = G + 1 generations, any of which may say "seen".
 *
 * A window of n keys has G full generations of ceil(n / G) keys each and one that fills, all of
 * one size.  Any of them can err, so each is sized for p / P.  A generation is a blocked filter;
 * the body holds P lines of every block, so its bits are P times those of one. */
#include "core/base/status.h"
#include "kinds/plan.h"
#include <math.h>

uint32_t dj_plan_lines(const struct dj_plan *plan)
{
    return plan->kind == DEJA_WINDOW ? plan->generations + 1 : 1;
}

uint64_t dj_plan_window_quota(const struct dj_plan *plan)
{
    return plan->capacity / plan->generations + (plan->capacity % plan->generations != 0);
}

struct dj_shape dj_plan_window_generation(const struct dj_shape *s, uint32_t lines)
{
    return (struct dj_shape){.kind = DEJA_BLOCKED, .k = s->k, .bits = s->bits / lines};
}

/* The rate when all P generations hold their share of n keys. */
double dj_plan_window_rate(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_plan_window_generation(&plan->shape, dj_plan_lines(plan));
    return 1 - pow(1 - dj_shape_rate(&s, n / plan->generations), dj_plan_lines(plan));
}

/* What is lost among the first n: the keys of generation j had to pass the j before it. */
double dj_plan_window_lost(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_plan_window_generation(&plan->shape, dj_plan_lines(plan));
    const double share = n / plan->generations, full = dj_shape_rate(&s, share);
    const double own = dj_shape_lost(&s, share) / share;
    double lost = 0;
    for (uint32_t j = 0; j < plan->generations; j++)
        lost += share * (1 - pow(1 - full, j) * (1 - own));
    return lost;
}

double dj_plan_window_part_rate(const struct dj_plan *plan)
{
    return plan->fp_rate / dj_plan_lines(plan);
}

/* One generation's size becomes that of all. */
static bool multiply_lines(struct dj_plan *plan, const struct dj_shape *s)
{
    if (s->bits > DJ_MAX_BITS / dj_plan_lines(plan))
        return false;
    plan->shape.k = s->k;
    plan->shape.bits = s->bits * dj_plan_lines(plan);
    return true;
}

int dj_plan_size_window(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    struct dj_shape s = {.kind = DEJA_BLOCKED, .k = plan->shape.k};
    const uint64_t row = (uint64_t)DJ_BLOCK_BITS / 8 * dj_plan_lines(plan);
    if (!opt->capacity && !opt->memory)
        return dj_fail(err, DEJA_EINVAL, "capacity is 0: say how many keys the window is to hold");
    if (!opt->memory)
        return dj_shape_fit(&s, dj_plan_window_quota(plan), dj_plan_window_part_rate(plan)) &&
                       multiply_lines(plan, &s)
                   ? DEJA_OK
                   : dj_plan_too_large(plan, err);
    if (opt->memory > DJ_MAX_BITS / 8 || opt->memory < row)
        return dj_fail(err, DEJA_EINVAL, "memory is %llu bytes: at least %llu, at most 2^50",
                       (unsigned long long)opt->memory, (unsigned long long)row);
    s.bits = opt->memory / row * DJ_BLOCK_BITS;
    if (opt->capacity)
        dj_shape_best_k(&s, dj_plan_window_quota(plan));
    else
        plan->capacity = dj_shape_capacity(&s, dj_plan_window_part_rate(plan)) * plan->generations;
    return multiply_lines(plan, &s) ? DEJA_OK : dj_plan_too_large(plan, err);
}
