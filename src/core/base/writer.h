/* writer.h - plain stores for a single writer; atomic ones, or a lock, for several.
 *
 * Setting the bits of a key takes one or two vector stores, or up to eight atomic ORs, which cost
 * several times as much as the rest of an add.  Two threads with plain stores could overwrite each
 * other's bits and lose a key, so plain stores without a lock are only for a filter with a single
 * writer.
 *
 * The first thread that adds becomes the owner, and adds alone.  Another thread that wants to add
 * marks the filter as shared and waits for the owner's current batch, if any.  From then on the
 * kind uses atomics or its own lock.  A thread that has added DJ_WRITER_ALONE batches in a row
 * becomes the owner as soon as no other thread is inside a batch, and the filter is no longer
 * shared.
 *
 * A thread is alone if it took `alone` and after that found `state` at 0.  A thread is inside a
 * shared batch if it counted itself in `state` and after that found `alone` free.  Each of the two
 * writes its own word before it reads the other's, so at least one of them sees the other: "alone"
 * and "shared" are never true at the same time.  `owner`, `last` and `streak` only guess whether it
 * is worth trying.
 *
 * A locked instruction waits for all earlier stores, and so for the cache misses of earlier adds.
 * The owner needs one for a batch. */
#ifndef DJ_WRITER_H
#define DJ_WRITER_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DJ_WRITER_ALONE 16 /* batches of one thread in a row that end shared mode */

/* The bits of `state`. */
#define DJ_WRITER_SHARED UINT64_C(1)
#define DJ_WRITER_INSIDE UINT64_C(2) /* one shared writer; the rest of the word counts them */

struct dj_writer {
    _Atomic uint64_t state;
    atomic_bool alone;       /* the owner is inside a batch */
    _Atomic uintptr_t owner; /* 0: none yet */
    _Atomic uintptr_t last;  /* the last shared writer, and its batches in a row */
    atomic_uint streak;
};

/* Use the inline functions below. */
void dj_writer_enter_shared(struct dj_writer *w);
void dj_writer_leave_shared(struct dj_writer *w, uintptr_t me);
/* Call when nobody else uses the filter: the next thread that adds can own it. */
void dj_writer_reset(struct dj_writer *w);

static inline uintptr_t dj_writer_me(void)
{
    return (uintptr_t)pthread_self();
}

/* The owner, or the first writer, tries to begin a batch alone. */
static inline bool dj_writer_enter_alone(struct dj_writer *w, uintptr_t me)
{
    const uintptr_t owner = atomic_load_explicit(&w->owner, memory_order_relaxed);
    if (owner != me && owner != 0)
        return false;
    if (atomic_exchange(&w->alone, true)) /* another thread is the first writer */
        return false;
    if (atomic_load(&w->state) == 0) {
        if (!owner)
            atomic_store_explicit(&w->owner, me, memory_order_relaxed);
        return true;
    }
    atomic_store_explicit(&w->alone, false, memory_order_release);
    return false;
}

/* Begin a batch; true if the caller is the only writer until dj_writer_leave. */
static inline bool dj_writer_enter(struct dj_writer *w)
{
    if (dj_writer_enter_alone(w, dj_writer_me()))
        return true;
    dj_writer_enter_shared(w);
    return false;
}

static inline void dj_writer_leave(struct dj_writer *w, bool sole)
{
    if (sole)
        atomic_store_explicit(&w->alone, false, memory_order_release);
    else
        dj_writer_leave_shared(w, dj_writer_me());
}

/* Adds to a count that only writers change; `shared` if there may be several. */
static inline void dj_writer_count(_Atomic uint64_t *count, uint64_t n, bool shared)
{
    if (shared)
        atomic_fetch_add_explicit(count, n, memory_order_relaxed);
    else
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
                              memory_order_relaxed);
}

static inline bool dj_writer_is_shared(struct dj_writer *w)
{
    return atomic_load(&w->state) & DJ_WRITER_SHARED;
}

#endif
