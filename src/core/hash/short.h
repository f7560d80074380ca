/* short.h - the hash of keys of 0 to 16 bytes (rules 1).
 *
 * XXH3 mixes so little of its secret into a short key that some pairs of keys collide under one
 * secret in 3 million, and keys of 1 to 3 bytes depend on only 32 secret bits.  This function is
 * provably strongly universal instead.
 *
 * A key of a given length is two words a and b: its first and its last 8 bytes, which overlap if
 * it is shorter than 16; for 4 to 7 bytes, the first and the last 4; for 1 to 3 bytes, all of them
 * in b.  With 128-bit secrets A, B and, for each length, S, the hash is
 *
 *     mix(floor((S[len] + A a + B b mod 2^128) / 2^64))
 *
 * Multilinear hashing with 128-bit coefficients and 64-bit words is strongly universal in its
 * highest 65 bits: over random secrets, the hashes of any two different keys of one length are
 * independent and uniform.  For keys of different lengths, S alone ensures that.  So two keys
 * chosen without knowledge of the secret collide with probability exactly 2^-64.  mix is a
 * bijection and does not change that.  But mix matters for sets of more than two keys: without it,
 * keys in arithmetic progression would have hashes in arithmetic progression.
 *
 * Limit: a sum is not a pseudo-random function.  Anyone who sees hashes, or enough answers to
 * chosen queries, can solve for the secret; siphash.c resists that.
 * Source: Lemire, Kaser, "Strongly universal string hashing is fast", 2014, after Dietzfelbinger,
 * "Universal hashing and k-wise independent random variables via integer arithmetic", 1996. */
#ifndef DJ_SHORT_H
#define DJ_SHORT_H
#include "core/base/bytes.h"
#include <stddef.h>

#define DJ_SHORT_MOST  16 /* bytes of the longest short key */
#define DJ_SHORT_WORDS (2 * (2 + DJ_SHORT_MOST + 1))

/* 128-bit secrets, low half first. */
struct dj_short {
    uint64_t a[2], b[2];
    uint64_t start[DJ_SHORT_MOST + 1][2];
};

/* The len <= 16 bytes at p, which may be NULL if there are none. */
static inline uint64_t dj_short_hash(const struct dj_short *s, const uint8_t *p, size_t len)
{
    uint64_t a = 0, b = 0;
    if (len >= 8) {
        a = dj_load64(p);
        b = dj_load64(p + len - 8);
    } else if (len >= 4) {
        a = dj_load32(p);
        b = dj_load32(p + len - 4);
    } else if (len > 0) {
        b = p[0] | (uint64_t)p[len / 2] << 8 | (uint64_t)p[len - 1] << 16;
    }
    const uint64_t high = s->start[len][1] + s->a[1] * a + s->b[1] * b;
    const dj_wide products = dj_wide_add(dj_wide_mul(s->a[0], a), dj_wide_mul(s->b[0], b));
    return dj_mix64(dj_wide_high(dj_wide_add(dj_wide_of(high, s->start[len][0]), products)));
}

#endif
