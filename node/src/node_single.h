/* node_single.h - calls with one key: (handle, key). */
#ifndef NODE_SINGLE_H
#define NODE_SINGLE_H
#include "node_call.h"

napi_value node_single_add(napi_env env, napi_callback_info info);
napi_value node_single_has(napi_env env, napi_callback_info info);
napi_value node_single_remove(napi_env env, napi_callback_info info);
napi_value node_single_count(napi_env env, napi_callback_info info);
napi_value node_single_prefix(napi_env env, napi_callback_info info);
napi_value node_single_days(napi_env env, napi_callback_info info);
#endif
