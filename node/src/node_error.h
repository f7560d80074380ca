/* node_error.h - errors of the library as JavaScript exceptions. */
#ifndef NODE_ERROR_H
#define NODE_ERROR_H
#include "node_call.h"

/* setup(DejaError): the class of the errors of this environment. */
napi_value node_error_setup(napi_env env, napi_callback_info info);
/* The status of a failed call and what it left behind. */
struct node_failure {
    int status;
    int number;  /* errno, if status is DEJA_EIO */
    size_t done; /* keys that a batch finished before it failed */
    deja_error err;
};
#define NODE_FAILURE_NONE                                                                         \
    {                                                                                             \
        .status = DEJA_OK                                                                         \
    }
/* Notes the status of a call that got &failure->err; returns whether it succeeded. */
bool node_error_ok(struct node_failure *failure, int status);
napi_value node_error_make(napi_env env, const struct node_failure *failure);
/* Throws; returns NULL. */
napi_value node_error_throw(napi_env env, const struct node_failure *failure);
napi_value node_error_throw_text(napi_env env, int status, const char *text);
#endif
