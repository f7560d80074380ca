/* node_batch.h - a call with many keys, without Node-API, so that it can run in any thread. */
#ifndef NODE_BATCH_H
#define NODE_BATCH_H
#include "node_handle.h"

enum node_verb {
    NODE_ADD,
    NODE_HAS,
    NODE_REMOVE,
    NODE_COUNT,
    NODE_PREFIX,
    NODE_DAYS
};

/* Keys per portion: a portion stays in the CPU caches between the canonical form and the lookup. */
#define NODE_PORTION 4096

/* Answers of one type: bytes, except for count and days. */
union node_answers {
    uint8_t *byte;
    uint64_t *count;
    deja_days *days;
};

/* Applies a verb to n keys in order; answers may hold NULL.  On failure failure->done is how many
 * keys were finished. */
bool node_batch_run(struct node_filter *nf, enum node_verb verb, const deja_slice *keys, size_t n,
                    union node_answers answers, struct node_failure *failure);
#endif
