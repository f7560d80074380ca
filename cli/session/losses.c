/* losses.c - how many new lines a run of dedup probably lost; see losses.h. */
#include "cli/session/losses.h"
#include <math.h>

/* How many lines are lost for each n that are found to be new. */
static double lost_of(uint64_t n, double rate)
{
    return (double)n * rate / fmax(1 - rate, 1e-3);
}

/* An upper bound that does not need the body. */
static double at_most(const deja_filter *f, uint64_t n)
{
    deja_stats s = DEJA_STATS_INIT;
    if (deja_filter_stats(f, 0, &s, NULL) < 0 || s.excess || s.folds || s.unions)
        return INFINITY; /* the rate can be above fp_rate */
    return lost_of(n, s.fp_rate + s.merged_rate);
}

void losses_add(struct losses *l, const deja_filter *f, uint64_t n)
{
    deja_stats s = DEJA_STATS_INIT;
    if (l->marked)
        return;
    const double most = at_most(f, n);
    if (!l->judged && l->first + most < LOSSES_LEAST / 2) {
        l->first += most;
        return;
    }
    if (deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    if (l->judged) {
        l->mark = s.lost;
        l->marked = true;
    } else {
        l->first += lost_of(n, s.fp_now);
        l->judged = true;
    }
}

double losses_of_run(const struct losses *l, const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    if (!l->marked || deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) < 0)
        return l->first;
    return l->first + fmax(s.lost - l->mark, 0);
}

double losses_in_memory(const deja_filter *f, uint64_t n)
{
    deja_stats s = DEJA_STATS_INIT;
    const double most = at_most(f, n);
    if (most < LOSSES_LEAST || deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) < 0)
        return most < LOSSES_LEAST ? most : 0;
    return s.lost;
}
