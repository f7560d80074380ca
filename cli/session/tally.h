/* tally.h - how many times each key occurred, exactly, up to TALLY_MAX.
 *
 * A hash table of 64-bit hashes and 32-bit counters: 12 bytes per slot, between 3/8 and 3/4 of them
 * in use, so 16 to 32 bytes per distinct key.  A spectral filter at a comparable rate (1e-6) with
 * 16-bit counters takes fifty times as much, because every bit becomes a counter.  Two keys are
 * confused only if their hashes are equal: for 100 million keys, with probability 3e-4. */
#ifndef CLI_SESSION_TALLY_H
#define CLI_SESSION_TALLY_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX     0x7fffffffu /* a count that has reached it stays there */
#define TALLY_UNKNOWN UINT32_MAX

struct tally {       /* start with {0} */
    uint64_t *hash;  /* 0: a free slot */
    uint32_t *count; /* and a flag: see tally.c */
    size_t slots;    /* a power of two */
    size_t used;
};

/* Adds `times` occurrences of each of n keys.  DEJA_ENOMEM: some were added. */
int tally_add(struct tally *t, const uint64_t *hash, size_t n, uint32_t times, deja_error *err);
/* The first call returns the count of the key, later calls return 0.  TALLY_UNKNOWN: the key was
 * never added. */
uint32_t tally_take(struct tally *t, uint64_t hash);

struct tally_sums {
    uint64_t distinct;  /* keys */
    uint64_t once;      /* keys with the count 1 */
    uint64_t saturated; /* keys whose count reached TALLY_MAX */
    uint64_t bytes;     /* of memory */
};
struct tally_sums tally_sums(const struct tally *t);
void tally_fini(struct tally *t);

#endif
