/* sound.h - checks that every filter passes, whether created, loaded or computed. */
#ifndef DJ_SOUND_H
#define DJ_SOUND_H
#include "kinds/kind.h"

/* Whether 0 <= x < end; false for NaN. */
static inline bool dj_is_number(double x, double end)
{
    return x >= 0 && x < end;
}

/* Call these in order: each relies on the ones before it.  They check the plan's numbers except
 * sizes; part i; all parts together; and, once plan->shape is set, sizes against capacity and
 * rate.  An error names the field. */
int dj_plan_check(const struct dj_plan *plan, uint32_t n_parts, deja_error *err);
int dj_part_check(const struct dj_plan *plan, const struct dj_part *first,
                  const struct dj_part *part, uint32_t i, deja_error *err);
int dj_parts_check(const struct dj_plan *plan, const struct dj_part *part, uint32_t n_parts,
                   deja_error *err);
int dj_sizes_check(const struct dj_plan *plan, deja_error *err);
/* Whether a filter with its first n_parts parts, with or without bodies, could be loaded again.
 * Every operation checks this before it replaces a filter with another.  Returns DEJA_EINVAL if
 * not. */
int dj_filter_check(const deja_filter *f, uint32_t n_parts, deja_error *err);

#endif
