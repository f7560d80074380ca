/* linecounts.h - a number for each line of a batch: how many times its key occurred. */
#ifndef CLI_SESSION_LINECOUNTS_H
#define CLI_SESSION_LINECOUNTS_H
#include "cli/session/pipeline.h"

struct linecounts { /* start with {0} */
    uint64_t *count;
    size_t cap;
};

/* Makes room for the counts of a batch. */
int linecounts_reserve(struct linecounts *l, const struct batch *b, deja_error *err);
/* Turns b->keyed counts, one per key, into b->block.n counts, one per record. */
void linecounts_spread(struct linecounts *l, const struct batch *b, uint64_t keyless);
/* Gives a line with several keys the largest of their counts.  Call it before session_fold, which
 * makes one record of each line. */
void linecounts_fold(struct linecounts *l, const struct batch *b);
void linecounts_fini(struct linecounts *l);

#endif
