/* writer.c - plain stores for a single writer, atomic ones for several; see writer.h. */
#include "core/base/writer.h"
#include <sched.h>

void dj_writer_enter_shared(struct dj_writer *w)
{
    uint64_t state = atomic_load_explicit(&w->state, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&w->state, &state,
                                         (state | DJ_WRITER_SHARED) + DJ_WRITER_INSIDE))
        ;
    while (atomic_load(&w->alone)) /* at most one batch */
        sched_yield();
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

void dj_writer_leave_shared(struct dj_writer *w, uintptr_t me)
{
    uint64_t only_me = DJ_WRITER_SHARED + DJ_WRITER_INSIDE;
    if (!seems_alone(w, me) || !atomic_compare_exchange_strong(&w->state, &only_me, 0)) {
        atomic_fetch_sub_explicit(&w->state, DJ_WRITER_INSIDE, memory_order_release);
        return;
    }
    atomic_store_explicit(&w->streak, 0, memory_order_relaxed);
    atomic_store_explicit(&w->owner, me, memory_order_relaxed);
}

void dj_writer_reset(struct dj_writer *w)
{
    atomic_store(&w->state, 0);
    atomic_store(&w->alone, false);
    atomic_store(&w->owner, 0);
    atomic_store(&w->last, 0);
    atomic_store(&w->streak, 0);
}
