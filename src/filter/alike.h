/* alike.h - what two filters need in common to be combined. */
#ifndef DJ_ALIKE_H
#define DJ_ALIKE_H
#include "filter/filter.h"

#define DJ_MAX_DIFFERENCES 16
/* Why two filters cannot be combined: "kind: blocked and classic", one line for each reason. */
struct dj_differences {
    uint32_t n;
    char line[DJ_MAX_DIFFERENCES][120];
};

/* How two filters are merged. */
enum dj_union {
    DJ_UNION_BODIES, /* every key has the same positions in both: the bodies are combined */
    DJ_UNION_PARTS   /* `into` is a series, which gets the parts of the other */
};

/* Whether the filters can be merged, and how; and whether their bodies can be compared, which
 * requires that every key has the same positions in both.  DEJA_EMISMATCH lists every
 * difference. */
int dj_alike_merge(const deja_filter *into, const deja_filter *from, enum dj_union *how,
                   deja_error *err);
int dj_alike_compare(const deja_filter *a, const deja_filter *b, deja_error *err);

#endif
