/* linecounts.c - a number for each line of a batch; see linecounts.h. */
#include "cli/session/linecounts.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include <stdlib.h>

int linecounts_reserve(struct linecounts *l, const struct batch *b, deja_error *err)
{
    void *room = array_grow(l->count, &l->cap, b->block.n + 1, sizeof *l->count);
    if (!room)
        return fail(err, DEJA_ENOMEM, "out of memory");
    l->count = room;
    return DEJA_OK;
}

void linecounts_spread(struct linecounts *l, const struct batch *b, uint64_t keyless)
{
    size_t from = b->keyed;
    for (size_t i = b->block.n; i > from; i--)
        l->count[i - 1] = b->block.keys[i - 1].data ? l->count[--from] : keyless;
}

void linecounts_fold(struct linecounts *l, const struct batch *b)
{
    size_t lines = 0;
    for (size_t i = 0; i < b->block.n; i++) {
        const bool same = b->block.shared && lines && b->block.ends[i] == b->block.ends[i - 1];
        lines += !same;
        if (!same || l->count[i] > l->count[lines - 1])
            l->count[lines - 1] = l->count[i];
    }
}

void linecounts_fini(struct linecounts *l)
{
    free(l->count);
    *l = (struct linecounts){0};
}
