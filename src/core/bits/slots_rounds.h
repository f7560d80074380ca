/* slots_rounds.h - the rounds of slots.h, shared by kernels that differ in how they inspect a
 * line.  A kernel includes this file after it has defined
 *
 *   struct look                                     the result of inspecting a line
 *   look_at(line, h)                                search the line for h
 *   look_hit(look)                                  1 if h is present, else 0
 *   look_full(look)                                 1 if all slots are used, else 0
 *   look_put(look, line, h)                         put h into the first free slot, if any */
#include "core/bits/slots.h"

/* The keys still being probed, and the current line of each. */
struct way {
    uint64_t line[DJ_SLOT_GROUP];
    uint8_t key[DJ_SLOT_GROUP];
    size_t n, stay;
};

static inline void way_begin(struct way *w, const struct dj_slots *s, const uint64_t *hash,
                             size_t n)
{
    for (size_t i = 0; i < n; i++) {
        w->key[i] = (uint8_t)i;
        w->line[i] = dj_slots_first(s, hash[i]);
    }
    w->n = n;
}

/* Move key i to its next line if go is 1. */
static inline void way_on(struct way *w, const struct dj_slots *s, uint64_t hash, uint8_t i,
                          uint64_t hop, unsigned go)
{
    const uint64_t here = w->line[i], next = dj_slots_next(s, hash, here, hop);
    w->line[i] = next;
    w->key[w->stay] = i;
    w->stay += go;
    DJ_PREFETCH(dj_slots_line(s, here + ((next - here) & (0 - (uint64_t)go))));
}

static inline void contains_group(const struct dj_slots *s, const uint64_t *hash,
                                  const uint64_t *ahead, size_t n, uint8_t *found)
{
    struct way w;
    way_begin(&w, s, hash, n);
    for (uint64_t hop = 1; w.n && !dj_slots_way_ends(s, hop); hop++, w.n = w.stay) {
        w.stay = 0;
        for (size_t j = 0; j < w.n; j++) {
            const uint8_t i = w.key[j];
            if (hop == 1)
                DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, ahead[j])));
            const struct look l =
                look_at(dj_slots_line(s, w.line[i]), dj_slots_fingerprint(hash[i]));
            found[i] = (uint8_t)look_hit(l);
            way_on(&w, s, hash[i], i, hop, look_full(l) & ~look_hit(l));
        }
    }
}

static inline size_t add_group(const struct dj_slots *s, const uint64_t *hash,
                               const uint64_t *ahead, size_t n, uint8_t *is_new)
{
    struct way w;
    way_begin(&w, s, hash, n);
    for (uint64_t hop = 1; w.n && !dj_slots_way_ends(s, hop); hop++, w.n = w.stay) {
        w.stay = 0;
        for (size_t j = 0; j < w.n; j++) {
            const uint8_t i = w.key[j];
            if (hop == 1)
                DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, ahead[j])));
            const uint64_t h = dj_slots_fingerprint(hash[i]);
            uint64_t *line = dj_slots_line(s, w.line[i]);
            const struct look l = look_at(line, h);
            is_new[i] = (uint8_t)!look_hit(l);
            if (!look_hit(l)) /* rewriting a full line is cheaper than a misprediction */
                look_put(l, line, h);
            way_on(&w, s, hash[i], i, hop, look_full(l) & ~look_hit(l));
        }
    }
    return w.n ? w.key[0] : n;
}

static void rounds_contains(const struct dj_slots *s, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < DJ_SLOT_GROUP ? n - at : DJ_SLOT_GROUP;
        contains_group(s, hash + at, ahead + at, group, found + at);
    }
}

static size_t rounds_add(const struct dj_slots *s, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *is_new)
{
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < DJ_SLOT_GROUP ? n - at : DJ_SLOT_GROUP;
        const size_t taken = add_group(s, hash + at, ahead + at, group, is_new + at);
        if (taken < group)
            return at + taken;
    }
    return n;
}
