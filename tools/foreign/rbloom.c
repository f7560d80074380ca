/* rbloom.c - the Bloom filters of the Python package rbloom, as Bloom.save() writes them.
 *
 * The file, little-endian:
 *
 *      0  k     8 bytes
 *      8  bits  the rest of the file; bit i is bit i mod 8 of byte i / 8
 *
 * m is 8 times the number of bytes.  A key is hashed to a 128-bit number h_0 by a function of the
 * user.  With A = 47026247687942121848144207491837418733, all modulo 2^128,
 *
 *     h_i = A h_(i-1) + 1,    position i = (h_i / 2^32 mod 2^64) mod m,    i = 1 .. k
 *
 * The file does not record the function, and nothing in it shows its format.  deja supports
 *
 *     rbloom         the function in rbloom's README: the first 16 bytes of SHA-256, big-endian, of
 *                    what pickle.dumps() makes of a str (protocol 4, the default up to Python 3.13)
 *     rbloom-sha256  the same of the bytes of the key, without pickle */
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/foreign/foreign.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/formats.h"
#include "tools/foreign/sha256.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define HEADER_LEN 8
#define FRAMED     65536                        /* from this length on, pickle uses no frame */
#define A_HIGH     UINT64_C(0x2360ed051fc65da4) /* the halves of A */
#define A_LOW      UINT64_C(0x4385df649fcb5ced)

/* --- Files ------------------------------------------------------------------- */

static int read(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t header[HEADER_LEN];
    if (in->len == FOREIGN_UNKNOWN)
        return fail(err, DEJA_ENOTSUP,
                    "cannot be read: an rbloom file must be a regular file and not compressed");
    int rc = foreign_in_header(in, f, header, sizeof header, err);
    const uint64_t hashes = load_le(header, sizeof header);
    if (rc == DEJA_OK)
        rc = foreign_check_hashes(hashes, err);
    if (rc == DEJA_OK)
        rc = foreign_check_bits((in->len - HEADER_LEN) * 8, err);
    if (rc < 0)
        return rc;
    const struct foreign_part part = {.hashes = (uint32_t)hashes,
                                      .len = in->len - HEADER_LEN,
                                      .bits = (in->len - HEADER_LEN) * 8};
    rc = foreign_add_part(f, part, true, err);
    return rc == DEJA_OK ? foreign_in_body(in, f, &f->part[0], err) : rc;
}

static bool write(const struct foreign *f, struct foreign_out *out)
{
    uint8_t header[HEADER_LEN];
    store_le(header, f->part[0].hashes, sizeof header);
    return out->put(out, header, sizeof header) && out->put(out, f->part[0].body, f->part[0].len);
}

static int plan(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    const int rc = foreign_check_wish(n, p, err);
    if (rc < 0)
        return rc;
    const double ln2 = log(2), bits = -(double)n * log(p) / (ln2 * ln2);
    const double k = floor(bits / (double)n * ln2);
    if (k < 1 || bits < 1)
        return fail(err, DEJA_EINVAL, "an rbloom filter needs a rate of at most 0.5");
    if (bits > (double)FOREIGN_MAX_BITS || k > FOREIGN_MAX_HASHES)
        return fail(err, DEJA_EINVAL, "no rbloom filter holds %" PRIu64 " keys at rate %g", n, p);
    const uint64_t bytes = ((uint64_t)bits + 7) / 8;
    const struct foreign_part part = {
        .hashes = (uint32_t)k, .bits = bytes * 8, .len = bytes, .capacity = n, .fp_rate = p};
    return foreign_add_part(f, part, true, err);
}

/* --- Keys -------------------------------------------------------------------- */

/* What pickle writes ahead of a str: the protocol, a frame unless the str is long, the length. */
static size_t pickle_start(uint64_t len, uint8_t start[32])
{
    size_t n = 0;
    const bool brief = len<256, large = len> UINT32_MAX;
    const size_t head = brief ? 2 : large ? 9 : 5;
    start[n++] = 0x80; /* protocol 4 */
    start[n++] = 4;
    if (len < FRAMED) {
        start[n++] = 0x95; /* a frame of this length */
        store_le(start + n, head + len + 2, 8);
        n += 8;
    }
    start[n++] = brief ? 0x8c : large ? 0x8d : 'X';
    store_le(start + n, len, (int)head - 1);
    return n + head - 1;
}

static void digest_of(const struct sha256 *s, uint64_t out[2])
{
    struct sha256 end = *s;
    uint8_t digest[32];
    sha256_end(&end, digest);
    for (int i = 0; i < 2; i++)
        out[i] =
            (uint64_t)load_be32(digest + 8 * (1 - i)) << 32 | load_be32(digest + 8 * (1 - i) + 4);
}

static void hash_bytes(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++) {
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, keys[i].data, keys[i].len);
        digest_of(&s, out + 2 * i);
    }
}

static void hash_str(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++) {
        struct sha256 s;
        uint8_t start[32];
        sha256_init(&s);
        sha256_add(&s, start, pickle_start(keys[i].len, start));
        sha256_add(&s, keys[i].data, keys[i].len);
        sha256_add(&s, "\x94.", 2);
        digest_of(&s, out + 2 * i);
    }
}

/* (b, a) = (b, a) * A + 1 modulo 2^128. */
static uint64_t next(struct foreign_probe *p)
{
    const uint64_t low = p->a * A_LOW + 1;
    p->b = mix_high(p->a, A_LOW) + p->b * A_LOW + p->a * A_HIGH + (low == 0);
    p->a = low;
    return (p->b << 32 | p->a >> 32) % p->bits;
}

#define RBLOOM .words = 2, .read = read, .next = next, .plan = plan, .write = write

const struct foreign_format foreign_rbloom = {.name = "rbloom",
                                              .title = "an rbloom file",
                                              .hashing = "SHA-256 of pickled strings",
                                              .hash_id = "sha256-pickle",
                                              .hash = hash_str,
                                              RBLOOM};

const struct foreign_format foreign_rbloom_sha256 = {.name = "rbloom-sha256",
                                                     .title = "an rbloom file",
                                                     .hashing = "SHA-256",
                                                     .hash_id = "sha256",
                                                     .hash = hash_bytes,
                                                     RBLOOM};
