/* guava.c - Google Guava's BloomFilter, as its writeTo() saves it.
 *
 * The file, all numbers big-endian:
 *
 *      0  strategy  1 byte: 0 is MURMUR128_MITZ_32, 1 is MURMUR128_MITZ_64
 *      1  k         1 byte, unsigned
 *      2  words     4 bytes: the number of 64-bit words
 *      6  bits      the words; bit i is bit i mod 64 of word i / 64
 *
 * m is 64 times the number of words.  Positions come from MurmurHash3 x64 128 of the key, seed 0,
 * with the halves a and b:
 *
 *     MITZ_64:  position i = ((a + i b) mod 2^63) mod m,              i = 0 .. k - 1
 *     MITZ_32:  position i = (lo(a) + i hi(a), as an int; if negative, its complement) mod m,
 *                                                                      i = 1 .. k
 *
 * where lo and hi are the 32-bit halves of a.  Guava 13 and later write MITZ_64.
 *
 * The file does not record the funnel, which turns a key into bytes.  "guava" is for
 * byteArrayFunnel and for stringFunnel with UTF-8: the bytes of the key.  "guava-chars" is for
 * unencodedCharsFunnel: the key as UTF-16, little-endian.  As Java does, it replaces what is not
 * UTF-8 with U+FFFD. */
#include "tools/base/fail.h"
#include "tools/foreign/foreign.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/foreign_murmur.h"
#include "tools/foreign/formats.h"
#include "tools/foreign/utf16.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define HEADER_LEN 6
#define MOST_WORDS INT32_MAX

enum {
    MITZ_32,
    MITZ_64,
    STRATEGIES
};

/* --- Files ------------------------------------------------------------------- */

static bool is(const struct foreign_head *head)
{
    return head->len >= HEADER_LEN && head->data[0] < STRATEGIES && head->data[1] > 0 &&
           load_be32(head->data + 2) > 0 && load_be32(head->data + 2) <= MOST_WORDS &&
           head->file_len == HEADER_LEN + (uint64_t)load_be32(head->data + 2) * 8;
}

static int read(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t header[HEADER_LEN];
    int rc = foreign_in_header(in, f, header, sizeof header, err);
    if (rc < 0)
        return rc;
    const uint64_t words = load_be32(header + 2);
    if (header[0] >= STRATEGIES)
        return fail(err, DEJA_EFORMAT, "its strategy is %u: it is not a Guava filter, or newer",
                    header[0]);
    if (header[1] == 0)
        return fail(err, DEJA_EFORMAT, "its number of hash functions is 0, not 1 to 255");
    if (words == 0 || words > MOST_WORDS)
        return fail(err, DEJA_EFORMAT, "its number of words is %" PRIu64 ", not 1 to 2^31 - 1",
                    words);
    const struct foreign_part part = {.hashes = header[1], .bits = words * 64, .len = words * 8};
    f->variant = header[0];
    rc = foreign_add_part(f, part, true, err);
    if (rc == DEJA_OK)
        rc = foreign_in_body(in, f, &f->part[0], err);
    return rc == DEJA_OK ? foreign_in_end(in, f, err) : rc;
}

static bool write(const struct foreign *f, struct foreign_out *out)
{
    const struct foreign_part *part = &f->part[0];
    uint8_t header[HEADER_LEN] = {(uint8_t)f->variant, (uint8_t)part->hashes};
    store_be32(header + 2, (uint32_t)(part->len / 8));
    return out->put(out, header, sizeof header) && out->put(out, part->body, part->len);
}

/* --- Sizes ------------------------------------------------------------------- */

/* As Guava computes them; versions before 33.4 derive k from m / n, which rounds differently for
 * very few keys. */
static int plan(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    const int rc = foreign_check_wish(n, p, err);
    if (rc < 0)
        return rc;
    const double ln2 = log(2), bits = floor(-(double)n * log(p) / (ln2 * ln2));
    const double words = fmax(ceil(bits / 64), 1), k = fmax(floor(-log(p) / ln2 + 0.5), 1);
    if (words > MOST_WORDS || k > 255)
        return fail(err, DEJA_EINVAL, "no Guava filter holds %" PRIu64 " keys at rate %g", n, p);
    const struct foreign_part part = {.hashes = (uint32_t)k,
                                      .bits = (uint64_t)words * 64,
                                      .len = (uint64_t)words * 8,
                                      .capacity = n,
                                      .fp_rate = p};
    return foreign_add_part(f, part, true, err);
}

/* --- Keys -------------------------------------------------------------------- */

static void hash(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++)
        murmur3_128(keys[i].data, keys[i].len, 0, out + 2 * i);
}

static void hash_units(deja_slice key, uint64_t out[2])
{
    struct murmur3 s = {0};
    uint8_t units[512];
    size_t have = 0;
    while (key.len > 0) {
        have += utf16_le(&key, units + have, sizeof units - have);
        const size_t whole = have / 16 * 16;
        murmur3_blocks(&s, units, whole);
        memcpy(units, units + whole, have - whole);
        have -= whole;
    }
    murmur3_end(&s, units, have, out);
}

static void hash_chars(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++)
        hash_units(keys[i], out + 2 * i);
}

static uint64_t next(struct foreign_probe *p)
{
    uint64_t at;
    if (p->variant == MITZ_64) {
        at = p->a & INT64_MAX;
        p->a += p->b;
    } else {
        const uint32_t x = (uint32_t)p->a + ++p->i * (uint32_t)(p->a >> 32);
        at = x > INT32_MAX ? ~x : x;
    }
    return bit_of_java(at % p->bits);
}

static const char *version(const struct foreign *f)
{
    return f->variant == MITZ_64 ? "MURMUR128_MITZ_64" : "MURMUR128_MITZ_32";
}

#define GUAVA                                                                                     \
    .hashing = "MurmurHash3 128", .hash_id = "murmur3-128", .words = 2, .variant = MITZ_64,       \
    .read = read, .next = next, .plan = plan, .write = write, .version = version

const struct foreign_format foreign_guava = {
    .name = "guava", .title = "a Guava Bloom filter", .is = is, .hash = hash, GUAVA};

const struct foreign_format foreign_guava_chars = {.name = "guava-chars",
                                                   .title = "a Guava Bloom filter of characters",
                                                   .hash = hash_chars,
                                                   GUAVA};
