/* sha1.c - SHA-1, the slowest and most careful hash of the papers.
 *
 * Five words a to e are stirred with 64 bytes in 80 steps.  The block's 16 words, read big-endian,
 * are stretched to 80: each further word is the rotated xor of four earlier ones, so that a single
 * bit of the block reaches many of the steps (MD5 uses each word just four times).  Twenty steps
 * at a time share a function of three words and a constant.
 *
 * We return the first 8 of its 20 bytes, as a little-endian number.
 *
 * Limits: collisions have been made (Stevens and others, 2017), and salt + key does not turn it
 * into a keyed hash (the salt must not be thought secret).  Here it only spreads keys.
 * Source: FIPS 180-4, "Secure Hash Standard". */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

#define STEPS 80

static inline uint32_t load_big32(const uint8_t *p)
{
    return __builtin_bswap32(dj_load32(p));
}

/* The word of this step; and, while the steps wait for each other, the word of 16 steps later.
 * Stretching the block first, in a loop of its own, makes the whole twice as slow with gcc 12,
 * whose vector code for that loop loses to plain code.  The last 16 words are made in vain, which
 * costs less than asking. */
static inline uint32_t take(uint32_t *w)
{
    w[16] = dj_rotl32(w[13] ^ w[8] ^ w[2] ^ w[0], 1);
    return w[0];
}

/* Each bit of x chooses y or z. */
static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t z)
{
    return z ^ (x & (y ^ z));
}

static inline uint32_t parity(uint32_t x, uint32_t y, uint32_t z)
{
    return x ^ y ^ z;
}

/* No bit is in both terms: where y and z differ, x decides. */
static inline uint32_t majority(uint32_t x, uint32_t y, uint32_t z)
{
    return (y & z) + (x & (y ^ z));
}

/* The words keep their places and change roles, which spares moving all five at every step:
 * after five steps each is back in its own. */
#define STEP(f, a, b, c, d, e, add)                                                               \
    do {                                                                                          \
        e += dj_rotl32(a, 5) + f(b, c, d) + (add);                                                \
        b = dj_rotl32(b, 30);                                                                     \
    } while (0)
#define FIVE_STEPS(f, i, constant)                                                                \
    do {                                                                                          \
        STEP(f, a, b, c, d, e, take(w + (i)) + (constant));                                       \
        STEP(f, e, a, b, c, d, take(w + (i) + 1) + (constant));                                   \
        STEP(f, d, e, a, b, c, take(w + (i) + 2) + (constant));                                   \
        STEP(f, c, d, e, a, b, take(w + (i) + 3) + (constant));                                   \
        STEP(f, b, c, d, e, a, take(w + (i) + 4) + (constant));                                   \
    } while (0)

static void stir(uint32_t *state, const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    uint32_t w[STEPS + 16];
    unsigned i = 0;

    for (unsigned j = 0; j < 16; j++)
        w[j] = load_big32(block + 4 * j);
    for (; i < 20; i += 5)
        FIVE_STEPS(choose, i, 0x5a827999);
    for (; i < 40; i += 5)
        FIVE_STEPS(parity, i, 0x6ed9eba1);
    for (; i < 60; i += 5)
        FIVE_STEPS(majority, i, 0x8f1bbcdc);
    for (; i < STEPS; i += 5)
        FIVE_STEPS(parity, i, 0xca62c1d6);
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

uint64_t dj_sha1(uint64_t salt, const void *key, size_t len)
{
    static const struct dj_digest sha1 = {stir, true};
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

    dj_digest_salted(&sha1, state, salt, key, len);
    return __builtin_bswap32(state[0]) | (uint64_t)__builtin_bswap32(state[1]) << 32;
}
