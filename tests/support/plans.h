/* plans.h - the plan of options that must be valid: the public one, and the internal one. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H
#include "filter/options.h"
#include "unit.h"

static inline deja_plan plan_of(deja_options opt)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err = {0, ""};
    if (deja_plan_make(&opt, &plan, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
    return plan;
}

static inline struct dj_plan resolved(deja_options opt)
{
    struct dj_plan plan;
    deja_error err = {0, ""};
    if (dj_plan_resolve(&opt, &plan, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
    return plan;
}

#endif
