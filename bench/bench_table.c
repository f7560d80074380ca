/* bench_table.c - the baseline: a plain hash table that stores a copy of every string.
 *
 * Open addressing with linear probing; a slot holds the string's hash and the offset of its copy.
 * Strings are compared only if their hashes are equal.  The table is sized to be at most three
 * quarters full with n keys and does not grow: growing would only make it slower. */
#include "bench/bench_subject.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define KEY_ROOM 4096 /* the longest supported key */

struct slot {
    uint64_t hash;
    uint64_t at; /* offset of the copy, plus 1; 0: free */
};

struct table {
    struct slot *slot;
    uint64_t mask, n, capacity;
    char *copies; /* a length of two bytes, then the string */
    size_t used, cap;
};

/* Zeroed memory that is committed only when touched. */
static void *map(size_t len)
{
    void *p = sys_map_lazily(len);
    if (p == MAP_FAILED)
        return NULL;
    sys_use_huge_pages(p, len);
    return p;
}

static uint64_t n_slots(uint64_t n)
{
    uint64_t slots = 16;
    while (slots - slots / 4 < n)
        slots *= 2;
    return slots;
}

static void table_close(void *self)
{
    struct table *t = self;
    if (!t)
        return;
    if (t->slot)
        munmap(t->slot, (size_t)(t->mask + 1) * sizeof *t->slot);
    if (t->copies)
        munmap(t->copies, t->cap);
    free(t);
}

static void *table_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    (void)kind, (void)p;
    struct table *t = n <= SIZE_MAX / KEY_ROOM / 4 ? calloc(1, sizeof *t) : NULL;
    if (t) {
        t->mask = n_slots(n) - 1;
        t->capacity = n;
        t->cap = (size_t)n * KEY_ROOM; /* address space, not memory */
        t->slot = map((size_t)(t->mask + 1) * sizeof *t->slot);
        t->copies = map(t->cap);
    }
    if (!t || !t->slot || !t->copies) {
        table_close(t);
        (void)fail(err, DEJA_ENOMEM, "out of memory for a hash table of this size");
        return NULL;
    }
    return t;
}

static uint64_t table_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)kind, (void)p;
    return n_slots(n) * sizeof(struct slot) + (uint64_t)((double)n * (key_len + 2));
}

static uint64_t table_bytes(void *self)
{
    const struct table *t = self;
    return (t->mask + 1) * sizeof *t->slot + t->used;
}

static double table_rate(void *self)
{
    (void)self;
    return 0;
}

static bool same(const struct table *t, uint64_t at, deja_slice key)
{
    uint16_t len;
    memcpy(&len, t->copies + at, sizeof len);
    return len == key.len && memcmp(t->copies + at + sizeof len, key.data, key.len) == 0;
}

/* The slot that holds the key, or the free slot where it belongs. */
static struct slot *find(const struct table *t, deja_slice key, uint64_t hash)
{
    for (uint64_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        struct slot *s = &t->slot[i];
        if (s->at == 0 || (s->hash == hash && same(t, s->at - 1, key)))
            return s;
    }
}

static int table_contains(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = find(self, keys[i], XXH3_64bits(keys[i].data, keys[i].len))->at != 0;
    return DEJA_OK;
}

static int table_add(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    struct table *t = self;
    for (size_t i = 0; i < n; i++) {
        const uint16_t len = (uint16_t)keys[i].len;
        const uint64_t hash = XXH3_64bits(keys[i].data, keys[i].len);
        struct slot *s = find(t, keys[i], hash);
        is_new[i] = s->at == 0;
        if (s->at != 0)
            continue;
        if (t->n == t->capacity || keys[i].len + sizeof len > KEY_ROOM)
            return DEJA_EFULL;
        *s = (struct slot){hash, t->used + 1};
        memcpy(t->copies + t->used, &len, sizeof len);
        memcpy(t->copies + t->used + sizeof len, keys[i].data, len);
        t->used += sizeof len + len;
        t->n++;
    }
    return DEJA_OK;
}

const struct bench_subject bench_table = {
    .name = "hash table",
    .open = table_open,
    .close = table_close,
    .estimate = table_estimate,
    .bytes = table_bytes,
    .rate = table_rate,
    .contains_one = table_contains,
    .add_one = table_add,
};
