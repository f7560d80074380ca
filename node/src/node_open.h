/* node_open.h - new filters and files: every way to get a handle. */
#ifndef NODE_OPEN_H
#define NODE_OPEN_H
#include "node_call.h"

napi_value node_open_new(napi_env env, napi_callback_info info);   /* options, grow, path, flags */
napi_value node_open_file(napi_env env, napi_callback_info info);  /* options, path, flags */
napi_value node_open_bytes(napi_env env, napi_callback_info info); /* options, bytes */
napi_value node_open_like(napi_env env, napi_callback_info info);  /* handle, path, flags */
napi_value node_open_copy(napi_env env, napi_callback_info info);  /* handle, path, flags */
napi_value node_open_static(napi_env env,
                            napi_callback_info info); /* options, keys, path, flags */
napi_value node_open_verify(napi_env env, napi_callback_info info); /* path */
napi_value node_open_guard(napi_env env, napi_callback_info info);
#endif
