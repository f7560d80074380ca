/* fuse.c - the shape of a binary fuse filter, and its construction; see fuse.h.
 *
 * The keys are sorted by the number that selects their first slot, so all memory in use at any
 * moment lies within three segments, which fit in the caches, however large the filter is.  The
 * slots come from the last cache, which is slow, so they are prefetched: a slot that is alone waits
 * in a short queue before its key is peeled off. */
#include "core/bits/fuse.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include <math.h>

/* --- Shape ------------------------------------------------------------------ */

/* Segments grow like n^0.58, up to a limit; small sets need more slots per key. */
bool dj_fuse_fit(struct dj_fuse *f, uint64_t n)
{
    if (n > DJ_FUSE_MAX_KEYS)
        return false;
    const double keys = n > 2 ? (double)n : 2;
    const double log2_segment = floor(log(keys) / log(3.33) + 2.25);
    const double a_key = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys));
    f->segment_log2 = log2_segment < DJ_FUSE_MAX_LOG2 ? (uint32_t)log2_segment : DJ_FUSE_MAX_LOG2;
    const uint64_t slots = (uint64_t)(keys * a_key + 0.5);
    const uint64_t len = UINT64_C(1) << f->segment_log2;
    const uint64_t all = (slots + len - 1) / len;
    f->segments = all < DJ_FUSE_POSITIONS ? 1 : (uint32_t)(all - DJ_FUSE_POSITIONS + 1);
    f->keys = n;
    return true;
}

bool dj_fuse_is_sound(const struct dj_fuse *f)
{
    return (f->width == 8 || f->width == 16 || f->width == 32) && f->segments &&
           f->segment_log2 <= DJ_FUSE_MAX_LOG2 && dj_fuse_slots(f) <= DJ_FUSE_MAX_SLOTS &&
           f->keys <= dj_fuse_slots(f);
}

/* The inverse of dj_mix64, step by step; the factors are the inverses of its own modulo 2^64. */
uint64_t dj_fuse_unmix(const struct dj_fuse *f, uint64_t h)
{
    h ^= h >> 31 ^ h >> 62;
    h *= UINT64_C(0x319642b2d24d8ec3);
    h ^= h >> 27 ^ h >> 54;
    h *= UINT64_C(0x96de1b173f119089);
    h ^= h >> 30 ^ h >> 60;
    return h ^ f->seed;
}

/* --- Peeling ---------------------------------------------------------------- */

#define LEAD       64 /* keys between prefetching slots and using them; a power of 2 */
#define SMALL_LOG2 12 /* three segments of 2^12 slots fit into the second cache */

/* Prefetches the slots of a key. */
static void fetch(const struct dj_fuse *f, uint64_t key, const struct dj_peel *room)
{
    uint64_t at[DJ_FUSE_POSITIONS];
    dj_fuse_at(f, key, at);
    for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++) {
        DJ_PREFETCH(room->sum + at[j]);
        DJ_PREFETCH(room->count + at[j]);
    }
}

/* Returns false if a slot has 64 or more keys, too many to count; usually it has about 3. */
static bool count_keys(const struct dj_fuse *f, const uint64_t *h, size_t n, struct dj_peel *room)
{
    uint64_t at[DJ_FUSE_POSITIONS];
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        if (i + LEAD < n)
            fetch(f, h[i + LEAD], room);
        dj_fuse_at(f, h[i], at);
        for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++) {
            uint8_t *count = room->count + at[j];
            *count = (uint8_t)((*count + 4) ^ j);
            fits = fits && *count >= 4;
            room->sum[at[j]] ^= h[i];
        }
    }
    return fits;
}

static size_t find_alone(const struct dj_fuse *f, struct dj_peel *room)
{
    const uint64_t slots = dj_fuse_slots(f);
    size_t n = 0;
    for (uint64_t slot = 0; slot < slots; slot++) {
        room->alone[n] = (uint32_t)slot;
        n += room->count[slot] >> 2 == 1;
    }
    return n;
}

/* Peels off the key of a slot that is alone, and pushes the slots that become alone. */
static size_t peel_off(const struct dj_fuse *f, uint32_t slot, struct dj_peel *room, size_t *done,
                       size_t n_alone)
{
    const uint64_t key = room->sum[slot];
    const unsigned mine = room->count[slot] & 3;
    uint64_t at[DJ_FUSE_POSITIONS];
    dj_fuse_at(f, key, at);
    room->order[*done] = key;
    room->which[(*done)++] = (uint8_t)mine;
    for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++) {
        uint8_t *count = room->count + at[j];
        *count = (uint8_t)((*count - 4) ^ j);
        room->sum[at[j]] ^= key;
        if (j != mine && *count >> 2 == 1) /* so each slot is pushed once */
            room->alone[n_alone++] = (uint32_t)at[j];
    }
    return n_alone;
}

bool dj_fuse_peel(const struct dj_fuse *f, const uint64_t *h, size_t n, struct dj_peel *room)
{
    if (!count_keys(f, h, n, room))
        return false;
    const size_t lead = f->segment_log2 > SMALL_LOG2 ? LEAD : 1;
    uint32_t queue[LEAD];
    size_t n_alone = find_alone(f, room), done = 0, in = 0, out = 0;
    while (n_alone || in > out) {
        uint32_t slot;
        if (n_alone && in - out < lead) {
            slot = room->alone[--n_alone];
            if (room->count[slot] >> 2 == 1)
                fetch(f, room->sum[slot], room);
            queue[in++ % LEAD] = slot;
            continue;
        }
        slot = queue[out++ % LEAD];
        if (room->count[slot] >> 2 == 1) /* or its key was peeled off at another slot */
            n_alone = peel_off(f, slot, room, &done, n_alone);
    }
    return done == n;
}

static void put(uint8_t *body, uint64_t at, uint32_t width, uint32_t print)
{
    if (width == 8)
        body[at] = (uint8_t)print;
    else if (width == 16)
        dj_store16(body + 2 * at, (uint16_t)print);
    else
        dj_store32(body + 4 * at, print);
}

/* Works in reverse order: a slot is set after all keys that were peeled off later than its own key
 * have their values, and none of those keys uses the slot. */
void dj_fuse_fill(const struct dj_fuse *f, const struct dj_peel *room, size_t n, uint8_t *body)
{
    uint64_t at[DJ_FUSE_POSITIONS];
    for (size_t i = n; i-- > 0;) {
        const uint64_t h = room->order[i];
        const unsigned mine = room->which[i];
        uint32_t print = dj_fuse_print(f, h);
        dj_fuse_at(f, h, at);
        for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++)
            if (j != mine)
                print ^= dj_fuse_slot(body, at[j], f->width);
        put(body, at[mine], f->width, print);
    }
}

/* --- Sorting ---------------------------------------------------------------- */

#define FEW 24 /* up to this many numbers are sorted by insertion */

static void sort_few(uint64_t *h, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t x = h[i];
        size_t j = i;
        for (; j > 0 && h[j - 1] > x; j--)
            h[j] = h[j - 1];
        h[j] = x;
    }
}

/* Sorts by the highest byte first, in place (McIlroy, Bostic, McIlroy, "Engineering Radix Sort",
 * 1993): each number is moved to its bucket, and the displaced number is moved next.  The
 * recursion goes one level per byte, at most eight. */
static void sort_from(uint64_t *h, size_t n, unsigned shift) /* NOLINT(misc-no-recursion) */
{
    size_t next[256] = {0}, end[256];
    if (n <= FEW) {
        sort_few(h, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        next[h[i] >> shift & 255]++;
    size_t at = 0;
    for (unsigned d = 0; d < 256; d++) {
        const size_t len = next[d];
        next[d] = at;
        end[d] = at += len;
    }
    for (unsigned d = 0; d < 256; d++)
        while (next[d] < end[d]) {
            uint64_t x = h[next[d]];
            for (unsigned to; (to = (unsigned)(x >> shift & 255)) != d;) {
                const uint64_t there = h[next[to]];
                h[next[to]++] = x;
                x = there;
            }
            h[next[d]++] = x;
        }
    if (shift == 0)
        return;
    for (unsigned d = 0; d < 256; d++) {
        const size_t begin = d ? end[d - 1] : 0;
        if (end[d] - begin > 1)
            sort_from(h + begin, end[d] - begin, shift - 8);
    }
}

size_t dj_fuse_sort(uint64_t *h, size_t n)
{
    sort_from(h, n, 56);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || h[i] != h[kept - 1])
            h[kept++] = h[i];
    return kept;
}
