/* spread.h - counters of 4, 8, 16 or 32 bits; each key uses k counters anywhere in the body.
 *
 * The body is the same array as in counters.h, and so are struct dj_counters and its survey and
 * merge, but lines have no meaning here: with m counters, a 64-bit hash h selects the counters
 *
 *     floor(mix(h + i golden) m / 2^64)   for i = 1 .. k
 *
 * like the bits of a classic filter.  Two of these can be the same counter, which then counts once:
 * a key is a set of counters.  Counters saturate as in counters.h.
 *
 * Each counter is a cache miss in a large body.  A batch prefetches the counters of later keys.
 * Loads and stores are relaxed atomics of 64-bit words, so a lookup concurrent with a writer is
 * well defined.  Writers must take turns. */
#ifndef DJ_SPREAD_COUNTERS_H
#define DJ_SPREAD_COUNTERS_H
#include "core/bits/counters.h"

#define DJ_SPREAD_MOST 64 /* counters per key */

/* Prefetch the counters that add (all of them) or contains (the first two) reads first. */
void dj_spread_prefetch(const struct dj_counters *c, const uint64_t *hash, size_t n, bool for_add);
/* found[i] = 1 if no counter of hash i is 0.  `ahead`: the next n hashes, or `hash` itself. */
void dj_spread_contains(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                        size_t n, uint8_t *found);
/* Increments each counter of the keys or, if `minimal`, those at the minimum; is_new[i] = 1 if one
 * of hash i was 0. */
void dj_spread_add(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                   size_t n, bool minimal, uint8_t *is_new);
/* Decrements each counter of a key that is not saturated.  Returns false and changes nothing if
 * one is 0 or all are saturated.  *gone becomes true if the key is no longer found. */
bool dj_spread_down(const struct dj_counters *c, uint64_t hash, bool *gone);
/* The smallest counter of a key: at least the number of times it was added. */
uint32_t dj_spread_min(const struct dj_counters *c, uint64_t hash);

#endif
