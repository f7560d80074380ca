/* dcso.h - the Bloom filters of DCSO's `bloom` program (Debian: golang-github-dcso-bloom-cli).
 *
 * The file, all numbers little-endian with 8 bytes each:
 *
 *      0  flags   1: the version; other bits are unused
 *      8  n       the capacity in keys
 *     16  p       rate at n, a double
 *     24  k       hash functions
 *     32  m       bits
 *     40  N       keys that were new when added
 *     48  bits    ceil(m / 64) words; bit i is bit i mod 64 of word i / 64
 *         data    optional owner data
 *
 * The sizes are m = floor(n ln(1/p) / ln(2)^2) and k = ceil(ln(2) m / n); a reader uses those in
 * the file.  The k positions of a key are a sequence of powers:
 *
 *     h_0 = FNV-1(key) mod M,    h_i = (h_(i-1) G mod 2^64) mod M,    position i = h_i mod m
 *
 * with 64-bit FNV-1, M = 2^64 - 59, G = 2^64 - 1469.  There is no secret: anyone can compute a key
 * that is a false positive (docs/security.md).
 *
 * The whole file may be compressed with gzip.  The layout and sizes were derived from files that
 * the program wrote; M and G come from its public source.  The test cli.dcso_bloom compares our
 * files with the program's. */
#ifndef CLI_DCSO_DCSO_H
#define CLI_DCSO_DCSO_H
#include "deja.h"

#define DCSO_HEADER_LEN 48
#define DCSO_MAX_HASHES 2048 /* p = 1e-308 needs 1,024 */
#define DCSO_MAX_BITS   (UINT64_C(1) << 53)

struct dcso {
    uint64_t capacity; /* n */
    double fp_rate;    /* p */
    uint32_t hashes;   /* k */
    uint64_t bits;     /* m */
    uint64_t keys;     /* N */
    uint8_t *body;     /* dcso_body_len bytes, as in the file; owned by the caller */
};

/* Computes the sizes from n and p, without allocating a body.  Fails with DEJA_EINVAL if no such
 * filter is possible. */
int dcso_plan(struct dcso *d, uint64_t n, double p, deja_error *err);
uint64_t dcso_body_len(const struct dcso *d);

void dcso_encode(const struct dcso *d, uint8_t header[DCSO_HEADER_LEN]);
/* Decodes and checks every field; the error (DEJA_EFORMAT) names the first invalid one. */
int dcso_decode(const uint8_t header[DCSO_HEADER_LEN], struct dcso *d, deja_error *err);
/* Whether these can be the first 8 bytes of such a file; false for a deja file. */
bool dcso_is_magic(const uint8_t start[8]);

/* Computes one number per key, which determines the key's positions; context is unused. */
void dcso_hash(const void *context, const deja_slice *keys, size_t n, uint64_t *hash);
void dcso_contains(const struct dcso *d, const uint64_t *hash, size_t n, uint8_t *found);
/* Adds keys in order and counts the new ones in d->keys. */
void dcso_add(struct dcso *d, const uint64_t *hash, size_t n, uint8_t *is_new);

/* Estimates from the set bits. */
uint64_t dcso_bits_set(const struct dcso *d);
double dcso_rate(const struct dcso *d, uint64_t bits_set);     /* false positives now */
double dcso_distinct(const struct dcso *d, uint64_t bits_set); /* number of keys */

#endif
