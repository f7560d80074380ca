/* exact.h - what the exact kind and its variant with dates share. */
#ifndef DJ_EXACT_H
#define DJ_EXACT_H
#include "core/bits/slots.h"
#include "kinds/spatial.h"

struct dj_slots dj_exact_slots(const struct dj_part *p);
int dj_exact_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err);
bool dj_exact_reaches_rate(const struct dj_plan *plan);
void dj_exact_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add);
uint64_t dj_exact_room(const struct dj_part *p);

#endif
