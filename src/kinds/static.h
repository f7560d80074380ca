/* static.h - the sizes of a static filter, for its builder. */
#ifndef DJ_STATIC_H
#define DJ_STATIC_H
#include "kinds/plan.h"

/* Sizes a static filter for n keys.  If fuse.width is 0, it becomes the widest that fits into
 * `memory` bytes (0: no limit). */
int dj_static_size(struct dj_plan *plan, uint64_t n, uint64_t memory, deja_error *err);
/* Gives it a second part for n exceptions, more than 0. */
int dj_static_except(struct dj_plan *plan, uint64_t n, deja_error *err);
/* The false-positive rate of fingerprints of this many bits. */
double dj_static_rate(uint32_t width);

#endif
