/* static.c - a set that never changes, in 9 bits a key for one wrong answer in 256.
 *
 * core/bits/fuse.h tells how three slots make an answer.  The false-positive rate is 2^-w with
 * w-bit fingerprints, whatever the number of keys: a key that was not given meets a random sum.
 * Memory is 1.125 w bits a key (1.13 for a million keys, more for few): a classic Bloom filter of
 * the same rate takes 1.44 w, and k cache lines where this takes three.
 *
 * The price: all keys have to be known when it is built (builder.c), and it takes no more.
 *
 * Limit: 3 billion keys, since slots are numbered with 32 bits while it is built. */
#include "core/base/compiler.h"
#include "kinds/part.h"

static inline void fetch(const struct dj_part *p, uint64_t hash)
{
    uint64_t at[DJ_FUSE_POSITIONS];
    dj_fuse_at(&p->fuse, dj_fuse_remix(&p->fuse, hash), at);
    const uint64_t bytes = p->fuse.width / 8;
    for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++)
        DJ_PREFETCH(p->body + at[j] * bytes);
}

static void static_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    for (size_t i = 0; i < n; i++)
        fetch(p, hash[i]);
}

/* Inlined for each width, so that it is a constant in the loop. */
static inline __attribute__((always_inline)) void look(const struct dj_part *p,
                                                       const uint64_t *hash, const uint64_t *ahead,
                                                       size_t n, uint8_t *found, uint32_t width)
{
    struct dj_fuse f = p->fuse;
    const uint8_t *body = p->body;
    uint64_t at[DJ_FUSE_POSITIONS];
    f.width = width;
    for (size_t i = 0; i < n; i++) {
        fetch(p, ahead[i]);
        const uint64_t h = dj_fuse_remix(&f, hash[i]);
        dj_fuse_at(&f, h, at);
        found[i] = (dj_fuse_slot(body, at[0], width) ^ dj_fuse_slot(body, at[1], width) ^
                    dj_fuse_slot(body, at[2], width)) == dj_fuse_print(&f, h);
    }
}

static void static_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    if (p->fuse.keys == 0) /* zeros are the fingerprint of some keys */
        memset(found, 0, n);
    else if (p->fuse.width == 8)
        look(p, hash, ahead, n, found, 8);
    else if (p->fuse.width == 16)
        look(p, hash, ahead, n, found, 16);
    else
        look(p, hash, ahead, n, found, 32);
}

/* batch.c refuses before. */
static size_t static_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                         uint8_t *is_new, bool shared)
{
    (void)p, (void)hash, (void)ahead, (void)n, (void)is_new, (void)shared;
    return 0;
}

/* Bits that hold the fingerprint of a key; the others are the room that peeling needs. */
static uint64_t static_bits_used(const struct dj_part *p)
{
    return p->fuse.keys * p->fuse.width;
}

const struct dj_part_ops dj_static_ops = {
    "static",         DEJA_STATIC, NULL, static_prefetch, static_add, static_contains,
    static_bits_used, NULL,        NULL,
};
