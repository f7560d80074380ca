/* static.h - the size of a static filter, for its builder. */
#ifndef DJ_STATIC_H
#define DJ_STATIC_H
#include "kinds/plan.h"

/* Size a static filter for n keys: fuse.width is given, or 0 for the widest that fits memory bytes
 * (0: any number of them). */
int dj_static_size(struct dj_plan *plan, uint64_t n, uint64_t memory, deja_error *err);
/* The rate of fingerprints of this many bits. */
double dj_static_rate(uint32_t width);

#endif
