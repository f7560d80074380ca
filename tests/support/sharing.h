/* sharing.h - a filter that behaves as if another thread were adding to it. */
#ifndef SHARING_H
#define SHARING_H
#include "kinds/deja_filter.h"

/* The other thread never finishes its batch, so the filter stays shared. */
static inline void share(deja_filter *f)
{
    atomic_store(&f->writer.state, DJ_WRITER_SHARED + DJ_WRITER_INSIDE);
}

#endif
