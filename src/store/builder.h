/* builder.h - the keys of a static filter while they are collected. */
#ifndef DJ_BUILDER_H
#define DJ_BUILDER_H
#include "kinds/deja_filter.h"

#define DJ_BUILDER_SEEDS 100 /* that are tried before it gives up */

struct deja_builder {
    struct dj_plan plan; /* all but what depends on the number of keys */
    uint64_t memory;     /* limit of the body; 0: none */
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    uint64_t *hash; /* of the keys so far */
    size_t n, cap;
    uint64_t offered; /* before repeated ones were dropped */
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
};

/* A set of keys that is solved, on its way to become a filter. */
struct dj_solution {
    struct dj_plan plan;
    struct dj_peel room;
    size_t n;       /* keys */
    uint64_t slots; /* that the room was made for */
};
#define DJ_SOLUTION_NONE                                                                          \
    {                                                                                             \
        .n = 0                                                                                    \
    }

/* Drop repeated keys, size the filter, and find a seed and an order for them. */
int dj_builder_solve(deja_builder *b, struct dj_solution *s, deja_error *err);
/* Write the solution into a filter of its plan, whose bodies are zeros. */
void dj_builder_fill(const deja_builder *b, const struct dj_solution *s, deja_filter *f);
/* What is still held of it. */
void dj_solution_fini(const deja_builder *b, struct dj_solution *s);
/* No keys again. */
void dj_builder_clear(deja_builder *b);

#endif
