/* spark.c - Apache Spark's BloomFilter (spark-sketch), as its writeTo() saves it.
 *
 * The file, all numbers big-endian:
 *
 *      0  version  4 bytes: 1 or 2
 *      4  k        4 bytes
 *         seed     4 bytes, only in version 2
 *         words    4 bytes: the number of 64-bit words
 *         bits     the words; bit i is bit i mod 64 of word i / 64
 *
 * m is 64 times the number of words.  a = Murmur3(key, seed) and b = Murmur3(key, a), with Spark's
 * own MurmurHash3 of 32 bits (foreign_murmur.h) and seed 0 in version 1.  Both are signed.  The
 * positions, for i = 1 .. k:
 *
 *     version 1:  a + i b, as a 32-bit int; if negative, its complement; mod m
 *     version 2:  a (2^31 - 1) + i b, as a 64-bit int; if negative, its complement; mod m
 *
 * Spark 4.1 and later write version 2 by default; all versions read version 1.  These are the
 * keys of putBinary, and of putString with UTF-8.  Keys of putLong are hashed differently. */
#include "tools/base/fail.h"
#include "tools/foreign/foreign.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/foreign_murmur.h"
#include "tools/foreign/formats.h"
#include <inttypes.h>
#include <math.h>

#define MOST_WORDS INT32_MAX

enum {
    LEN_1 = 12,
    LEN_2 = 16
};

/* --- Files ------------------------------------------------------------------- */

static size_t header_len(uint32_t version)
{
    return version == 1 ? LEN_1 : LEN_2;
}

static bool is(const struct foreign_head *head)
{
    if (head->len < LEN_2)
        return false;
    const uint32_t version = load_be32(head->data), hashes = load_be32(head->data + 4);
    const size_t len = header_len(version);
    const uint32_t words = load_be32(head->data + len - 4);
    return (version == 1 || version == 2) && hashes > 0 && hashes <= FOREIGN_MAX_HASHES &&
           words > 0 && words <= MOST_WORDS && head->file_len == len + (uint64_t)words * 8;
}

static int read_header(struct foreign *f, struct foreign_in *in, struct foreign_part *part,
                       deja_error *err)
{
    uint8_t header[LEN_2];
    int rc = foreign_in_header(in, f, header, LEN_1, err);
    if (rc < 0)
        return rc;
    f->variant = load_be32(header);
    if (f->variant != 1 && f->variant != 2)
        return fail(err, DEJA_EFORMAT,
                    "its version is %" PRIu32 ": it is not a Spark filter, or newer than 2",
                    f->variant);
    const size_t len = header_len(f->variant);
    if (len > LEN_1)
        rc = foreign_in_header(in, f, header + LEN_1, len - LEN_1, err);
    if (rc < 0)
        return rc;
    const uint64_t words = load_be32(header + len - 4);
    f->seed = f->variant == 1 ? 0 : load_be32(header + 8);
    *part = (struct foreign_part){
        .hashes = load_be32(header + 4), .bits = words * 64, .len = words * 8};
    if (words == 0 || words > MOST_WORDS)
        return fail(err, DEJA_EFORMAT, "its number of words is %" PRIu64 ", not 1 to 2^31 - 1",
                    words);
    return foreign_check_hashes(part->hashes, err);
}

static int read(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    struct foreign_part part;
    int rc = read_header(f, in, &part, err);
    if (rc == DEJA_OK)
        rc = foreign_add_part(f, part, true, err);
    if (rc == DEJA_OK)
        rc = foreign_in_body(in, f, &f->part[0], err);
    return rc == DEJA_OK ? foreign_in_end(in, f, err) : rc;
}

static bool write(const struct foreign *f, struct foreign_out *out)
{
    const struct foreign_part *part = &f->part[0];
    uint8_t header[LEN_2];
    const size_t len = header_len(f->variant);
    store_be32(header, f->variant);
    store_be32(header + 4, part->hashes);
    store_be32(header + 8, f->seed);
    store_be32(header + len - 4, (uint32_t)(part->len / 8));
    return out->put(out, header, len) && out->put(out, part->body, part->len);
}

/* --- Sizes ------------------------------------------------------------------- */

static int plan(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    const int rc = foreign_check_wish(n, p, err);
    if (rc < 0)
        return rc;
    const double ln2 = log(2), bits = floor(-(double)n * log(p) / (ln2 * ln2));
    const double words = fmax(ceil(bits / 64), 1);
    const double k = fmax(floor(bits / (double)n * ln2 + 0.5), 1);
    if (words > MOST_WORDS || k > FOREIGN_MAX_HASHES)
        return fail(err, DEJA_EINVAL, "no Spark filter holds %" PRIu64 " keys at rate %g", n, p);
    const struct foreign_part part = {.hashes = (uint32_t)k,
                                      .bits = (uint64_t)words * 64,
                                      .len = (uint64_t)words * 8,
                                      .capacity = n,
                                      .fp_rate = p};
    return foreign_add_part(f, part, true, err);
}

/* --- Keys -------------------------------------------------------------------- */

static uint64_t sign_extend(uint32_t x)
{
    return x > INT32_MAX ? x | UINT64_C(0xffffffff00000000) : x;
}

static void hash(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    const struct foreign *f = filter;
    for (size_t i = 0; i < n; i++, out += 2) {
        const uint32_t a = murmur3_spark(keys[i].data, keys[i].len, f->seed);
        out[0] = f->variant == 1 ? a : sign_extend(a) * INT32_MAX;
        out[1] = sign_extend(murmur3_spark(keys[i].data, keys[i].len, a));
    }
}

static uint64_t next(struct foreign_probe *p)
{
    uint64_t at;
    if (p->variant == 1) {
        const uint32_t x = (uint32_t)(p->a += p->b);
        at = x > INT32_MAX ? ~x : x;
    } else {
        p->a += p->b;
        at = p->a > INT64_MAX ? ~p->a : p->a;
    }
    return bit_of_java(at % p->bits);
}

static const char *version(const struct foreign *f)
{
    return f->variant == 1 ? "version 1" : "version 2";
}

#define SPARK                                                                                     \
    .hashing = "Spark's MurmurHash3", .hash_id = "murmur3-32-spark", .words = 2, .read = read,    \
    .hash = hash, .next = next, .plan = plan, .write = write, .version = version

const struct foreign_format foreign_spark = {
    .name = "spark", .title = "a Spark Bloom filter", .variant = 1, .is = is, SPARK};

const struct foreign_format foreign_spark_2 = {
    .name = "spark-2", .title = "a Spark Bloom filter", .variant = 2, SPARK};
