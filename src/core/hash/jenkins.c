/* jenkins.c - Bob Jenkins' lookup2: subtract, xor, shift.
 *
 * Three 32-bit words a, b, c swallow 12 bytes at a time, a word each, and are mixed after every
 * such block.  mix is reversible, so no block can erase what came before it.  The rest, 0 to 11
 * bytes, goes the same way, except that the lowest byte of c is kept for the length: "x" and
 * "x\0" differ.  c is the hash.
 *
 * The salt fills a and b of the first block and the first 4 bytes of the key fill its c; the
 * blocks after it begin 4 bytes into the key.
 *
 * Filters of the papers hash a key once for each of k salts.  Each step of mix waits for the one
 * before it, so a processor has time for several salts at once: eight go side by side, in vectors
 * of the compiler, for about the price of one.
 *
 * Limits: 32 bits, and made for speed: whoever knows the salt can make keys collide at will.  The
 * length counts modulo 2^32.
 * Source: Bob Jenkins, "Hash Functions", Dr. Dobb's Journal, September 1997. */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

#define GOLDEN32 UINT32_C(0x9e3779b9) /* 2^32 / phi: an arbitrary start, only not 0 */

#define LANES 8 /* salts at once: two vectors of SSE2, which keep its units busy */
typedef __attribute__((vector_size(4 * LANES))) uint32_t lanes;

struct abc {
    lanes a, b, c;
};

/* The shifts come from Jenkins' search: a changed bit of any word changes each bit of c between a
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

/* The first block: a salt for each lane, and the same 4 bytes. */
static inline void swallow_salts(struct abc *s, const uint64_t *salt, uint32_t n, uint32_t c)
{
    for (uint32_t i = 0; i < n; i++) {
        s->a[i] += (uint32_t)salt[i];
        s->b[i] += (uint32_t)(salt[i] >> 32);
    }
    s->c += c;
    mix(s);
}

/* The n < 12 bytes that are left; at most three of them are for c, above the length. */
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

    if (len < 4) { /* salt and key are less than a block: c is already the last one's */
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
