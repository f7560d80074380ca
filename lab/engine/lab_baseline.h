/* lab_baseline.h - what crawlers would use without a filter: lists of the URLs themselves.
 *
 * They are not available as kinds.  The hash table of strings comes from `deja bench`. */
#ifndef LAB_ENGINE_LAB_BASELINE_H
#define LAB_ENGINE_LAB_BASELINE_H
#include "deja.h"

/* An unsorted array: adding appends, a query compares with all entries. */
bool lab_linear_has(const deja_slice *list, uint64_t n, deja_slice key);
/* A sorted array: sort once, then binary search. */
void lab_sort(deja_slice *list, uint64_t n);
bool lab_binary_has(const deja_slice *sorted, uint64_t n, deja_slice key);

#endif
