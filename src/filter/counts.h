/* counts.h - copies the counts of a filter to and from a sync record. */
#ifndef DJ_COUNTS_H
#define DJ_COUNTS_H
#include "kinds/kind.h"

/* Fills a record with the current counts; the caller sets sequence and checksum. */
void dj_record_of(const deja_filter *f, enum dj_state state, struct dj_record *r);
/* These functions copy the counts from a record, except syncs; estimate the keys in a record from
 * the set bits; and fill a record for a copy, with estimates if the filter's own counts are out of
 * date. */
void dj_counts_take(deja_filter *f, const struct dj_record *r);
void dj_counts_recount(const deja_filter *f, struct dj_record *r);
void dj_counts_pass_on(const deja_filter *f, struct dj_record *r);

#endif
