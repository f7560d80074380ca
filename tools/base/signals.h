/* signals.h - Ctrl-C asks to stop; asking twice does not ask. */
#ifndef TOOLS_BASE_SIGNALS_H
#define TOOLS_BASE_SIGNALS_H
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP set the flag that this returns and interrupt a
 * waiting read or write (EINTR); the second of them ends the program on the spot.  One that
 * was ignored at the start (nohup, a shell's background job) stays ignored.  SIGPIPE is
 * ignored: a write to nobody returns EPIPE. */
const atomic_bool *signals_install(void);

/* stop may be NULL. */
static inline bool signals_stopped(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* Around pthread_create: the new threads inherit the mask and leave the signals, and with
 * them EINTR, to the thread that reads the input. */
void signals_mask(sigset_t *old);
void signals_unmask(const sigset_t *old);

/* After the cleaning up: if a signal asked to stop, end by that same signal, so that the shell
 * and its loops see it.  Returns when none came. */
void signals_finish(void);

#endif
