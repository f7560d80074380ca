/* wish.h - what a client wants of a new filter, and the options that a filter gets for it. */
#ifndef WISH_H
#define WISH_H
#include "value.h"
#include <stdbool.h>

struct wish {
    double error;
    long long capacity, expansion; /* expansion 0: the filter does not grow */
    bool nonscaling, expanding;    /* the client said so */
    double tightening;             /* 0: ours */
    const char *key;               /* or NULL */
    long long scale_to;            /* capacity that the filter must be able to reach; 0: any */
};

struct wish wish_defaults(void);
deja_options wish_options(const struct wish *w);

#endif
