/* exact.c - 64-bit fingerprints in a hash table: about 10 bytes a key, practically no lost page.
 *
 * The body is an array of L lines of eight 64-bit slots, 0 meaning free.  A hash h has a sequence
 * of lines: floor(h L / 2^64) first, then on by a stride of its own for HOPS lines, then one after
 * another.  Its slot is the first free one on that way.  Slots of a line fill in order and are
 * never emptied or moved, so a lookup may stop at the first line with a free slot.  At 80 % load,
 * its capacity, a third of the lines are full; strides of their own keep full lines from
 * attracting more keys, and an absent key is refused after 1.5 lines on average.
 *
 * A batch walks together: all keys look at their first line, those that found it full at their
 * second, which has been asked for meanwhile, and so on.
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
#define GROUP 64 /* keys that walk together */

static inline uint64_t n_lines(const struct dj_part *p)
{
    return p->shape.bits / (64 * SLOTS);
}

static inline uint64_t *line_at(const struct dj_part *p, uint64_t line)
{
    return (uint64_t *)(void *)p->body + line * SLOTS;
}

/* Where the way goes on when `hop` lines of it, the last of them `line`, were full. */
static inline uint64_t next_line(uint64_t hash, uint64_t lines, uint64_t line, unsigned hop)
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

enum outcome { ABSENT, SEEN, LINE_FULL };

static enum outcome look(uint64_t *line, uint64_t h)
{
    unsigned free;
    return find(line, h, &free) ? SEEN : free < SLOTS ? ABSENT : LINE_FULL;
}

/* Put h into the line, from its first free slot on: ABSENT means that it was.  Losing the race
 * for a slot means looking at what the winner put there: it may be this very key. */
static enum outcome put(uint64_t *line, uint64_t h)
{
    unsigned free;
    if (find(line, h, &free))
        return SEEN;
    for (; free < SLOTS; free++) {
        uint64_t winner = 0;
        if (__atomic_compare_exchange_n(line + free, &winner, h, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return ABSENT;
        if (winner == h)
            return SEEN;
    }
    return LINE_FULL;
}

/* The same for the only writer. */
static enum outcome put_alone(uint64_t *line, uint64_t h)
{
    unsigned free;
    if (find(line, h, &free))
        return SEEN;
    if (free == SLOTS)
        return LINE_FULL;
    __atomic_store_n(line + free, h, __ATOMIC_RELAXED);
    return ABSENT;
}

/* Up to GROUP keys, each at its present line. */
struct walk {
    uint64_t line[GROUP];
    uint8_t key[GROUP]; /* which keys are still on their way */
    size_t n;
};

static void walk_begin(struct walk *w, const uint64_t *hash, size_t n, uint64_t lines)
{
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        w->key[i] = (uint8_t)i;
        w->line[i] = dj_mulhi(hash[i], lines);
    }
}

/* Let every key on its way do `visit` at its line; answer[i] = 1 for those that end with `yes`.
 * Those that found the line full move on. */
static inline __attribute__((always_inline)) void
walk_step(const struct dj_part *p, struct walk *w, const uint64_t *hash, unsigned hop,
          enum outcome (*visit)(uint64_t *, uint64_t), enum outcome yes, uint8_t *answer)
{
    const uint64_t lines = n_lines(p);
    size_t left = 0;
    for (size_t j = 0; j < w->n; j++) {
        const uint8_t i = w->key[j];
        const enum outcome outcome = visit(line_at(p, w->line[i]), fingerprint(hash[i]));
        answer[i] = outcome == yes;
        w->key[left] = i;
        if (outcome != LINE_FULL)
            continue;
        w->line[i] = next_line(hash[i], lines, w->line[i], hop);
        DJ_PREFETCH(line_at(p, w->line[i]));
        left++;
    }
    w->n = left;
}

static inline __attribute__((always_inline)) void
walk_all(const struct dj_part *p, const uint64_t *hash, size_t n,
         enum outcome (*visit)(uint64_t *, uint64_t), enum outcome yes, uint8_t *answer)
{
    const uint64_t lines = n_lines(p);
    for (size_t at = 0; at < n; at += GROUP) {
        struct walk w;
        walk_begin(&w, hash + at, n - at < GROUP ? n - at : GROUP, lines);
        /* A table is never quite full, so every way ends; the bound is for damaged files. */
        for (unsigned hop = 1; w.n && hop <= lines + HOPS; hop++)
            walk_step(p, &w, hash + at, hop, visit, yes, answer + at);
    }
}

static void exact_contains(const struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *found)
{
    walk_all(p, hash, n, look, SEEN, found);
}

static size_t room(const struct dj_part *p)
{
    const uint64_t slots = p->shape.bits / 64;
    const uint64_t most = slots - slots / 16; /* nearly full tables have long ways */
    const uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    return keys < most ? (size_t)(most - keys) : 0;
}

static void add_all(const struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *is_new,
                    bool shared)
{
    if (shared)
        walk_all(p, hash, n, put, ABSENT, is_new);
    else
        walk_all(p, hash, n, put_alone, ABSENT, is_new);
}

/* Near the end: one by one, stopping at the first new key that has no room. */
static size_t add_carefully(const struct dj_part *p, const uint64_t *hash, size_t n,
                            uint8_t *is_new, bool shared)
{
    size_t left = room(p);
    for (size_t i = 0; i < n; i++) {
        if (left == 0) {
            uint8_t found;
            exact_contains(p, hash + i, 1, &found);
            if (!found)
                return i;
        }
        add_all(p, hash + i, 1, is_new + i, shared);
        left -= left ? is_new[i] : 0;
    }
    return n;
}

static size_t exact_add(struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *is_new,
                        bool shared)
{
    if (room(p) < n)
        return add_carefully(p, hash, n, is_new, shared);
    add_all(p, hash, n, is_new, shared);
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
