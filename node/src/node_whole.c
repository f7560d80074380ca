/* node_whole.c - calls that need a filter for themselves: sync, merge, fold, rotate, expire, export. */
#include "node_whole.h"
#include "node_handle.h"
#include "node_options.h"
#include <math.h>

#define REPORT_NOW 65536

static napi_value answer(napi_env env, struct node_filter *nf, int rc,
                         struct node_failure *failure)
{
    if (!node_error_ok(failure, rc))
        return node_error_throw(env, failure);
    node_handle_report(env, nf, REPORT_NOW);
    return node_call_undefined(env);
}

napi_value node_whole_sync(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    return answer(env, nf, deja_filter_sync(nf->f, &failure.err), &failure);
}

napi_value node_whole_merge(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[2];
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    struct node_filter *into = node_handle_of(env, arg[0], NODE_ALONE);
    const struct node_filter *from = into ? node_handle_of(env, arg[1], NODE_ALONE) : NULL;
    if (!from)
        return NULL;
    return answer(env, into, deja_filter_merge(into->f, from->f, &failure.err), &failure);
}

napi_value node_whole_overlap(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    double keys = 0, sigma = 0;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    struct node_filter *a = node_handle_of(env, arg[0], NODE_ALONE);
    const struct node_filter *b = a ? node_handle_of(env, arg[1], NODE_ALONE) : NULL;
    if (!b)
        return NULL;
    const int rc = deja_filter_overlap(a->f, b->f, &keys, &sigma, &failure.err);
    if (!node_error_ok(&failure, rc))
        return node_error_throw(env, &failure);
    NODE_TRY(napi_create_object(env, &result));
    node_call_set(env, result, "keys", node_call_real(env, keys));
    node_call_set(env, result, "sigma", node_call_real(env, sigma));
    return result;
}

napi_value node_whole_fold(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[2];
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    const uint32_t times = node_call_u32(env, arg[1]);
    return answer(env, nf, deja_filter_fold(nf->f, times, &failure.err), &failure);
}

napi_value node_whole_rotate(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_options o;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg) || !node_options_read(env, arg[1], &o))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (nf)
        result = answer(env, nf, deja_filter_rotate(nf->f, &o.opt, &failure.err), &failure);
    node_options_free(&o);
    return result;
}

napi_value node_whole_older(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    uint64_t keys = 0;
    napi_value arg[2];
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    const int rc = deja_filter_older(nf->f, node_call_u32(env, arg[1]), &keys, &failure.err);
    return node_error_ok(&failure, rc) ? node_call_whole(env, keys)
                                       : node_error_throw(env, &failure);
}

napi_value node_whole_expire(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    uint64_t keys = 0;
    napi_value arg[2];
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    const int rc = deja_filter_expire(nf->f, node_call_u32(env, arg[1]), &keys, &failure.err);
    return answer(env, nf, rc, &failure) ? node_call_whole(env, keys) : NULL;
}

napi_value node_whole_bytes(napi_env env, napi_callback_info info)
{
    napi_value arg[1], buffer = NULL;
    void *data = NULL;
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    const uint64_t len = deja_filter_export_len(nf->f);
    if (len > SIZE_MAX / 2)
        return node_error_throw_text(env, DEJA_ENOMEM, "the filter is too large for one Buffer");
    NODE_TRY(napi_create_buffer(env, (size_t)len, &data, &buffer));
    if (deja_filter_export(nf->f, 0, data, (size_t)len) != len)
        return node_error_throw_text(env, DEJA_EIO, "the filter's file was truncated");
    return buffer;
}
