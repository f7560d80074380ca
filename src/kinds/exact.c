/* exact.c - 64-bit fingerprints in a hash table: about 10 bytes per key, practically no lost
 * pages.
 *
 * core/bits/slots.h defines the probe sequence of a fingerprint.  At capacity, which is a load
 * factor of 80%, 41% of the lines are full.  Keys that share a full line continue with different
 * strides, so full lines do not cluster.  A lookup then reads 1.1 lines for a present key, and as
 * many for an absent one if the table has marks.  Tables without marks are smaller than 256 KiB or
 * from a file of an earlier version; there, an absent key reads 1.7 lines.
 *
 * The table only ever inserts and never moves an entry, which has two more advantages.  An add is
 * one compare-and-swap on the first free slot, so racing writers find their own key there or try
 * the next slot: no key is lost, and of several threads that add the same key exactly one is
 * answered "new".  And an interrupted write-back can only lose slots that were filled after the
 * last sync: every synced key is still found.  A later key may reach the disk without the marks
 * that lead to it; it is absent, until an add of it sets them again.
 *
 * The rate is n / 2^64: a false positive needs 64 equal bits. */
#include "kinds/exact.h"
#include "core/base/status.h"

struct dj_slots dj_exact_slots(const struct dj_part *p)
{
    return (struct dj_slots){(uint64_t *)(void *)p->body, p->shape.bits / DJ_BLOCK_BITS,
                             p->marked};
}

void dj_exact_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    const struct dj_slots s = dj_exact_slots(p);
    dj_slots_prefetch(&s, hash, n);
}

static void exact_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    const struct dj_slots s = dj_exact_slots(p);
    dj_slots_best()->contains(&s, hash, ahead, n, found);
}

/* --- Adding with concurrent writers, or to the last free slots ---------------- */

enum outcome {
    NEW,
    SEEN,
    LINE_FULL
};

/* If another thread takes the slot first, it may have stored the same key, so compare again. */
static enum outcome put(uint64_t *line, uint64_t h, uint64_t extra)
{
    for (unsigned i = 0; i < DJ_SLOTS; i++) {
        uint64_t there = __atomic_load_n(line + i, __ATOMIC_RELAXED);
        if (there == 0 && __atomic_compare_exchange_n(line + i, &there, h, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED))
            return NEW;
        if ((there | extra) == (h | extra))
            return SEEN;
    }
    return LINE_FULL;
}

/* Notes that this key had to leave a full line.  If another thread is just adding the same key,
 * this add is not "new" but may be the one that sets the mark, so exact_mark would miss it. */
static void leave(const struct dj_part *p, const struct dj_slots *s, uint64_t line, uint64_t hash)
{
    uint64_t *slot = dj_slots_line(s, line) + dj_slots_class(hash);
    if (!s->marked || __atomic_load_n(slot, __ATOMIC_RELAXED) & DJ_MARK)
        return;
    __atomic_fetch_or(slot, DJ_MARK, __ATOMIC_RELAXED);
    if (p->pieces)
        dj_pieces_mark(p->pieces, line * DJ_SLOTS * 8);
}

static enum outcome add_one(const struct dj_part *p, const struct dj_slots *s, uint64_t hash)
{
    const uint64_t h = dj_slots_fingerprint(s, hash), extra = dj_slots_extra(s);
    uint64_t line = dj_slots_first(s, hash);
    enum outcome outcome = LINE_FULL;
    for (uint64_t hop = 1; outcome == LINE_FULL && !dj_slots_way_ends(s, hop); hop++) {
        outcome = put(dj_slots_line(s, line), h, extra);
        if (outcome == LINE_FULL)
            leave(p, s, line, hash);
        line = dj_slots_next(s, hash, line, hop);
    }
    return outcome;
}

static size_t add_in_turn(const struct dj_part *p, const struct dj_slots *s, const uint64_t *hash,
                          size_t n, uint64_t room, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t found = 0;
        if (room == 0)
            dj_slots_best()->contains(s, hash + i, hash + i, 1, &found);
        if (room == 0 && !found)
            return i;
        const enum outcome outcome = found ? SEEN : add_one(p, s, hash[i]);
        if (outcome == LINE_FULL) /* other threads took the last slots */
            return i;
        is_new[i] = outcome == NEW;
        room -= room ? is_new[i] : 0;
    }
    return n;
}

/* Probe sequences in a nearly full table are long, so a sixteenth of it stays free. */
uint64_t dj_exact_room(const struct dj_part *p)
{
    const uint64_t slots = dj_shape_slots(&p->shape);
    const uint64_t most = slots - slots / 16;
    const uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    return keys < most ? most - keys : 0;
}

static size_t exact_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                        uint8_t *is_new, bool shared)
{
    const struct dj_slots s = dj_exact_slots(p);
    const uint64_t room = dj_exact_room(p);
    if (!shared && room >= n)
        return dj_slots_best()->add(&s, hash, ahead, n, is_new);
    dj_slots_prefetch(&s, ahead, n);
    return add_in_turn(p, &s, hash, n, room, is_new);
}

static bool line_has(const uint64_t *line, uint64_t h, uint64_t extra)
{
    bool any = false;
    for (unsigned i = 0; i < DJ_SLOTS; i++)
        any |= (__atomic_load_n(line + i, __ATOMIC_RELAXED) | extra) == (h | extra);
    return any;
}

/* The key is in the table now, in a line of its probe sequence; it may have marked those before. */
static void exact_mark(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new,
                       size_t n)
{
    const struct dj_slots s = dj_exact_slots(p);
    for (size_t i = 0; i < n; i++) {
        uint64_t line = dj_slots_first(&s, hash[i]);
        for (uint64_t hop = 1; is_new[i] && !dj_slots_way_ends(&s, hop); hop++) {
            dj_pieces_mark(p->pieces, line * DJ_SLOTS * 8);
            if (line_has(dj_slots_line(&s, line), dj_slots_fingerprint(&s, hash[i]),
                         dj_slots_extra(&s)))
                break;
            line = dj_slots_next(&s, hash[i], line, hop);
        }
    }
}

static uint64_t exact_slots_used(const struct dj_part *p)
{
    uint64_t used = 0;
    const uint64_t *slot = (const uint64_t *)(const void *)p->body;
    for (uint64_t i = 0; i < p->shape.bits / 64; i++)
        used += __atomic_load_n(slot + i, __ATOMIC_RELAXED) != 0;
    return used;
}

/* The hashes that a slot stands for.  Hash 0 is stored as 1 (in a marked table, as 2, and 1 as 3)
 * but has a different probe sequence, so there may be two. */
static size_t hashes_of(const struct dj_part *p, uint64_t slot, uint64_t hash[2])
{
    const uint64_t least = p->marked ? 2 : 1, odd = p->marked & (slot / DJ_SLOTS);
    const uint64_t word = dj_part_word(p, slot), h = word & (0 - least);
    size_t n = 0;
    if (h == least)
        hash[n++] = odd;
    if (word)
        hash[n++] = h | odd;
    return n;
}

static size_t exact_stored(const struct dj_part *p, uint64_t *at, uint64_t hash[DJ_CHUNK])
{
    size_t n = 0;
    for (; *at < p->shape.bits / 64 && n < DJ_CHUNK - 1; ++*at)
        n += hashes_of(p, *at, hash + n);
    return n;
}

int dj_exact_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->multiplier != 0)
        return dj_plan_check_multiplier(opt, plan, err);
    const int rc = dj_plan_by_two(opt, plan, err);
    if (rc < 0)
        return rc;
    struct dj_shape s = plan->shape;
    const uint64_t most = opt->memory ? dj_shape_capacity(&s, 0.5) : plan->capacity;
    if (plan->capacity > most)
        return dj_fail(
            err, DEJA_EINVAL,
            "options.memory is %llu: an exact filter of that size holds %llu keys, not %llu; raise "
            "it, or use kind blocked",
            (ull)opt->memory, (ull)most, (ull)plan->capacity);
    return dj_plan_settle(opt, plan, err);
}

bool dj_exact_reaches_rate(const struct dj_plan *plan)
{
    return dj_plan_reaches(&plan->shape, plan->capacity, plan->fp_rate);
}

const struct dj_kind dj_exact = {
    .name = "exact",
    .number = DEJA_EXACT,
    .help = "64-bit fingerprints in a table: practically no false positives",
    .can = DEJA_CAN_ADD | DEJA_CAN_FILL | DEJA_CAN_MERGE | DEJA_CAN_OVERLAP | DEJA_CAN_DATE,
    .flags = DEJA_DATES,
    .variant = &dj_exact_dates,
    .variant_flag = DEJA_DATES,
    .layout = DJ_TABLE,
    .plan = dj_exact_plan,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .marks = true,
    .contains = dj_spatial_contains,
    .stats = dj_spatial_stats,
    .reaches_rate = dj_exact_reaches_rate,
    .body = {.prefetch = dj_exact_prefetch,
             .add = exact_add,
             .contains = exact_contains,
             .mark = exact_mark,
             .bits_set = exact_slots_used,
             .room = dj_exact_room,
             .stored = exact_stored},
};
