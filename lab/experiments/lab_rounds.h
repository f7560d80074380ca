/* lab_rounds.h - the same URLs again, with an empty filter and different salts each time.
 *
 * Counts the URLs that all rounds so far report as seen.  Both strategies of the thesis reduce to
 * this: a round is a visit (temporal: a URL is lost if every visit mistakes it for seen), one of F
 * filters (spatial: a URL counts as seen if all of them say so), or one of F filters on a
 * visit. */
#ifndef LAB_EXPERIMENTS_LAB_ROUNDS_H
#define LAB_EXPERIMENTS_LAB_ROUNDS_H
#include "lab/engine/lab_bank.h"
#include "lab/report/lab_curve.h"

#define LAB_ROUNDS  6
#define LAB_WATCHED 8

struct lab_rounds {
    uint32_t rounds;
    /* The filters that are watched while they fill, each URL being queried and then inserted. */
    size_t watched[LAB_WATCHED];
    size_t n_watched;

    /* After each round: hits among n other URLs, looked up in the full filters; and for watched
     * filters, hits among the n URLs themselves, by how many had been inserted. */
    double full[LAB_ROUNDS][LAB_BANK];
    double filling[LAB_ROUNDS][LAB_WATCHED][LAB_CURVE];
    /* Hits of this round alone, among the n other URLs; 0 for a filter that was skipped because
     * earlier rounds had left it without common hits. */
    double alone[LAB_ROUNDS][LAB_BANK];
};
/* The counts must be 0 before. */
void lab_rounds(struct lab_task *t, const struct lab_bloom_spec *spec, struct lab_rounds *r);

#endif
