/* fingerprint.h - keys as 96-bit numbers, and their order. */
#ifndef DJ_FINGERPRINT_H
#define DJ_FINGERPRINT_H
#include "core/hash/hash.h"

/* Makes fingerprints with one secret key. */
struct dj_printer {
    struct dj_hasher hasher; /* the hash that filters with this key use */
    uint64_t check[2];       /* the SipHash key of the other 32 bits */
};

void dj_printer_init(struct dj_printer *p, const uint8_t key[DEJA_KEY_LEN]);
void dj_printer_hash(const struct dj_printer *p, const deja_slice *keys, size_t n,
                     deja_fingerprint *out);
/* The identity of a sieve, in each of its files; depends only on the secret key. */
uint64_t dj_printer_id(const uint8_t key[DEJA_KEY_LEN]);

/* Fingerprints are ordered as 96-bit numbers.  The tag is not part of them. */
static inline bool dj_print_equal(const deja_fingerprint *a, const deja_fingerprint *b)
{
    return a->hash == b->hash && a->check == b->check;
}

static inline bool dj_print_less(const deja_fingerprint *a, const deja_fingerprint *b)
{
    return a->hash != b->hash ? a->hash < b->hash : a->check < b->check;
}

/* Sorts in place; equal fingerprints are ordered by their tags. */
void dj_prints_sort(deja_fingerprint *p, size_t n);
/* Returns the index of the first of n sorted fingerprints that is not less than key; n if none is. */
size_t dj_prints_find(const deja_fingerprint *p, size_t n, const deja_fingerprint *key);

#endif
