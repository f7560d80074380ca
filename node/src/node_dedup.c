/* node_dedup.c - judges the lines of a Buffer and returns the new ones; records them at the commit.
 *
 * Between begin and end the filter belongs to the stream: other calls may look up but not add. */
#include "node_dedup.h"
#include "node_batch.h"
#include <stdlib.h>
#include <string.h>

napi_value node_dedup_begin(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[1];
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    if (nf->rules && deja_url_rules_profile(nf->rules) == DEJA_URL_GSB)
        return node_error_throw_text(env, DEJA_ENOTSUP,
                                     "a block list (profile gsb) cannot deduplicate; use safe");
    int rc = deja_filter_require(nf->f, DEJA_CAN_ADD, &failure.err);
    if (rc == DEJA_OK)
        rc = deja_dedup_new(nf->f, &nf->dedup, &failure.err);
    return node_error_ok(&failure, rc) ? node_call_undefined(env)
                                       : node_error_throw(env, &failure);
}

/* The handle of a filter with a stream. */
static struct node_filter *streaming(napi_env env, napi_callback_info info, size_t n,
                                     napi_value *arg)
{
    if (!node_call_args(env, info, n, arg))
        return NULL;
    struct node_filter *nf = node_handle_of(env, arg[0], NODE_SHARED);
    if (nf && !nf->dedup)
        node_error_throw_text(env, DEJA_EINVAL, "no dedup stream is using this filter");
    return nf && nf->dedup ? nf : NULL;
}

struct judge {
    struct node_filter *nf;
    deja_slice line[NODE_PORTION], form[NODE_PORTION];
    int8_t status[NODE_PORTION];
    uint8_t is_new[NODE_PORTION];
    uint64_t *hash;
    char *room, *out;
    size_t cap, len;
};

static bool judge_keys(struct judge *j, const deja_slice *key, const deja_slice *line, size_t n,
                       struct node_failure *failure)
{
    deja_filter_hash_batch(j->nf->f, key, n, j->hash);
    const int rc = deja_dedup_judge(j->nf->dedup, j->hash, n, j->is_new, &failure->err);
    if (!node_error_ok(failure, rc))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!j->is_new[i])
            continue;
        if (line[i].len)
            memcpy(j->out + j->len, line[i].data, line[i].len);
        j->len += line[i].len;
        j->out[j->len++] = '\n';
    }
    return true;
}

static bool judge_urls(struct judge *j, size_t n, struct node_failure *failure)
{
    for (size_t at = 0, got; at < n; at += got) {
        got = deja_url_canon_batch(j->nf->rules, j->line + at, n - at, j->room, j->cap, j->form,
                                   j->status);
        if (got == 0) {
            const size_t cap = 2 * DEJA_URL_ROOM(j->line[at].len);
            char *room = realloc(j->room, cap);
            if (!room)
                return node_error_ok(failure, DEJA_ENOMEM);
            j->room = room;
            j->cap = cap;
        } else if (!judge_keys(j, j->form, j->line + at, got, failure)) {
            return false;
        }
    }
    return true;
}

static bool judge_all(struct judge *j, deja_slice text, struct node_failure *failure)
{
    for (size_t n; (n = deja_lines_split(&text, '\n', j->line, NODE_PORTION)) != 0;) {
        const bool ok =
            j->nf->rules ? judge_urls(j, n, failure) : judge_keys(j, j->line, j->line, n, failure);
        if (!ok)
            return false;
    }
    return true;
}

static void free_judge(struct judge *j)
{
    if (!j)
        return;
    free(j->hash);
    free(j->room);
    free(j->out);
    free(j);
}

/* The new lines are at most as long as all lines and one more mark. */
static struct judge *new_judge(struct node_filter *nf, deja_slice text)
{
    struct judge *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->nf = nf;
    j->cap = 256 * NODE_PORTION;
    j->hash = malloc(NODE_PORTION * deja_filter_hash_words(nf->f) * sizeof *j->hash);
    j->room = nf->rules ? malloc(j->cap) : NULL;
    j->out = malloc(text.len + 1);
    if (j->hash && j->out && (j->room || !nf->rules))
        return j;
    free_judge(j);
    return NULL;
}

napi_value node_dedup_judge(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    deja_slice text;
    napi_value arg[2], result = NULL;
    struct node_filter *nf = streaming(env, info, 2, arg);
    if (!nf)
        return NULL;
    if (!node_call_view(env, arg[1], &text))
        return node_call_type_error(env, "lines", "a Uint8Array");
    struct judge *j = new_judge(nf, text);
    if (!j)
        return node_error_throw_text(env, DEJA_ENOMEM, "out of memory");
    if (!judge_all(j, text, &failure))
        node_error_throw(env, &failure);
    else if (napi_create_buffer_copy(env, j->len, j->out, NULL, &result) != napi_ok)
        node_call_failed(env);
    free_judge(j);
    return result;
}

napi_value node_dedup_commit(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    napi_value arg[1];
    struct node_filter *nf = streaming(env, info, 1, arg);
    if (!nf)
        return NULL;
    const size_t n = deja_dedup_pending(nf->dedup);
    if (!node_error_ok(&failure, deja_dedup_commit(nf->dedup, &failure.err)))
        return node_error_throw(env, &failure);
    node_handle_report(env, nf, n);
    return node_call_whole(env, n);
}

napi_value node_dedup_pending(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    const struct node_filter *nf = streaming(env, info, 1, arg);
    return nf ? node_call_whole(env, deja_dedup_pending(nf->dedup)) : NULL;
}

napi_value node_dedup_end(napi_env env, napi_callback_info info)
{
    napi_value arg[1];
    struct node_filter *nf = streaming(env, info, 1, arg);
    if (!nf)
        return NULL;
    deja_dedup_free(nf->dedup);
    nf->dedup = NULL;
    return node_call_undefined(env);
}
