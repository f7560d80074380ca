/* slots.h - 64-bit fingerprints in lines of eight slots, 0 meaning free.
 *
 * A hash h has a way through the lines: floor(h L / 2^64) first, then on by a stride of its own
 * for DJ_SLOT_HOPS lines, then one after another.  Its slot is the first free one on that way.
 * Slots of a line fill in order and are never emptied or moved, so a way ends at the first line
 * with a free slot.
 *
 * A kernel takes a group of keys through their ways in rounds: every key looks at one line, and
 * those that found it full, and themselves not in it, stay for the next round.  What a key finds
 * decides no branch, so none is guessed wrong, and the lines of the next round are on their way
 * while this one lasts.  All kernels give the same answers; the portable one defines them. */
#ifndef DJ_SLOTS_H
#define DJ_SLOTS_H
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DJ_SLOTS      8
#define DJ_SLOT_HOPS  8  /* lines reached by the key's own stride; part of the format */
#define DJ_SLOT_GROUP 64 /* keys that go through the rounds together */

struct dj_slots {
    uint64_t *body;   /* 64-aligned */
    uint64_t n_lines; /* L */
};

/* The first lines of hash are in the cache already; those of `ahead`, which are as many (or hash
 * itself), are asked for on the way.
 * contains: found[i] = 1 when hash i is there.
 * add: puts those that are not, is_new[i] = 1.  The caller is the only writer and knows that
 * there are at least n free slots.  Returns n, or the first key that found no place after all: the
 * file that the slots are from lies about their number. */
typedef void dj_slots_contains(const struct dj_slots *s, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *found);
typedef size_t dj_slots_add(const struct dj_slots *s, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *is_new);
struct dj_slots_kernel {
    const char *name;
    dj_slots_contains *contains;
    dj_slots_add *add;
};

extern const struct dj_slots_kernel dj_slots_portable;
extern const struct dj_slots_kernel dj_slots_avx2;
/* The fastest kernel that this processor runs. */
const struct dj_slots_kernel *dj_slots_best(void);
/* Kernel number i that this processor runs, fastest first; NULL past the end. */
const struct dj_slots_kernel *dj_slots_at(size_t i);

static inline uint64_t *dj_slots_line(const struct dj_slots *s, uint64_t line)
{
    return s->body + line * DJ_SLOTS;
}

static inline uint64_t dj_slots_first(const struct dj_slots *s, uint64_t hash)
{
    return dj_mulhi(hash, s->n_lines);
}

/* Where the way goes on when `hop` lines of it, the last of them `line`, were full. */
static inline uint64_t dj_slots_next(const struct dj_slots *s, uint64_t hash, uint64_t line,
                                     uint64_t hop)
{
    const uint64_t lines = s->n_lines;
    const uint64_t stride = hop < DJ_SLOT_HOPS ? 1 + dj_mulhi(hash * DJ_GOLDEN, lines - 1) : 1;
    return line + stride < lines ? line + stride : line + stride - lines;
}

/* A table is never quite full, so every way ends; the bound is for damaged files. */
static inline bool dj_slots_way_ends(const struct dj_slots *s, uint64_t hop)
{
    return hop > s->n_lines + DJ_SLOT_HOPS;
}

/* Hash 0 is stored as 1. */
static inline uint64_t dj_slots_fingerprint(uint64_t hash)
{
    return DJ_LE64(hash ? hash : 1);
}

static inline void dj_slots_prefetch(const struct dj_slots *s, const uint64_t *hash, size_t n)
{
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, hash[i])));
}

#endif
