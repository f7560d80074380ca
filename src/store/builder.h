/* builder.h - collects the keys of a static filter. */
#ifndef DJ_BUILDER_H
#define DJ_BUILDER_H
#include "kinds/plan.h"

#define DJ_BUILDER_SEEDS 100 /* seeds tried before the builder gives up */

struct dj_hashes {
    uint64_t *hash;
    size_t n, cap;
};

struct deja_builder {
    struct dj_plan plan; /* without the fields that depend on the number of keys */
    uint64_t memory;     /* limit of the bodies; 0: none */
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    struct dj_hashes keys;                /* so far */
    uint64_t offered;                     /* including duplicates */
    struct dj_hashes never, unless_added; /* exceptions */
    deja_excepted so_far, excepted; /* of the current keys, and of the last finished filter */
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
};

/* Makes room for n more.  DEJA_ENOMEM: nothing has changed. */
int dj_hashes_reserve(struct dj_hashes *h, size_t n, const deja_allocator *alloc, deja_error *err);
void dj_hashes_free(struct dj_hashes *h, const deja_allocator *alloc);

/* --- Exceptions (except.c) ------------------------------------------------------ */

/* Removes keys that are exceptions, and exceptions that yield to keys, and counts both. */
void dj_except_sort(deja_builder *b);
/* Finds the exceptions that a body would find by mistake, and sizes the second part of the plan for
 * them. */
int dj_except_find(const deja_builder *b, const uint8_t *body, struct dj_plan *plan,
                   struct dj_hashes *mistaken, deja_error *err);
/* Fills the second part, and checks that the filter finds all keys and no exception. */
int dj_except_finish(deja_builder *b, const struct dj_hashes *mistaken, deja_filter *f,
                     deja_error *err);
static inline bool dj_except_any(const deja_builder *b)
{
    return b->never.n || b->unless_added.n;
}

#endif
