/* clock.h - the monotonic clock. */
#ifndef TOOLS_BASE_CLOCK_H
#define TOOLS_BASE_CLOCK_H
#include <time.h>

static inline double clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double clock_seconds(void)
{
    return clock_ns() * 1e-9;
}

#endif
