/* lab_filter.h - one filter of any kind, filled and asked. */
#ifndef LAB_ENGINE_LAB_FILTER_H
#define LAB_ENGINE_LAB_FILTER_H
#include "lab/engine/lab.h"

/* In pieces, so that Ctrl-C is heard; *hits gets how many of the keys the filter claims to have,
 * or, adding, claimed to have had. */
int lab_fill(const struct lab *lab, deja_filter *f, const deja_slice *keys, uint64_t n,
             double *hits, deja_error *err);
int lab_ask(const struct lab *lab, const deja_filter *f, const deja_slice *keys, uint64_t n,
            double *hits, deja_error *err);
/* With all keys in it, from a builder when it is of the kind that never changes. */
int lab_make_full(const struct lab *lab, const deja_options *opt, deja_filter **f,
                  deja_error *err);

/* How many of the flags are 1; the others are 0. */
size_t lab_ones(const uint8_t *flag, size_t n);

#endif
