/* paired.c - deletion with two filters: one of entries, one of deletions.
 *
 * A bit of a Bloom filter belongs to many keys, so a key cannot be taken out of one.  It can be
 * put into another one.  Part 0 holds the keys that were added, part 1 those that were removed,
 * both blocked (blocked.c), and
 *
 *     in the filter  =  in the entries  and not  in the deletions
 *
 * Part 1 sees every hash through a salt, as spatial parts do, so that what the one claims wrongly
 * tells nothing about the other.  With the rates p_A of the entries and p_D of the deletions,
 *
 *     a stranger is found with        p_A (1 - p_D)      lower than that of the entries alone
 *     a member is NOT found with      p_D                the one kind that forgets
 *
 * The price is paid by two sorts of keys.  One that was removed and comes back stays removed: a
 * deletion cannot be taken back, as little as an add.  One that never was removed, and that the
 * deletions claim all the same, is missed from that moment on.  Both are told "new" by every add:
 * to fetch a page again is better than to lose it.  These adds are counted as hidden.
 *
 * Remove refuses a key that is not found, as there is nothing to remove.  A stranger that is found
 * and removed takes nothing from other keys: it only uses up room among the deletions.
 *
 * Neither part changes by what happens in the other, and bits are only ever turned on: adds,
 * removals and lookups of several threads may meet in any order.  A key that is removed while it
 * is added is in or out, whichever came last.
 *
 * Limits: no union, since a key that is removed here and added there has no right answer; no fold,
 * since a smaller part 1 forgets keys that are found now.  What is to come back again and again
 * wants counters (spectral.c).
 * Source: the lecture on compressed caches, "Bloom filter deletions". */
#include "kinds/deja_filter.h"

enum {
    ENTRIES,
    DELETIONS
};

/* What the deletions say about a chunk. */
static void ask_deletions(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *gone)
{
    const struct dj_part *p = f->part[DELETIONS];
    uint64_t buf[DJ_CHUNK];
    const uint64_t *seen = dj_parts_view(f, DELETIONS, hash, n, buf);
    p->ops->contains(p, seen, seen, n, gone);
}

void dj_paired_add(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *is_new, bool shared)
{
    struct dj_part *p = f->part[ENTRIES];
    uint8_t gone[DJ_CHUNK];
    uint64_t hidden = 0;
    p->ops->add(p, hash, hash, n, is_new, shared); /* a Bloom kind takes all */
    dj_parts_count_new(p, is_new, n);
    ask_deletions(f, hash, n, gone);
    for (size_t i = 0; i < n; i++) {
        is_new[i] |= gone[i];
        hidden += gone[i];
    }
    if (hidden)
        atomic_fetch_add_explicit(&f->hidden, hidden, memory_order_relaxed);
}

void dj_paired_contain(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *found)
{
    const struct dj_part *p = f->part[ENTRIES];
    uint8_t gone[DJ_CHUNK];
    p->ops->contains(p, hash, hash, n, found);
    ask_deletions(f, hash, n, gone);
    for (size_t i = 0; i < n; i++)
        found[i] &= !gone[i];
}

bool dj_paired_remove(deja_filter *f, uint64_t hash, bool shared)
{
    struct dj_part *p = f->part[DELETIONS];
    uint64_t buf[DJ_CHUNK];
    uint8_t found, removed;
    dj_paired_contain(f, &hash, 1, &found);
    if (!found)
        return false;
    const uint64_t *seen = dj_parts_view(f, DELETIONS, &hash, 1, buf);
    p->ops->add(p, seen, seen, 1, &removed, shared); /* 0: another thread was faster */
    dj_parts_count_new(p, &removed, 1);
    return removed;
}
