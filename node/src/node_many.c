/* node_many.c - many keys in one call, on the thread that calls.
 *
 * The elements of an array are read in portions.  A getter among them could close the filter, so it
 * is checked again before each portion is used.  The lines of a Uint8Array are used where they are:
 * no JavaScript runs in between. */
#include "node_many.h"
#include "node_keys.h"

/* add counts as a change for a dedup stream, and so does remove. */
static enum node_access access_of(enum node_verb verb)
{
    return verb == NODE_ADD || verb == NODE_REMOVE ? NODE_ADDING : NODE_SHARED;
}

static union node_answers at(union node_answers a, enum node_verb verb, size_t n)
{
    return verb == NODE_COUNT ? (union node_answers){.count = a.count + n}
                              : (union node_answers){.byte = a.byte + n};
}

napi_value node_many_answers(napi_env env, enum node_verb verb, size_t n,
                             union node_answers *answers)
{
    napi_value buffer = NULL, array = NULL;
    void *data = NULL;
    const bool counts = verb == NODE_COUNT;
    if (n > SIZE_MAX / 8)
        return node_error_throw_text(env, DEJA_ENOMEM, "too many keys");
    NODE_TRY(napi_create_arraybuffer(env, counts ? 8 * n : n, &data, &buffer));
    NODE_TRY(napi_create_typedarray(env, counts ? napi_biguint64_array : napi_uint8_array, n,
                                    buffer, 0, &array));
    *answers = counts ? (union node_answers){.count = data} : (union node_answers){.byte = data};
    return array;
}

static size_t lines_of(deja_slice text)
{
    const char *bytes = text.data;
    const size_t marks = deja_lines_count(text, '\n');
    return marks + (text.len && bytes[text.len - 1] != '\n');
}

static napi_value run_lines(napi_env env, napi_value arg[2], enum node_verb verb)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    deja_slice text, line[NODE_PORTION];
    struct node_filter *nf = node_handle_of(env, arg[0], access_of(verb));
    if (!nf || !node_call_view(env, arg[1], &text))
        return nf ? node_call_type_error(env, "keys", "an array or a Uint8Array") : NULL;
    union node_answers answers;
    const size_t most = lines_of(text);
    napi_value array = node_many_answers(env, verb, most, &answers);
    if (!array)
        return NULL;
    size_t done = 0; /* another thread can write to shared memory: never pass the end */
    for (size_t n; (n = deja_lines_split(&text, '\n', line, NODE_PORTION)) != 0; done += n) {
        n = n < most - done ? n : most - done;
        if (n == 0)
            break;
        if (!node_batch_run(nf, verb, line, n, at(answers, verb, done), &failure))
            return node_error_throw(env, &failure);
    }
    node_handle_report(env, nf, most);
    return array;
}

struct portions {
    napi_value handle, array;
    enum node_verb verb;
    uint32_t n;
    struct node_keys keys;
    struct node_failure failure;
};

static bool run_portion(napi_env env, struct portions *p, uint32_t from,
                        union node_answers answers)
{
    const uint32_t to = p->n - from < NODE_PORTION ? p->n : from + NODE_PORTION;
    node_keys_clear(&p->keys);
    if (!node_keys_read(env, p->array, from, to, &p->keys))
        return false;
    node_keys_settle(&p->keys);
    struct node_filter *nf = node_handle_of(env, p->handle, access_of(p->verb));
    if (!nf)
        return false;
    const union node_answers here = at(answers, p->verb, from);
    if (!node_batch_run(nf, p->verb, p->keys.slice, p->keys.n, here, &p->failure))
        return node_error_throw(env, &p->failure);
    node_handle_report(env, nf, p->keys.n);
    return true;
}

static napi_value run_array(napi_env env, napi_value arg[2], enum node_verb verb)
{
    struct portions p = {.handle = arg[0], .array = arg[1], .verb = verb};
    union node_answers answers;
    if (!node_handle_of(env, arg[0], access_of(verb)))
        return NULL;
    NODE_TRY(napi_get_array_length(env, arg[1], &p.n));
    napi_value array = node_many_answers(env, verb, p.n, &answers);
    bool ok = array;
    for (uint32_t from = 0; ok && from < p.n; from += NODE_PORTION)
        ok = run_portion(env, &p, from, answers);
    node_keys_free(&p.keys);
    return ok ? array : NULL;
}

napi_value node_many_run(napi_env env, napi_callback_info info)
{
    napi_value arg[3];
    bool is_array = false;
    if (!node_call_args(env, info, 3, arg))
        return NULL;
    const enum node_verb verb = (enum node_verb)node_call_u32(env, arg[2]);
    NODE_TRY(napi_is_array(env, arg[1], &is_array));
    return is_array ? run_array(env, arg, verb) : run_lines(env, arg, verb);
}
