/* murmur.c - Austin Appleby's MurmurHash2 and MurmurHash3: multiply, shift, multiply.
 *
 * Multiplying by an odd number carries every bit upward, and a shift or a rotation brings the high
 * bits down again.  Both are reversible, so words of a message can be absorbed one at a time
 * without loss.  MurmurHash2 has 32 bits of state and reads 32-bit words.  MurmurHash3 x64_128 has
 * two 64-bit halves and reads a pair of words for them; this code returns the first half.
 *
 * The salt is the first two words of MurmurHash2, and the first word of MurmurHash3's first pair.
 * So pairs after the first start 8 bytes into the key.
 *
 * Limits: neither resists an attacker, salted or not: for both, there are keys that collide under
 * every seed (Aumasson, Bernstein, 2012).  Use siphash.c for a filter under attack.  MurmurHash2
 * counts the length modulo 2^32.  MurmurHash3 counts the length in 64 bits here, where Appleby's
 * code has an int.
 * Source: Austin Appleby, SMHasher, 2008 and 2011. */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

/* --- MurmurHash2, 32 bits ----------------------------------------------- */

#define M2 UINT32_C(0x5bd1e995)

static inline uint32_t absorb2(uint32_t h, uint32_t word)
{
    word *= M2;
    word ^= word >> 24;
    return h * M2 ^ word * M2;
}

uint64_t dj_murmur2(uint64_t salt, const void *key, size_t len)
{
    const uint8_t *p = key;
    uint32_t h = (uint32_t)(len + DJ_SALT_LEN); /* seed 0, xor the length */

    h = absorb2(h, (uint32_t)salt);
    h = absorb2(h, (uint32_t)(salt >> 32));
    for (; len >= 4; p += 4, len -= 4)
        h = absorb2(h, dj_load32(p));
    if (len > 0)
        h = (h ^ (uint32_t)dj_load_part(p, len)) * M2;
    h = (h ^ h >> 13) * M2;
    return h ^ h >> 15;
}

/* --- MurmurHash3, x64_128 ----------------------------------------------- */

struct halves {
    uint64_t h1, h2;
};

static inline uint64_t scramble1(uint64_t word)
{
    return dj_rotl64(word * UINT64_C(0x87c37b91114253d5), 31) * UINT64_C(0x4cf5ad432745937f);
}

static inline uint64_t scramble2(uint64_t word)
{
    return dj_rotl64(word * UINT64_C(0x4cf5ad432745937f), 33) * UINT64_C(0x87c37b91114253d5);
}

static inline void absorb3(struct halves *s, uint64_t word1, uint64_t word2)
{
    s->h1 = dj_rotl64(s->h1 ^ scramble1(word1), 27) + s->h2;
    s->h1 = s->h1 * 5 + 0x52dce729;
    s->h2 = dj_rotl64(s->h2 ^ scramble2(word2), 31) + s->h1;
    s->h2 = s->h2 * 5 + 0x38495ab5;
}

/* Makes every output bit depend on every bit of x: the last words have barely been mixed into the
 * two halves. */
static inline uint64_t avalanche(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* word1 and word2 hold the last 0 to 15 bytes.  A word of no bytes is 0, scrambles to 0 and
 * changes nothing. */
static inline uint64_t finish3(struct halves s, uint64_t word1, uint64_t word2, uint64_t total)
{
    s.h1 ^= scramble1(word1) ^ total;
    s.h2 ^= scramble2(word2) ^ total;
    s.h1 += s.h2;
    s.h2 += s.h1;
    return avalanche(s.h1) + avalanche(s.h2);
}

uint64_t dj_murmur3(uint64_t salt, const void *key, size_t len)
{
    const uint64_t total = (uint64_t)len + DJ_SALT_LEN;
    const uint8_t *p = key;
    struct halves s = {0, 0};

    if (len < 8)
        return finish3(s, salt, dj_load_part(p, len), total);
    absorb3(&s, salt, dj_load64(p));
    for (p += 8, len -= 8; len >= 16; p += 16, len -= 16)
        absorb3(&s, dj_load64(p), dj_load64(p + 8));
    if (len < 8)
        return finish3(s, dj_load_part(p, len), 0, total);
    return finish3(s, dj_load64(p), dj_load_part(p + 8, len - 8), total);
}
