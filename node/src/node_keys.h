/* node_keys.h - keys of JavaScript as slices of bytes.
 *
 * A string is encoded as UTF-8; a surrogate without its partner becomes U+FFFD.  The elements of an
 * array are copied, because a getter among them could run code that changes or detaches the ones
 * before it. */
#ifndef NODE_KEYS_H
#define NODE_KEYS_H
#include "node_call.h"

/* One key: in `small`, in `heap`, or borrowed from a Uint8Array. */
struct node_key {
    deja_slice bytes;
    char *heap;
    char small[1024];
};
/* Leaves an exception and returns false unless the value is a string or a Uint8Array. */
bool node_key_read(napi_env env, napi_value value, struct node_key *key);
void node_key_free(struct node_key *key);

/* Keys in one piece of memory that grows. */
struct node_keys {
    deja_slice *slice; /* offsets into text until node_keys_settle */
    size_t n, cap;
    char *text;
    size_t len, room;
};
/* Appends elements from .. to - 1 of an array.  On failure an exception is pending, and `n` says at
 * which element it stopped. */
bool node_keys_read(napi_env env, napi_value array, uint32_t from, uint32_t to,
                    struct node_keys *keys);
/* Appends a copy of the lines of a text; false if there is no memory. */
bool node_keys_lines(struct node_keys *keys, deja_slice text);
/* Makes the slices point at the bytes.  Nothing can be appended afterwards. */
void node_keys_settle(struct node_keys *keys);
/* Forgets the keys and keeps the memory. */
void node_keys_clear(struct node_keys *keys);
void node_keys_free(struct node_keys *keys);
#endif
