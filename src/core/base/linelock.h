/* linelock.h - a lock for cache lines that several threads write: held for few instructions, so
 * waiting threads only yield. */
#ifndef DJ_LINELOCK_H
#define DJ_LINELOCK_H
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define DJ_LINE_LOCKS 64 /* shared by the lines of a body */

static inline void dj_line_lock(atomic_bool *l)
{
    while (atomic_exchange_explicit(l, true, memory_order_acquire))
        while (atomic_load_explicit(l, memory_order_relaxed))
            sched_yield();
}

static inline void dj_line_unlock(atomic_bool *l)
{
    atomic_store_explicit(l, false, memory_order_release);
}

#endif
