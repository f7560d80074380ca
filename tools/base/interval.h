/* interval.h - the confidence interval of a share that was measured by a sample. */
#ifndef TOOLS_BASE_INTERVAL_H
#define TOOLS_BASE_INTERVAL_H
#include <stdint.h>

struct interval {
    double low, high;
};

/* The 95% interval of Clopper and Pearson for a share of which a sample of n > 0 items has `hits`
 * (hits <= n).  Each end misses the true share with a probability of at most 2.5%, whatever the
 * share is, even if there are no hits at all.  For a sample without replacement from few items,
 * the interval is wider than necessary. */
struct interval interval_of_share(uint64_t hits, uint64_t n);

#endif
