/* lab_bank.h - several filters that see the same keys: one hashing for all of them.
 *
 * The thesis tries each number of hash functions with six sizes.  Filters with the same key, hash,
 * k and F take the same numbers for a key, whatever their size, so the lab hashes a URL once and
 * gives the numbers to all six: the slow part of a table is done once a row. */
#ifndef LAB_BANK_H
#define LAB_BANK_H
#include "lab.h"

#define LAB_BANK 8 /* filters at most */

struct lab_bank {
    const struct lab *lab;
    deja_filter *filter[LAB_BANK];
    deja_options options[LAB_BANK];
    size_t n;
    uint64_t *hash; /* LAB_CHUNK keys' numbers */
};
#define LAB_CHUNK 512 /* keys that are hashed before the filters get them */

/* The thesis' filters for the lab's n keys: F filters of k functions, m = n k M for each M. */
struct lab_bloom_spec {
    uint32_t hash, k, filters;
    const double *multiplier;
    size_t n; /* multipliers */
};
int lab_bank_init(struct lab_bank *b, const struct lab *lab, const struct lab_bloom_spec *spec,
                  uint64_t seed, deja_error *err);
void lab_bank_fini(struct lab_bank *b);
/* The temporal strategy: all filters empty again, with other salts and the same sizes. */
int lab_bank_next_visit(struct lab_bank *b, deja_error *err);

/* What filter number `filter` says to keys first .. first + n - 1: 1 for seen. */
typedef void lab_seen(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n);
/* Query and then insert each key, in order; fn may be NULL.  LAB_STOPPED when asked to stop. */
int lab_bank_add(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx,
                 deja_error *err);
int lab_bank_ask(struct lab_bank *b, const deja_slice *keys, uint64_t n, lab_seen *fn, void *ctx,
                 deja_error *err);

/* Counts for each filter what it claims to have seen: ctx is a double[LAB_BANK]. */
void lab_count_seen(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n);

/* A single filter of any kind, asked in pieces so that Ctrl-C is heard; *hits gets how many of
 * the keys it claims to have, or, adding, claimed to have had. */
int lab_fill(const struct lab *lab, deja_filter *f, const deja_slice *keys, uint64_t n,
             double *hits, deja_error *err);
int lab_ask(const struct lab *lab, const deja_filter *f, const deja_slice *keys, uint64_t n,
            double *hits, deja_error *err);

#endif
