/* bench_limit.h - what the machine itself takes for one key: hash it, touch one cache line.
 *
 * Nothing that remembers keys in a table larger than the caches can be faster than the larger
 * of the two, and nothing that does one after the other faster than their sum, which is the
 * limit that `deja bench` divides by. */
#ifndef BENCH_BENCH_LIMIT_H
#define BENCH_BENCH_LIMIT_H
#include "bench/bench_keys.h"

struct bench_limit {
    uint8_t *lines; /* the memory of the filter under test, or as much of other */
    uint64_t n_lines;
    size_t mapped;   /* 0: not ours */
    uint32_t *index; /* lines to touch */
    size_t n;
    uint64_t draws;    /* of indices, so far */
    unsigned distance; /* how many lines ahead to ask for; 0: leave it to the processor */
    uint64_t sink;     /* what was read, so that it has to be read */
    uint8_t secret[192];
};

/* For keys in lots of n and a filter of that many bytes.  Tries several distances and keeps the
 * fastest: the limit is the lowest time that this machine shows. */
int bench_limit_init(struct bench_limit *l, uint64_t bytes, size_t n, deja_error *err);
void bench_limit_fini(struct bench_limit *l); /* may be repeated */

/* Nanoseconds a key. */
double bench_limit_hash(struct bench_limit *l, const struct bench_keys *keys);
/* Nanoseconds a line, at random places that differ from call to call. */
double bench_limit_line(struct bench_limit *l);
/* The same when each line is also written to, and so has to go back to memory one day.  Not part
 * of the limit; it tells how much of what adding takes is the memory's. */
double bench_limit_change(struct bench_limit *l);
/* Read the keys once, so that a measurement after it finds them as the one before did. */
void bench_limit_warm(struct bench_limit *l, const struct bench_keys *keys);

#endif
