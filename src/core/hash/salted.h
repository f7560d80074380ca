/* salted.h - read "8 salt bytes, then the key" as one message without joining them.
 *
 * The papers make k hash functions out of one by hashing salt + key.  A key may be a URL of 60
 * bytes or a document of 100 MB, so the two are never copied together.  The salt is already a
 * number, and its 8 bytes are a multiple of every word size used here.  Functions that read words
 * use the salt as their first words; the key then starts at a word boundary of the message,
 * whatever its address.  Functions that read blocks of 64 bytes (MD5, SHA-1) need a
 * buffer for the block that starts with the salt and for the padded end; all blocks between are
 * read in place.
 *
 * An empty key may have a NULL pointer, so no function here uses the pointer in arithmetic before
 * it knows that there is a byte to read. */
#ifndef DJ_SALTED_H
#define DJ_SALTED_H
#include "core/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DJ_SALT_LEN 8

/* 0 < by < the width: in C, a shift by the full width is undefined. */
static inline uint32_t dj_rotl32(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static inline uint64_t dj_rotl64(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* The n <= 8 bytes at p as a little-endian number, without reading past them.  Overlapping loads
 * replace a loop: a byte read twice is ORed into the same bits. */
static inline uint64_t dj_load_part(const uint8_t *p, size_t n)
{
    if (n >= 4)
        return dj_load32(p) | (uint64_t)dj_load32(p + n - 4) << (8 * (n - 4));
    if (n == 0)
        return 0;
    const size_t mid = n / 2, last = n - 1;
    return p[0] | (uint64_t)p[mid] << (8 * mid) | (uint64_t)p[last] << (8 * last);
}

#define DJ_DIGEST_BLOCK 64

/* MD5 and SHA-1 share the Merkle-Damgard construction: a state, a function that mixes one block
 * into it, and padding that ends with the message length in bits. */
struct dj_digest {
    void (*stir)(uint32_t *state, const uint8_t *block);
    bool big_endian; /* byte order of the length at the end */
};

/* buf starts with the last used < 64 bytes of the message.  The mark 0x80 and the length follow,
 * in a second block if the first has fewer than 9 bytes left. */
static inline void dj_digest_end(const struct dj_digest *d, uint32_t *state,
                                 uint8_t buf[2 * DJ_DIGEST_BLOCK], size_t used, uint64_t bits)
{
    const bool two = used + 1 + sizeof bits > DJ_DIGEST_BLOCK;
    const size_t end = two ? 2 * DJ_DIGEST_BLOCK : DJ_DIGEST_BLOCK;
    const size_t bits_at = end - sizeof bits;

    buf[used] = 0x80;
    memset(buf + used + 1, 0, bits_at - used - 1);
    dj_store64(buf + bits_at, d->big_endian ? __builtin_bswap64(bits) : bits);
    d->stir(state, buf);
    if (two)
        d->stir(state, buf + DJ_DIGEST_BLOCK);
}

/* state holds the digest's initial value on entry and its result on return. */
static inline void dj_digest_salted(const struct dj_digest *d, uint32_t *state, uint64_t salt,
                                    const void *key, size_t len)
{
    const size_t room = DJ_DIGEST_BLOCK - DJ_SALT_LEN; /* next to the salt */
    const uint64_t bits = ((uint64_t)len + DJ_SALT_LEN) * 8;
    const uint8_t *p = key;
    uint8_t buf[2 * DJ_DIGEST_BLOCK];
    size_t used = DJ_SALT_LEN;

    dj_store64(buf, salt);
    if (len >= room) {
        memcpy(buf + used, p, room);
        d->stir(state, buf);
        for (p += room, len -= room; len >= DJ_DIGEST_BLOCK; len -= DJ_DIGEST_BLOCK) {
            d->stir(state, p);
            p += DJ_DIGEST_BLOCK;
        }
        used = 0;
    }
    if (len > 0)
        memcpy(buf + used, p, len);
    dj_digest_end(d, state, buf, used + len, bits);
}

#endif
