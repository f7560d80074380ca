/* arena.h - memory for one task, given back at once; too much of it ends the task. */
#ifndef CRAWLER_HTTP_ARENA_H
#define CRAWLER_HTTP_ARENA_H
#include <setjmp.h>
#include <stddef.h>
#include <time.h>

struct arena_block;
struct arena { /* begin with {.max = ..., .until = ...}; last is set by who calls setjmp */
    struct arena_block *block;
    size_t used, cap; /* of the newest block      */
    size_t total;     /* of all of them           */
    size_t max;       /* bytes                    */
    clock_t until;    /* processor time; 0: none  */
    unsigned calls;
    jmp_buf last; /* where a task goes that gets no more */
};

/* Never NULL: when the limit or the time is reached, or malloc says no, it jumps to `last`. */
void *arena_alloc(struct arena *a, size_t size);
void arena_fini(struct arena *a);

#endif
