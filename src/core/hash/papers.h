/* papers.h - the hash functions that the papers measured, and SipHash.
 *
 * Each salted function hashes the 8 little-endian bytes of the salt followed by the key ("salt +
 * key", thesis 1.5), without copying the key.  32-bit functions return their value in the low
 * half. */
#ifndef DJ_PAPERS_H
#define DJ_PAPERS_H
#include <stddef.h>
#include <stdint.h>

uint64_t dj_jenkins(uint64_t salt, const void *key, size_t len); /* lookup2, initval 0; 32 bits */
/* The same for each of n > 0 salts, in little more time than for one. */
void dj_jenkins_many(const uint64_t *salt, uint32_t n, const void *key, size_t len, uint64_t *out);
uint64_t dj_murmur2(uint64_t salt, const void *key, size_t len); /* MurmurHash2, seed 0; 32 bits */
uint64_t dj_murmur3(uint64_t salt, const void *key,
                    size_t len);                              /* x64_128, seed 0; first 8 bytes */
uint64_t dj_md5(uint64_t salt, const void *key, size_t len);  /* first 8 bytes, little-endian */
uint64_t dj_sha1(uint64_t salt, const void *key, size_t len); /* first 8 bytes, little-endian */
/* SipHash-2-4 of the key alone (no salt) under the 128-bit key k. */
uint64_t dj_siphash(const uint64_t k[2], const void *key, size_t len);
/* SipHash-1-3: half of the rounds, and a smaller margin. */
uint64_t dj_siphash13(const uint64_t k[2], const void *key, size_t len);

#endif
