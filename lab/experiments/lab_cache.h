/* lab_cache.h - the units and values of exp_cache.c, and its report. */
#ifndef LAB_EXPERIMENTS_LAB_CACHE_H
#define LAB_EXPERIMENTS_LAB_CACHE_H
#include "lab/report/lab_report.h"

#define CACHE_BITS 10.0 /* R = 10 n */
#define CACHE_K    7u

enum lab_cache_unit {
    CACHE_NAIVE,
    CACHE_BLOOM,
    CACHE_PERFECT, /* only in the first run, like CACHE_BUDGET */
    CACHE_PAIRED,
    CACHE_COUNTERS,
    CACHE_UNION,
    CACHE_FOLD,
    CACHE_KIND,
    CACHE_BUDGET, /* its values: lab_budget.h */
    CACHE_UNITS
};
#define CACHE_VALUES 6u

enum {            /* NAIVE, BLOOM, UNION, FOLD */
    CACHE_HITS,   /* URLs that were not added and are found */
    CACHE_MISSED, /* URLs that were added and are not found: must be 0 */
    CACHE_BYTES,
    CACHE_DIFFER = CACHE_BYTES, /* UNION: answers that differ from one filter's */
    CACHE_BEFORE = CACHE_BYTES  /* FOLD: hits before it was halved */
};
enum { /* PERFECT */
    CACHE_WRONG,
    CACHE_STRANGERS,
    CACHE_FUNCTION_BITS,
    CACHE_STRANGERS_ASKED
};
enum {                                 /* PAIRED, COUNTERS, KIND */
    CACHE_LOST,                        /* URLs that were not deleted and are not found */
    CACHE_FALSE,                       /* URLs that were not added and are found */
    CACHE_ONE_FILTER,                  /* PAIRED: false positives of the first filter alone */
    CACHE_OWN_LOST = CACHE_ONE_FILTER, /* KIND: the rates that the filter states itself */
    CACHE_OWN_FALSE,
    CACHE_BODY,
    CACHE_FUNCTIONS
};

void lab_cache_report(const struct lab_results *r, struct lab_report *report);

#endif
