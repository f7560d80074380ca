/* sievespool.h - pending keys with their tokens and records, in a journal. */
#ifndef DJ_SPOOL_H
#define DJ_SPOOL_H
#include "sieve/fingerprint.h"
#include "sieve/journal.h"

/* Bytes of an entry without its record. */
#define DJ_SPOOLED_LEAST 24

struct dj_spooled {
    deja_fingerprint print;
    uint64_t token;
    deja_slice record;
};

/* Appends the keys fp[which[0 .. n-1]]: all of them, or none.  token and record may be NULL.
 * Batches have at most cap bytes, unless a single record is longer. */
int dj_spool_add(struct dj_journal *spool, const deja_fingerprint *fp, const uint64_t *token,
                 const deja_slice *record, const uint32_t *which, size_t n, size_t cap,
                 const deja_allocator *alloc, deja_error *err);
/* Takes the next entry from the front of a batch; false at its end, or if it is damaged. */
bool dj_spool_take(deja_slice *batch, struct dj_spooled *out);

#endif
