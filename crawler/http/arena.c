/* arena.c - allocates memory for one task, frees all of it at once, and ends a task that exceeds
 * its limit.
 *
 * This is for a library such as gumbo, which makes many small allocations and does not expect them
 * to fail.  They are cut from large blocks and never freed one by one.  A task that exceeds its
 * limit of memory or time does not return from its call: the arena jumps to where the task was
 * started.  Everything that the task built is in the arena. */
#include "crawler/http/arena.h"
#include <stdlib.h>

#define BLOCK ((size_t)256 * 1024)
#define ALIGN _Alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    max_align_t bytes[];
};

static void *new_block(struct arena *a, size_t size)
{
    const size_t cap = size > BLOCK ? size : BLOCK;
    if (cap > a->max - a->total)
        longjmp(a->last, 1);
    struct arena_block *b = malloc(sizeof *b + cap);
    if (!b)
        longjmp(a->last, 1);
    b->next = a->block;
    a->block = b;
    a->total += cap;
    a->cap = cap;
    a->used = size;
    return b->bytes;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (++a->calls % 1024 == 0 && a->until && clock() > a->until)
        longjmp(a->last, 1);
    if (size > a->max)
        longjmp(a->last, 1);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->block || size > a->cap - a->used)
        return new_block(a, size);
    void *p = (char *)a->block->bytes + a->used;
    a->used += size;
    return p;
}

void arena_fini(struct arena *a)
{
    while (a->block) {
        struct arena_block *next = a->block->next;
        free(a->block);
        a->block = next;
    }
    a->used = a->cap = a->total = 0;
}
