/* exact.c - 64-bit fingerprints in a hash table: about 10 bytes a key, practically no lost page.
 *
 * The body is an array of L lines of eight 64-bit slots, 0 meaning free.  A hash h has a sequence
 * of lines: floor(h L / 2^64) first, then on by a stride of its own for HOPS lines, then one after
 * another.  Its slot is the first free one on that way.  Slots of a line fill in order and are
 * never emptied or moved, so a lookup may stop at the first line with a free slot.  At 80 % load,
 * its capacity, 41 % of the lines are full; strides of their own keep full lines from attracting
 * more keys.  A lookup then reads 1.1 lines for a present key and 1.7 for an absent one.
 *
 * A batch first walks ahead together, looking only whether lines are full (their last slot tells)
 * and asking for the next; then every key, in order, finds its lines in the cache.
 *
 * Insert-only tables without displacement have two more virtues.  Adding is one compare-and-swap
 * on the first free slot, so racing writers either find their own key there or move on: none is
 * lost, and of those who race with the same key one is told that it was new.  And a write-back
 * that was cut off may leave slots empty that were filled since the last sync, never one that
 * was full at that sync: everything synced is still found.
 *
 * The rate is n / 2^64: a key is taken for another when all 64 bits agree.  Hash 0 is stored
 * as 1. */
#include "core/base/bytes.h"
#include "filters/part.h"

#define SLOTS DJ_EXACT_LINE
#define HOPS  8  /* lines reached by the key's own stride; part of the format */
#define GROUP 64 /* keys that walk ahead together */

static inline uint64_t n_lines(const struct dj_part *p)
{
    return p->shape.bits / (64 * SLOTS);
}

static inline uint64_t *line_at(const struct dj_part *p, uint64_t line)
{
    return (uint64_t *)(void *)p->body + line * SLOTS;
}

/* Where the way goes on when `hop` lines of it, the last of them `line`, were full. */
static inline uint64_t next_line(uint64_t hash, uint64_t lines, uint64_t line, uint64_t hop)
{
    const uint64_t stride = hop < HOPS ? 1 + dj_mulhi(hash * DJ_GOLDEN, lines - 1) : 1;
    return line + stride < lines ? line + stride : line + stride - lines;
}

static inline uint64_t fingerprint(uint64_t hash)
{
    return DJ_LE64(hash ? hash : 1);
}

/* Whether h is in the line; *free is its first free slot, or SLOTS when it is full. */
static inline bool find(const uint64_t *line, uint64_t h, unsigned *free)
{
    unsigned hits = 0, zeros = 1u << SLOTS;
    for (unsigned i = 0; i < SLOTS; i++) {
        const uint64_t slot = __atomic_load_n(line + i, __ATOMIC_RELAXED);
        hits |= (unsigned)(slot == h) << i;
        zeros |= (unsigned)(slot == 0) << i;
    }
    *free = (unsigned)__builtin_ctz(zeros);
    return hits != 0;
}

static void exact_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    const uint64_t lines = n_lines(p);
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(line_at(p, dj_mulhi(hash[i], lines)));
}

/* Fetch the lines that up to GROUP keys will look at: round after round, those whose line is
 * full move on to the next. */
static void walk_ahead(const struct dj_part *p, const uint64_t *hash, size_t n, uint64_t lines)
{
    uint64_t line[GROUP];
    uint8_t key[GROUP];
    for (size_t i = 0; i < n; i++) {
        key[i] = (uint8_t)i;
        line[i] = dj_mulhi(hash[i], lines);
    }
    for (unsigned hop = 1; n && hop <= HOPS; hop++) {
        size_t left = 0;
        for (size_t j = 0; j < n; j++) {
            const uint8_t i = key[j];
            const uint64_t last =
                __atomic_load_n(line_at(p, line[i]) + SLOTS - 1, __ATOMIC_RELAXED);
            line[i] = next_line(hash[i], lines, line[i], hop);
            key[left] = i;
            if (last) {
                DJ_PREFETCH(line_at(p, line[i]));
                left++;
            }
        }
        n = left;
    }
}

/* A table is never quite full, so every way ends; the bound is for damaged files. */
static inline bool way_ends(uint64_t hop, uint64_t lines)
{
    return hop > lines + HOPS;
}

static bool contains_one(const struct dj_part *p, uint64_t hash, uint64_t lines)
{
    const uint64_t h = fingerprint(hash);
    uint64_t line = dj_mulhi(hash, lines);
    for (uint64_t hop = 1; !way_ends(hop, lines); hop++) {
        unsigned free;
        if (find(line_at(p, line), h, &free))
            return true;
        if (free < SLOTS)
            return false;
        line = next_line(hash, lines, line, hop);
    }
    return false;
}

static void exact_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    const uint64_t lines = n_lines(p);
    for (size_t at = 0; at < n; at += GROUP)
        walk_ahead(p, hash + at, n - at < GROUP ? n - at : GROUP, lines);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(p, dj_mulhi(ahead[i], lines)));
        found[i] = contains_one(p, hash[i], lines);
    }
}

enum outcome { NEW, SEEN, LINE_FULL };

/* Put h into the line, from its first free slot on.  Losing the race for a slot means looking at
 * what the winner put there: it may be this very key. */
static inline enum outcome put(uint64_t *line, uint64_t h, bool shared)
{
    unsigned free;
    if (find(line, h, &free))
        return SEEN;
    for (; free < SLOTS; free++) {
        if (!shared) {
            __atomic_store_n(line + free, h, __ATOMIC_RELAXED);
            return NEW;
        }
        uint64_t winner = 0;
        if (__atomic_compare_exchange_n(line + free, &winner, h, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return NEW;
        if (winner == h)
            return SEEN;
    }
    return LINE_FULL;
}

static enum outcome add_one(const struct dj_part *p, uint64_t hash, uint64_t lines, bool shared)
{
    const uint64_t h = fingerprint(hash);
    uint64_t line = dj_mulhi(hash, lines);
    enum outcome outcome = LINE_FULL;
    for (uint64_t hop = 1; outcome == LINE_FULL && !way_ends(hop, lines); hop++) {
        outcome = put(line_at(p, line), h, shared);
        line = next_line(hash, lines, line, hop);
    }
    return outcome;
}

/* Nearly full tables have long ways, so the last sixteenth stays free. */
static uint64_t room(const struct dj_part *p)
{
    const uint64_t slots = p->shape.bits / 64;
    const uint64_t most = slots - slots / 16;
    const uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    return keys < most ? most - keys : 0;
}

static size_t exact_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                        uint8_t *is_new, bool shared)
{
    const uint64_t lines = n_lines(p);
    uint64_t left = room(p);
    for (size_t at = 0; at < n; at += GROUP)
        walk_ahead(p, hash + at, n - at < GROUP ? n - at : GROUP, lines);
    for (size_t i = 0; i < n; i++) {
        DJ_PREFETCH(line_at(p, dj_mulhi(ahead[i], lines)));
        if (left == 0 && !contains_one(p, hash[i], lines))
            return i;
        const enum outcome outcome = add_one(p, hash[i], lines, shared);
        if (outcome == LINE_FULL) /* other threads took the last slots */
            return i;
        is_new[i] = outcome == NEW;
        left -= left ? is_new[i] : 0;
    }
    return n;
}

static uint64_t exact_slots_used(const struct dj_part *p)
{
    uint64_t used = 0;
    const uint64_t *slot = (const uint64_t *)(const void *)p->body;
    for (uint64_t i = 0; i < p->shape.bits / 64; i++)
        used += __atomic_load_n(slot + i, __ATOMIC_RELAXED) != 0;
    return used;
}

const struct dj_part_ops dj_exact_ops = {
    "exact", DEJA_EXACT, NULL, exact_prefetch, exact_add, exact_contains, exact_slots_used,
};
