/* dated.c - fingerprints with days; see dated.h.
 *
 * Readers run at the same time as writers, so every access is atomic.  The 8 bytes of a slot are
 * written last with release order and read first with acquire order. */
#include "core/bits/dated.h"

#define LAST_AT  24 /* in 16-bit units: byte 48 */
#define EXTRA_AT 15 /* in 32-bit units: byte 60 */
#define EXTRA    5  /* bits per slot there */

/* A slot of a line; line NULL: not found. */
struct spot {
    uint64_t *line;
    unsigned i;
};

static uint64_t word_of(const uint64_t *line, unsigned i)
{
    return DJ_LE64(__atomic_load_n(line + i, __ATOMIC_ACQUIRE));
}

static uint16_t *last_of(const struct spot *at)
{
    return (uint16_t *)(void *)at->line + LAST_AT + at->i;
}

static uint32_t *extra_of(uint64_t *line)
{
    return (uint32_t *)(void *)line + EXTRA_AT;
}

static uint32_t extra_bits(uint64_t *line, unsigned i)
{
    return DJ_LE32(__atomic_load_n(extra_of(line), __ATOMIC_RELAXED)) >> (EXTRA * i) & 31;
}

static uint64_t hash_of(uint64_t *line, unsigned i, uint64_t word)
{
    return (word & ~UINT64_C(0xffff)) | (uint64_t)extra_bits(line, i) << 11;
}

/* Searches a line for h from slot `at->i` on; stops at the key or at the first free slot.  Returns
 * whether the key was found; at->i is DJ_DATED_SLOTS if neither was. */
static bool search(struct spot *at, uint64_t h)
{
    for (; at->i < DJ_DATED_SLOTS; at->i++) {
        const uint64_t word = word_of(at->line, at->i);
        if (word == 0)
            return false;
        if ((word ^ h) >> 16 == 0 && hash_of(at->line, at->i, word) == h)
            return true;
    }
    return false;
}

static bool is_full(const struct spot *at)
{
    return at->i == DJ_DATED_SLOTS;
}

/* Follows the probe sequence of h to the key or, if it is absent, to the first free slot. */
static bool probe(const struct dj_slots *s, uint64_t h, struct spot *at)
{
    uint64_t line = dj_slots_first(s, h);
    for (uint64_t hop = 1; !dj_slots_way_ends(s, hop); hop++) {
        *at = (struct spot){dj_slots_line(s, line), 0};
        if (search(at, h))
            return true;
        if (!is_full(at))
            return false;
        line = dj_slots_next(s, h, line, hop);
    }
    return false;
}

/* A key that is present has days, even in a crafted file. */
static deja_days days_of(const struct spot *at)
{
    const uint16_t first = (uint16_t)word_of(at->line, at->i);
    const uint16_t last = DJ_LE16(__atomic_load_n(last_of(at), __ATOMIC_RELAXED));
    return (deja_days){.first = first ? first : 1, .last = last ? last : 1};
}

deja_days dj_dated_find(const struct dj_slots *s, uint64_t hash)
{
    struct spot at;
    return probe(s, hash & DJ_DATED_MASK, &at) ? days_of(&at) : (deja_days){0, 0};
}

/* A key that was seen today before is not written again. */
static void raise_last(const struct spot *at, uint32_t day)
{
    uint16_t *last = last_of(at), old = __atomic_load_n(last, __ATOMIC_RELAXED);
    while (DJ_LE16(old) < day &&
           !__atomic_compare_exchange_n(last, &old, DJ_LE16((uint16_t)day), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

bool dj_dated_touch(const struct dj_slots *s, uint64_t hash, uint32_t day)
{
    struct spot at;
    const bool found = probe(s, hash & DJ_DATED_MASK, &at);
    if (found)
        raise_last(&at, day);
    return found;
}

static void write_first(const struct spot *at, uint64_t h, uint32_t day)
{
    const uint64_t word = (h & ~UINT64_C(0xffff)) | day;
    __atomic_store_n(at->line + at->i, DJ_LE64(word), __ATOMIC_RELEASE);
}

static void write_last(const struct spot *at, uint32_t day)
{
    __atomic_store_n(last_of(at), DJ_LE16((uint16_t)day), __ATOMIC_RELAXED);
}

static void fill(const struct spot *at, uint64_t h, uint32_t day)
{
    uint32_t *extra = extra_of(at->line);
    const uint32_t others =
        DJ_LE32(__atomic_load_n(extra, __ATOMIC_RELAXED)) & ~(UINT32_C(31) << (EXTRA * at->i));
    const uint32_t bits = (uint32_t)(h >> 11 & 31) << (EXTRA * at->i);
    write_last(at, day);
    __atomic_store_n(extra, DJ_LE32(others | bits), __ATOMIC_RELAXED);
    write_first(at, h, day);
}

/* Fills a free slot of a line that other threads may be filling too: looks again under the lock. */
static enum dj_dated_answer fill_locked(struct spot *at, uint64_t h, uint32_t day,
                                        atomic_bool *lock)
{
    enum dj_dated_answer answer = DJ_DATED_SEEN;
    dj_line_lock(lock);
    if (search(at, h)) {
        raise_last(at, day);
    } else if (is_full(at)) {
        answer = DJ_DATED_FULL;
    } else {
        fill(at, h, day);
        answer = DJ_DATED_NEW;
    }
    dj_line_unlock(lock);
    return answer;
}

static enum dj_dated_answer add_to_line(struct spot *at, uint64_t h, uint32_t day,
                                        atomic_bool *lock)
{
    if (search(at, h)) {
        raise_last(at, day);
        return DJ_DATED_SEEN;
    }
    if (is_full(at))
        return DJ_DATED_FULL;
    if (lock)
        return fill_locked(at, h, day, lock);
    fill(at, h, day);
    return DJ_DATED_NEW;
}

enum dj_dated_answer dj_dated_add(const struct dj_slots *s, uint64_t hash, uint32_t day,
                                  atomic_bool *lock)
{
    const uint64_t h = hash & DJ_DATED_MASK;
    uint64_t line = dj_slots_first(s, h);
    enum dj_dated_answer answer = DJ_DATED_FULL;
    for (uint64_t hop = 1; answer == DJ_DATED_FULL && !dj_slots_way_ends(s, hop); hop++) {
        struct spot at = {dj_slots_line(s, line), 0};
        answer = add_to_line(&at, h, day, lock ? lock + line % DJ_LINE_LOCKS : NULL);
        line = dj_slots_next(s, h, line, hop);
    }
    return answer;
}

bool dj_dated_set(const struct dj_slots *s, uint64_t hash, deja_days days, bool replace)
{
    struct spot at;
    const uint64_t h = hash & DJ_DATED_MASK;
    if (!probe(s, h, &at))
        return false;
    const deja_days old = days_of(&at);
    if (replace || days.first < old.first)
        write_first(&at, h, days.first);
    if (replace || days.last > old.last)
        write_last(&at, days.last);
    return true;
}

bool dj_dated_slot(const struct dj_slots *s, uint64_t i, uint64_t *hash, deja_days *days)
{
    const struct spot at = {dj_slots_line(s, i / DJ_DATED_SLOTS), (unsigned)(i % DJ_DATED_SLOTS)};
    const uint64_t word = word_of(at.line, at.i);
    *hash = hash_of(at.line, at.i, word);
    *days = days_of(&at);
    return word != 0;
}
