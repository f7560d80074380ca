/* foreign_murmur.h - the hash functions of the MurmurHash family that foreign formats use.
 *
 * Austin Appleby published them and put them in the public domain.  The library has similar
 * functions for the papers (src/core/hash), which tools do not see. */
#ifndef TOOLS_FOREIGN_FOREIGN_MURMUR_H
#define TOOLS_FOREIGN_FOREIGN_MURMUR_H
#include <stddef.h>
#include <stdint.h>

/* MurmurHash3 x64 128: out[0] has the low and out[1] the high half. */
void murmur3_128(const void *data, size_t len, uint64_t seed, uint64_t out[2]);
/* The same in pieces: start with {seed, seed, 0}, any number of whole blocks of 16 bytes, and at
 * most 15 bytes at the end. */
struct murmur3 {
    uint64_t a, b, len;
};
void murmur3_blocks(struct murmur3 *s, const uint8_t *at, size_t len);
void murmur3_end(struct murmur3 *s, const uint8_t *at, size_t len, uint64_t out[2]);
/* MurmurHash3 x86 32 as Spark computes it: each byte after the last whole word is mixed in like a
 * word, sign-extended. */
uint32_t murmur3_spark(const void *data, size_t len, uint32_t seed);
/* MurmurHash2 for 32 and 64 bits (64A).  The length is a 32-bit number, as in the original. */
uint32_t murmur2(const void *data, size_t len, uint32_t seed);
uint64_t murmur2_64a(const void *data, size_t len, uint64_t seed);

#endif
