/* sha1.c - SHA-1, the slowest and strongest of the papers' hash functions.
 *
 * Five words a to e are mixed with a 64-byte block in 80 steps.  The block's 16 words, read
 * big-endian, are expanded to 80: each further word is the rotated xor of four earlier ones, so a
 * single bit of the block reaches many steps (MD5 uses each word just four times).  Each group of
 * twenty steps shares a function of three words and a constant.
 *
 * This code returns the first 8 of the 20 bytes, as a little-endian number.
 *
 * Limits: a collision has been found (Stevens and others, 2017), and salt + key does not make it a
 * keyed hash (do not rely on the salt being secret).  Here it only spreads keys.
 * Source: FIPS 180-4, "Secure Hash Standard". */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

#define STEPS 80

static inline uint32_t load_big32(const uint8_t *p)
{
    return __builtin_bswap32(dj_load32(p));
}

/* Returns the word of this step and, while the steps wait for each other, computes the word for 16
 * steps later.  Expanding the block first, in its own loop, makes the function twice as slow with
 * gcc 12, whose vector code for that loop is slower than scalar code.  The last 16 words are never
 * used; computing them costs less than testing for them. */
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

/* The two terms share no bits: where y and z differ, x decides. */
static inline uint32_t majority(uint32_t x, uint32_t y, uint32_t z)
{
    return (y & z) + (x & (y ^ z));
}

/* The words stay in their variables and change roles, which avoids moving all five at every step.
 * After five steps each is back in its own role. */
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
