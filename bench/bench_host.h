/* bench_host.h - what the figures depend on: processor, compiler, memory. */
#ifndef BENCH_BENCH_HOST_H
#define BENCH_BENCH_HOST_H
#include "deja.h"

struct bench_host {
    char cpu[96];
    const char *compiler;
    const char *flags;
    const char *simd;
    char huge_pages[24]; /* what the kernel gives to those who ask: "madvise", "never", ... */
    uint64_t available;  /* bytes of memory; 0: cannot be told */
};
void bench_host_look(struct bench_host *h);

#endif
