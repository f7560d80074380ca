/* digest.h - SHA-1 as WARC files write it. */
#ifndef CRAWLER_DIGEST_H
#define CRAWLER_DIGEST_H
#include "deja.h"

#define DIGEST_LEN 37 /* "sha1:" and 32 letters of base 32 */
struct digest {
    char text[DIGEST_LEN + 1]; /* "": none */
};

/* Of n pieces, one after the other.  DEJA_ENOMEM: libcrypto could not. */
int digest_make(const deja_slice *piece, size_t n, struct digest *out);

#endif
