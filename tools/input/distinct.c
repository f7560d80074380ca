/* distinct.c - a list of distinct keys in memory; see distinct.h. */
#include "tools/input/distinct.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for the list of keys");
}

int distinct_append(struct distinct *d, deja_slice key, deja_error *err)
{
    void *bytes = array_grow(d->bytes, &d->cap, d->used + key.len + 1, 1);
    d->bytes = bytes ? bytes : d->bytes;
    void *end = array_grow(d->end, &d->room, d->n + 1, sizeof *d->end);
    d->end = end ? end : d->end;
    if (!bytes || !end)
        return no_memory(err);
    if (key.len > 0)
        memcpy(d->bytes + d->used, key.data, key.len);
    d->used += key.len;
    d->end[d->n++] = d->used;
    return DEJA_OK;
}

int distinct_offer(struct distinct *d, deja_slice key, size_t most, deja_error *err)
{
    bool is_new = false;
    int rc = DEJA_OK;
    if (!d->seen) {
        deja_options opt = DEJA_OPTIONS_INIT;
        opt.kind = DEJA_EXACT;
        opt.capacity = most;
        opt.seed = 1;
        rc = deja_filter_new(&opt, &d->seen, err);
    }
    if (rc == DEJA_OK)
        rc = deja_filter_add(d->seen, key, &is_new, err);
    if (rc < 0 || is_new)
        return rc < 0 ? rc : distinct_append(d, key, err);
    d->duplicates++;
    return DEJA_OK;
}

int distinct_read(struct distinct *d, const struct input_options *opt, size_t most, size_t longest,
                  deja_error *err)
{
    struct input *in = NULL;
    struct block b;
    block_init(&b);
    int rc = input_open(opt, &in, err);
    while (rc >= 0 && d->n < most && (rc = input_next(in, &b, err)) > 0)
        for (size_t i = 0; rc >= 0 && i < b.n && d->n < most; i++)
            if (b.keys[i].len > 0 && b.keys[i].len <= longest)
                rc = distinct_offer(d, b.keys[i], most, err);
    block_fini(&b);
    input_close(in);
    return rc < 0 ? rc : DEJA_OK;
}

deja_slice *distinct_slices(const struct distinct *d, deja_error *err)
{
    deja_slice *key = malloc((d->n + 1) * sizeof *key);
    if (!key) {
        (void)no_memory(err);
        return NULL;
    }
    for (size_t i = 0, begin = 0; i < d->n; begin = d->end[i++])
        key[i] = (deja_slice){d->bytes + begin, d->end[i] - begin};
    return key;
}

void distinct_fini(struct distinct *d)
{
    deja_filter_free(d->seen);
    free(d->bytes);
    free(d->end);
    *d = (struct distinct){0};
}
