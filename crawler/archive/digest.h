/* digest.h - SHA-1 as WARC files write it, and a number that stands for a text. */
#ifndef CRAWLER_ARCHIVE_DIGEST_H
#define CRAWLER_ARCHIVE_DIGEST_H
#include "deja.h"

#define DIGEST_LEN 37 /* "sha1:" and 32 letters of base 32 */
struct digest {
    char text[DIGEST_LEN + 1]; /* "": none */
};

/* Of n pieces, one after the other.  DEJA_ENOMEM: libcrypto could not. */
int digest_make(const deja_slice *piece, size_t n, struct digest *out);

/* 64 bits of SHA-256, for an index: who chooses the texts cannot choose that many of them share a
 * number.  DEJA_ENOMEM: libcrypto could not. */
int digest_number(deja_slice text, int64_t *out);

#endif
