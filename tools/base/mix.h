/* mix.h - repeatable numbers, and the two ways of looking at them. */
#ifndef TOOLS_BASE_MIX_H
#define TOOLS_BASE_MIX_H
#include <stdint.h>

/* The finalizer of SplitMix64: a bijection, so different numbers stay different. */
static inline uint64_t bench_mix(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A random 64-bit number as one below `below`. */
static inline uint64_t bench_below(uint64_t random, uint64_t below)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)random * below >> 64);
}

#endif
