/* node_handle.h - a filter that a JavaScript object owns. */
#ifndef NODE_HANDLE_H
#define NODE_HANDLE_H
#include "node_call.h"
#include "node_error.h"
#include <stdatomic.h>

/* Only the thread of its environment uses a handle, except that `running` calls in the thread pool
 * use f, rules and not_urls. */
struct node_filter {
    deja_filter *f; /* NULL: closed */
    const deja_url_rules *rules;
    deja_url_rules *own_rules; /* to free; or NULL */
    deja_dedup *dedup;         /* while a stream has lines that are not committed */
    _Atomic uint64_t not_urls;
    int64_t reported; /* bytes that V8's collector knows of */
    unsigned running; /* calls in the thread pool */
    unsigned adds;    /* since the last report */
    bool in_file;
    bool orphan; /* collected while a call was running, which then frees it */
};

/* What a call does to the filter: the library lets shared calls run concurrently and no others. */
enum node_access {
    NODE_SHARED,
    NODE_ADDING,
    NODE_ALONE
};

/* Takes over f, own_rules and rules; NULL and an exception if there is no memory. */
napi_value node_handle_make(napi_env env, deja_filter *f, const deja_url_rules *rules,
                            deja_url_rules *own_rules, bool in_file);
/* Returns the handle in an argument, or NULL with an exception: the filter is closed, or a call or
 * a stream uses it in a way that rules this access out. */
struct node_filter *node_handle_of(napi_env env, napi_value value, enum node_access access);
/* The same for a handle that is known, after JavaScript may have run. */
bool node_handle_usable(napi_env env, const struct node_filter *nf, enum node_access access);
/* Tells V8 how much memory the filter has; `added` keys came in. */
void node_handle_report(napi_env env, struct node_filter *nf, size_t added);
/* Count a call in the thread pool; the last one frees an orphan. */
void node_handle_enter(struct node_filter *nf);
void node_handle_leave(struct node_filter *nf);

/* close(handle) and isClosed(handle) */
napi_value node_handle_close(napi_env env, napi_callback_info info);
napi_value node_handle_not_urls(napi_env env, napi_callback_info info);
napi_value node_handle_running(napi_env env, napi_callback_info info);
#endif
