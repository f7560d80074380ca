/* exact_dates.c - an exact filter that also stores when each key was first and last seen.
 *
 * This is the kind `exact` with the option `dates`: the same number and name, but a different body
 * (core/bits/dated.h).  A line of 64 bytes has six slots of 85 bits: 53 bits of the hash and two
 * days.  At capacity, which is a load factor of 80%, a key takes 13.3 bytes.
 *
 * The rate is n / 2^53: a false positive needs 53 equal bits.  The position of a key depends only
 * on bits that its slot holds, so `expire` and `merge` can move slots between tables of any size.
 * (If the line number stood for more bits, the rate would be lower, but a slot would not say where
 * its key belongs in a table of another size.)
 *
 * An add of a known key raises its last day.  In a series, an older part may have the key: `touch`
 * raises the day there. */
#include "core/bits/dated.h"
#include "kinds/exact.h"

static uint32_t today(const struct dj_part *p)
{
    return atomic_load_explicit(&p->today, memory_order_relaxed);
}

static void dated_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    const struct dj_slots s = dj_exact_slots(p);
    for (size_t i = 0; i < n; i++) {
        dj_slots_prefetch(&s, ahead + i, 1);
        found[i] = dj_dated_find(&s, hash[i]).last != 0;
    }
}

static void dated_touch(struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *found)
{
    const struct dj_slots s = dj_exact_slots(p);
    for (size_t i = 0; i < n; i++)
        found[i] = dj_dated_touch(&s, hash[i], today(p));
}

static size_t dated_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                        uint8_t *is_new, bool shared)
{
    const struct dj_slots s = dj_exact_slots(p);
    uint64_t room = dj_exact_room(p);
    for (size_t i = 0; i < n; i++) {
        dj_slots_prefetch(&s, ahead + i, 1);
        enum dj_dated_answer answer = DJ_DATED_FULL;
        if (room)
            answer = dj_dated_add(&s, hash[i], today(p), shared ? p->line_lock : NULL);
        else if (dj_dated_touch(&s, hash[i], today(p)))
            answer = DJ_DATED_SEEN;
        if (answer == DJ_DATED_FULL)
            return i;
        is_new[i] = answer == DJ_DATED_NEW;
        room -= is_new[i];
    }
    return n;
}

static void dated_days(const struct dj_part *p, const uint64_t *hash, size_t n, deja_days *days)
{
    const struct dj_slots s = dj_exact_slots(p);
    for (size_t i = 0; i < n; i++)
        if (!days[i].last)
            days[i] = dj_dated_find(&s, hash[i]);
}

static bool dated_set_days(struct dj_part *p, uint64_t hash, deja_days days, bool replace)
{
    const struct dj_slots s = dj_exact_slots(p);
    return dj_dated_set(&s, hash, days, replace);
}

static size_t dated_slots(const struct dj_part *p, uint64_t *at, uint64_t hash[DJ_CHUNK],
                          deja_days days[DJ_CHUNK])
{
    const struct dj_slots s = dj_exact_slots(p);
    const uint64_t slots = dj_shape_slots(&p->shape);
    size_t n = 0;
    for (; *at < slots && n < DJ_CHUNK; ++*at)
        n += dj_dated_slot(&s, *at, hash + n, days + n);
    return n;
}

static size_t dated_stored(const struct dj_part *p, uint64_t *at, uint64_t hash[DJ_CHUNK])
{
    deja_days days[DJ_CHUNK];
    return dated_slots(p, at, hash, days);
}

static uint64_t dated_slots_used(const struct dj_part *p)
{
    uint64_t used = 0, at = 0, hash[DJ_CHUNK];
    for (size_t n; (n = dated_stored(p, &at, hash)) > 0;)
        used += n;
    return used;
}

const struct dj_kind dj_exact_dates = {
    .name = "exact",
    .number = DEJA_EXACT,
    .help = "exact, with the days on which each key was first and last seen",
    .can = DEJA_CAN_ADD | DEJA_CAN_FILL | DEJA_CAN_MERGE | DEJA_CAN_OVERLAP | DEJA_CAN_DATE,
    .flags = DEJA_DATES,
    .layout = DJ_DATED,
    .plan = dj_exact_plan,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .contains = dj_spatial_contains,
    .stats = dj_spatial_stats,
    .reaches_rate = dj_exact_reaches_rate,
    .body = {.prefetch = dj_exact_prefetch,
             .add = dated_add,
             .contains = dated_contains,
             .bits_set = dated_slots_used,
             .room = dj_exact_room,
             .stored = dated_stored,
             .touch = dated_touch,
             .days = dated_days,
             .set_days = dated_set_days,
             .dated = dated_slots},
};
