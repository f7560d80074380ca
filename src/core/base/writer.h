/* writer.h - plain stores while one thread writes, atomic ones as soon as two do.
 *
 * Setting the bits of a key takes one or two vector stores, or up to eight atomic ORs, which
 * cost several times the rest of an add.  Two threads with plain stores could undo each other's
 * bits and lose a key; so plain stores are only for a filter that has a single writer.
 *
 * The first thread that adds becomes the owner.  It announces each batch (busy) and looks whether
 * the filter is still its own.  Any other thread that wants to add declares the filter shared,
 * for good, and waits for the batch under way, if any; from then on everybody uses atomics
 * and nobody waits.  The announcement and the look are sequentially consistent on both sides, so
 * one of the two always sees the other (Dekker's argument).  Cost for the owner: one exchange a
 * batch. */
#ifndef DJ_WRITER_H
#define DJ_WRITER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dj_writer {
    _Atomic uintptr_t owner; /* address of a thread-local of the owning thread; 0: none yet */
    atomic_bool busy;
    atomic_bool shared;
};

/* Begin a batch: true when the caller is the only writer until dj_writer_leave. */
bool dj_writer_enter(struct dj_writer *w);
void dj_writer_leave(struct dj_writer *w, bool sole);
/* Nobody else uses the filter now: the next thread that adds may own it. */
void dj_writer_reset(struct dj_writer *w);

#endif
