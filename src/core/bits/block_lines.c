/* block_lines.c - adds and looks up keys with several lines, line by line; see block_lines.h. */
#include "core/bits/block_lines.h"

#define GROUP 64 /* keys that are processed together */

/* The keys of a group that are still in question. */
struct rest {
    uint8_t key[GROUP];
    uint64_t hash[GROUP];
    size_t n;
};

/* Checks these keys of a group of n in lines 1, 2, ..; those that are in all of them stay.  If most
 * keys of this group were found in line 0, most of the next will be, so their lines are prefetched
 * as well. */
static void check_lines(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                        const uint64_t *hash, const uint64_t *ahead, size_t n, struct rest *r)
{
    const bool found_most = 2 * r->n > n;
    uint64_t next[GROUP];
    uint8_t found[GROUP];
    for (uint32_t j = 1; j < b->key_lines && r->n; j++) {
        const struct dj_blocks line = dj_key_line(b, j);
        for (size_t i = 0; i < r->n; i++)
            r->hash[i] = dj_key_line_hash(hash[r->key[i]], j);
        for (size_t i = 0; found_most && i < r->n; i++)
            next[i] = dj_key_line_hash(ahead[r->key[i]], j);
        dj_block_prefetch(&line, r->hash, r->n);
        kernel->contains(&line, r->hash, found_most ? next : r->hash, r->n, found);
        size_t stay = 0;
        for (size_t i = 0; i < r->n; i++) {
            r->key[stay] = r->key[i];
            stay += found[i];
        }
        r->n = stay;
    }
}

static void contains_group(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found)
{
    struct rest r;
    r.n = 0;
    if (n == 1) /* a single call: wait for all lines at once */
        dj_key_lines_prefetch(b, hash, n, true);
    kernel->contains(b, hash, ahead, n, found);
    for (size_t i = 0; i < n; i++) {
        r.key[r.n] = (uint8_t)i;
        r.n += found[i];
        found[i] = 0;
    }
    check_lines(kernel, b, hash, ahead, n, &r);
    for (size_t i = 0; i < r.n; i++)
        found[r.key[i]] = 1;
}

void dj_key_lines_contains(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < GROUP ? n - at : GROUP;
        contains_group(kernel, b, hash + at, ahead + at, group, found + at);
    }
}

static void add_group(dj_block_add *add, const struct dj_blocks *b, const uint64_t *hash,
                      const uint64_t *ahead, size_t n, uint8_t *is_new)
{
    uint64_t now[GROUP], next[GROUP];
    uint8_t one[GROUP];
    add(b, hash, ahead, n, is_new);
    for (uint32_t j = 1; j < b->key_lines; j++) {
        const struct dj_blocks line = dj_key_line(b, j);
        for (size_t i = 0; i < n; i++) {
            now[i] = dj_key_line_hash(hash[i], j);
            next[i] = dj_key_line_hash(ahead[i], j);
        }
        add(&line, now, next, n, one);
        for (size_t i = 0; i < n; i++)
            is_new[i] |= one[i];
    }
}

void dj_key_lines_add(const struct dj_block_kernel *kernel, const struct dj_blocks *b,
                      const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *is_new)
{
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < GROUP ? n - at : GROUP;
        add_group(kernel->add, b, hash + at, ahead + at, group, is_new + at);
    }
}

/* Of these keys, those whose first line in body j has them. */
static void select_keys(struct rest *r, const struct rest *from, const uint32_t *having,
                        uint32_t j)
{
    r->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        r->key[r->n] = from->key[i];
        r->n += having[from->key[i]] >> j & 1;
    }
}

static void find_any_group(const struct dj_block_kernel *kernel,
                           const struct dj_blocks *const *bodies, uint32_t n_bodies,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found)
{
    uint32_t having[GROUP]; /* bodies whose first line has the key */
    uint32_t single = 0;    /* bodies in which a key has no other line */
    const uint32_t all = (uint32_t)((UINT64_C(1) << n_bodies) - 1);
    struct rest maybe, r;
    kernel->find_bodies(bodies, n_bodies, hash, ahead, n, having);
    for (uint32_t j = 0; j < n_bodies; j++)
        single |= (uint32_t)(bodies[j]->key_lines <= 1) << j;
    maybe.n = 0;
    for (size_t i = 0; i < n; i++)
        found[i] = (having[i] & single) != 0;
    for (size_t i = 0; single != all && i < n; i++) {
        maybe.key[maybe.n] = (uint8_t)i;
        maybe.n += (having[i] & ~single) != 0;
    }
    for (uint32_t j = 0; j < n_bodies && maybe.n; j++) {
        if (single >> j & 1)
            continue;
        select_keys(&r, &maybe, having, j);
        check_lines(kernel, bodies[j], hash, ahead, n, &r);
        for (size_t i = 0; i < r.n; i++)
            found[r.key[i]] = 1;
    }
}

void dj_key_lines_find_any(const struct dj_block_kernel *kernel,
                           const struct dj_blocks *const *bodies, uint32_t n_bodies,
                           const uint64_t *hash, const uint64_t *ahead, size_t n, uint8_t *found)
{
    for (size_t at = 0, group; at < n; at += group) {
        group = n - at < GROUP ? n - at : GROUP;
        find_any_group(kernel, bodies, n_bodies, hash + at, ahead + at, group, found + at);
    }
}

void dj_key_lines_prefetch(const struct dj_blocks *b, const uint64_t *hash, size_t n, bool for_add)
{
    dj_block_prefetch(b, hash, n);
    for (uint32_t j = 1; for_add && j < b->key_lines; j++) {
        const struct dj_blocks line = dj_key_line(b, j);
        for (size_t i = 0; i < n; i++)
            DJ_PREFETCH(dj_block_of(&line, dj_key_line_hash(hash[i], j)));
    }
}
