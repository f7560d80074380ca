/* clock.h - the monotonic clock, and the time that a thread has run. */
#ifndef TOOLS_BASE_CLOCK_H
#define TOOLS_BASE_CLOCK_H
#include <time.h>

static inline double clock_read(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double clock_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

/* Processor time of the calling thread: does not advance while other processes run. */
static inline double clock_cpu_ns(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

static inline double clock_seconds(void)
{
    return clock_ns() * 1e-9;
}

#endif
