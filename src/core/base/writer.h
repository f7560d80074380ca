/* writer.h - plain stores for a single writer, atomic ones for several.
 *
 * Setting the bits of a key takes one or two vector stores, or up to eight atomic ORs, which cost
 * several times as much as the rest of an add.  Two threads with plain stores could overwrite each
 * other's bits and lose a key, so plain stores are only for a filter with a single writer.
 *
 * The first thread that adds becomes the owner, and adds alone.  Another thread that wants to add
 * marks the filter as shared and waits for the owner's current batch, if any.  From then on all
 * threads use atomics and none waits.  A thread that has added DJ_WRITER_ALONE batches in a row
 * becomes the owner as soon as no other thread is inside a batch, and the filter is no longer
 * shared.
 *
 * One word has the whole state, and every change of it is an atomic read-modify-write: whether the
 * owner is inside a batch, whether the filter is shared, and how many shared writers are inside.
 * So "alone" and "shared" are never true at the same time.  `owner` changes only while its new
 * value is inside alone.  `last` and `streak` only guess when to leave shared mode. */
#ifndef DJ_WRITER_H
#define DJ_WRITER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DJ_WRITER_ALONE 16 /* batches of one thread in a row that end shared mode */

/* The bits of `state`. */
#define DJ_WRITER_BUSY   UINT64_C(1) /* the owner is inside a batch */
#define DJ_WRITER_SHARED UINT64_C(2)
#define DJ_WRITER_INSIDE UINT64_C(4) /* one shared writer; the rest of the word counts them */

/* A thread is identified by the address of a thread-local variable. */
struct dj_writer {
    _Atomic uint64_t state;
    _Atomic uintptr_t owner; /* 0: none yet */
    _Atomic uintptr_t last;  /* the last shared writer, and its batches in a row */
    atomic_uint streak;
};

/* Begin a batch; true if the caller is the only writer until dj_writer_leave. */
bool dj_writer_enter(struct dj_writer *w);
void dj_writer_leave(struct dj_writer *w, bool sole);
/* Call when nobody else uses the filter: the next thread that adds can own it. */
void dj_writer_reset(struct dj_writer *w);

static inline bool dj_writer_is_shared(struct dj_writer *w)
{
    return atomic_load(&w->state) & DJ_WRITER_SHARED;
}

#endif
