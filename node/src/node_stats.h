/* node_stats.h - stats(handle, body): what a filter holds, as an object. */
#ifndef NODE_STATS_H
#define NODE_STATS_H
#include "node_call.h"

napi_value node_stats_of(napi_env env, napi_callback_info info);
/* can(handle): the names of its capabilities. */
napi_value node_stats_can(napi_env env, napi_callback_info info);
#endif
