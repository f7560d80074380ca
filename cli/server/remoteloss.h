/* remoteloss.h - how many new lines a run with a cache on servers probably lost. */
#ifndef CLI_SERVER_REMOTELOSS_H
#define CLI_SERVER_REMOTELOSS_H
#include "deja.h"

#define REMOTELOSS_BINS 64

/* The batches of a run, in bins of about equal size; start with {0}. */
struct remoteloss {
    uint64_t before[REMOTELOSS_BINS]; /* new keys of the run ahead of the bin */
    uint64_t added[REMOTELOSS_BINS];
    size_t n;
    uint64_t total, width;
};

/* A batch with this many new keys, all judged before any of them was added. */
void remoteloss_add(struct remoteloss *l, uint64_t added);
/* The expected losses; `before` and `after` are the statistics of the cache around the run. */
double remoteloss_of(const struct remoteloss *l, const deja_stats *before,
                     const deja_stats *after);

#endif
