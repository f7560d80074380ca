/* node_dedup.h - the lines of a stream that are new. */
#ifndef NODE_DEDUP_H
#define NODE_DEDUP_H
#include "node_call.h"

napi_value node_dedup_begin(napi_env env, napi_callback_info info);   /* handle */
napi_value node_dedup_judge(napi_env env, napi_callback_info info);   /* handle, lines */
napi_value node_dedup_commit(napi_env env, napi_callback_info info);  /* handle */
napi_value node_dedup_pending(napi_env env, napi_callback_info info); /* handle */
napi_value node_dedup_end(napi_env env, napi_callback_info info);     /* handle */
#endif
