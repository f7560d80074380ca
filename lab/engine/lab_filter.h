/* lab_filter.h - fill and query one filter of any kind. */
#ifndef LAB_ENGINE_LAB_FILTER_H
#define LAB_ENGINE_LAB_FILTER_H
#include "lab/engine/lab.h"

/* In pieces, so that Ctrl-C takes effect. *hits is the number of keys that the filter reports as
 * present or, when adding, as already present. */
int lab_fill(const struct lab *lab, deja_filter *f, const deja_slice *keys, uint64_t n,
             double *hits, deja_error *err);
int lab_ask(const struct lab *lab, const deja_filter *f, const deja_slice *keys, uint64_t n,
            double *hits, deja_error *err);
/* A filter that holds all keys; a static one is made by a builder. */
int lab_make_full(const struct lab *lab, const deja_options *opt, deja_filter **f,
                  deja_error *err);

/* The number of flags that are 1; the others are 0. */
size_t lab_ones(const uint8_t *flag, size_t n);

#endif
