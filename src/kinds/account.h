/* account.h - computes the statistics of a filter from the bits of each part. */
#ifndef DJ_ACCOUNT_H
#define DJ_ACCOUNT_H
#include "kinds/kind.h"

/* Statistics of one part. */
struct dj_account {
    uint64_t count;  /* keys answered "new" ... */
    double keys;     /* ... as a double */
    double bits_set; /* exact: slots; spectral: counters */
    double came;     /* distinct keys that were offered: these and the lost ones */
    double distinct; /* estimated from bits_set */
    double rate;
};

/* is_series: earlier losses are known only for all parts together. */
struct dj_account dj_account_of(const deja_filter *f, const struct dj_part *p, bool is_series);

/* Adds part i to keys, distinct, fp_now, lost and capacity. */
typedef void dj_account_fn(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                           struct dj_account *a, uint32_t i);
/* Computes the statistics of a filter: sums the bits and bytes of all parts; `add` does the
 * rest. */
void dj_account_for(const deja_filter *f, deja_stats *s, dj_account_fn *add);

/* How many keys of a union count as "new": the estimate from its bits minus the lost keys, but at
 * least the larger count of the two filters and at most their sum. */
uint64_t dj_account_keys(double distinct, double lost, uint64_t a, uint64_t b);
/* Sets the number of keys of a part after a union with one that had `other` keys. */
void dj_account_union(struct dj_part *p, uint64_t other);

#endif
