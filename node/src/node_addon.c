/* node_addon.c - the functions of the addon, which node/lib calls.
 *
 * The addon has no state of its own: everything belongs to an environment (the main thread or a
 * worker) or to a handle, so any number of workers can load it. */
#include "node_async.h"
#include "node_dedup.h"
#include "node_error.h"
#include "node_handle.h"
#include "node_many.h"
#include "node_open.h"
#include "node_options.h"
#include "node_single.h"
#include "node_stats.h"
#include "node_url.h"
#include "node_whole.h"

static napi_value version(napi_env env, napi_callback_info info)
{
    (void)info;
    return node_call_text(env, deja_version());
}

static napi_value simd(napi_env env, napi_callback_info info)
{
    (void)info;
    return node_call_text(env, deja_simd_name());
}

static const struct {
    const char *name;
    napi_callback call;
} functions[] = {
    {"setup", node_error_setup},
    {"version", version},
    {"simd", simd},
    {"options", node_options_table},
    {"plan", node_options_plan},

    {"create", node_open_new},
    {"open", node_open_file},
    {"fromBytes", node_open_bytes},
    {"like", node_open_like},
    {"copy", node_open_copy},
    {"build", node_open_static},
    {"verify", node_open_verify},
    {"guard", node_open_guard},
    {"close", node_handle_close},
    {"notUrls", node_handle_not_urls},
    {"running", node_handle_running},

    {"add", node_single_add},
    {"has", node_single_has},
    {"remove", node_single_remove},
    {"count", node_single_count},
    {"prefix", node_single_prefix},
    {"days", node_single_days},
    {"many", node_many_run},
    {"manyAsync", node_async_run},

    {"sync", node_whole_sync},
    {"merge", node_whole_merge},
    {"overlap", node_whole_overlap},
    {"fold", node_whole_fold},
    {"rotate", node_whole_rotate},
    {"older", node_whole_older},
    {"expire", node_whole_expire},
    {"toBytes", node_whole_bytes},
    {"stats", node_stats_of},
    {"can", node_stats_can},

    {"canonicalize", node_url_canonicalize},
    {"resolve", node_url_resolve},
    {"layers", node_url_layers},
    {"expressions", node_url_expressions},

    {"dedupBegin", node_dedup_begin},
    {"dedupJudge", node_dedup_judge},
    {"dedupCommit", node_dedup_commit},
    {"dedupPending", node_dedup_pending},
    {"dedupEnd", node_dedup_end},
};

/* Node.js calls these two by name. */
DEJA_API napi_value napi_register_module_v1(napi_env env, napi_value exports);
DEJA_API int32_t node_api_module_get_api_version_v1(void);

int32_t node_api_module_get_api_version_v1(void)
{
    return NAPI_VERSION;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        napi_value function = NULL;
        NODE_TRY(napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call,
                                      NULL, &function));
        NODE_TRY(napi_set_named_property(env, exports, functions[i].name, function));
    }
    return exports;
}
