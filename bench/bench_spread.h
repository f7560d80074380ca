/* bench_spread.h - the median and the quartiles of repeated measurements. */
#ifndef BENCH_BENCH_SPREAD_H
#define BENCH_BENCH_SPREAD_H
#include <stdlib.h>

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median and the quartiles: half of the values are between low and high. */
struct bench_spread {
    double median, low, high;
};

/* Sorts x; n is at least 1. */
static inline struct bench_spread bench_spread_of(double *x, size_t n)
{
    qsort(x, n, sizeof *x, bench_ascending);
    return (struct bench_spread){(x[n / 2] + x[(n - 1) / 2]) / 2, x[(n - 1) / 4],
                                 x[n - 1 - (n - 1) / 4]};
}

#endif
