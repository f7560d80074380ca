/* options.h - turns options into a plan. */
#ifndef DJ_OPTIONS_H
#define DJ_OPTIONS_H
#include "kinds/plan.h"

/* Copies options of any version: missing fields become 0, unknown ones must be 0. */
int dj_options_read(const deja_options *opt, deja_options *known, deja_error *err);
/* Checks each given option by itself (optiontable.c): the kind accepts it, and its value is in
 * range. */
int dj_option_check(const deja_options *opt, uint32_t kind, uint32_t part_kind, deja_error *err);
/* Whether `want` gives this option and `have` has a different value. */
bool dj_option_differs(const deja_option *o, const deja_options *want, const deja_options *have);
/* The bits of `flags` that have a row in the option table. */
uint32_t dj_option_flags(void);
/* Makes the plan for options that dj_options_read has copied. */
int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* The options that a filter of this plan was made with, except sizes, key, seed and URL rules. */
deja_options dj_plan_options(const struct dj_plan *plan);
/* The rate of this plan or, if a filter with the sizes of `next` cannot reach it, one that it can
 * reach: the rate of twins grows with the keys. */
double dj_plan_rate_for(const struct dj_plan *plan, const deja_options *next);
/* Refuses a kind that is built from all keys at once. */
int dj_plan_refuse_built(const struct dj_plan *plan, deja_error *err);

#endif
