/* lab_bank.h - many filters that get the same keys, hashed once for all of them.
 *
 * The thesis tries each number of hash functions k with six sizes.  Filters with the same key,
 * hash and F use the same hashes for a key, whatever their size, and a filter with fewer functions
 * uses the first of these hashes: salt number i does not depend on the number of salts.  So the
 * lab hashes a URL once, for the largest k, and gives the hashes to all filters of a table.  Each
 * rate keeps its distribution; the rates of one run are not independent of each other, and need
 * not be.
 *
 * Keys are processed in chunks, and each filter gets a whole chunk before the next one does.  So
 * only one filter, not all of them, must fit into the processor's cache. */
#ifndef LAB_ENGINE_LAB_BANK_H
#define LAB_ENGINE_LAB_BANK_H
#include "lab/engine/lab.h"

#define LAB_BANK  48    /* maximum number of filters */
#define LAB_CHUNK 65536 /* keys that are hashed before the filters get them */

/* The thesis' filters for the lab's n keys: F filters of k functions, m = n k M, for each k and
 * each M. */
struct lab_bloom_spec {
    uint32_t hash, filters;
    const uint32_t *k;
    size_t n_k;
    const double *multiplier;
    size_t n_m;
};
/* The index of a filter in the bank: the i-th k with the j-th M. */
static inline size_t lab_member(const struct lab_bloom_spec *spec, size_t i, size_t j)
{
    return i * spec->n_m + j;
}

struct lab_bank {
    struct lab_task *task;
    struct lab_bloom_spec spec;
    deja_filter *filter[LAB_BANK];
    bool idle[LAB_BANK]; /* its answers are known: skip it from now on */
    size_t n;
    deja_filter *widest; /* one of the filters with the most functions */
    uint64_t *hash;   /* the hashes of LAB_CHUNK keys: as many per key as the widest filter uses */
    uint64_t *narrow; /* the first hashes of each key, for a filter that uses fewer */
};
/* The bank belongs to the task; NULL: failed. */
struct lab_bank *lab_bank(struct lab_task *t, const struct lab_bloom_spec *spec);
/* Empty all filters and give them new salts and the same sizes: the next visit of the temporal
 * strategy, or the next filter of the spatial one. */
void lab_bank_renew(struct lab_bank *b);

/* The answers of filter number `member` for keys first .. first + n - 1: 1 for seen. */
typedef void lab_seen(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n);
/* Query and then insert each key, in order; fn may be NULL. */
void lab_bank_add(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx);
void lab_bank_ask(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx);

/* Counts for each filter how many keys it reports as seen: ctx is an array of doubles. */
void lab_count_seen(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n);
/* The hits of each filter: among the lab's n keys while they are inserted (filling, may be NULL),
 * and among n others when the filters are full. */
void lab_bank_count(struct lab_task *t, const struct lab_bloom_spec *spec, double *filling,
                    double *full);

#endif
