/* colliding.h - counts how often two keys have the same hash, over random secrets.
 *
 * Deriving a secret from a file's key takes 62 calls of SipHash.  Here the words of the secret
 * are random themselves, and 2^24 secrets take less than a second. */
#ifndef TEST_COLLIDING_H
#define TEST_COLLIDING_H
#include "core/hash/hash.h"
#include "rng.h"
#include <string.h>

#define COLLIDING_LONGEST 240

struct colliding {
    uint8_t a[COLLIDING_LONGEST], b[COLLIDING_LONGEST];
    size_t a_len, b_len;
};

struct collisions {
    uint64_t all, high, low; /* equal in all bits, in the highest 16, in the lowest 16 */
};

/* Bytes from .. to - 1 of a URL, xor mask. */
static inline struct colliding colliding_masked(size_t len, size_t from, size_t to, uint8_t mask)
{
    struct colliding p = {.a_len = len, .b_len = len};
    for (size_t i = 0; i < len; i++)
        p.a[i] = (uint8_t) "http://example.org/a/b/c/d/e?f=g&h="[i % 35];
    memcpy(p.b, p.a, len);
    for (size_t i = from; i < to; i++)
        p.b[i] ^= mask;
    return p;
}

/* The pair that collides under 3e-7 of XXH3's secrets. */
static inline struct colliding colliding_reported(void)
{
    static const uint8_t other[8] = {0x2a, 0xd6, 0x8b, 0x53, 0x07, 0x5a, 0x87, 0x00};
    struct colliding p = {.a_len = 5, .b_len = sizeof other};
    memcpy(p.a, "hack!", 5);
    memcpy(p.b, other, sizeof other);
    return p;
}

/* Fills with random words every place where a hash of these lengths reads its secret. */
static inline void colliding_secret(struct dj_hasher *h, struct rng *r, const struct colliding *p)
{
    const bool brief = p->a_len < h->below || p->b_len < h->below;
    const size_t longest = p->a_len > p->b_len ? p->a_len : p->b_len;
    const size_t words = longest < h->below ? 0 : longest <= 32 ? 9 : DJ_SECRET_LEN / 8;
    uint64_t word[DJ_SECRET_LEN / 8];
    if (brief) {
        rng_fill(r, h->brief.a, 2);
        rng_fill(r, h->brief.b, 2);
    }
    if (p->a_len < h->below)
        rng_fill(r, h->brief.start[p->a_len], 2);
    if (p->b_len < h->below && p->b_len != p->a_len)
        rng_fill(r, h->brief.start[p->b_len], 2);
    rng_fill(r, word, words);
    for (size_t i = 0; i < words; i++)
        dj_store64(h->secret + 8 * i, word[i]);
}

/* Counts collisions over n secrets. */
static inline struct collisions colliding_count(uint32_t rules, const struct colliding *p,
                                                uint64_t n, uint64_t seed)
{
    static const uint8_t key[DEJA_KEY_LEN];
    const struct dj_hashing what = {
        .hash = DEJA_HASH_XXH3, .rules = rules, .visit = 1, .words = 1};
    const deja_slice a = {p->a, p->a_len}, b = {p->b, p->b_len};
    struct collisions c = {0};
    struct rng r = rng_seeded(seed);
    struct dj_hasher h;
    dj_hasher_init(&h, &what, key, NULL);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x, y;
        colliding_secret(&h, &r, p);
        dj_hasher_hash(&h, &a, 1, &x);
        dj_hasher_hash(&h, &b, 1, &y);
        c.all += x == y;
        c.high += (x ^ y) >> 48 == 0;
        c.low += ((x ^ y) & 0xffff) == 0;
    }
    return c;
}

#endif
