/* generations.c - decides when the generations of a window begin, fill and expire; window.c
 * explains why. */
#include "kinds/generations.h"

#define MOST_TURNS (UINT64_C(1) << 62) /* a record can hold twice as many */

uint64_t dj_generations_quota(const struct dj_plan *plan)
{
    return plan->capacity / plan->generations + (plan->capacity % plan->generations != 0);
}

uint64_t dj_generations_lifetime(const struct dj_plan *plan)
{
    return plan->window_seconds / plan->generations +
           (plan->window_seconds % plan->generations != 0);
}

uint32_t dj_generations_newest(const struct dj_plan *plan, const struct dj_window *w)
{
    return (uint32_t)(w->turns % dj_plan_lines(plan));
}

uint64_t dj_generations_behind(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint64_t start = w->start[dj_generations_newest(plan, w)];
    return plan->window_seconds && start > now ? start - now : 0;
}

void dj_generations_restart(const struct dj_plan *plan, struct dj_window *w, uint64_t now)
{
    if (!dj_generations_behind(plan, w, now))
        return;
    for (uint32_t l = 0; l < dj_plan_lines(plan); l++)
        if (w->start[l] > now)
            w->start[l] = now;
}

bool dj_generations_lives(const struct dj_plan *plan, const struct dj_window *w, uint32_t line,
                          uint64_t now)
{
    const uint64_t start = w->start[line], seconds = plan->window_seconds;
    if (!start)
        return false;
    return !seconds || now < start || now - start < dj_generations_lifetime(plan) + seconds;
}

unsigned dj_generations_living(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint32_t lines = dj_plan_lines(plan);
    if (!plan->window_seconds)
        return (1u << lines) - 1; /* generations that have not begun are empty */
    unsigned living = 0;
    for (uint32_t l = 0; l < lines; l++)
        living |= (unsigned)dj_generations_lives(plan, w, l, now) << l;
    return living;
}

uint64_t dj_generations_room(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint32_t newest = dj_generations_newest(plan, w);
    if (w->clearing || !w->start[newest] || dj_generations_behind(plan, w, now))
        return 0;
    if (plan->window_seconds)
        return now - w->start[newest] < dj_generations_lifetime(plan) ? UINT64_MAX : 0;
    const uint64_t keys = atomic_load_explicit(&w->keys[newest], memory_order_relaxed);
    const uint64_t quota = dj_generations_quota(plan);
    return keys < quota ? quota - keys : 0;
}

void dj_generations_advance(const struct dj_plan *plan, struct dj_window *w, uint64_t now)
{
    const uint32_t lines = dj_plan_lines(plan);
    if (w->start[w->turns % lines]) { /* not the first generation of all */
        /* Only turns mod lines matters; only a crafted count reaches MOST_TURNS. */
        w->turns = (w->turns < MOST_TURNS ? w->turns : w->turns % lines) + 1;
        w->clearing = w->start[w->turns % lines] != 0;
    }
    w->start[w->turns % lines] = now;
    w->keys[w->turns % lines] = 0;
}
