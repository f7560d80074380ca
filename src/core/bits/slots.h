/* slots.h - 64-bit fingerprints in lines of eight slots; 0 means free.
 *
 * A hash h has a probe sequence of lines: floor(h L / 2^64) first, then DJ_SLOT_HOPS lines at a
 * stride derived from h, then consecutive lines.  Its slot is the first free one in that sequence.
 * The slots of a line fill in order and are never emptied or moved, so a probe ends at the first
 * line with a free slot.
 *
 * In a marked table, a probe also ends at a full line that no key of the same class (bits 1 .. 3 of
 * h) had to leave.  Mark c of a line is bit 0 of its slot c; a key of class c that finds the line
 * full sets it.  The fingerprint loses that bit, but the line stands for it: keys with bit 0 set
 * use only lines with odd numbers, the others only even ones, so equal fingerprints in a line still
 * mean 64 equal bits.  Each half is a table of its own with the same rules, where lines 0, 2, 4 ..
 * (or 1, 3, 5 ..) count as lines 0, 1, 2 ..  Marks are only ever set, like slots.
 *
 * At a load of 80%, 41% of the lines are full, and an absent key reads 1.70 lines.  With marks, it
 * leaves 7% of the lines and reads 1.08 (docs/math/bodies.md).
 *
 * A kernel probes for a group of keys in rounds: every key checks one line, and a key stays for
 * the next round if the probe has not ended.  No branch depends on what a key finds, so none is
 * mispredicted, and the lines of the next round are prefetched during this one.  All kernels give
 * the same answers; the portable one defines them. */
#ifndef DJ_SLOTS_H
#define DJ_SLOTS_H
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DJ_SLOTS        8
#define DJ_SLOT_HOPS    8  /* lines reached by the key's own stride; part of the format */
#define DJ_SLOT_GROUP   64 /* keys probed together */
/* The least lines of a new table with marks.  The keys of a smaller one may be too unevenly divided
 * between odd and even lines, and it is in the cache anyway. */
#define DJ_MARKED_LINES 4096
#define DJ_MARK         DJ_LE64(UINT64_C(1))

struct dj_slots {
    uint64_t *body;   /* 64-aligned */
    uint64_t n_lines; /* L; a marked table does not use the last line if L is odd */
    bool marked;
};

/* The first lines of hash must be in the cache; the first lines of `ahead` (n hashes, or hash
 * itself) are prefetched along the way.
 * contains: found[i] = 1 if hash i is present.
 * add: inserts absent hashes; is_new[i] = 1 for these, and for those that were only absent because
 * a mark was missing.  The caller is the only writer and ensures at least n free slots.  Returns n,
 * or the index of the first key that found no free slot, which means that the file claims more
 * free slots than it has. */
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
extern const struct dj_slots_kernel dj_slots_neon;
/* The fastest kernel that this processor supports. */
const struct dj_slots_kernel *dj_slots_best(void);
/* Supported kernel number i, fastest first; NULL past the end. */
const struct dj_slots_kernel *dj_slots_at(size_t i);

static inline uint64_t *dj_slots_line(const struct dj_slots *s, uint64_t line)
{
    return s->body + line * DJ_SLOTS;
}

static inline uint64_t dj_slots_first(const struct dj_slots *s, uint64_t hash)
{
    return s->marked ? dj_mulhi(hash, s->n_lines / 2) * 2 + (hash & 1)
                     : dj_mulhi(hash, s->n_lines);
}

/* The next line to probe after `hop` lines, the last of which was `line`. */
static inline uint64_t dj_slots_next(const struct dj_slots *s, uint64_t hash, uint64_t line,
                                     uint64_t hop)
{
    const unsigned shift = s->marked;
    const uint64_t lines = s->n_lines >> shift, all = lines << shift;
    const uint64_t stride = hop < DJ_SLOT_HOPS ? 1 + dj_mulhi(hash * DJ_GOLDEN, lines - 1) : 1;
    const uint64_t next = line + (stride << shift);
    /* Half of the time next is too large, so no branch. */
    return next - (all & (0 - (uint64_t)(next >= all)));
}

/* A table is never completely full, so every probe ends; the bound is for damaged files. */
static inline bool dj_slots_way_ends(const struct dj_slots *s, uint64_t hop)
{
    return hop > s->n_lines + DJ_SLOT_HOPS;
}

/* The bits of a slot that are not part of its fingerprint. */
static inline uint64_t dj_slots_extra(const struct dj_slots *s)
{
    return s->marked ? DJ_MARK : 0;
}

/* The fingerprint of hash 0 is that of 1; in a marked table, those of 0 and 1 are those of 2 and
 * 3. */
static inline uint64_t dj_slots_fingerprint(const struct dj_slots *s, uint64_t hash)
{
    const uint64_t least = s->marked ? 2 : 1, h = hash & (0 - least);
    return DJ_LE64(h ? h : least);
}

/* Which mark of a line belongs to a key. */
static inline unsigned dj_slots_class(uint64_t hash)
{
    return (unsigned)(hash >> 1) & (DJ_SLOTS - 1);
}

static inline void dj_slots_prefetch(const struct dj_slots *s, const uint64_t *hash, size_t n)
{
    for (size_t i = 0; i < n; i++)
        DJ_PREFETCH(dj_slots_line(s, dj_slots_first(s, hash[i])));
}

#endif
