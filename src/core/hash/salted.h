/* salted.h - reading "8 salt bytes, then the key" as one message without joining them.
 *
 * The papers make k hash functions out of one by hashing salt + key.  A key may be a URL of 60
 * bytes or a document of 100 MB, so the two are never copied together.  The salt is a number
 * already, and 8 bytes are a whole count of every word these functions read: those that eat words
 * take the salt as their first words and then find the key at a word boundary of the message,
 * whatever its address.  Those that eat blocks of 64 bytes (MD5, SHA-1) need a buffer for the
 * block that the salt opens and for the padded end; every block between is read in place.
 *
 * A key without bytes may have no address: nothing here computes with a pointer before it knows
 * that there is a byte behind it. */
#ifndef DJ_SALTED_H
#define DJ_SALTED_H
#include "core/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DJ_SALT_LEN 8

/* 0 < by < the width: a shift by the whole width has no meaning in C. */
static inline uint32_t dj_rotl32(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static inline uint64_t dj_rotl64(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* The n <= 8 bytes at p as a little-endian number, without reading beyond them.  Loads that
 * overlap take the place of a loop: a byte read twice lands twice on the same bits. */
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

/* What MD5 and SHA-1 have in common (Merkle and Damgard): a state, a function that stirs one
 * block into it, and an end that carries the length of the message in bits. */
struct dj_digest {
    void (*stir)(uint32_t *state, const uint8_t *block);
    bool big_endian; /* of the length at the end */
};

/* The last used < 64 bytes of a message stand at the start of buf.  The mark 0x80 and the length
 * follow them, in a second block when the first has no 9 bytes left. */
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

/* state comes in as the digest's initial value and goes out as its result. */
static inline void dj_digest_salted(const struct dj_digest *d, uint32_t *state, uint64_t salt,
                                    const void *key, size_t len)
{
    const size_t room = DJ_DIGEST_BLOCK - DJ_SALT_LEN; /* beside the salt */
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
