/* guard.h - what becomes of a filter whose file is cut short under its mapping. */
#ifndef DJ_GUARD_H
#define DJ_GUARD_H
#include "deja.h"
#include <stdatomic.h>

/* A mapping that the handler of SIGBUS knows. */
struct dj_guard {
    _Atomic(struct dj_guard *) next;
    const uint8_t *begin;
    size_t len;
    atomic_bool lost; /* a page could not be read, and has become zeros */
};

/* From here on the mapping is known; the structure stays where it is until dj_guard_leave. */
void dj_guard_join(struct dj_guard *g, const uint8_t *map, size_t len);
/* Before the mapping goes away; nothing happens for one that did not join. */
void dj_guard_leave(struct dj_guard *g);

#endif
