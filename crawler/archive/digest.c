/* digest.c - two hashes from libcrypto.
 *
 * One is SHA-1 as WARC files write it: "sha1:" and base 32 (RFC 4648), which needs no padding,
 * because 160 bits are 32 letters.  It detects copies and damage; it does not protect against
 * forgery.
 *
 * The other is SHA-256, truncated to a number, for indexes of untrusted texts. */
#include "crawler/archive/digest.h"
#include <openssl/evp.h>
#include <string.h>

#define SHA1_LEN 20

static void base32(const unsigned char bytes[SHA1_LEN], char *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < SHA1_LEN; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 5; have -= 5)
            *out++ = letters[bits >> (have - 5) & 31];
    }
    *out = '\0';
}

int digest_make(const deja_slice *piece, size_t n, struct digest *out)
{
    static const char name[] = "sha1:";
    unsigned char bytes[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha1(), NULL) == 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = EVP_DigestUpdate(ctx, piece[i].data, piece[i].len) == 1;
    ok = ok && EVP_DigestFinal_ex(ctx, bytes, NULL) == 1;
    EVP_MD_CTX_free(ctx);
    *out = (struct digest){{0}};
    if (!ok)
        return DEJA_ENOMEM;
    memcpy(out->text, name, sizeof name - 1);
    base32(bytes, out->text + sizeof name - 1);
    return DEJA_OK;
}

int digest_number(deja_slice text, int64_t *out)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    if (EVP_Digest(text.data, text.len, bytes, NULL, EVP_sha256(), NULL) != 1)
        return DEJA_ENOMEM;
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++)
        number = number << 8 | bytes[i];
    *out = (int64_t)number;
    return DEJA_OK;
}
