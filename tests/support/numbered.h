/* numbered.h - keys that are numbers, for tests that only need many different ones. */
#ifndef NUMBERED_H
#define NUMBERED_H
#include "deja.h"

static inline deja_slice key_of(const uint64_t *i)
{
    return (deja_slice){i, sizeof *i};
}

/* Adds from .. to - 1. */
static inline int take(deja_filter *f, uint64_t from, uint64_t to)
{
    int rc = DEJA_OK;
    for (uint64_t i = from; i < to && rc == DEJA_OK; i++)
        rc = deja_filter_add(f, key_of(&i), NULL);
    return rc;
}

#endif
