/* node_single.c - add, look up, remove and count one key.
 *
 * A key without URL rules goes straight to the library; one with rules is a batch of one. */
#include "node_single.h"
#include "node_batch.h"
#include "node_keys.h"

/* Reads both arguments; the key first, so that nothing of JavaScript runs after the check of the
 * filter. */
static struct node_filter *begin(napi_env env, napi_callback_info info, enum node_access access,
                                 struct node_key *key)
{
    napi_value arg[2];
    if (!node_call_args(env, info, 2, arg) || !node_key_read(env, arg[1], key))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], access);
    if (!nf)
        node_key_free(key);
    return nf;
}

static napi_value end(napi_env env, struct node_key *key, bool ok, napi_value answer,
                      const struct node_failure *failure)
{
    node_key_free(key);
    return ok ? answer : node_error_throw(env, failure);
}

static bool run(struct node_filter *nf, enum node_verb verb, const struct node_key *key,
                union node_answers answers, struct node_failure *failure)
{
    return node_batch_run(nf, verb, &key->bytes, 1, answers, failure);
}

napi_value node_single_add(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key key;
    struct node_filter *nf = begin(env, info, NODE_ADDING, &key);
    if (!nf)
        return NULL;
    uint8_t answer = 0;
    bool is_new = false, ok;
    if (nf->rules) {
        ok = run(nf, NODE_ADD, &key, (union node_answers){.byte = &answer}, &failure);
        is_new = answer;
    } else {
        const int rc = deja_filter_add(nf->f, key.bytes, &is_new, &failure.err);
        ok = node_error_ok(&failure, rc);
    }
    node_handle_report(env, nf, 1);
    return end(env, &key, ok, node_call_bool(env, is_new), &failure);
}

napi_value node_single_has(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key key;
    struct node_filter *nf = begin(env, info, NODE_SHARED, &key);
    if (!nf)
        return NULL;
    uint8_t found = 0;
    bool ok;
    if (nf->rules) {
        ok = run(nf, NODE_HAS, &key, (union node_answers){.byte = &found}, &failure);
    } else {
        found = deja_filter_contains(nf->f, key.bytes);
        ok = node_error_ok(&failure, deja_filter_check_file(nf->f, &failure.err));
    }
    return end(env, &key, ok, node_call_bool(env, found), &failure);
}

/* A call whose answer is yes or no. */
static napi_value ask(napi_env env, napi_callback_info info, enum node_access access,
                      enum node_verb verb)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key key;
    struct node_filter *nf = begin(env, info, access, &key);
    if (!nf)
        return NULL;
    uint8_t yes = 0;
    const bool ok = run(nf, verb, &key, (union node_answers){.byte = &yes}, &failure);
    return end(env, &key, ok, node_call_bool(env, yes), &failure);
}

napi_value node_single_remove(napi_env env, napi_callback_info info)
{
    return ask(env, info, NODE_ADDING, NODE_REMOVE);
}

napi_value node_single_prefix(napi_env env, napi_callback_info info)
{
    return ask(env, info, NODE_SHARED, NODE_PREFIX);
}

napi_value node_single_count(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key key;
    struct node_filter *nf = begin(env, info, NODE_SHARED, &key);
    if (!nf)
        return NULL;
    uint64_t count = 0;
    const bool ok = run(nf, NODE_COUNT, &key, (union node_answers){.count = &count}, &failure);
    return end(env, &key, ok, node_call_whole(env, count), &failure);
}

/* The first and the last day of a key in one number: first * 65536 + last; 0 if it is absent. */
napi_value node_single_days(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_key key;
    struct node_filter *nf = begin(env, info, NODE_SHARED, &key);
    if (!nf)
        return NULL;
    deja_days days = {0, 0};
    const bool ok = run(nf, NODE_DAYS, &key, (union node_answers){.days = &days}, &failure);
    return end(env, &key, ok, node_call_whole(env, (uint64_t)days.first * 65536 + days.last),
               &failure);
}
