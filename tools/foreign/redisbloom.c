/* redisbloom.c - the Bloom filters of RedisBloom, as BF.SCANDUMP returns them.
 *
 * A dump is a header and the bits of one or more parts.  The header, little-endian and without
 * gaps:
 *
 *      0  keys     8 bytes: items that were new
 *      8  parts    4 bytes: n
 *     12  options  4 bytes: 1 sizes are not rounded, 2 capacity given in bits, 4 64-bit hashes,
 *                  8 does not grow
 *     16  growth   4 bytes
 *     20  n records of 53 bytes:
 *          0  bytes   8 bytes: length of the bits, a multiple of 8
 *          8  bits    8 bytes: 8 times that
 *         16  keys    8 bytes: items in this part
 *         24  rate    8 bytes, a double
 *         32  bits per key  8 bytes, a double: ln(1/rate) / ln(2)^2
 *         40  k       4 bytes: ceil(ln(2) times bits per key)
 *         44  capacity  8 bytes
 *         52  log2    1 byte: if not 0, m = 2^log2; otherwise m = bits
 *
 * The bits of the parts follow, each in the next chunks of up to 16 MiB; bit i is bit i mod 8 of
 * byte i / 8.  A file has the data of all chunks, one after the other.
 *
 * With 64-bit hashes, a = MurmurHash64A(key, 0xc6a4a7935bd1e995) and b = MurmurHash64A(key, a);
 * without, a = MurmurHash2(key, 0x9747b28c) and b = MurmurHash2(key, a).  Position i of k is
 * (a + i b mod 2^64) mod m.  A key is in the filter if any part has it.  A new key goes into the
 * last part; when that holds as many keys as its capacity, a part with `growth` times the capacity
 * and half of the rate is appended, or the filter is full if it does not grow.
 *
 * Derived from dumps and from RedisBloom's published source. */
#include "tools/foreign/redisbloom.h"
#include "tools/base/fail.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/foreign_murmur.h"
#include "tools/foreign/formats.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define HEADER_LEN 20
#define RECORD_LEN 53
#define LN2        0.693147180559945 /* RedisBloom's constants, with their digits */
#define LN2_SQUARE 0.480453013918201
#define GROWTH     2
#define MOST_PARTS 2048 /* the rate of a part halves, and reaches 0 after 1,074 */

enum {
    NOT_ROUNDED = 1,
    GIVEN_IN_BITS = 2,
    HASH_64 = 4,
    FIXED = 8,
    OPTIONS = NOT_ROUNDED | GIVEN_IN_BITS | HASH_64 | FIXED
};

/* --- Headers ---------------------------------------------------------------------- */

static void decode_record(const uint8_t *at, struct foreign_part *part)
{
    *part = (struct foreign_part){.len = load_le(at, 8),
                                  .bits = load_le(at + 8, 8),
                                  .keys = load_le(at + 16, 8),
                                  .fp_rate = load_double(at + 24),
                                  .bits_per_key = load_double(at + 32),
                                  .hashes = (uint32_t)load_le(at + 40, 4),
                                  .capacity = load_le(at + 44, 8),
                                  .log2_bits = at[52]};
}

static void encode_record(const struct foreign_part *part, uint8_t *at)
{
    store_le(at, part->len, 8);
    store_le(at + 8, part->bits, 8);
    store_le(at + 16, part->keys, 8);
    store_double(at + 24, part->fp_rate);
    store_double(at + 32, part->bits_per_key);
    store_le(at + 40, part->hashes, 4);
    store_le(at + 44, part->capacity, 8);
    at[52] = part->log2_bits;
}

static int check_part(const struct foreign_part *part, deja_error *err)
{
    if (part->len == 0 || part->len % 8 || part->len > FOREIGN_MAX_BITS / 8 ||
        part->bits != part->len * 8)
        return fail(err, DEJA_EFORMAT,
                    "its part has %" PRIu64 " bits in %" PRIu64 " bytes, not 8 times as many",
                    part->bits, part->len);
    if (part->log2_bits > 53 || (part->log2_bits && part->bits < UINT64_C(1) << part->log2_bits))
        return fail(err, DEJA_EFORMAT, "its part uses 2^%u bits, but has only %" PRIu64,
                    part->log2_bits, part->bits);
    if (!(part->fp_rate > 0 && part->fp_rate < 1))
        return fail(err, DEJA_EFORMAT, "its false-positive rate is %g, not between 0 and 1",
                    part->fp_rate);
    const int rc = foreign_check_hashes(part->hashes, err);
    if (rc == DEJA_OK && !(ceil(LN2 * part->bits_per_key) <= part->hashes &&
                           ceil(LN2 * part->bits_per_key) >= part->hashes))
        return fail(err, DEJA_EFORMAT, "its number of hash functions does not fit its rate");
    return rc;
}

static int decode_start(const uint8_t start[HEADER_LEN], struct foreign *f, uint64_t *parts,
                        deja_error *err)
{
    f->keys = load_le(start, 8);
    *parts = load_le(start + 8, 4);
    f->variant = (uint32_t)load_le(start + 12, 4);
    f->growth = (uint32_t)load_le(start + 16, 4);
    if (f->variant & ~(uint32_t)OPTIONS)
        return fail(err, DEJA_EFORMAT,
                    "its options are %#x: it is not a RedisBloom dump, or newer",
                    (unsigned)f->variant);
    if (*parts == 0 || *parts > MOST_PARTS)
        return fail(err, DEJA_EFORMAT, "its number of parts is %" PRIu64 ", not 1 to %d", *parts,
                    MOST_PARTS);
    return DEJA_OK;
}

/* After the last record: the keys of all parts must add up. */
static int check_sum(const struct foreign *f, deja_error *err)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_parts; i++) {
        if (f->part[i].keys > UINT64_MAX - sum)
            sum = UINT64_MAX;
        else
            sum += f->part[i].keys;
    }
    return sum == f->keys ? DEJA_OK
                          : fail(err, DEJA_EFORMAT, "its number of keys is not that of its parts");
}

static int add_record(struct foreign *f, const uint8_t *record, deja_error *err)
{
    struct foreign_part part;
    decode_record(record, &part);
    const int rc = check_part(&part, err);
    return rc == DEJA_OK ? foreign_add_part(f, part, true, err) : rc;
}

bool redisbloom_is_header(const uint8_t *data, size_t len)
{
    struct foreign f = {0};
    uint64_t parts;
    return len >= HEADER_LEN && decode_start(data, &f, &parts, NULL) == DEJA_OK &&
           len == HEADER_LEN + parts * RECORD_LEN;
}

uint64_t redisbloom_header_len(const struct foreign *f)
{
    return HEADER_LEN + (uint64_t)f->n_parts * RECORD_LEN;
}

void redisbloom_header(const struct foreign *f, uint8_t *header)
{
    store_le(header, f->keys, 8);
    store_le(header + 8, f->n_parts, 4);
    store_le(header + 12, f->variant, 4);
    store_le(header + 16, f->growth, 4);
    for (size_t i = 0; i < f->n_parts; i++)
        encode_record(&f->part[i], header + HEADER_LEN + i * RECORD_LEN);
}

int redisbloom_begin(struct foreign *f, const uint8_t *header, size_t len, deja_error *err)
{
    uint64_t parts;
    if (!redisbloom_is_header(header, len))
        return fail(err, DEJA_EFORMAT, "is not the header of a RedisBloom dump");
    int rc = decode_start(header, f, &parts, err);
    for (uint64_t i = 0; i < parts && rc == DEJA_OK; i++)
        rc = add_record(f, header + HEADER_LEN + i * RECORD_LEN, err);
    return rc == DEJA_OK ? check_sum(f, err) : rc;
}

/* --- Bodies ----------------------------------------------------------------------- */

/* The part that has byte `at` of all bodies; *before becomes the place in it. */
static struct foreign_part *part_of(const struct foreign *f, uint64_t at, uint64_t *before)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        if (at < f->part[i].len) {
            *before = at;
            return &f->part[i];
        }
        at -= f->part[i].len;
    }
    return NULL;
}

/* Memory doubles.  Once an eighth of a part is there, all of it is allocated, so that old and new
 * memory together stay near the size of the part. */
static uint64_t room_for(const struct foreign_part *part, uint64_t end)
{
    const uint64_t twice = 2 * part->room > end ? 2 * part->room : end;
    return twice > part->len / 8 ? part->len : twice;
}

int redisbloom_write(struct foreign *f, uint64_t at, const uint8_t *data, size_t len,
                     deja_error *err)
{
    uint64_t before;
    struct foreign_part *part = part_of(f, at, &before);
    if (!part || len > part->len - before)
        return fail(err, DEJA_EFORMAT, "its bits are longer than its header says");
    const uint64_t end = before + len;
    const int rc =
        end > part->room ? foreign_grow_body(f, part, room_for(part, end), err) : DEJA_OK;
    if (rc == DEJA_OK)
        memcpy(part->body + before, data, len);
    return rc;
}

size_t redisbloom_read(const struct foreign *f, uint64_t at, void *out, size_t len)
{
    uint64_t before;
    const struct foreign_part *part = part_of(f, at, &before);
    if (!part)
        return 0;
    const uint64_t left = part->len - before;
    const size_t got = len < left ? len : (size_t)left;
    memcpy(out, part->body + before, got);
    return got;
}

bool redisbloom_is_fixed(const struct foreign *f)
{
    return f->variant & FIXED;
}

/* --- Files ------------------------------------------------------------------------ */

/* All records must be in the head: 76 parts at most, which is more than RedisBloom makes unless its
 * filters grow by a factor of 1. */
static bool is(const struct foreign_head *head)
{
    struct foreign f = {0};
    uint64_t parts, len;
    if (head->len < HEADER_LEN || head->file_len == FOREIGN_UNKNOWN ||
        decode_start(head->data, &f, &parts, NULL) < 0 ||
        head->len < HEADER_LEN + parts * RECORD_LEN)
        return false;
    len = HEADER_LEN + parts * RECORD_LEN;
    for (uint64_t i = 0; i < parts; i++) {
        struct foreign_part part;
        decode_record(head->data + HEADER_LEN + i * RECORD_LEN, &part);
        if (check_part(&part, NULL) < 0)
            return false;
        len += part.len;
    }
    return len == head->file_len;
}

static int read_bodies(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < f->n_parts && rc == DEJA_OK; i++)
        rc = foreign_in_body(in, f, &f->part[i], err);
    return rc == DEJA_OK ? foreign_in_end(in, f, err) : rc;
}

static int read(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t start[HEADER_LEN], record[RECORD_LEN];
    uint64_t parts = 0;
    int rc = foreign_in_header(in, f, start, sizeof start, err);
    if (rc == DEJA_OK)
        rc = decode_start(start, f, &parts, err);
    for (uint64_t i = 0; i < parts && rc == DEJA_OK; i++) { /* memory grows with the records */
        rc = foreign_in_header(in, f, record, sizeof record, err);
        if (rc == DEJA_OK)
            rc = add_record(f, record, err);
    }
    if (rc == DEJA_OK)
        rc = check_sum(f, err);
    return rc == DEJA_OK ? read_bodies(f, in, err) : rc;
}

static bool write(const struct foreign *f, struct foreign_out *out)
{
    uint8_t start[HEADER_LEN], record[RECORD_LEN];
    struct foreign none = *f;
    none.n_parts = 0;
    redisbloom_header(&none, start);
    store_le(start + 8, f->n_parts, 4);
    bool fine = out->put(out, start, sizeof start);
    for (size_t i = 0; i < f->n_parts && fine; i++) {
        encode_record(&f->part[i], record);
        fine = out->put(out, record, sizeof record);
    }
    for (size_t i = 0; i < f->n_parts && fine; i++)
        fine = out->put(out, f->part[i].body, f->part[i].len);
    return fine;
}

/* --- Sizes ------------------------------------------------------------------------- */

/* As old versions did: the bits to a power of two, and the capacity with them. */
static void round_up(struct foreign_part *part)
{
    const double exact = (double)part->capacity * part->bits_per_key;
    part->log2_bits = (uint8_t)(fmax(logb(exact), 0) + 1);
    part->bits = UINT64_C(1) << part->log2_bits;
    part->capacity +=
        (uint64_t)((double)(uint64_t)((double)part->bits - exact) / part->bits_per_key);
}

static int add_link(struct foreign *f, uint64_t n, double p, bool empty, deja_error *err)
{
    const double per_key = -(log(p) / LN2_SQUARE), bits = floor((double)n * per_key);
    const double k = ceil(LN2 * per_key);
    if (bits > (double)FOREIGN_MAX_BITS || !(k >= 1 && k <= FOREIGN_MAX_HASHES))
        return fail(err, DEJA_EINVAL, "no RedisBloom filter holds %" PRIu64 " keys at rate %g", n,
                    p);
    struct foreign_part part = {.bits = bits < 1 ? 1 : (uint64_t)bits,
                                .capacity = n,
                                .fp_rate = p,
                                .bits_per_key = per_key,
                                .hashes = (uint32_t)k};
    if (!(f->variant & NOT_ROUNDED))
        round_up(&part);
    part.len = (part.bits + 63) / 64 * 8;
    part.bits = part.len * 8;
    return foreign_add_part(f, part, empty, err);
}

/* As BF.RESERVE does: half of the rate is left for later parts. */
static int plan(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    const int rc = foreign_check_wish(n, p, err);
    f->growth = GROWTH;
    return rc == DEJA_OK ? add_link(f, n, p / 2, true, err) : rc;
}

static int make_room(struct foreign *f, deja_error *err)
{
    const struct foreign_part *last = &f->part[f->n_parts - 1];
    if (last->keys < last->capacity)
        return DEJA_OK;
    if (redisbloom_is_fixed(f))
        return fail(err, DEJA_EFULL, "the filter is full and does not grow");
    if (f->growth == 0 || last->capacity == 0 || f->variant & GIVEN_IN_BITS ||
        last->capacity > FOREIGN_MAX_BITS / f->growth)
        return fail(err, DEJA_EFULL, "the filter is full and cannot grow");
    return add_link(f, last->capacity * f->growth, last->fp_rate / 2, false, err);
}

/* --- Keys -------------------------------------------------------------------------- */

static void hash(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    const struct foreign *f = filter;
    for (size_t i = 0; i < n; i++, out += 2) {
        const void *data = keys[i].data;
        if (f->variant & HASH_64) {
            out[0] = murmur2_64a(data, keys[i].len, UINT64_C(0xc6a4a7935bd1e995));
            out[1] = murmur2_64a(data, keys[i].len, out[0]);
        } else {
            out[0] = murmur2(data, keys[i].len, 0x9747b28c);
            out[1] = murmur2(data, keys[i].len, (uint32_t)out[0]);
        }
    }
}

static uint64_t next(struct foreign_probe *p)
{
    const uint64_t at = p->a % p->bits;
    p->a += p->b;
    return at;
}

static const char *version(const struct foreign *f)
{
    return f->variant & HASH_64
               ? redisbloom_is_fixed(f) ? "64-bit hashes, fixed size" : "64-bit hashes, grows"
           : redisbloom_is_fixed(f) ? "32-bit hashes, fixed size"
                                    : "32-bit hashes, grows";
}

const struct foreign_format foreign_redisbloom = {
    .name = "redisbloom",
    .title = "a RedisBloom dump",
    .hashing = "MurmurHash2",
    .hash_id = "murmur2",
    .words = 2,
    .variant = NOT_ROUNDED | HASH_64,
    .counts = true,
    .sized = true,
    .is = is,
    .read = read,
    .hash = hash,
    .next = next,
    .plan = plan,
    .write = write,
    .make_room = make_room,
    .version = version,
};
