/* md5.c - MD5, a slow hash that spreads keys well; the papers used it.
 *
 * Four words a, b, c, d are mixed with a 64-byte block in four rounds of 16 steps.  A step adds to
 * one word a function of the other three, a word of the block and a constant, rotates it, and adds
 * its neighbor; then the four words change roles.  Each round has its own function, its own order
 * of the block's words (strides of 1, 5, 3 and 7) and its own four rotations.
 *
 * This code returns the first 8 of the 16 bytes, as a little-endian number.
 *
 * Limits: collisions have been easy to produce since 2004, and salt + key does not make it a keyed
 * hash (do not rely on the salt being secret).  Here it only spreads keys.
 * Source: Rivest, RFC 1321, 1992. */
#include "core/hash/papers.h"
#include "core/hash/salted.h"

/* floor(2^32 |sin(i + 1)|), constants that nobody chose deliberately */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static inline uint32_t step(uint32_t word, uint32_t neighbour, uint32_t other, unsigned by)
{
    return neighbour + dj_rotl32(word + other, by);
}

/* Each bit of x chooses y or z. */
static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t z)
{
    return z ^ (x & (y ^ z));
}

/* The same as choose(z, x, y), but with one operation less between x, which the previous step has
 * just computed, and the sum: the two terms share no bits, and additions can be reordered. */
static inline uint32_t choose_late(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & z) + (y & ~z);
}

static inline uint32_t parity(uint32_t x, uint32_t y, uint32_t z)
{
    return x ^ (y ^ z);
}

static inline uint32_t lean(uint32_t x, uint32_t y, uint32_t z)
{
    return y ^ (x | ~z);
}

/* Four steps, after which each word is back in its role. */
#define STEPS(f, i, first, stride, by1, by2, by3, by4)                                            \
    do {                                                                                          \
        a = step(a, b, f(b, c, d) + WORD((i), (first), (stride)), by1);                           \
        d = step(d, a, f(a, b, c) + WORD((i) + 1, (first), (stride)), by2);                       \
        c = step(c, d, f(d, a, b) + WORD((i) + 2, (first), (stride)), by3);                       \
        b = step(b, c, f(c, d, a) + WORD((i) + 3, (first), (stride)), by4);                       \
    } while (0)
#define WORD(i, first, stride)                                                                    \
    (sines[i] + dj_load32(block + 4 * (((first) + (stride) * (i)) % 16)))

static void stir(uint32_t *state, const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    unsigned i = 0;

    for (; i < 16; i += 4)
        STEPS(choose, i, 0, 1, 7, 12, 17, 22);
    for (; i < 32; i += 4)
        STEPS(choose_late, i, 1, 5, 5, 9, 14, 20);
    for (; i < 48; i += 4)
        STEPS(parity, i, 5, 3, 4, 11, 16, 23);
    for (; i < 64; i += 4)
        STEPS(lean, i, 0, 7, 6, 10, 15, 21);
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

uint64_t dj_md5(uint64_t salt, const void *key, size_t len)
{
    static const struct dj_digest md5 = {stir, false};
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

    dj_digest_salted(&md5, state, salt, key, len);
    return state[0] | (uint64_t)state[1] << 32;
}
