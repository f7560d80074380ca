/* bench_pair.c - two threads that share a subject; see bench_pair.h.
 *
 * Processor time does not include the time that a thread waits for a processor.  If other programs
 * leave only one processor, the threads take turns and do not disturb each other. */
#include "bench/bench_pair.h"
#include "bench/bench_keys.h"
#include "tools/base/clock.h"
#include "tools/base/signals.h"
#include <pthread.h>
#include <sched.h>

struct half {
    bench_call *call;
    void *self;
    const deja_slice *keys;
    size_t n;
    uint8_t *answer;
    atomic_int *waiting; /* threads that have not arrived */
    int rc;
    double ns;
    uint64_t sink;
};

static void *run_half(void *arg)
{
    struct half *h = arg;
    h->sink = bench_keys_read(h->keys, h->n); /* another thread wrote them */
    atomic_fetch_sub(h->waiting, 1);
    while (atomic_load(h->waiting) > 0)
        (void)sched_yield();
    const double begin = clock_cpu_ns();
    h->rc = h->call(h->self, h->keys, h->n, h->answer);
    h->ns = clock_cpu_ns() - begin;
    return NULL;
}

int bench_pair_run(bench_call *call, void *self, const deja_slice *keys, size_t n, uint8_t *answer,
                   double *ns)
{
    atomic_int waiting = 2;
    const size_t first = n / 2;
    struct half a = {call, self, keys, first, answer, &waiting, DEJA_OK, 0, 0};
    struct half b = {call, self, keys + first, n - first, answer + first, &waiting, DEJA_OK, 0, 0};
    pthread_t thread;
    sigset_t old;
    signals_mask(&old);
    const bool started = pthread_create(&thread, NULL, run_half, &b) == 0;
    signals_unmask(&old);
    if (!started)
        return DEJA_ENOMEM;
    (void)run_half(&a);
    (void)pthread_join(thread, NULL);
    *ns = a.ns > b.ns ? a.ns : b.ns;
    return a.rc < 0 ? a.rc : b.rc;
}
