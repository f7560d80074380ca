/* node_call.c - the few things that every Node-API call does: read arguments, make results. */
#include "node_call.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAFE_INTEGER ((UINT64_C(1) << 53) - 1)

napi_value node_call_failed(napi_env env)
{
    bool pending = true;
    napi_is_exception_pending(env, &pending);
    if (!pending)
        napi_throw_error(env, "DEJA_ENODE", "Node.js refused a call of the addon");
    return NULL;
}

bool node_call_args(napi_env env, napi_callback_info info, size_t n, napi_value *arg)
{
    size_t given = n;
    if (napi_get_cb_info(env, info, &given, arg, NULL, NULL) == napi_ok)
        return true;
    node_call_failed(env);
    return false;
}

napi_value node_call_type_error(napi_env env, const char *what, const char *wanted)
{
    char text[160];
    snprintf(text, sizeof text, "%s must be %s", what, wanted);
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", text);
    return NULL;
}

bool node_call_is(napi_env env, napi_value value, napi_valuetype type)
{
    napi_valuetype found = napi_undefined;
    return napi_typeof(env, value, &found) == napi_ok && found == type;
}

napi_value node_call_whole(napi_env env, uint64_t n)
{
    napi_value value = NULL;
    if (n > SAFE_INTEGER)
        napi_create_bigint_uint64(env, n, &value);
    else
        napi_create_double(env, (double)n, &value);
    return value;
}

napi_value node_call_real(napi_env env, double x)
{
    napi_value value = NULL;
    napi_create_double(env, x, &value);
    return value;
}

napi_value node_call_bool(napi_env env, bool yes)
{
    napi_value value = NULL;
    napi_get_boolean(env, yes, &value);
    return value;
}

napi_value node_call_text(napi_env env, const char *text)
{
    napi_value value = NULL;
    napi_create_string_utf8(env, text ? text : "", NAPI_AUTO_LENGTH, &value);
    return value;
}

napi_value node_call_bytes_as_text(napi_env env, deja_slice bytes)
{
    napi_value value = NULL;
    if (napi_create_string_utf8(env, bytes.len ? bytes.data : "", bytes.len, &value) != napi_ok)
        return node_call_failed(env);
    return value;
}

napi_value node_call_undefined(napi_env env)
{
    napi_value value = NULL;
    napi_get_undefined(env, &value);
    return value;
}

bool node_call_set(napi_env env, napi_value object, const char *name, napi_value value)
{
    return value && napi_set_named_property(env, object, name, value) == napi_ok;
}

uint32_t node_call_u32(napi_env env, napi_value value)
{
    uint32_t n = 0;
    napi_get_value_uint32(env, value, &n);
    return n;
}

char *node_call_path(napi_env env, napi_value value)
{
    size_t len = 0;
    if (node_call_is(env, value, napi_undefined))
        return NULL;
    if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok) {
        node_call_type_error(env, "path", "a string");
        return NULL;
    }
    char *path = malloc(len + 1);
    if (!path) {
        napi_throw_error(env, "DEJA_ENOMEM", "out of memory");
        return NULL;
    }
    napi_get_value_string_utf8(env, value, path, len + 1, &len);
    if (memchr(path, 0, len)) {
        free(path);
        node_call_type_error(env, "path", "a string without null bytes");
        return NULL;
    }
    return path;
}

bool node_call_view(napi_env env, napi_value value, deja_slice *bytes)
{
    napi_typedarray_type type;
    bool is = false;
    void *data = NULL;
    size_t len = 0;
    if (napi_is_typedarray(env, value, &is) != napi_ok || !is)
        return false;
    if (napi_get_typedarray_info(env, value, &type, &len, &data, NULL, NULL) != napi_ok)
        return false;
    *bytes = (deja_slice){.data = data, .len = data ? len : 0};
    return type == napi_uint8_array;
}

void node_call_camel(const char *name, char *out, size_t cap)
{
    size_t at = 0;
    for (bool upper = false; *name && at + 1 < cap; name++) {
        if (*name == '_') {
            upper = true;
            continue;
        }
        const bool small = *name >= 'a' && *name <= 'z';
        out[at++] = upper && small ? (char)(*name - 'a' + 'A') : *name;
        upper = false;
    }
    out[at] = 0;
}
