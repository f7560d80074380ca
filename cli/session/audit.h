/* audit.h - how many new keys a filter has mistaken for seen, measured by a sample.
 *
 * The first reading of the input keeps a uniform sample of the keys that the filter has found, each
 * with its position (a reservoir: Vitter, "Random sampling with a reservoir", 1985, algorithm R).
 * The second reading counts how many times each of them occurred before that position.  A key that
 * did not occur was new, and its line was lost.
 *
 * Keys are compared byte by byte, so the check is exact.  Memory is that of the sample. */
#ifndef CLI_SESSION_AUDIT_H
#define CLI_SESSION_AUDIT_H
#include "cli/session/pipeline.h"

struct audit_key {
    uint64_t at;      /* position in the input, in keys */
    uint64_t hash;    /* by the audit's own hash function */
    uint64_t earlier; /* occurrences so far in the second reading; only of the first equal key */
    size_t first;     /* the first equal key in the sample; or itself */
    size_t len;
    char *data;
};

struct audit {       /* start with {0} and audit_init */
    uint64_t found;  /* keys that the filter has found */
    uint64_t lost;   /* of the sample */
    size_t n;        /* keys in the sample */
    size_t most;     /* that it can have */
    uint64_t random; /* state of the generator */
    uint64_t at;     /* keys read so far in this reading */
    uint64_t total;  /* keys of the first reading */
    size_t done;     /* keys of the sample that were checked */
    struct audit_key *key;
    size_t key_cap;
    size_t *slot; /* a hash table of indexes into `key`, plus 1; 0: free */
    size_t slots; /* a power of two */
};

/* Takes samples of up to `most` keys.  The same seed takes the same sample. */
void audit_init(struct audit *a, size_t most, uint64_t seed);
/* First reading: call it for each batch when the first b->keyed answers say which keys are new. */
int audit_take(struct audit *a, const struct batch *b, deja_error *err);
/* Prepares the second reading, whose batches are hashed by `hasher`, to one number per key. */
int audit_begin_check(struct audit *a, const deja_filter *hasher, deja_error *err);
/* Second reading: call it for each batch.  keep: how many lines with the same key are not repeats,
 * at least 1.  DEJA_EIO: the input has changed. */
int audit_check(struct audit *a, const struct batch *b, uint64_t keep, deja_error *err);
/* Call it at the end of the second reading.  DEJA_EIO: the input has changed. */
int audit_end_check(const struct audit *a, deja_error *err);
void audit_fini(struct audit *a);

/* The measured number of lost lines.  If all keys were checked, it is exact, and low and high are
 * the same. */
struct audit_loss {
    double lost, low, high;
};
struct audit_loss audit_loss(const struct audit *a);

#endif
