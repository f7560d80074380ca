/* writer.c - plain stores for a single writer, atomic ones for several; see writer.h. */
#include "core/base/writer.h"
#include <sched.h>

static _Thread_local char this_thread; /* only its address matters */

/* Ends a batch of the owner; another thread may have marked the filter as shared since it began. */
static void leave_alone(struct dj_writer *w)
{
    atomic_fetch_and_explicit(&w->state, ~DJ_WRITER_BUSY, memory_order_release);
}

/* The owner, or the first writer, tries to begin a batch alone. */
static bool enter_alone(struct dj_writer *w, uintptr_t me)
{
    uintptr_t owner = atomic_load_explicit(&w->owner, memory_order_relaxed);
    uint64_t idle = 0;
    if ((owner != 0 && owner != me) ||
        !atomic_compare_exchange_strong(&w->state, &idle, DJ_WRITER_BUSY))
        return false;
    owner = atomic_load_explicit(&w->owner, memory_order_relaxed);
    if (owner == 0)
        atomic_store_explicit(&w->owner, me, memory_order_relaxed);
    else if (owner != me) { /* another thread has become the owner in between */
        leave_alone(w);
        return false;
    }
    return true;
}

static void enter_shared(struct dj_writer *w)
{
    uint64_t state = atomic_fetch_or(&w->state, DJ_WRITER_SHARED) | DJ_WRITER_SHARED;
    for (;;)
        if (state & DJ_WRITER_BUSY) { /* at most one batch */
            sched_yield();
            state = atomic_fetch_or(&w->state, DJ_WRITER_SHARED) | DJ_WRITER_SHARED;
        } else if (atomic_compare_exchange_weak(&w->state, &state,
                                                (state | DJ_WRITER_SHARED) + DJ_WRITER_INSIDE))
            return;
}

/* Whether the last batches were all this thread's. */
static bool seems_alone(struct dj_writer *w, uintptr_t me)
{
    const bool again = atomic_load_explicit(&w->last, memory_order_relaxed) == me;
    const unsigned streak = again ? atomic_load_explicit(&w->streak, memory_order_relaxed) + 1 : 1;
    if (!again)
        atomic_store_explicit(&w->last, me, memory_order_relaxed);
    atomic_store_explicit(&w->streak, streak, memory_order_relaxed);
    return streak >= DJ_WRITER_ALONE;
}

static void leave_shared(struct dj_writer *w)
{
    const uintptr_t me = (uintptr_t)&this_thread;
    uint64_t only_me = DJ_WRITER_SHARED + DJ_WRITER_INSIDE;
    if (!seems_alone(w, me) ||
        !atomic_compare_exchange_strong(&w->state, &only_me, DJ_WRITER_BUSY)) {
        atomic_fetch_sub_explicit(&w->state, DJ_WRITER_INSIDE, memory_order_release);
        return;
    }
    atomic_store_explicit(&w->streak, 0, memory_order_relaxed);
    atomic_store_explicit(&w->owner, me, memory_order_relaxed);
    leave_alone(w);
}

bool dj_writer_enter(struct dj_writer *w)
{
    if (enter_alone(w, (uintptr_t)&this_thread))
        return true;
    enter_shared(w);
    return false;
}

void dj_writer_leave(struct dj_writer *w, bool sole)
{
    if (sole)
        leave_alone(w);
    else
        leave_shared(w);
}

void dj_writer_reset(struct dj_writer *w)
{
    atomic_store(&w->state, 0);
    atomic_store(&w->owner, 0);
    atomic_store(&w->last, 0);
    atomic_store(&w->streak, 0);
}
