/* counts.h - what a filter has counted, to and from a record of its file. */
#ifndef DJ_COUNTS_H
#define DJ_COUNTS_H
#include "kinds/kind.h"

/* The counts of a filter, now; sequence and checksum are the caller's. */
void dj_record_of(const deja_filter *f, enum dj_state state, struct dj_record *r);
/* From a record, all but the syncs; keys, from the bits that are set; and a record for a copy,
 * whose keys are known in any case. */
void dj_counts_take(deja_filter *f, const struct dj_record *r);
void dj_counts_recount(const deja_filter *f, struct dj_record *r);
void dj_counts_pass_on(const deja_filter *f, struct dj_record *r);

#endif
