/* options.h - what the caller said, as a plan. */
#ifndef DJ_OPTIONS_H
#define DJ_OPTIONS_H
#include "kinds/plan.h"

/* Options of any age as this library knows them; the rest zero, or refused. */
int dj_options_read(const deja_options *opt, deja_options *known, deja_error *err);
/* Looks at each option that is given by itself (optiontable.c): the kind accepts it, and its value
 * is in range. */
int dj_option_check(const deja_options *opt, uint32_t kind, deja_error *err);
/* Whether `want` gives this option and `have` has another value. */
bool dj_option_differs(const deja_option *o, const deja_options *want, const deja_options *have);
/* The bits of `flags` that rows of the option table stand for. */
uint32_t dj_option_flags(void);
/* The plan of options that dj_options_read has passed. */
int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* The options that a filter of this plan was made with, except sizes, key, seed and URL rules. */
deja_options dj_plan_options(const struct dj_plan *plan);
/* Refuses a kind that is built, not added to. */
int dj_plan_refuse_built(const struct dj_plan *plan, deja_error *err);

#endif
