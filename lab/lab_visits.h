/* lab_visits.h - the temporal strategy: two visits with different salts.
 *
 * A URL is lost when both visits take it for seen. */
#ifndef LAB_VISITS_H
#define LAB_VISITS_H
#include "lab_bank.h"

struct lab_visits {
    double full[LAB_BANK]; /* of n other URLs, asked of the full filter on each visit */
    double filling;        /* of the n URLs, each asked and then inserted on each visit */
    double *curve;         /* or NULL: LAB_CURVE points of `filling` */
    size_t watched;        /* the filter that `filling` is about */
};
int lab_two_visits(const struct lab *lab, const struct lab_bloom_spec *spec, uint64_t seed,
                   struct lab_visits *v, deja_error *err);

#endif
