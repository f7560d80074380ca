/* lab_rounds.h - the same URLs again, with an empty filter and other salts each time.
 *
 * Counted are the URLs that all rounds so far take for seen.  Both strategies of the thesis come
 * down to it: a round is a visit (temporal: a URL is lost when every visit takes it for seen) or
 * one of F filters (spatial: it counts as seen when all of them say so), or one of F on a visit.
 */
#ifndef LAB_EXPERIMENTS_LAB_ROUNDS_H
#define LAB_EXPERIMENTS_LAB_ROUNDS_H
#include "lab/engine/lab_bank.h"
#include "lab/report/lab_curve.h"

#define LAB_ROUNDS  6
#define LAB_WATCHED 8

struct lab_rounds {
    uint32_t rounds;
    /* The filters that are looked at while they fill, each URL being asked and then inserted. */
    size_t watched[LAB_WATCHED];
    size_t n_watched;

    /* After each round: of n other URLs, asked of the full filters; and for those that are
     * watched, of the n URLs themselves, by how many had come. */
    double full[LAB_ROUNDS][LAB_BANK];
    double filling[LAB_ROUNDS][LAB_WATCHED][LAB_CURVE];
};
int lab_rounds(const struct lab *lab, const struct lab_bloom_spec *spec, uint64_t seed,
               struct lab_rounds *r, deja_error *err);

#endif
