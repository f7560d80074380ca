/* lab_footprint.h - the memory that a structure really takes, as the system and malloc see it. */
#ifndef LAB_ENGINE_LAB_FOOTPRINT_H
#define LAB_ENGINE_LAB_FOOTPRINT_H
#include "lab/engine/lab_task.h"

struct lab_footprint {
    double resident;  /* bytes of pages that it wrote: Private_Dirty; NAN: unknown here */
    double allocated; /* bytes from malloc: mallinfo2; NAN: unknown here */
    double asked;     /* what `build` returned */
};

/* Builds a structure and keeps it; returns the bytes that it asked for. */
typedef double lab_build(struct lab_task *t, const void *ctx);

#define LAB_FOOTPRINTS 8 /* structures in one process */

/* Measures what `build` takes for each of n contexts of `size` bytes, one after the other, in a
 * child process: neither memory that the lab has freed nor its other threads can disturb it.
 * Without huge pages if `small_pages`.  The child first calls `build` with few keys. */
struct lab_footprints {
    lab_build *build;
    const void *ctx;
    size_t size, n;
    bool small_pages;
};
void lab_footprint(struct lab_task *t, const struct lab_footprints *what,
                   struct lab_footprint *footprint);

#endif
