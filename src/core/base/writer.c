/* writer.c - plain stores for a single writer, atomic ones for several; see writer.h. */
#include "core/base/writer.h"
#include <sched.h>

static _Thread_local char this_thread; /* only its address matters */

static void wait_for_owner(const struct dj_writer *w)
{
    while (atomic_load(&w->busy)) /* at most one batch, and only when the filter becomes shared */
        sched_yield();
}

bool dj_writer_enter(struct dj_writer *w)
{
    const uintptr_t me = (uintptr_t)&this_thread;
    uintptr_t owner = 0;
    if (atomic_load(&w->shared)) {
        wait_for_owner(w);
        return false;
    }
    if (!atomic_compare_exchange_strong(&w->owner, &owner, me) && owner != me) {
        atomic_store(&w->shared, true);
        wait_for_owner(w);
        return false;
    }
    atomic_store(&w->busy, true);
    if (!atomic_load(&w->shared))
        return true;
    atomic_store(&w->busy, false);
    return false;
}

void dj_writer_leave(struct dj_writer *w, bool sole)
{
    if (sole)
        atomic_store_explicit(&w->busy, false, memory_order_release);
}

void dj_writer_reset(struct dj_writer *w)
{
    atomic_store(&w->owner, 0);
    atomic_store(&w->shared, false);
}
