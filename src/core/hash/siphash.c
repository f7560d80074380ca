/* siphash.c - SipHash-2-4 and SipHash-1-3: fast keyed hashes that resist attackers.
 *
 * Anyone who can predict a filter's hashes can choose URLs that fill it, or URLs that are false
 * positives.  Without the 128-bit key, SipHash's values are indistinguishable from random ones.
 * XXH3 with a secret is faster but gives no such guarantee.
 *
 * Four words hold the key twice, masked with the 32 ASCII bytes of `somepseudorandomlygeneratedbytes`.
 * Each 8 bytes of the message are xored into v3, two rounds mix the four words, and the same 8
 * bytes are xored into v0.  The last word is the rest of the message, with its length modulo 256
 * in the top byte.  Then v2 is marked as the end, four more rounds follow, and the xor of all four
 * words is the hash.  A round consists only of additions, rotations and xors, in two independent
 * chains: its time does not depend on the data, and the processor runs both chains in parallel.
 *
 * SipHash-1-3 has one round for each 8 bytes and three at the end: half of the work.  Its
 * authors know no attack on it either, but it has less of a margin; the sieve uses it for the part
 * of a fingerprint that must be independent of XXH3.
 *
 * Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline void stir(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = dj_rotl64(s->v1, 13) ^ s->v0;
    s->v3 = dj_rotl64(s->v3, 16) ^ s->v2;
    s->v0 = dj_rotl64(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = dj_rotl64(s->v1, 17) ^ s->v2;
    s->v3 = dj_rotl64(s->v3, 21) ^ s->v0;
    s->v2 = dj_rotl64(s->v2, 32);
}

static inline void stir_often(struct sip *s, int rounds)
{
    for (int i = 0; i < rounds; i++)
        stir(s);
}

static inline void absorb(struct sip *s, uint64_t word, int rounds)
{
    s->v3 ^= word;
    stir_often(s, rounds);
    s->v0 ^= word;
}

/* The last len % 8 bytes.  URLs can end at any offset in a word, which no branch predictor can
 * predict, so if the key has at least 8 bytes, load its last 8 and shift out those already read.
 * The code shifts twice, because a single shift could be by the full width. */
static inline uint64_t rest(const uint8_t *key, size_t len)
{
    if (len < 8)
        return dj_load_part(key, len);
    return dj_load64(key + len - 8) >> (56 - 8 * (len % 8)) >> 8;
}

static inline uint64_t sip(const uint64_t k[2], const void *key, size_t len, int rounds,
                           int last_rounds)
{
    const uint64_t last = rest(key, len) | (uint64_t)len << 56;
    const uint8_t *p = key;
    struct sip s = {k[0] ^ UINT64_C(0x736f6d6570736575), k[1] ^ UINT64_C(0x646f72616e646f6d),
                    k[0] ^ UINT64_C(0x6c7967656e657261), k[1] ^ UINT64_C(0x7465646279746573)};

    for (; len >= 8; p += 8, len -= 8)
        absorb(&s, dj_load64(p), rounds);
    absorb(&s, last, rounds);
    s.v2 ^= 0xff;
    stir_often(&s, last_rounds);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t dj_siphash(const uint64_t k[2], const void *key, size_t len)
{
    return sip(k, key, len, 2, 4);
}

uint64_t dj_siphash13(const uint64_t k[2], const void *key, size_t len)
{
    return sip(k, key, len, 1, 3);
}
