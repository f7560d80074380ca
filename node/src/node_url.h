/* node_url.h - URLs without a filter. */
#ifndef NODE_URL_H
#define NODE_URL_H
#include "node_call.h"

napi_value node_url_canonicalize(napi_env env, napi_callback_info info); /* url, rules */
napi_value node_url_resolve(napi_env env, napi_callback_info info);      /* base, link */
napi_value node_url_layers(napi_env env, napi_callback_info info);       /* url */
napi_value node_url_expressions(napi_env env, napi_callback_info info);  /* canonical url */
#endif
