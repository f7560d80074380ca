/* sha256.h - SHA-256 (FIPS 180-4) of pieces. */
#ifndef TOOLS_FOREIGN_SHA256_H
#define TOOLS_FOREIGN_SHA256_H
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t len;
    uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, uint8_t digest[32]);

#endif
