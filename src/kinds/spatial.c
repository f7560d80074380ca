/* several.c - one answer from a list of parts.
 *
 *   one part      it answers
 *   spatial       F parts with different salts: seen when all of them say so; add goes to all
 *   scalable      a growing series: seen when any of them says so; add goes to the newest
 *   paired        entries and deletions: seen when the first says so and the second does not
 *                 (paired.c)
 *   window        one part whose answer has a bit for each generation: window.c reads it
 *   layered       a rule of its own, in layered.c
 *
 * A key that is one number becomes another number for each spatial part: mix(h xor salt) is a
 * bijection of h, so nothing is lost, and positions in one part tell nothing about the next.
 * The papers' families bring k numbers for each part. */
#include "core/base/bytes.h"
#include "kinds/deja_filter.h"

/* A chunk as part i sees it: the hashes themselves, a slice of each key's numbers, or remixed
 * into buf. */
const uint64_t *dj_parts_view(const deja_filter *f, uint32_t i, const uint64_t *hash, size_t n,
                              uint64_t buf[DJ_CHUNK])
{
    const struct dj_part *p = f->part[i];
    if (p->stride > 1)
        return hash + (size_t)i * p->shape.k;
    if (!p->salt)
        return hash;
    for (size_t j = 0; j < n; j++)
        buf[j] = dj_mix64(hash[j] ^ p->salt);
    return buf;
}

static void prefetch_parts(const deja_filter *f, uint32_t from, uint32_t to, const uint64_t *hash,
                           size_t n, bool for_add)
{
    uint64_t buf[DJ_CHUNK];
    for (uint32_t i = from; i < to; i++) {
        /* Older parts of a series are only asked. */
        const bool add = for_add && (f->plan.kind != DEJA_SCALABLE || i + 1 == f->n_parts);
        f->part[i]->ops->prefetch(f->part[i], dj_parts_view(f, i, hash, n, buf), n, add);
    }
}

void dj_parts_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    if (f->plan.kind == DEJA_LAYERED)
        return; /* a row has many places, and they depend on each other's answers */
    if (f->n_parts == 1) {
        f->part[0]->ops->prefetch(f->part[0], hash, n, for_add);
        return;
    }
    prefetch_parts(f, 0, f->n_parts, hash, n, for_add);
}

void dj_parts_count_new(struct dj_part *p, const uint8_t *is_new, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += is_new[i];
    if (sum)
        atomic_fetch_add_explicit(&p->keys, sum, memory_order_relaxed);
}

static size_t add_to_all(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *is_new,
                         bool shared)
{
    uint64_t buf[DJ_CHUNK];
    uint8_t part_new[DJ_CHUNK];
    memset(is_new, 0, n);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        struct dj_part *p = f->part[i];
        const uint64_t *seen = dj_parts_view(f, i, hash, n, buf);
        p->ops->add(p, seen, seen, n, part_new, shared); /* Bloom kinds take all */
        for (size_t j = 0; j < n; j++)
            is_new[j] |= part_new[j];
    }
    for (uint32_t i = 0; i < f->n_parts; i++)
        dj_parts_count_new(f->part[i], is_new, n);
    return n;
}

/* Blocked parts of a series are asked together: a key's bits are made once, and the lines of all
 * parts are on their way at the same time. */
static void ask_blocked(const deja_filter *f, uint32_t parts, const uint64_t *hash,
                        const uint64_t *ahead, size_t n, uint8_t *seen)
{
    const struct dj_blocks *blocks[DJ_MAX_PARTS];
    for (uint32_t i = 0; i < parts; i++)
        blocks[i] = &f->part[i]->blocks;
    f->part[0]->kernel->find_any(blocks, parts, hash, ahead, n, seen);
}

/* Marks in seen the keys that one of the first parts of a series has. */
static void ask_series(const deja_filter *f, uint32_t parts, const uint64_t *hash,
                       const uint64_t *ahead, size_t n, uint8_t *seen)
{
    uint8_t found[DJ_CHUNK];
    if (f->plan.part_kind == DEJA_BLOCKED) {
        ask_blocked(f, parts, hash, ahead, n, seen);
        return;
    }
    prefetch_parts(f, 0, parts, ahead, n, false);
    memset(seen, 0, n);
    for (uint32_t i = 0; i < parts; i++) {
        const struct dj_part *p = f->part[i];
        p->ops->contains(p, hash, hash, n, found);
        for (size_t j = 0; j < n; j++)
            seen[j] |= found[j];
    }
}

static size_t add_to_newest(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                            uint8_t *is_new, bool shared)
{
    struct dj_part *newest = f->part[f->n_parts - 1];
    uint8_t seen[DJ_CHUNK], part_new[DJ_CHUNK], place[DJ_CHUNK] = {0};
    uint64_t rest[DJ_CHUNK];
    prefetch_parts(f, f->n_parts - 1, f->n_parts, ahead, n, true);
    ask_series(f, f->n_parts - 1, hash, ahead, n, seen);
    size_t n_rest = 0;
    for (size_t j = 0; j < n; j++) {
        is_new[j] = 0;
        rest[n_rest] = hash[j];
        place[n_rest] = (uint8_t)j;
        n_rest += !seen[j];
    }
    const size_t taken = newest->ops->add(newest, rest, rest, n_rest, part_new, shared);
    for (size_t j = 0; j < taken; j++)
        is_new[place[j]] = part_new[j];
    dj_parts_count_new(newest, part_new, taken);
    return taken == n_rest ? n : place[taken];
}

size_t dj_parts_add(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                    uint8_t *is_new, bool shared)
{
    if (f->plan.kind == DEJA_LAYERED)
        return dj_layered_add(f, hash, n, is_new, shared);
    if (f->n_parts == 1) {
        const size_t taken = f->part[0]->ops->add(f->part[0], hash, ahead, n, is_new, shared);
        if (f->plan.kind == DEJA_WINDOW)
            dj_window_judge(f, is_new, taken);
        dj_parts_count_new(f->part[0], is_new, taken);
        return taken;
    }
    if (f->plan.kind == DEJA_SCALABLE)
        return add_to_newest(f, hash, ahead, n, is_new, shared);
    dj_parts_prefetch(f, ahead, n, true);
    if (f->plan.kind == DEJA_PAIRED) {
        dj_paired_add(f, hash, n, is_new, shared);
        return n;
    }
    return add_to_all(f, hash, n, is_new, shared);
}

void dj_parts_contain(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *found)
{
    if (f->plan.kind == DEJA_LAYERED) {
        dj_layered_contain(f, hash, n, found);
        return;
    }
    if (f->n_parts == 1) {
        f->part[0]->ops->contains(f->part[0], hash, ahead, n, found);
        if (f->plan.kind == DEJA_WINDOW)
            dj_window_find(f, found, n);
        return;
    }
    if (f->plan.kind == DEJA_SCALABLE) {
        ask_series(f, f->n_parts, hash, ahead, n, found);
        return;
    }
    uint64_t buf[DJ_CHUNK];
    uint8_t one[DJ_CHUNK];
    dj_parts_prefetch(f, ahead, n, false);
    if (f->plan.kind == DEJA_PAIRED) {
        dj_paired_contain(f, hash, n, found);
        return;
    }
    f->part[0]->ops->contains(f->part[0], hash, hash, n, found);
    for (uint32_t i = 1; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const uint64_t *seen = dj_parts_view(f, i, hash, n, buf);
        p->ops->contains(p, seen, seen, n, one);
        for (size_t j = 0; j < n; j++)
            found[j] &= one[j];
    }
}

/* --- Counters ------------------------------------------------------------ */

/* A key as part i sees it: kinds with counters make one number of it. */
static uint64_t seen_by(const deja_filter *f, uint32_t i, uint64_t hash)
{
    return f->part[i]->salt ? dj_mix64(hash ^ f->part[i]->salt) : hash;
}

/* Parts where the key is, and not with counters that have lost count in all of them. */
static bool all_can_remove(const deja_filter *f, uint64_t hash)
{
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (f->part[i]->ops->count(f->part[i], seen_by(f, i, hash)) == 0)
            return false;
    return true;
}

/* The answer of F parts: one in which all counters of the key are at their maximum keeps them, as
 * single counters do; the others go down. */
static enum dj_removal remove_from_all(deja_filter *f, uint64_t hash, bool shared)
{
    enum dj_removal answer = DJ_REFUSED;
    if (!all_can_remove(f, hash))
        return DJ_REFUSED;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const enum dj_removal one =
            f->part[i]->ops->remove(f->part[i], seen_by(f, i, hash), shared);
        answer = one > answer ? one : answer;
    }
    return answer;
}

static void forget_key(struct dj_part *p)
{
    uint64_t keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    while (keys && !atomic_compare_exchange_weak_explicit(
                       &p->keys, &keys, keys - 1, memory_order_relaxed, memory_order_relaxed))
        ;
}

bool dj_parts_remove(deja_filter *f, uint64_t hash, bool shared)
{
    enum dj_removal answer;
    if (f->plan.kind == DEJA_PAIRED)
        return dj_paired_remove(f, hash, shared);
    if (f->n_parts == 1) {
        answer = f->part[0]->ops->remove(f->part[0], hash, shared);
    } else {
        /* Nobody else may remove between the look at all parts and the change of each; adds may
         * come, as they only raise. */
        pthread_rwlock_wrlock(&f->growing);
        answer = remove_from_all(f, hash, shared);
        pthread_rwlock_unlock(&f->growing);
    }
    for (uint32_t i = 0; answer == DJ_GONE && i < f->n_parts; i++)
        forget_key(f->part[i]);
    return answer != DJ_REFUSED;
}

uint32_t dj_parts_count(const deja_filter *f, uint64_t hash)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const uint32_t count = f->part[i]->ops->count(f->part[i], seen_by(f, i, hash));
        least = count < least ? count : least;
    }
    return least;
}
