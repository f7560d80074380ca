/* account.h - what the bits of each part say, added up to the account of a filter. */
#ifndef DJ_ACCOUNT_H
#define DJ_ACCOUNT_H
#include "kinds/kind.h"

/* One part's share of the account. */
struct dj_account {
    uint64_t count;  /* answered "new" ... */
    double keys;     /* ... as a number to compute with */
    double bits_set; /* slots for exact, counters for spectral */
    double came;     /* different keys that were offered: these and the lost ones */
    double distinct;
    double rate;
};

/* is_series: the filter has an account for all parts together of what was lost earlier. */
struct dj_account dj_account_of(const deja_filter *f, const struct dj_part *p, bool is_series);

/* Adds the share of part i: keys, distinct, fp_now, lost and capacity. */
typedef void dj_account_fn(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                           struct dj_account *a, uint32_t i);
/* The account of a filter: bits and bytes of all parts, and the rest by `add`. */
void dj_account_for(const deja_filter *f, deja_stats *s, dj_account_fn *add);

#endif
