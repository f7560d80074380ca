/* remoteloss.c - how many new lines a run with a cache on servers probably lost.
 *
 * Of the keys that are new when the rate is p, a share of p is mistaken for seen; so for m that were
 * found to be new, m p / (1 - p) were lost.  The servers report p before and after the run.  In
 * between, it grows like a power of the number of keys: the one through both points or, if the
 * cache was empty, the number of positions of a key.  A batch is judged with the keys ahead of it,
 * so the first batch of a new cache loses nothing. */
#include "cli/server/remoteloss.h"
#include <math.h>

/* Joins neighbors, so that each bin holds twice as many keys. */
static void join(struct remoteloss *l)
{
    l->n /= 2;
    for (size_t i = 0; i < l->n; i++) {
        l->before[i] = l->before[2 * i];
        l->added[i] = l->added[2 * i] + l->added[2 * i + 1];
    }
    l->width = 2 * l->total / REMOTELOSS_BINS;
}

void remoteloss_add(struct remoteloss *l, uint64_t added)
{
    if (!added)
        return;
    if (l->n == REMOTELOSS_BINS)
        join(l);
    if (l->n && l->added[l->n - 1] + added <= l->width) {
        l->added[l->n - 1] += added;
    } else {
        l->before[l->n] = l->total;
        l->added[l->n++] = added;
    }
    l->total += added;
}

/* The exponent with which the rate grows. */
static double power_of(const deja_stats *before, const deja_stats *after)
{
    const double n0 = (double)before->keys, n1 = (double)after->keys;
    if (n0 > 0 && n1 > n0 && before->fp_now > 0 && after->fp_now > before->fp_now)
        return log(after->fp_now / before->fp_now) / log(n1 / n0);
    return (double)after->hashes * fmax(after->filters, 1);
}

double remoteloss_of(const struct remoteloss *l, const deja_stats *before, const deja_stats *after)
{
    const double n0 = (double)before->keys, n1 = (double)after->keys;
    const double power = power_of(before, after);
    double sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        /* Other clients may have added keys as well, or the cache may have forgotten some. */
        const double n = n0 + (n1 - n0) * (double)l->before[i] / (double)l->total;
        const double p = n1 > n0 ? after->fp_now * pow(n / n1, power) : after->fp_now;
        sum += (double)l->added[i] * p / fmax(1 - p, 1e-3);
    }
    return sum;
}
