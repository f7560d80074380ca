/* node_open.c - makes, opens, copies, builds and imports filters.
 *
 * A filter with a URL profile needs its rules, which a file does not contain: it records their id.
 * If the caller gives none, the built-in ones with that id are used.  If the caller gives the newest
 * version and the file was made with an older one, the older one is used. */
#include "node_open.h"
#include "node_batch.h"
#include "node_keys.h"
#include "node_options.h"
#include "node_rules.h"
#include <stdlib.h>

/* Gives the handle the rules of its filter. */
static napi_value hand_over(napi_env env, deja_filter *f, struct node_options *o, bool in_file)
{
    deja_stats stats = DEJA_STATS_INIT;
    struct node_failure failure = NODE_FAILURE_NONE;
    const deja_url_rules *rules = o->opt.url;
    bool ok = node_error_ok(&failure, deja_filter_stats(f, 0, &stats, &failure.err));
    if (!ok)
        node_error_throw(env, &failure);
    if (ok && !rules && stats.profile) {
        rules = node_rules_adopt(env, stats.profile, stats.url_rules);
        ok = rules;
    }
    if (!ok) {
        deja_filter_free(f);
        return NULL;
    }
    deja_url_rules *own = o->own_rules;
    o->own_rules = NULL;
    return node_handle_make(env, f, rules, own, in_file);
}

/* A new file gets its name at the first sync. */
static napi_value finish(napi_env env, deja_filter *f, struct node_options *o, bool in_file,
                         struct node_failure *failure)
{
    if (!in_file || node_error_ok(failure, deja_filter_sync(f, &failure->err)))
        return hand_over(env, f, o, in_file);
    deja_filter_free(f);
    return node_error_throw(env, failure);
}

napi_value node_open_new(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_options o;
    deja_filter *f = NULL;
    napi_value arg[4], result = NULL;
    if (!node_call_args(env, info, 4, arg) || !node_options_read(env, arg[0], &o))
        return NULL;
    char *path = node_call_path(env, arg[2]);
    const bool in_file = path;
    if (path || node_call_is(env, arg[2], napi_undefined)) {
        if (node_options_grow(env, arg[1], &o)) {
            const int rc = path ? deja_filter_create(path, node_call_u32(env, arg[3]), &o.opt, &f,
                                                     &failure.err)
                                : deja_filter_new(&o.opt, &f, &failure.err);
            result = node_error_ok(&failure, rc) ? finish(env, f, &o, in_file, &failure)
                                                 : node_error_throw(env, &failure);
        }
    }
    free(path);
    node_options_free(&o);
    return result;
}

/* Opens a file or bytes; if the rules are refused, tries their older version. */
static int accepted(const char *path, unsigned flags, deja_slice bytes, struct node_options *o,
                    deja_filter **f, deja_error *err)
{
    int rc = path ? deja_filter_open(path, flags, &o->opt, f, err)
                  : deja_filter_import(bytes.data, bytes.len, &o->opt, f, err);
    const deja_url_rules *older = o->opt.url ? deja_url_rules_older(o->opt.url) : NULL;
    if (rc != DEJA_EMISMATCH || !older)
        return rc;
    struct node_options again = *o;
    again.opt.key = o->opt.key;
    again.opt.url = older;
    const int second = path ? deja_filter_open(path, flags, &again.opt, f, NULL)
                            : deja_filter_import(bytes.data, bytes.len, &again.opt, f, NULL);
    if (second != DEJA_OK)
        return rc;
    o->opt.url = older;
    return DEJA_OK;
}

static napi_value open_source(napi_env env, const char *path, unsigned flags, deja_slice bytes,
                              struct node_options *o)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    deja_filter *f = NULL;
    node_options_demand(o);
    if (!node_error_ok(&failure, accepted(path, flags, bytes, o, &f, &failure.err)))
        return node_error_throw(env, &failure);
    return hand_over(env, f, o, path);
}

napi_value node_open_file(napi_env env, napi_callback_info info)
{
    struct node_options o;
    napi_value arg[3], result = NULL;
    const deja_slice none = {NULL, 0};
    if (!node_call_args(env, info, 3, arg) || !node_options_read(env, arg[0], &o))
        return NULL;
    char *path = node_call_path(env, arg[1]);
    if (path)
        result = open_source(env, path, node_call_u32(env, arg[2]), none, &o);
    free(path);
    node_options_free(&o);
    return result;
}

napi_value node_open_bytes(napi_env env, napi_callback_info info)
{
    struct node_options o;
    deja_slice bytes;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg) || !node_options_read(env, arg[0], &o))
        return NULL;
    if (node_call_view(env, arg[1], &bytes))
        result = open_source(env, NULL, 0, bytes, &o);
    else
        node_call_type_error(env, "bytes", "a Uint8Array");
    node_options_free(&o);
    return result;
}

/* --- From other filters ------------------------------------------------------------ */

/* Rules that a caller made belong to one handle, so a copy of such a filter would need them twice. */
static bool may_share_rules(napi_env env, const struct node_filter *nf)
{
    if (nf->own_rules)
        node_error_throw_text(
            env, DEJA_ENOTSUP,
            "a filter with its own list of parameters cannot be copied here; copy "
            "its file and open that with the same url");
    return !nf->own_rules;
}

napi_value node_open_copy(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_options o = {.own_rules = NULL};
    deja_filter *f = NULL;
    napi_value arg[3];
    if (!node_call_args(env, info, 3, arg))
        return NULL;
    char *path = node_call_path(env, arg[1]);
    const struct node_filter *nf = path ? node_handle_of(env, arg[0], NODE_ALONE) : NULL;
    if (!nf || !may_share_rules(env, nf)) {
        free(path);
        return NULL;
    }
    o.opt.url = nf->rules;
    const int rc = deja_filter_copy(nf->f, path, node_call_u32(env, arg[2]), &f, &failure.err);
    napi_value result = node_error_ok(&failure, rc) ? finish(env, f, &o, true, &failure)
                                                    : node_error_throw(env, &failure);
    free(path);
    return result;
}

napi_value node_open_like(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    const deja_options init = DEJA_OPTIONS_INIT;
    struct node_options o = {.opt = init};
    deja_filter *f = NULL;
    napi_value arg[3];
    if (!node_call_args(env, info, 3, arg))
        return NULL;
    char *path = node_call_path(env, arg[1]);
    const bool in_file = path, given = path || node_call_is(env, arg[1], napi_undefined);
    const struct node_filter *nf = given ? node_handle_of(env, arg[0], NODE_ALONE) : NULL;
    if (!nf || !may_share_rules(env, nf)) {
        free(path);
        return NULL;
    }
    o.opt.url = nf->rules;
    bool ok = node_error_ok(&failure, deja_options_like(nf->f, &o.opt, &failure.err));
    if (ok && in_file)
        ok = node_error_ok(&failure, deja_filter_create(path, node_call_u32(env, arg[2]), &o.opt,
                                                        &f, &failure.err));
    else if (ok)
        ok = node_error_ok(&failure, deja_filter_new(&o.opt, &f, &failure.err));
    free(path);
    return ok ? finish(env, f, &o, in_file, &failure) : node_error_throw(env, &failure);
}

/* --- Static filters ---------------------------------------------------------------- */

/* Reduces URLs in place to what a static filter stores: the canonical form, or for a block list the
 * first expression.  room holds the forms. */
static size_t canonicalize(const deja_url_rules *rules, struct node_keys *keys, char *room,
                           size_t cap)
{
    const bool block_list = deja_url_rules_profile(rules) == DEJA_URL_GSB;
    size_t kept = 0;
    for (size_t i = 0; i < keys->n; i++) {
        deja_slice part[DEJA_URL_EXPRESSIONS], form = keys->slice[i];
        const int rc = deja_url_canon(rules, keys->slice[i], room, cap, &form, NULL);
        if (rc == DEJA_OK && form.data == room) {
            room += form.len;
            cap -= form.len;
        }
        if (!block_list)
            keys->slice[kept++] = rc == DEJA_OK ? form : keys->slice[i];
        else if (rc == DEJA_OK && deja_url_expressions(form, part))
            keys->slice[kept++] = part[0];
    }
    return kept;
}

static bool add_portion(deja_builder *b, const deja_url_rules *rules, struct node_keys *keys,
                        struct node_failure *failure)
{
    char *room = NULL;
    size_t n = keys->n;
    if (rules) {
        const size_t cap = 4 * keys->len + 512 * (n + 1);
        room = malloc(cap);
        if (!room)
            return node_error_ok(failure, DEJA_ENOMEM);
        n = canonicalize(rules, keys, room, cap);
    }
    const int rc = deja_builder_add_batch(b, keys->slice, n, &failure->err);
    free(room);
    return node_error_ok(failure, rc);
}

static bool add_keys(napi_env env, deja_builder *b, const deja_url_rules *rules, napi_value array)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_keys keys = {0};
    uint32_t n = 0;
    bool ok = napi_get_array_length(env, array, &n) == napi_ok;
    if (!ok)
        node_call_type_error(env, "keys", "an array");
    for (uint32_t from = 0; ok && from < n; from += NODE_PORTION) {
        node_keys_clear(&keys);
        const uint32_t to = n - from < NODE_PORTION ? n : from + NODE_PORTION;
        ok = node_keys_read(env, array, from, to, &keys);
        if (!ok)
            break;
        node_keys_settle(&keys);
        ok = add_portion(b, rules, &keys, &failure);
        if (!ok)
            node_error_throw(env, &failure);
    }
    node_keys_free(&keys);
    return ok;
}

static napi_value build(napi_env env, napi_value arg[4], const char *path, struct node_options *o)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    if (!o->kind_given)
        o->opt.kind = DEJA_STATIC;
    if (!node_error_ok(&failure, deja_builder_new(&o->opt, &b, &failure.err)))
        return node_error_throw(env, &failure);
    bool ok = add_keys(env, b, o->opt.url, arg[1]);
    if (ok) {
        const unsigned flags = node_call_u32(env, arg[3]);
        ok = node_error_ok(&failure, deja_builder_finish(b, path, flags, &f, &failure.err));
        if (!ok)
            node_error_throw(env, &failure);
    }
    deja_builder_free(b);
    return ok ? finish(env, f, o, path, &failure) : NULL;
}

napi_value node_open_static(napi_env env, napi_callback_info info)
{
    struct node_options o;
    napi_value arg[4], result = NULL;
    if (!node_call_args(env, info, 4, arg) || !node_options_read(env, arg[0], &o))
        return NULL;
    char *path = node_call_path(env, arg[2]);
    if (path || node_call_is(env, arg[2], napi_undefined))
        result = build(env, arg, path, &o);
    free(path);
    node_options_free(&o);
    return result;
}

napi_value node_open_verify(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    char *path = node_call_path(env, arg[0]);
    if (!path)
        return NULL;
    const bool ok = node_error_ok(&failure, deja_file_verify(path, &failure.err));
    free(path);
    return ok ? node_call_undefined(env) : node_error_throw(env, &failure);
}

napi_value node_open_guard(napi_env env, napi_callback_info info)
{
    (void)info;
    struct node_failure failure = NODE_FAILURE_NONE;
    if (!node_error_ok(&failure, deja_files_guard(&failure.err)))
        return node_error_throw(env, &failure);
    return node_call_undefined(env);
}
