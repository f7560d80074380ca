/* digest.h - SHA-1 as WARC files write it, and a 64-bit hash of a text. */
#ifndef CRAWLER_ARCHIVE_DIGEST_H
#define CRAWLER_ARCHIVE_DIGEST_H
#include "deja.h"

#define DIGEST_LEN 37 /* "sha1:" and 32 letters of base 32 */
struct digest {
    char text[DIGEST_LEN + 1]; /* "": none */
};

/* The digest of n pieces, concatenated.  DEJA_ENOMEM: libcrypto failed. */
int digest_make(const deja_slice *piece, size_t n, struct digest *out);

/* 64 bits of SHA-256, for an index: an attacker who chooses the texts cannot make many of them
 * share a number.  DEJA_ENOMEM: libcrypto failed. */
int digest_number(deja_slice text, int64_t *out);

#endif
