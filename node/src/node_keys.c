/* node_keys.c - reads strings and byte arrays.  node_keys.h has the rules. */
#include "node_keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest UTF-8 sequence, less one, and the final zero: a copy that leaves more room than this
 * is complete. */
#define SLACK  4
#define WANTED "a string or a Uint8Array"

static bool no_memory(napi_env env)
{
    napi_throw_error(env, "DEJA_ENOMEM", "out of memory");
    return false;
}

bool node_key_read(napi_env env, napi_value value, struct node_key *key)
{
    size_t len = 0;
    key->heap = NULL;
    if (napi_get_value_string_utf8(env, value, key->small, sizeof key->small, &len) != napi_ok) {
        if (node_call_view(env, value, &key->bytes))
            return true;
        node_call_type_error(env, "key", WANTED);
        return false;
    }
    key->bytes = (deja_slice){.data = key->small, .len = len};
    if (len + SLACK < sizeof key->small)
        return true;
    if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok)
        return node_call_failed(env), false;
    key->heap = malloc(len + 1);
    if (!key->heap)
        return no_memory(env);
    napi_get_value_string_utf8(env, value, key->heap, len + 1, &len);
    key->bytes = (deja_slice){.data = key->heap, .len = len};
    return true;
}

void node_key_free(struct node_key *key)
{
    free(key->heap);
}

/* Doubles, so that n appends cost O(n). */
static bool make_room(struct node_keys *keys, size_t len)
{
    if (keys->n == keys->cap) {
        const size_t cap = keys->cap ? 2 * keys->cap : 1024;
        deja_slice *slice = realloc(keys->slice, cap * sizeof *slice);
        if (!slice)
            return false;
        keys->slice = slice;
        keys->cap = cap;
    }
    if (keys->room - keys->len >= len)
        return true;
    const size_t room = 2 * keys->room + len + 65536;
    char *text = realloc(keys->text, room);
    if (!text)
        return false;
    keys->text = text;
    keys->room = room;
    return true;
}

static void append(struct node_keys *keys, size_t len)
{
    keys->slice[keys->n++] = (deja_slice){.data = NULL, .len = len};
    keys->len += len;
}

static bool read_string(napi_env env, napi_value value, struct node_keys *keys)
{
    size_t len = 0;
    if (!make_room(keys, 256))
        return no_memory(env);
    size_t room = keys->room - keys->len;
    if (napi_get_value_string_utf8(env, value, keys->text + keys->len, room, &len) != napi_ok)
        return node_call_failed(env), false;
    if (len + SLACK >= room) {
        if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok)
            return node_call_failed(env), false;
        if (!make_room(keys, len + 1))
            return no_memory(env);
        napi_get_value_string_utf8(env, value, keys->text + keys->len, len + 1, &len);
    }
    append(keys, len);
    return true;
}

static bool read_element(napi_env env, napi_value value, struct node_keys *keys, uint32_t i)
{
    deja_slice bytes;
    if (node_call_is(env, value, napi_string))
        return read_string(env, value, keys);
    if (!node_call_view(env, value, &bytes)) {
        char what[32];
        snprintf(what, sizeof what, "keys[%u]", i);
        node_call_type_error(env, what, WANTED);
        return false;
    }
    if (!make_room(keys, bytes.len))
        return no_memory(env);
    if (bytes.len)
        memcpy(keys->text + keys->len, bytes.data, bytes.len);
    append(keys, bytes.len);
    return true;
}

bool node_keys_read(napi_env env, napi_value array, uint32_t from, uint32_t to,
                    struct node_keys *keys)
{
    bool ok = true;
    for (uint32_t i = from; i < to && ok; i++) {
        napi_handle_scope scope; /* otherwise a million keys are a million handles */
        napi_value value = NULL;
        if (napi_open_handle_scope(env, &scope) != napi_ok)
            return node_call_failed(env), false;
        ok = napi_get_element(env, array, i, &value) == napi_ok ? read_element(env, value, keys, i)
                                                                : (node_call_failed(env), false);
        napi_close_handle_scope(env, scope);
    }
    return ok;
}

bool node_keys_lines(struct node_keys *keys, deja_slice text)
{
    if (!make_room(keys, text.len + 1))
        return false;
    char *copy = keys->text + keys->len;
    if (text.len)
        memcpy(copy, text.data, text.len);
    deja_slice rest = {.data = copy, .len = text.len};
    for (size_t n; make_room(keys, 1); keys->n += n)
        if ((n = deja_lines_split(&rest, '\n', keys->slice + keys->n, keys->cap - keys->n)) == 0)
            return true;
    return false;
}

void node_keys_settle(struct node_keys *keys)
{
    const char *at = keys->text;
    for (size_t i = 0; i < keys->n; at += keys->slice[i++].len)
        keys->slice[i].data = at;
}

void node_keys_clear(struct node_keys *keys)
{
    keys->n = keys->len = 0;
}

void node_keys_free(struct node_keys *keys)
{
    free(keys->slice);
    free(keys->text);
    *keys = (struct node_keys){0};
}
