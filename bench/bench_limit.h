/* bench_limit.h - the machine's own cost per key: hash it, touch one cache line.
 *
 * Nothing that stores keys in a table larger than the caches can be faster than the larger of the
 * two, and nothing that does one after the other can be faster than their sum, which is the limit
 * that `deja bench` divides by.  The fused limit is the best simple loop of both: it hashes a lot
 * of keys and prefetches their lines before it touches the lines of the previous lot. */
#ifndef BENCH_BENCH_LIMIT_H
#define BENCH_BENCH_LIMIT_H
#include "bench/bench_keys.h"

struct bench_limit {
    uint8_t *lines; /* the memory of the filter under test, or other memory of the same size */
    uint64_t n_lines;
    size_t mapped;   /* 0: not allocated here */
    uint32_t *index; /* lines to touch */
    size_t n;
    uint64_t draws;     /* number of indexes drawn so far */
    unsigned distance;  /* how many lines ahead to prefetch; 0: leave it to the processor */
    unsigned fused_lot; /* how many keys to hash at a time; 0: not chosen yet */
    uint64_t twist;     /* gives keys that are hashed again other lines */
    uint64_t sink;      /* keeps the compiler from dropping the reads */
    uint8_t secret[192];
};

/* For lots of n keys and a filter of this many bytes.  Tries several distances and keeps the
 * fastest: the limit is the lowest time that this machine shows. */
int bench_limit_init(struct bench_limit *l, uint64_t bytes, size_t n, deja_error *err);
void bench_limit_fini(struct bench_limit *l); /* can be called again */

/* Nanoseconds per key. */
double bench_limit_hash(struct bench_limit *l, const struct bench_keys *keys);
/* Nanoseconds per line, at random places that differ from call to call. */
double bench_limit_line(struct bench_limit *l);
/* Nanoseconds per key, if its hash selects the line.  The first call chooses the lot. */
double bench_limit_fused(struct bench_limit *l, const struct bench_keys *keys);
/* Nanoseconds per line if each line is also written, and so must eventually go back to memory.  Not part of
 * the limit; it shows how much of the cost of adding is due to the memory. */
double bench_limit_change(struct bench_limit *l);
/* Read the keys once, so that the next measurement finds them equally warm. */
void bench_limit_warm(struct bench_limit *l, const struct bench_keys *keys);

#endif
