/* jenkins.c - Bob Jenkins' lookup2: subtract, xor, shift.
 *
 * The state is three 32-bit words a, b, c.  Each block of 12 bytes is added to them, 4 bytes per
 * word, and the state is then mixed.  mix is reversible, so no block can erase the effect of
 * earlier ones.  The remaining 0 to 11 bytes are added the same way, except that the lowest byte
 * of c is reserved for the length: "x" and "x\0" differ.  c is the hash.
 *
 * The salt fills a and b of the first block, and the first 4 bytes of the key fill c.  Later
 * blocks start 4 bytes into the key.
 *
 * The papers' filters hash each key once per salt, k times in all.  Each step of mix depends on
 * the previous one, which leaves the processor idle.  So eight salts are computed in parallel, in
 * the compiler's vectors, in about the time of one.
 *
 * Limits: the hash has 32 bits and is built for speed; anyone who knows the salt can produce
 * collisions at will.  The length counts modulo 2^32.  Source: Bob Jenkins, "Hash Functions", Dr.
 * Dobb's Journal, September 1997. */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

#define GOLDEN32 UINT32_C(0x9e3779b9) /* 2^32 / phi: any nonzero start would do */

#define LANES 8 /* salts in parallel: two SSE2 vectors, enough to keep its units busy */
typedef __attribute__((vector_size(4 * LANES))) uint32_t lanes;

struct abc {
    lanes a, b, c;
};

/* Jenkins found these shifts by search: flipping a bit of any word flips each bit of c between a
 * third and two thirds of the time. */
static inline void mix(struct abc *s)
{
    lanes a = s->a, b = s->b, c = s->c;

    a = (a - b - c) ^ c >> 13;
    b = (b - c - a) ^ a << 8;
    c = (c - a - b) ^ b >> 13;
    a = (a - b - c) ^ c >> 12;
    b = (b - c - a) ^ a << 16;
    c = (c - a - b) ^ b >> 5;
    a = (a - b - c) ^ c >> 3;
    b = (b - c - a) ^ a << 10;
    c = (c - a - b) ^ b >> 15;
    *s = (struct abc){a, b, c};
}

static inline void swallow(struct abc *s, uint64_t ab, uint32_t c)
{
    s->a += (uint32_t)ab;
    s->b += (uint32_t)(ab >> 32);
    s->c += c;
    mix(s);
}

/* The first block: a different salt in each lane, and the same 4 key bytes. */
static inline void swallow_salts(struct abc *s, const uint64_t *salt, uint32_t n, uint32_t c)
{
    for (uint32_t i = 0; i < n; i++) {
        s->a[i] += (uint32_t)salt[i];
        s->b[i] += (uint32_t)(salt[i] >> 32);
    }
    s->c += c;
    mix(s);
}

/* The last n < 12 bytes; at most three of them go into c, above the length. */
static inline void finish(struct abc *s, const uint8_t *p, size_t n, uint32_t total)
{
    const size_t low = n < 8 ? n : 8;
    const uint64_t ab = dj_load_part(p, low);
    const uint32_t c = n > 8 ? (uint32_t)dj_load_part(p + 8, n - 8) << 8 : 0;

    swallow(s, ab, c + total);
}

/* n <= LANES salts. */
static void hash_lanes(const uint64_t *salt, uint32_t n, const uint8_t *p, size_t len,
                       uint64_t *out)
{
    const uint32_t total = (uint32_t)(len + DJ_SALT_LEN);
    const lanes golden = (lanes){0} + GOLDEN32;
    struct abc s = {golden, golden, {0}};

    if (len < 4) { /* salt and key fit in one block, so c also holds the length */
        swallow_salts(&s, salt, n, ((uint32_t)dj_load_part(p, len) << 8) + total);
    } else {
        swallow_salts(&s, salt, n, dj_load32(p));
        for (p += 4, len -= 4; len >= 12; p += 12, len -= 12)
            swallow(&s, dj_load64(p), dj_load32(p + 8));
        finish(&s, p, len, total);
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = s.c[i];
}

void dj_jenkins_many(const uint64_t *salt, uint32_t n, const void *key, size_t len, uint64_t *out)
{
    for (; n > LANES; n -= LANES, salt += LANES, out += LANES)
        hash_lanes(salt, LANES, key, len, out);
    hash_lanes(salt, n, key, len, out);
}

uint64_t dj_jenkins(uint64_t salt, const void *key, size_t len)
{
    uint64_t hash = 0;
    hash_lanes(&salt, 1, key, len, &hash);
    return hash;
}
