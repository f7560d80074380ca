/* node_call.h - arguments, results and checks of Node-API calls. */
#ifndef NODE_CALL_H
#define NODE_CALL_H
#include "deja.h"
#define NAPI_VERSION 8
#include <node_api.h>

/* Returns from the calling function if a call of Node-API fails; a JavaScript exception is then
 * pending. */
#define NODE_TRY(call)                                                                            \
    do {                                                                                          \
        if ((call) != napi_ok)                                                                    \
            return node_call_failed(env);                                                         \
    } while (0)

/* Throws if nothing is pending; returns NULL. */
napi_value node_call_failed(napi_env env);
/* Fetches exactly n arguments; missing ones are undefined. */
bool node_call_args(napi_env env, napi_callback_info info, size_t n, napi_value *arg);
/* Throws a TypeError: `what` must be `wanted`.  Returns NULL. */
napi_value node_call_type_error(napi_env env, const char *what, const char *wanted);

bool node_call_is(napi_env env, napi_value value, napi_valuetype type);
/* A number, or a bigint if a number would lose digits. */
napi_value node_call_whole(napi_env env, uint64_t n);
napi_value node_call_real(napi_env env, double x);
napi_value node_call_bool(napi_env env, bool yes);
napi_value node_call_text(napi_env env, const char *text);
napi_value node_call_bytes_as_text(napi_env env, deja_slice bytes);
napi_value node_call_undefined(napi_env env);
bool node_call_set(napi_env env, napi_value object, const char *name, napi_value value);
/* Reads a 32-bit argument that our own JavaScript passes. */
uint32_t node_call_u32(napi_env env, napi_value value);

/* Copies a string; NULL (without an exception) if value is undefined, or with one pending if it is
 * not a string or contains a zero byte.  Free it. */
char *node_call_path(napi_env env, napi_value value);
/* The bytes of a Uint8Array; false if the value is not one.  They are valid until JavaScript runs. */
bool node_call_view(napi_env env, napi_value value, deja_slice *bytes);

/* Converts a name of the library (fp_rate) to one of JavaScript (fpRate). */
void node_call_camel(const char *name, char *out, size_t cap);
#endif
