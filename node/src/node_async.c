/* node_async.c - the same as node_many.c, off the main thread.
 *
 * The keys are copied before the call returns, because JavaScript may change, detach or collect
 * them while the thread works.  The filter stays: the call has a reference to its handle. */
#include "node_async.h"
#include "node_keys.h"
#include "node_many.h"
#include <stdlib.h>
#include <string.h>

struct job {
    struct node_filter *nf;
    enum node_verb verb;
    struct node_keys keys;
    union node_answers answers;
    struct node_failure failure;
    bool ok;
    napi_async_work work;
    napi_deferred deferred;
    napi_ref handle;
};

static void free_job(napi_env env, struct job *job)
{
    if (job->handle)
        napi_delete_reference(env, job->handle);
    if (job->work)
        napi_delete_async_work(env, job->work);
    node_keys_free(&job->keys);
    free(job->answers.byte);
    free(job);
}

static void execute(napi_env env, void *data)
{
    (void)env;
    struct job *job = data;
    job->ok = node_batch_run(job->nf, job->verb, job->keys.slice, job->keys.n, job->answers,
                             &job->failure);
}

static void settle(napi_env env, struct job *job)
{
    union node_answers out;
    napi_value value = NULL;
    if (job->ok) {
        value = node_many_answers(env, job->verb, job->keys.n, &out);
        if (value && job->keys.n)
            memcpy(out.byte, job->answers.byte, job->keys.n * (job->verb == NODE_COUNT ? 8 : 1));
    } else {
        value = node_error_make(env, &job->failure);
    }
    if (!value) { /* an exception, such as out of memory */
        job->ok = false;
        napi_get_and_clear_last_exception(env, &value);
    }
    if (value && job->ok)
        napi_resolve_deferred(env, job->deferred, value);
    else if (value)
        napi_reject_deferred(env, job->deferred, value);
}

static void complete(napi_env env, napi_status status, void *data)
{
    struct job *job = data;
    struct node_filter *nf = job->nf;
    if (status == napi_ok) /* otherwise the environment ends, and nobody waits */
        settle(env, job);
    if (status == napi_ok && nf->running == 1 && !nf->orphan) {
        nf->running = 0; /* the sizes can be read again */
        node_handle_report(env, nf, job->keys.n);
        nf->running = 1;
    }
    free_job(env, job);
    node_handle_leave(nf);
}

static bool read_keys(napi_env env, napi_value value, struct node_keys *keys)
{
    uint32_t n = 0;
    bool is_array = false;
    deja_slice text;
    if (napi_is_array(env, value, &is_array) != napi_ok)
        return node_call_failed(env), false;
    if (is_array) {
        if (napi_get_array_length(env, value, &n) != napi_ok)
            return node_call_failed(env), false;
        if (!node_keys_read(env, value, 0, n, keys))
            return false;
        node_keys_settle(keys);
        return true;
    }
    if (!node_call_view(env, value, &text))
        return node_call_type_error(env, "keys", "an array or a Uint8Array"), false;
    if (!node_keys_lines(keys, text))
        return node_error_throw_text(env, DEJA_ENOMEM, "out of memory"), false;
    return true;
}

static napi_value start(napi_env env, struct job *job, napi_value handle)
{
    napi_value name = node_call_text(env, "deja"), promise = NULL;
    job->answers.byte = malloc(8 * job->keys.n + 1);
    if (!job->answers.byte)
        return node_error_throw_text(env, DEJA_ENOMEM, "out of memory");
    NODE_TRY(napi_create_reference(env, handle, 1, &job->handle));
    NODE_TRY(napi_create_async_work(env, NULL, name, execute, complete, job, &job->work));
    NODE_TRY(napi_create_promise(env, &job->deferred, &promise));
    NODE_TRY(napi_queue_async_work(env, job->work));
    node_handle_enter(job->nf);
    return promise;
}

napi_value node_async_run(napi_env env, napi_callback_info info)
{
    napi_value arg[3], promise = NULL;
    if (!node_call_args(env, info, 3, arg))
        return NULL;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return node_error_throw_text(env, DEJA_ENOMEM, "out of memory");
    job->verb = (enum node_verb)node_call_u32(env, arg[2]);
    const bool changes = job->verb == NODE_ADD || job->verb == NODE_REMOVE;
    if (read_keys(env, arg[1], &job->keys))
        job->nf = node_handle_of(env, arg[0], changes ? NODE_ADDING : NODE_SHARED);
    if (job->nf)
        promise = start(env, job, arg[0]);
    if (!promise)
        free_job(env, job);
    return promise;
}
