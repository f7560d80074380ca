/* foreign_murmur.c - MurmurHash 2 and 3; see foreign_murmur.h. */
#include "tools/foreign/foreign_murmur.h"
#include "tools/foreign/foreign_bytes.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint32_t rotate32(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* --- MurmurHash3, 128 bits ------------------------------------------------------- */

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t mix_low(uint64_t k)
{
    return rotate(k * C1, 31) * C2;
}

static uint64_t mix_high(uint64_t k)
{
    return rotate(k * C2, 33) * C1;
}

static uint64_t finish(uint64_t k)
{
    k = (k ^ k >> 33) * UINT64_C(0xff51afd7ed558ccd);
    k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ k >> 33;
}

void murmur3_blocks(struct murmur3 *s, const uint8_t *at, size_t len)
{
    s->len += len;
    for (; len > 0; len -= 16, at += 16) {
        s->a = rotate(s->a ^ mix_low(load_le(at, 8)), 27) + s->b;
        s->a = s->a * 5 + 0x52dce729;
        s->b = rotate(s->b ^ mix_high(load_le(at + 8, 8)), 31) + s->a;
        s->b = s->b * 5 + 0x38495ab5;
    }
}

void murmur3_end(struct murmur3 *s, const uint8_t *at, size_t len, uint64_t out[2])
{
    if (len > 8)
        s->b ^= mix_high(load_le(at + 8, (int)len - 8));
    if (len > 0)
        s->a ^= mix_low(load_le(at, len < 8 ? (int)len : 8));
    s->a ^= s->len + len;
    s->b ^= s->len + len;
    s->a += s->b;
    s->b += s->a;
    s->a = finish(s->a);
    s->b = finish(s->b);
    out[0] = s->a + s->b;
    out[1] = s->b + out[0];
}

void murmur3_128(const void *data, size_t len, uint64_t seed, uint64_t out[2])
{
    struct murmur3 s = {seed, seed, 0};
    const size_t whole = len / 16 * 16;
    murmur3_blocks(&s, data, whole);
    murmur3_end(&s, whole < len ? (const uint8_t *)data + whole : NULL, len - whole, out);
}

/* --- MurmurHash3, 32 bits -------------------------------------------------------- */

static uint32_t mix_word(uint32_t h, uint32_t k)
{
    k = rotate32(k * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotate32(h ^ k, 13) * 5 + 0xe6546b64u;
}

uint32_t murmur3_spark(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *at = data, *end = at + len / 4 * 4;
    uint32_t h = seed;
    for (; at < end; at += 4)
        h = mix_word(h, (uint32_t)load_le(at, 4));
    for (end += len % 4; at < end; at++)
        h = mix_word(h, *at < 128 ? *at : *at | 0xffffff00u);
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* --- MurmurHash2 ------------------------------------------------------------------ */

uint32_t murmur2(const void *data, size_t len, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995u;
    const uint8_t *at = data;
    uint32_t h = seed ^ (uint32_t)len;
    for (size_t left = len; left >= 4; left -= 4, at += 4) {
        uint32_t k = (uint32_t)load_le(at, 4) * m;
        k = (k ^ k >> 24) * m;
        h = h * m ^ k;
    }
    if (len % 4)
        h = (h ^ (uint32_t)load_le(at, (int)(len % 4))) * m;
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

uint64_t murmur2_64a(const void *data, size_t len, uint64_t seed)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    const uint8_t *at = data;
    uint64_t h = seed ^ len * m;
    for (size_t left = len; left >= 8; left -= 8, at += 8) {
        uint64_t k = load_le(at, 8) * m;
        k = (k ^ k >> 47) * m;
        h = (h ^ k) * m;
    }
    if (len % 8)
        h = (h ^ load_le(at, (int)(len % 8))) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}
