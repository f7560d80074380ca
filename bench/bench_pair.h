/* bench_pair.h - one call, made by two threads at once, each with half of the keys. */
#ifndef BENCH_BENCH_PAIR_H
#define BENCH_BENCH_PAIR_H
#include "bench/bench_subject.h"

/* Stores the processor time of the slower thread in *ns.  DEJA_ENOMEM: the second thread could not
 * be started. */
int bench_pair_run(bench_call *call, void *self, const deja_slice *keys, size_t n, uint8_t *answer,
                   double *ns);

#endif
