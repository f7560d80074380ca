/* model.h - an exact set of byte strings: a filter with unlimited memory.
 *
 * Written to be obviously correct, not fast: every key is copied, and memcmp decides whether two
 * keys are equal.  The number of chains is a power of two and doubles when there are more keys
 * than chains.  Keys that are ready-made hashes are stored as their eight bytes. */
#ifndef DJ_TEST_MODEL_H
#define DJ_TEST_MODEL_H
#include "deja.h"
#include <stdlib.h>
#include <string.h>

struct model_key {
    struct model_key *next;
    size_t len;
    uint8_t data[];
};

struct model {
    struct model_key **chain;
    size_t chains, n;
};

static inline size_t model_chain(const struct model *m, deja_slice key)
{
    const uint8_t *p = key.data;
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < key.len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 32) & (m->chains - 1);
}

static inline bool model_has(const struct model *m, deja_slice key)
{
    if (!m->chains)
        return false;
    for (const struct model_key *k = m->chain[model_chain(m, key)]; k; k = k->next)
        if (k->len == key.len && (key.len == 0 || memcmp(k->data, key.data, key.len) == 0))
            return true;
    return false;
}

static inline void model_grow(struct model *m)
{
    struct model bigger = {NULL, m->chains ? 2 * m->chains : 1024, m->n};
    bigger.chain = calloc(bigger.chains, sizeof(struct model_key *));
    if (!bigger.chain)
        abort();
    for (size_t i = 0; i < m->chains; i++)
        for (struct model_key *k = m->chain[i], *next; k; k = next) {
            struct model_key **to =
                &bigger.chain[model_chain(&bigger, (deja_slice){k->data, k->len})];
            next = k->next;
            k->next = *to;
            *to = k;
        }
    free(m->chain);
    *m = bigger;
}

/* True if the key was not in the set before. */
static inline bool model_add(struct model *m, deja_slice key)
{
    if (model_has(m, key))
        return false;
    if (m->n == m->chains)
        model_grow(m);
    struct model_key *k = malloc(sizeof *k + key.len);
    if (!k)
        abort();
    k->len = key.len;
    if (key.len)
        memcpy(k->data, key.data, key.len);
    struct model_key **to = &m->chain[model_chain(m, key)];
    k->next = *to;
    *to = k;
    m->n++;
    return true;
}

static inline bool model_has_number(const struct model *m, uint64_t number)
{
    return model_has(m, (deja_slice){&number, sizeof number});
}

static inline bool model_add_number(struct model *m, uint64_t number)
{
    return model_add(m, (deja_slice){&number, sizeof number});
}

static inline void model_free(struct model *m)
{
    for (size_t i = 0; i < m->chains; i++)
        for (struct model_key *k = m->chain[i], *next; k; k = next) {
            next = k->next;
            free(k);
        }
    free(m->chain);
    *m = (struct model){NULL, 0, 0};
}

#endif
