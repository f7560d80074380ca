/* guard.h - detects that a mapped file was truncated. */
#ifndef DJ_GUARD_H
#define DJ_GUARD_H
#include "deja.h"
#include <stdatomic.h>

/* A mapping that the SIGBUS handler knows. */
struct dj_guard {
    _Atomic(struct dj_guard *) next;
    const uint8_t *begin;
    size_t len;
    atomic_bool lost; /* a page could not be read and was replaced with zeros */
};

/* Registers the mapping; the struct must not move until dj_guard_leave. */
void dj_guard_join(struct dj_guard *g, const uint8_t *map, size_t len);
/* Call before the mapping is removed; does nothing if it was not registered. */
void dj_guard_leave(struct dj_guard *g);

#endif
