/* slots_rounds.h - the rounds of slots.h, shared by kernels that differ in how they inspect a
 * line.  A kernel includes this file after it has defined
 *
 *   struct look                              the result of inspecting a line
 *   look_at(line, h, extra)                  search the line for the fingerprint h; the bits in
 *                                            extra (0 or DJ_MARK) belong to none
 *   look_hit(look)                           1 if h is present, else 0
 *   look_full(look)                          1 if all slots are used, else 0
 *   look_put(look, line, h)                  put h into the first free slot, if any
 *
 * Tables with and without marks have loops of their own, compiled from the same source. */
#include "core/bits/slots.h"

/* The keys still being probed, and the current line of each. */
struct way {
    uint64_t line[DJ_SLOT_GROUP];
    uint8_t key[DJ_SLOT_GROUP];
    size_t n, stay;
    /* add: */
    uint64_t left[DJ_SLOT_GROUP];  /* the line that key[j] has just left */
    uint8_t marked[DJ_SLOT_GROUP]; /* whether a key has set a mark */
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

/* Moves key i to its next line if go is 1. */
static inline void way_on(struct way *w, const struct dj_slots *s, uint64_t hash, uint8_t i,
                          uint64_t hop, unsigned go)
{
    const uint64_t here = w->line[i], next = dj_slots_next(s, hash, here, hop);
    w->line[i] = next;
    w->key[w->stay] = i;
    w->stay += go;
    DJ_PREFETCH(dj_slots_line(s, here + ((next - here) & (0 - (uint64_t)go))));
}

static inline unsigned mark_of(const uint64_t *line, unsigned c)
{
    return (__atomic_load_n(line + c, __ATOMIC_RELAXED) & DJ_MARK) != 0;
}

static inline __attribute__((always_inline)) void contains_group(const struct dj_slots *s,
                                                                 const uint64_t *hash,
                                                                 const uint64_t *ahead, size_t n,
                                                                 uint8_t *found)
{
    struct way w;
    way_begin(&w, s, hash, n);
    for (uint64_t hop = 1; w.n && !dj_slots_way_ends(s, hop); hop++, w.n = w.stay) {
        w.stay = 0;
        for (size_t j = 0; j < w.n; j++) {
            const uint8_t i = w.key[j];
            if (hop == 1)
                DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, ahead[j])));
            const uint64_t h = dj_slots_fingerprint(s, hash[i]);
            const uint64_t *line = dj_slots_line(s, w.line[i]);
            const struct look l = look_at(line, h, dj_slots_extra(s));
            found[i] = (uint8_t)look_hit(l);
            /* Only full lines have marks. */
            const unsigned onward =
                s->marked ? mark_of(line, dj_slots_class(hash[i])) : look_full(l);
            way_on(&w, s, hash[i], i, hop, onward & ~look_hit(l));
        }
    }
}

static inline void leave_marks(struct way *w, const struct dj_slots *s, const uint64_t *hash)
{
    for (size_t j = 0; j < w->stay; j++) {
        const uint8_t i = w->key[j];
        uint64_t *slot = dj_slots_line(s, w->left[j]) + dj_slots_class(hash[i]);
        const uint64_t there = __atomic_load_n(slot, __ATOMIC_RELAXED);
        w->marked[i] |= !(there & DJ_MARK);
        __atomic_store_n(slot, there | DJ_MARK, __ATOMIC_RELAXED);
    }
}

static inline __attribute__((always_inline)) size_t add_group(const struct dj_slots *s,
                                                              const uint64_t *hash,
                                                              const uint64_t *ahead, size_t n,
                                                              uint8_t *is_new)
{
    struct way w;
    way_begin(&w, s, hash, n);
    memset(w.marked, 0, sizeof w.marked);
    for (uint64_t hop = 1; w.n && !dj_slots_way_ends(s, hop); hop++, w.n = w.stay) {
        w.stay = 0;
        for (size_t j = 0; j < w.n; j++) {
            const uint8_t i = w.key[j];
            if (hop == 1)
                DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, ahead[j])));
            const uint64_t h = dj_slots_fingerprint(s, hash[i]);
            uint64_t *line = dj_slots_line(s, w.line[i]);
            const struct look l = look_at(line, h, dj_slots_extra(s));
            is_new[i] = (uint8_t)!look_hit(l) | w.marked[i];
            if (!look_hit(l)) /* rewriting a full line is cheaper than a misprediction */
                look_put(l, line, h);
            w.left[w.stay] = w.line[i];
            way_on(&w, s, hash[i], i, hop, look_full(l) & ~look_hit(l));
        }
        if (s->marked)
            leave_marks(&w, s, hash);
    }
    return w.n ? w.key[0] : n;
}

/* Inlined for tables with and without marks: `marked` is then a constant in the loops. */
static inline __attribute__((always_inline)) void contains_all(struct dj_slots s, bool marked,
                                                               const uint64_t *hash,
                                                               const uint64_t *ahead, size_t n,
                                                               uint8_t *found)
{
    s.marked = marked;
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < DJ_SLOT_GROUP ? n - at : DJ_SLOT_GROUP;
        contains_group(&s, hash + at, ahead + at, group, found + at);
    }
}

static inline __attribute__((always_inline)) size_t add_all(struct dj_slots s, bool marked,
                                                            const uint64_t *hash,
                                                            const uint64_t *ahead, size_t n,
                                                            uint8_t *is_new)
{
    s.marked = marked;
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < DJ_SLOT_GROUP ? n - at : DJ_SLOT_GROUP;
        const size_t taken = add_group(&s, hash + at, ahead + at, group, is_new + at);
        if (taken < group)
            return at + taken;
    }
    return n;
}

static void rounds_contains(const struct dj_slots *s, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    if (s->marked)
        contains_all(*s, true, hash, ahead, n, found);
    else
        contains_all(*s, false, hash, ahead, n, found);
}

static size_t rounds_add(const struct dj_slots *s, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *is_new)
{
    return s->marked ? add_all(*s, true, hash, ahead, n, is_new)
                     : add_all(*s, false, hash, ahead, n, is_new);
}
