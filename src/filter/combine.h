/* combine.h - what unions, folds and overlaps share: bodies after folds, and tables. */
#ifndef DJ_COMBINE_H
#define DJ_COMBINE_H
#include "filter/filter.h"

bool dj_is_series(const struct dj_plan *p);
/* The kind of its parts, if it is a series of them. */
const struct dj_kind *dj_kind_of_bodies(const struct dj_plan *p);
/* A series with more than one part. */
bool dj_has_grown(const deja_filter *f);
/* Its bodies are tables of fingerprints; the others are bits. */
bool dj_is_table(const deja_filter *f);
/* Checks that both files are still intact, so that the bytes read from them are valid. */
int dj_check_whole(const deja_filter *a, const deja_filter *b, deja_error *err);

/* How many folds turn one size into the other; -1 if that is impossible. */
int dj_folds_between(uint64_t large, uint64_t small);

struct dj_set_bits {
    uint64_t a, b, both; /* set bits of a, b and a | b after the folds */
};
struct dj_set_bits dj_count_bits(const struct dj_part *a, int folds_a, const struct dj_part *b,
                                 int folds_b);

/* The fingerprints of a table as hashes, a piece at a time; 0 at the end. */
size_t dj_table_next(const struct dj_part *p, uint64_t *slot, uint64_t hash[DJ_CHUNK]);
/* Counts the fingerprints of `in` that are in `of` and those that are not. */
void dj_table_compare(const struct dj_part *in, const struct dj_part *of, uint64_t *found,
                      uint64_t *absent);
/* The sum of n answers. */
uint64_t dj_sum_of(const uint8_t *answer, size_t n);

#endif
