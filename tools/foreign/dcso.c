/* dcso.c - the Bloom filters of DCSO's `bloom` program (Debian: golang-github-dcso-bloom-cli).
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
 * with 64-bit FNV-1, M = 2^64 - 59, G = 2^64 - 1469.  The whole file may be compressed with gzip.
 * The layout and sizes were derived from files that the program wrote; M and G come from its
 * public source.  The test cli.dcso_bloom compares our files with the program's. */
#include "tools/base/fail.h"
#include "tools/foreign/foreign.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/formats.h"
#include <inttypes.h>
#include <math.h>

#define VERSION    1
#define FNV_BASIS  UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)
#define MODULUS    (UINT64_MAX - 58)   /* M = 2^64 - 59, a prime */
#define GENERATOR  (UINT64_MAX - 1468) /* G = 2^64 - 1469 */
#define LN2        0.69314718055994530942
#define HEADER_LEN 48

enum {
    AT_FLAGS = 0,
    AT_CAPACITY = 8,
    AT_RATE = 16,
    AT_HASHES = 24,
    AT_BITS = 32,
    AT_KEYS = 40
};

static uint64_t body_len(uint64_t bits)
{
    return (bits + 63) / 64 * 8;
}

/* --- Files ------------------------------------------------------------------- */

static bool is(const struct foreign_head *head)
{
    return head->len >= 8 && load_le(head->data, 8) == VERSION;
}

static int check_flags(uint64_t flags, deja_error *err)
{
    if ((flags & 0xff) != VERSION)
        return fail(err, DEJA_EFORMAT,
                    "its version is %u: it is not a bloom file, or not version 1",
                    (unsigned)(flags & 0xff));
    if (flags != VERSION)
        return fail(err, DEJA_EFORMAT, "its flags are %#" PRIx64 ": only the version is supported",
                    flags);
    return DEJA_OK;
}

static int decode(const uint8_t header[HEADER_LEN], struct foreign_part *part, deja_error *err)
{
    const uint64_t hashes = load_le(header + AT_HASHES, 8);
    *part = (struct foreign_part){.capacity = load_le(header + AT_CAPACITY, 8),
                                  .fp_rate = load_double(header + AT_RATE),
                                  .bits = load_le(header + AT_BITS, 8),
                                  .keys = load_le(header + AT_KEYS, 8)};
    int rc = check_flags(load_le(header + AT_FLAGS, 8), err);
    if (rc == DEJA_OK && !(part->fp_rate > 0 && part->fp_rate < 1))
        rc = fail(err, DEJA_EFORMAT, "its false-positive rate is %g, not between 0 and 1",
                  part->fp_rate);
    if (rc == DEJA_OK)
        rc = foreign_check_hashes(hashes, err);
    if (rc == DEJA_OK)
        rc = foreign_check_bits(part->bits, err);
    part->hashes = (uint32_t)hashes;
    part->len = body_len(part->bits);
    return rc;
}

static int count_rest(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t rest[1 << 14];
    size_t got;
    int rc;
    do {
        rc = in->read(in, rest, sizeof rest, &got, err);
        f->rest += got;
    } while (rc == DEJA_OK && got == sizeof rest);
    return rc;
}

static int read(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t header[HEADER_LEN];
    struct foreign_part part;
    int rc = foreign_in_header(in, f, header, sizeof header, err);
    if (rc == DEJA_OK)
        rc = decode(header, &part, err);
    if (rc == DEJA_OK)
        rc = foreign_add_part(f, part, true, err);
    if (rc == DEJA_OK)
        rc = foreign_in_body(in, f, &f->part[0], err);
    if (rc == DEJA_OK)
        f->keys = part.keys;
    return rc == DEJA_OK ? count_rest(f, in, err) : rc;
}

static bool write(const struct foreign *f, struct foreign_out *out)
{
    const struct foreign_part *part = &f->part[0];
    uint8_t header[HEADER_LEN];
    store_le(header + AT_FLAGS, VERSION, 8);
    store_le(header + AT_CAPACITY, part->capacity, 8);
    store_double(header + AT_RATE, part->fp_rate);
    store_le(header + AT_HASHES, part->hashes, 8);
    store_le(header + AT_BITS, part->bits, 8);
    store_le(header + AT_KEYS, f->keys, 8);
    return out->put(out, header, sizeof header) && out->put(out, part->body, part->len);
}

/* --- Sizes ------------------------------------------------------------------- */

static int plan(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    int rc = foreign_check_wish(n, p, err);
    if (rc < 0)
        return rc;
    const double bits = fabs(ceil((double)n * log(p) / pow(LN2, 2)));
    const double m = fmax(bits, 1), k = ceil(LN2 * m / (double)n);
    if (m > (double)FOREIGN_MAX_BITS || k > FOREIGN_MAX_HASHES)
        return fail(err, DEJA_EINVAL, "no bloom file holds %" PRIu64 " keys at rate %g", n, p);
    const struct foreign_part part = {.capacity = n,
                                      .fp_rate = p,
                                      .hashes = (uint32_t)k,
                                      .bits = (uint64_t)m,
                                      .len = body_len((uint64_t)m)};
    return foreign_add_part(f, part, true, err);
}

/* --- Keys -------------------------------------------------------------------- */

static uint64_t fnv1(deja_slice key)
{
    const uint8_t *at = key.data;
    uint64_t h = FNV_BASIS;
    for (size_t i = 0; i < key.len; i++)
        h = h * FNV_PRIME ^ at[i];
    return h;
}

static void hash(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++)
        out[i] = fnv1(keys[i]) % MODULUS;
}

static uint64_t next(struct foreign_probe *p)
{
    p->a = p->a * GENERATOR % MODULUS;
    return p->a % p->bits; /* words are little-endian, so bytes can be used */
}

static const char *version(const struct foreign *f)
{
    (void)f;
    return "version 1";
}

const struct foreign_format foreign_dcso = {
    .name = "dcso",
    .title = "a DCSO bloom file",
    .hashing = "FNV-1",
    .hash_id = "fnv1",
    .words = 1,
    .counts = true,
    .sized = true,
    .is = is,
    .read = read,
    .hash = hash,
    .next = next,
    .plan = plan,
    .write = write,
    .version = version,
};
