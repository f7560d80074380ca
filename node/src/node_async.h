/* node_async.h - calls with many keys in Node's thread pool: (handle, keys, verb) -> promise. */
#ifndef NODE_ASYNC_H
#define NODE_ASYNC_H
#include "node_call.h"

napi_value node_async_run(napi_env env, napi_callback_info info);
#endif
