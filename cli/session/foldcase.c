/* foldcase.c - keys in lower case; see foldcase.h. */
#include "cli/session/foldcase.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"

static bool has_capital(deja_slice key)
{
    const char *at = key.data;
    unsigned capitals = 0; /* without a branch per byte, the compiler uses SIMD */
    for (size_t i = 0; i < key.len; i++)
        capitals |= at[i] >= 'A' && at[i] <= 'Z';
    return capitals;
}

int foldcase_run(struct block *b, deja_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        const deja_slice key = b->keys[i];
        if (!has_capital(key))
            continue;
        char *to = block_room(b, key.len);
        if (!to) {
            b->n = 0;
            return fail(err, DEJA_ENOMEM, "%s: out of memory for a key of %zu bytes",
                        fail_path(b->path).text, key.len);
        }
        for (size_t j = 0; j < key.len; j++)
            to[j] = ascii_lower(((const char *)key.data)[j]);
        block_take(b, key.len);
        b->keys[i].data = to;
    }
    return DEJA_OK;
}
