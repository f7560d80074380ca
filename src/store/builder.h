/* builder.h - the keys of a filter that is built at once, while they are collected. */
#ifndef DJ_BUILDER_H
#define DJ_BUILDER_H
#include "kinds/plan.h"

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

#endif
