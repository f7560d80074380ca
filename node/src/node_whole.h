/* node_whole.h - calls on a whole filter. */
#ifndef NODE_WHOLE_H
#define NODE_WHOLE_H
#include "node_call.h"

napi_value node_whole_sync(napi_env env, napi_callback_info info);
napi_value node_whole_merge(napi_env env, napi_callback_info info);
napi_value node_whole_overlap(napi_env env, napi_callback_info info);
napi_value node_whole_fold(napi_env env, napi_callback_info info);
napi_value node_whole_rotate(napi_env env, napi_callback_info info);
napi_value node_whole_older(napi_env env, napi_callback_info info);
napi_value node_whole_expire(napi_env env, napi_callback_info info);
napi_value node_whole_bytes(napi_env env, napi_callback_info info);
#endif
