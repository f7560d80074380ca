/* node_error.c - makes a DejaError from a status and a text of the library.
 *
 * The library's texts call an option `options.fp_rate`; here it becomes fpRate, the name that
 * JavaScript uses.  The class itself is in JavaScript (errors.js); every environment (the main thread
 * and each worker) has its own, which setup() stores in the environment's data. */
#include "node_error.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void free_class(napi_env env, void *data, void *hint)
{
    (void)hint;
    napi_delete_reference(env, *(napi_ref *)data);
    free(data);
}

napi_value node_error_setup(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    if (!node_call_is(env, arg[0], napi_function))
        return node_call_type_error(env, "DejaError", "a class");
    napi_ref *ref = malloc(sizeof *ref);
    if (!ref || napi_create_reference(env, arg[0], 1, ref) != napi_ok) {
        free(ref);
        return node_call_failed(env);
    }
    NODE_TRY(napi_set_instance_data(env, ref, free_class, NULL));
    return node_call_undefined(env);
}

bool node_error_ok(struct node_failure *failure, int status)
{
    failure->number = status == DEJA_EIO ? errno : 0;
    failure->status = status;
    return status == DEJA_OK;
}

/* The library copies the word before it asks for the next one. */
static const char *word(const deja_option *o)
{
    static _Thread_local char text[64];
    node_call_camel(o->name, text, sizeof text);
    return text;
}

static napi_value message_of(napi_env env, const struct node_failure *failure)
{
    char text[512];
    if (!failure->err.status)
        return node_call_text(env, deja_strerror(failure->status));
    deja_option_translate(failure->err.text, word, text, sizeof text);
    return node_call_text(env, text);
}

napi_value node_error_make(napi_env env, const struct node_failure *failure)
{
    void *data = NULL;
    napi_value class = NULL, error = NULL;
    NODE_TRY(napi_get_instance_data(env, &data));
    if (!data)
        return node_call_failed(env);
    NODE_TRY(napi_get_reference_value(env, *(napi_ref *)data, &class));
    napi_value arg[] = {message_of(env, failure), node_call_real(env, failure->status),
                        node_call_real(env, failure->number),
                        node_call_real(env, (double)failure->done)};
    NODE_TRY(napi_new_instance(env, class, 4, arg, &error));
    return error;
}

napi_value node_error_throw(napi_env env, const struct node_failure *failure)
{
    napi_value error = node_error_make(env, failure);
    if (error)
        napi_throw(env, error);
    return NULL;
}

napi_value node_error_throw_text(napi_env env, int status, const char *text)
{
    struct node_failure failure = {.status = status, .err = {.status = status}};
    snprintf(failure.err.text, sizeof failure.err.text, "%s", text);
    return node_error_throw(env, &failure);
}
