/* bench_host.h - the environment that the figures depend on: processor, compiler, memory. */
#ifndef BENCH_BENCH_HOST_H
#define BENCH_BENCH_HOST_H
#include "deja.h"

struct bench_host {
    char cpu[96];
    const char *compiler;
    const char *flags;
    const char *simd;
    char huge_pages[24]; /* the kernel's setting: "madvise", "never", ... */
    uint64_t available;  /* bytes of memory; 0: unknown */
};
void bench_host_look(struct bench_host *h);

#endif
