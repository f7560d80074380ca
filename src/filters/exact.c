/* exact.c - 64-bit fingerprints in a hash table: about 10 bytes a key, practically no lost page.
 *
 * The body is an array of lines of eight 64-bit slots, 0 meaning free.  A hash h belongs to line
 * floor(h L / 2^64); its slot is the first free one there or, when the line is full, in the next
 * lines.  Slots of a line fill in order and are never emptied or moved, so a lookup may stop at
 * the first line with a free slot.  At 80 % load, its capacity, a present key is found in 1.15
 * lines on average and an absent one is refused after 2.3, neighbours that are fetched together.
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

static inline uint64_t n_lines(const struct dj_part *p)
{
    return p->shape.bits / (64 * SLOTS);
}

static inline uint64_t *line_at(const struct dj_part *p, uint64_t line)
{
    return (uint64_t *)(void *)p->body + line * SLOTS;
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

static inline uint64_t fingerprint(uint64_t hash)
{
    return DJ_LE64(hash ? hash : 1);
}

static void exact_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    const uint64_t lines = n_lines(p);
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(line_at(p, dj_mulhi(hash[i], lines)));
}

static bool contains_one(const struct dj_part *p, uint64_t hash, uint64_t lines)
{
    const uint64_t h = fingerprint(hash);
    uint64_t at = dj_mulhi(hash, lines);
    for (uint64_t tried = 0; tried < lines; tried++) {
        unsigned free;
        if (find(line_at(p, at), h, &free))
            return true;
        if (free < SLOTS)
            return false;
        at = at + 1 < lines ? at + 1 : 0;
    }
    return false;
}

static void exact_contains(const struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *found)
{
    const uint64_t lines = n_lines(p);
    for (size_t i = 0; i < n; i++)
        found[i] = contains_one(p, hash[i], lines);
}

enum outcome { NEW, SEEN, LINE_FULL };

/* Put h into the line, from its first free slot on.  Losing the race for a slot means looking
 * at what the winner put there: it may be this very key. */
static enum outcome add_to_line(uint64_t *line, uint64_t h, bool shared)
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

static enum outcome add_one(struct dj_part *p, uint64_t hash, uint64_t lines, bool shared)
{
    const uint64_t h = fingerprint(hash);
    uint64_t at = dj_mulhi(hash, lines);
    enum outcome outcome = LINE_FULL;
    for (uint64_t tried = 0; tried < lines && outcome == LINE_FULL; tried++) {
        outcome = add_to_line(line_at(p, at), h, shared);
        at = at + 1 < lines ? at + 1 : 0;
    }
    return outcome;
}

/* A table that is nearly full has long runs of full lines; it says so before it crawls. */
static bool is_full(const struct dj_part *p, size_t taken)
{
    const uint64_t slots = p->shape.bits / 64;
    return atomic_load_explicit(&p->keys, memory_order_relaxed) + taken >= slots - slots / 16;
}

static size_t exact_add(struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *is_new,
                        bool shared)
{
    const uint64_t lines = n_lines(p);
    for (size_t i = 0; i < n; i++) {
        if (is_full(p, i) && !contains_one(p, hash[i], lines))
            return i;
        is_new[i] = add_one(p, hash[i], lines, shared) == NEW;
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
