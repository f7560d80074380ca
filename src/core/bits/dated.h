/* dated.h - fingerprints with the days on which their keys were first and last seen.
 *
 * A line of 64 bytes has six slots.  Slot i is in three places:
 *
 *   8 bytes at 8 i       the high 48 bits of the hash, and the first day in the low 16 bits;
 *                        0 if the slot is free
 *   2 bytes at 48 + 2 i  the last day
 *   5 bits of the word   the next 5 bits of the hash; the word is in the last 4 bytes, and slot i
 *   at 60                has its bits 5 i to 5 i + 4
 *
 * Days count from 1970-01-01 and are never 0, so a used slot is never 0.  Lines are probed as in
 * slots.h, with a hash of DJ_DATED_BITS bits whose other bits are 0.  So the slot has all bits that
 * decide where its key belongs, and tables of any size can exchange their slots.
 *
 * A slot is filled in the order last day, 5 bits, 8 bytes: a reader that finds the 8 bytes finds
 * the rest.  After that, only the days change, each in one aligned store of 16 bits (of 64 bits for
 * the first day), and only a merge moves the first day.  Several writers lock a line to fill a
 * slot; the last day is raised without a lock. */
#ifndef DJ_DATED_H
#define DJ_DATED_H
#include "core/base/linelock.h"
#include "core/bits/slots.h"
#include "deja.h"

#define DJ_DATED_SLOTS 6
/* The bits of a hash that a slot holds: DJ_DATED_BITS (core/math). */
#define DJ_DATED_MASK  (~UINT64_C(0) << 11)

enum dj_dated_answer {
    DJ_DATED_FULL, /* no free slot in the probe sequence */
    DJ_DATED_NEW,
    DJ_DATED_SEEN
};

/* In all calls, the days of an absent key are 0 and 0. */

deja_days dj_dated_find(const struct dj_slots *s, uint64_t hash);
/* Raises the last day of a key; false: the key is absent. */
bool dj_dated_touch(const struct dj_slots *s, uint64_t hash, uint32_t day);
/* Adds a key, or raises its last day.  lock: DJ_LINE_LOCKS locks if other threads may be adding,
 * otherwise NULL. */
enum dj_dated_answer dj_dated_add(const struct dj_slots *s, uint64_t hash, uint32_t day,
                                  atomic_bool *lock);
/* Extends the days of a key to include `days`, or replaces them; false: the key is absent.  Needs
 * exclusive access. */
bool dj_dated_set(const struct dj_slots *s, uint64_t hash, deja_days days, bool replace);
/* The hash and the days of slot i < DJ_DATED_SLOTS * n_lines; false: it is free. */
bool dj_dated_slot(const struct dj_slots *s, uint64_t i, uint64_t *hash, deja_days *days);

#endif
