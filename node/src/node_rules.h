/* node_rules.h - URL profiles. */
#ifndef NODE_RULES_H
#define NODE_RULES_H
#include "node_call.h"

/* Reads {profile, drop, keep, builtin}, which our own JavaScript makes.  Sets *rules, and *own if
 * they are to be freed.  Undefined: no rules.  False: an exception is pending. */
bool node_rules_read(napi_env env, napi_value value, const deja_url_rules **rules,
                     deja_url_rules **own);
/* The version of the built-in rules that a filter was made with; NULL and an exception if it has a
 * list of its own, which the caller must give. */
const deja_url_rules *node_rules_adopt(napi_env env, uint32_t profile, uint64_t id);
#endif
