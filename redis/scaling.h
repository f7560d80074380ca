/* scaling.h - how far a filter can grow on this server. */
#ifndef SCALING_H
#define SCALING_H
#include "value.h"

/* The capacity of a scalable filter with these options when it has grown as far as its number of
 * parts and filter-max-bytes allow; 0: not even the first part fits. */
uint64_t scaling_most(const deja_options *opt);
/* The same for an existing filter. */
uint64_t scaling_most_of(const deja_stats *o);

#endif
