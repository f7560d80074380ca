/* signals.h - the first Ctrl-C asks to stop, the second one kills. */
#ifndef TOOLS_BASE_SIGNALS_H
#define TOOLS_BASE_SIGNALS_H
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* After this call, SIGINT, SIGTERM and SIGHUP set the returned flag and interrupt a waiting read
 * or write (EINTR); the second signal kills the program.  A signal that was ignored at the start
 * (nohup, a background job of a shell) stays ignored.  SIGPIPE is ignored: a write to a closed
 * pipe returns EPIPE. */
const atomic_bool *signals_install(void);

/* stop may be NULL. */
static inline bool signals_stopped(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* Use these around pthread_create: new threads inherit the mask, so only the calling thread gets
 * the signals and EINTR. */
void signals_mask(sigset_t *old);
void signals_unmask(const sigset_t *old);

/* Call this after cleaning up.  If a signal asked to stop, it kills the process with that signal,
 * so that shells and their loops notice; otherwise it returns. */
void signals_finish(void);

#endif
