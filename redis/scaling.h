/* scaling.h - how far a filter can grow on this server. */
#ifndef SCALING_H
#define SCALING_H
#include "value.h"

/* Keys that a filter of these options, of kind scalable, holds when it has grown as far as it can:
 * its parts are counted, and filter-max-bytes ends the series; 0: not even the first part fits. */
uint64_t scaling_most(const deja_options *opt);
/* The same for a filter that is there and may have grown. */
uint64_t scaling_most_of(const deja_stats *o);

#endif
