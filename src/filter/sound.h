/* sound.h - rules for every filter, whoever made it. */
#ifndef DJ_SOUND_H
#define DJ_SOUND_H
#include "kinds/kind.h"

/* From 0 to less than `end`; not NaN. */
static inline bool dj_is_number(double x, double end)
{
    return x >= 0 && x < end;
}

/* In this order, since each looks only at numbers that the ones before it have passed; the first
 * error names the field.  The plan's numbers, but for sizes; part i; all parts together; and sizes
 * against capacity and rate, when plan->shape is known. */
int dj_plan_check(const struct dj_plan *plan, uint32_t n_parts, deja_error *err);
int dj_part_check(const struct dj_plan *plan, const struct dj_part *first,
                  const struct dj_part *part, uint32_t i, deja_error *err);
int dj_parts_check(const struct dj_plan *plan, const struct dj_part *part, uint32_t n_parts,
                   deja_error *err);
int dj_sizes_check(const struct dj_plan *plan, deja_error *err);
/* Whether a filter with its first n_parts parts, bodies or not, could be loaded again: every
 * operation asks before it puts a filter in place of another.  DEJA_EINVAL. */
int dj_filter_check(const deja_filter *f, uint32_t n_parts, deja_error *err);

#endif
