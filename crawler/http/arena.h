/* arena.h - allocates memory for one task, frees all of it at once, and ends a task that exceeds
 * its limit. */
#ifndef CRAWLER_HTTP_ARENA_H
#define CRAWLER_HTTP_ARENA_H
#include <setjmp.h>
#include <stddef.h>
#include <time.h>

struct arena_block;
struct arena { /* initialize with {.max = ..., .until = ...}; the caller of setjmp sets last */
    struct arena_block *block;
    size_t used, cap; /* of the newest block */
    size_t total;     /* of all blocks */
    size_t max;       /* bytes */
    clock_t until;    /* CPU time; 0: no limit */
    unsigned calls;
    jmp_buf last; /* where to jump when a limit is reached */
};

/* Never returns NULL: if a limit is reached, or malloc fails, it jumps to `last`. */
void *arena_alloc(struct arena *a, size_t size);
void arena_fini(struct arena *a);

#endif
