/* builder.h - collects the keys of a static filter. */
#ifndef DJ_BUILDER_H
#define DJ_BUILDER_H
#include "kinds/plan.h"

#define DJ_BUILDER_SEEDS 100 /* seeds tried before the builder gives up */

struct deja_builder {
    struct dj_plan plan; /* without the fields that depend on the number of keys */
    uint64_t memory;     /* limit of the body; 0: none */
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    uint64_t *hash; /* of the keys so far */
    size_t n, cap;
    uint64_t offered; /* including duplicates */
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
};

#endif
