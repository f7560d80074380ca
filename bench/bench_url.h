/* bench_url.h - what canonical URLs take, beside hashing the same URLs. */
#ifndef BENCH_BENCH_URL_H
#define BENCH_BENCH_URL_H
#include "bench/bench_keys.h"
#include "bench/bench_spread.h"

#define BENCH_PROFILES 4

struct bench_url {
    uint32_t profile;
    double hash_ns;
    double glance_ns, canon_ns;        /* a URL: seeing whether it is plain; the form of all */
    struct bench_spread glance, canon; /* the same as ratios to hashing */
    double plain, changed;             /* share of the URLs: plain at a glance; form differs */
};

/* Over lots of keys in turns with hashing them; keys has room for one lot. */
int bench_url_run(struct bench_url figure[BENCH_PROFILES], struct bench_keys *keys,
                  unsigned rounds, deja_error *err);

#endif
