/* bench_url.h - the cost of canonical URLs compared with hashing the same URLs. */
#ifndef BENCH_BENCH_URL_H
#define BENCH_BENCH_URL_H
#include "bench/bench_keys.h"
#include "bench/bench_spread.h"

#define BENCH_PROFILES 4

struct bench_url {
    uint32_t profile;
    double hash_ns, canon_ns;  /* per URL */
    struct bench_spread canon; /* canon_ns divided by hash_ns */
    double changed;            /* share of the URLs whose form differs */
};

/* Alternates with hashing the same lots of keys; keys must have room for one lot. */
int bench_url_run(struct bench_url figure[BENCH_PROFILES], struct bench_keys *keys,
                  unsigned rounds, deja_error *err);

#endif
