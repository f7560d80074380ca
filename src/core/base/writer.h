/* writer.h - plain stores for a single writer, atomic ones for several.
 *
 * Setting the bits of a key takes one or two vector stores, or up to eight atomic ORs, which cost
 * several times as much as the rest of an add.  Two threads with plain stores could overwrite each
 * other's bits and lose a key, so plain stores are only for a filter with a single writer.
 *
 * The first thread that adds becomes the owner.  It announces each batch (busy), then checks that
 * the filter is not shared.  Any other thread that wants to add marks the filter as shared,
 * permanently, and waits for the current batch, if any.  From then on all threads use atomics and
 * none waits.  The announcement and the check are sequentially consistent on both sides, so at
 * least one of the two threads sees the other (Dekker's argument).  Cost for the owner: one atomic
 * exchange per batch. */
#ifndef DJ_WRITER_H
#define DJ_WRITER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dj_writer {
    _Atomic uintptr_t owner; /* address of a thread-local variable of the owner; 0: none yet */
    atomic_bool busy;
    atomic_bool shared;
};

/* Begin a batch; true if the caller is the only writer until dj_writer_leave. */
bool dj_writer_enter(struct dj_writer *w);
void dj_writer_leave(struct dj_writer *w, bool sole);
/* Call when nobody else uses the filter: the next thread that adds can own it. */
void dj_writer_reset(struct dj_writer *w);

#endif
