/* bench_url.h - the cost of canonical URLs compared with hashing the same URLs. */
#ifndef BENCH_BENCH_URL_H
#define BENCH_BENCH_URL_H
#include "bench/bench_keys.h"
#include "bench/bench_spread.h"

#define BENCH_PROFILES 4

struct bench_url {
    uint32_t profile;
    double hash_ns;
    double glance_ns, canon_ns;        /* per URL: the check for plain URLs; canonicalizing all */
    struct bench_spread glance, canon; /* the same as ratios to hashing */
    double plain, changed;             /* shares of the URLs: found plain; form differs */
};

/* Alternates with hashing the same lots of keys; keys must have room for one lot. */
int bench_url_run(struct bench_url figure[BENCH_PROFILES], struct bench_keys *keys,
                  unsigned rounds, deja_error *err);

#endif
