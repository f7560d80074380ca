/* tally.c - how many times each key occurred; see tally.h. */
#include "cli/session/tally.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <stdlib.h>

#define FIRST_SLOTS ((size_t)1 << 12)
#define AHEAD       16 /* keys whose slots are prefetched */
#define TAKEN       0x80000000u

void tally_fini(struct tally *t)
{
    free(t->hash);
    free(t->count);
    *t = (struct tally){0};
}

/* The hashes are uniform, so their low bits select a slot. */
static size_t place_of(const struct tally *t, uint64_t hash)
{
    size_t at = (size_t)hash & (t->slots - 1);
    while (t->hash[at] && t->hash[at] != hash)
        at = (at + 1) & (t->slots - 1);
    return at;
}

static uint64_t not_zero(uint64_t hash)
{
    return hash ? hash : 1;
}

static int grow(struct tally *t, deja_error *err)
{
    struct tally more = {.slots = t->slots ? 2 * t->slots : FIRST_SLOTS, .used = t->used};
    more.hash = calloc(more.slots, sizeof *more.hash);
    more.count = calloc(more.slots, sizeof *more.count);
    if (!more.hash || !more.count) {
        tally_fini(&more);
        return fail(err, DEJA_ENOMEM,
                    "out of memory for the counts of %s; `sort | uniq -c` needs less",
                    num_of(t->used, "distinct line").s);
    }
    for (size_t i = 0; i < t->slots; i++) {
        if (!t->hash[i])
            continue;
        const size_t at = place_of(&more, t->hash[i]);
        more.hash[at] = t->hash[i];
        more.count[at] = t->count[i];
    }
    tally_fini(t);
    *t = more;
    return DEJA_OK;
}

int tally_add(struct tally *t, const uint64_t *hash, size_t n, uint32_t times, deja_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (t->used >= t->slots / 4 * 3) {
            const int rc = grow(t, err);
            if (rc < 0)
                return rc;
        }
        if (i + AHEAD < n)
            __builtin_prefetch(&t->hash[hash[i + AHEAD] & (t->slots - 1)]);
        const uint64_t id = not_zero(hash[i]);
        const size_t at = place_of(t, id);
        t->used += !t->hash[at];
        t->hash[at] = id;
        t->count[at] = times < TALLY_MAX - t->count[at] ? t->count[at] + times : TALLY_MAX;
    }
    return DEJA_OK;
}

uint32_t tally_take(struct tally *t, uint64_t hash)
{
    const size_t at = t->slots ? place_of(t, not_zero(hash)) : 0;
    if (!t->slots || !t->hash[at])
        return TALLY_UNKNOWN;
    if (t->count[at] & TAKEN)
        return 0;
    t->count[at] |= TAKEN;
    return t->count[at] & ~TAKEN;
}

struct tally_sums tally_sums(const struct tally *t)
{
    struct tally_sums s = {.distinct = t->used,
                           .bytes = t->slots * (sizeof *t->hash + sizeof *t->count)};
    for (size_t i = 0; i < t->slots; i++) {
        const uint32_t count = t->count[i] & ~TAKEN;
        s.once += count == 1;
        s.saturated += count == TALLY_MAX;
    }
    return s;
}
