/* node_url.c - canonical forms, links and parts of URLs. */
#include "node_url.h"
#include "node_error.h"
#include "node_keys.h"
#include "node_rules.h"
#include <stdlib.h>

#define MOST_LAYERS 64

/* The room for a form: on the stack for usual URLs. */
struct room {
    char small[4096];
    char *heap, *data;
    size_t cap;
};

static bool room_for(napi_env env, size_t len, struct room *room)
{
    room->heap = NULL;
    room->data = room->small;
    room->cap = sizeof room->small;
    if (DEJA_URL_ROOM(len) <= room->cap)
        return true;
    room->cap = DEJA_URL_ROOM(len);
    room->data = room->heap = malloc(room->cap);
    if (!room->heap)
        node_error_throw_text(env, DEJA_ENOMEM, "out of memory");
    return room->heap;
}

static napi_value canonical(napi_env env, const deja_url_rules *rules, deja_slice url)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct room room;
    deja_slice form;
    if (!room_for(env, url.len, &room))
        return NULL;
    const int rc = deja_url_canon(rules, url, room.data, room.cap, &form, &failure.err);
    napi_value result = node_error_ok(&failure, rc) ? node_call_bytes_as_text(env, form)
                                                    : node_error_throw(env, &failure);
    free(room.heap);
    return result;
}

napi_value node_url_canonicalize(napi_env env, napi_callback_info info)
{
    const deja_url_rules *rules = NULL;
    deja_url_rules *own = NULL;
    struct node_key url;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg) || !node_rules_read(env, arg[1], &rules, &own))
        return NULL;
    if (!rules) {
        node_call_type_error(env, "the URL profile", "given");
    } else if (node_key_read(env, arg[0], &url)) {
        result = canonical(env, rules, url.bytes);
        node_key_free(&url);
    }
    deja_url_rules_free(own);
    return result;
}

napi_value node_url_resolve(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key base, link;
    struct room room;
    deja_slice url;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg) || !node_key_read(env, arg[0], &base))
        return NULL;
    if (node_key_read(env, arg[1], &link)) {
        if (room_for(env, base.bytes.len + link.bytes.len, &room)) {
            const int rc =
                deja_url_resolve(base.bytes, link.bytes, room.data, room.cap, &url, &failure.err);
            result = node_error_ok(&failure, rc) ? node_call_bytes_as_text(env, url)
                                                 : node_error_throw(env, &failure);
            free(room.heap);
        }
        node_key_free(&link);
    }
    node_key_free(&base);
    return result;
}

static napi_value texts(napi_env env, const deja_slice *part, size_t n)
{
    napi_value array = NULL;
    NODE_TRY(napi_create_array_with_length(env, n, &array));
    for (uint32_t i = 0; i < n; i++)
        NODE_TRY(napi_set_element(env, array, i, node_call_bytes_as_text(env, part[i])));
    return array;
}

napi_value node_url_layers(napi_env env, napi_callback_info info)
{
    deja_slice layer[MOST_LAYERS];
    struct node_key url;
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg) || !node_key_read(env, arg[0], &url))
        return NULL;
    napi_value result = texts(env, layer, deja_url_split(url.bytes, layer, MOST_LAYERS));
    node_key_free(&url);
    return result;
}

napi_value node_url_expressions(napi_env env, napi_callback_info info)
{
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    struct node_key url;
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg) || !node_key_read(env, arg[0], &url))
        return NULL;
    napi_value result = texts(env, expression, deja_url_expressions(url.bytes, expression));
    node_key_free(&url);
    return result;
}
