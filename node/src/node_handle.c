/* node_handle.c - owns a filter on behalf of a JavaScript object.
 *
 * The object's external frees the filter when it is collected or when its environment ends.  Calls
 * in the thread pool count themselves in, so a filter outlives them in any case.
 *
 * Access: while a call runs in the thread pool, the main thread may add, look up, remove and count,
 * which the library allows concurrently.  Every other call would need to wait, which the main thread
 * must not do, so it fails with DEJA_EBUSY. */
#include "node_handle.h"
#include <stdlib.h>

#define REPORT_EVERY 4096 /* adds of single keys */

static void release(struct node_filter *nf)
{
    deja_dedup_free(nf->dedup);
    deja_filter_free(nf->f);
    deja_url_rules_free(nf->own_rules);
    nf->dedup = NULL;
    nf->f = NULL;
    nf->rules = nf->own_rules = NULL;
}

static void report(napi_env env, struct node_filter *nf, int64_t bytes)
{
    int64_t all = 0;
    if (bytes != nf->reported)
        napi_adjust_external_memory(env, bytes - nf->reported, &all);
    nf->reported = bytes;
}

static void collect(napi_env env, void *data, void *hint)
{
    (void)hint;
    struct node_filter *nf = data;
    report(env, nf, 0);
    nf->orphan = true;
    if (nf->running)
        return;
    release(nf);
    free(nf);
}

void node_handle_enter(struct node_filter *nf)
{
    nf->running++;
}

void node_handle_leave(struct node_filter *nf)
{
    if (--nf->running || !nf->orphan)
        return;
    release(nf);
    free(nf);
}

void node_handle_report(napi_env env, struct node_filter *nf, size_t added)
{
    nf->adds += (unsigned)added;
    if (nf->in_file || nf->adds < REPORT_EVERY || nf->running || !nf->f)
        return;
    nf->adds = 0;
    deja_stats stats = DEJA_STATS_INIT;
    if (deja_filter_stats(nf->f, 0, &stats, NULL) == DEJA_OK)
        report(env, nf, (int64_t)stats.bytes);
}

napi_value node_handle_make(napi_env env, deja_filter *f, const deja_url_rules *rules,
                            deja_url_rules *own_rules, bool in_file)
{
    napi_value value = NULL;
    struct node_filter *nf = calloc(1, sizeof *nf);
    if (!nf || napi_create_external(env, nf, collect, NULL, &value) != napi_ok) {
        free(nf);
        deja_filter_free(f);
        deja_url_rules_free(own_rules);
        return node_call_failed(env);
    }
    nf->f = f;
    nf->rules = rules;
    nf->own_rules = own_rules;
    nf->in_file = in_file;
    node_handle_report(env, nf, REPORT_EVERY);
    return value;
}

bool node_handle_usable(napi_env env, const struct node_filter *nf, enum node_access access)
{
    const char *why = NULL;
    if (!nf->f)
        return node_error_throw_text(env, DEJA_EINVAL, "the filter is closed"), false;
    if (access == NODE_ALONE && nf->running)
        why = "an asynchronous call is using this filter: await it first";
    else if (access != NODE_SHARED && nf->dedup)
        why = "a dedup stream is using this filter: wait until it closes";
    if (why)
        node_error_throw_text(env, DEJA_EBUSY, why);
    return !why;
}

struct node_filter *node_handle_of(napi_env env, napi_value value, enum node_access access)
{
    void *data = NULL;
    if (!node_call_is(env, value, napi_external) ||
        napi_get_value_external(env, value, &data) != napi_ok || !data) {
        node_call_type_error(env, "the filter", "a Filter");
        return NULL;
    }
    struct node_filter *nf = data;
    return node_handle_usable(env, nf, access) ? nf : NULL;
}

napi_value node_handle_close(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    release(nf);
    report(env, nf, 0);
    return node_call_undefined(env);
}

napi_value node_handle_not_urls(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_SHARED);
    return nf ? node_call_whole(env, atomic_load(&nf->not_urls)) : NULL;
}

napi_value node_handle_running(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_SHARED);
    return nf ? node_call_whole(env, nf->running) : NULL;
}
