/* parquet.c - the split-block Bloom filters (SBBF) of Apache Parquet.
 *
 * A filter is a header in Thrift's compact protocol and blocks of 32 bytes.  The header is a struct
 * with the fields
 *
 *     1  i32     number of bytes of the blocks, a multiple of 32
 *     2  struct  the algorithm: field 1, an empty struct, is split block
 *     3  struct  the hash:      field 1, an empty struct, is XXH64 with seed 0
 *     4  struct  compression:   field 1, an empty struct, is none
 *
 * A block is eight 32-bit little-endian words.  With h = XXH64(key), z blocks and eight constants,
 * the key's block is floor((h / 2^32) z / 2^32), and in word i of it, the bit ((h mod 2^32)
 * constant(i) mod 2^32) / 2^27.
 *
 * "sbbf" is such a filter alone.  "parquet" is a .parquet file, which has a filter for each row
 * group of some columns; its footer says where:
 *
 *     ... the footer, the length of the footer (4 bytes, little-endian), "PAR1"
 *     footer          field 4: list of row groups
 *     row group       field 1: list of columns
 *     column          field 3: struct of metadata
 *     metadata        field 1: type, 3: path (list of names), 14: where the filter is
 *
 * A key is in the column if it is in the filter of any row group. */
#include "tools/base/fail.h"
#include "tools/foreign/foreign.h"
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/formats.h"
#include "tools/foreign/thrift.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCK_LEN  32
#define WORDS      8
#define MOST_LEN   (UINT64_C(1) << 31)
#define NEW_LEN    (UINT64_C(1) << 27) /* what other programs write at most */
#define HEADER_LEN 32                  /* more than any header */
#define NAME_LEN   120

/* --- A filter alone ---------------------------------------------------------------- */

/* Whether a union of the header has the choice 1. */
static bool is_first(struct thrift *t)
{
    int id = 0, type, more = 0;
    bool first = false;
    while ((type = thrift_field(t, &id)) != THRIFT_STOP) {
        first = id == 1 && ++more == 1;
        thrift_skip(t, type);
    }
    return first;
}

/* Returns the length of the header; 0: it is none. */
static size_t decode_header(const uint8_t *data, size_t len, uint64_t *bytes)
{
    struct thrift t = {data, data + len, false};
    int id = 0, type;
    bool known[5] = {false};
    int64_t size = 0;
    while ((type = thrift_field(&t, &id)) != THRIFT_STOP) {
        if (id == 1 && type == THRIFT_I32)
            size = thrift_integer(&t);
        else if (id >= 2 && id <= 4 && type == THRIFT_STRUCT)
            known[id] = is_first(&t);
        else
            thrift_skip(&t, type);
    }
    *bytes = size > 0 ? (uint64_t)size : 0;
    const bool fine = !t.failed && known[2] && known[3] && known[4] && *bytes > 0 &&
                      *bytes % BLOCK_LEN == 0 && *bytes <= MOST_LEN;
    return fine ? (size_t)(t.at - data) : 0;
}

static size_t encode_header(uint64_t bytes, uint8_t header[HEADER_LEN])
{
    static const uint8_t rest[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
    size_t len = 0;
    header[len++] = 0x15; /* field 1, i32 */
    for (bytes *= 2; bytes >= 0x80; bytes >>= 7)
        header[len++] = (uint8_t)(bytes | 0x80);
    header[len++] = (uint8_t)bytes;
    memcpy(header + len, rest, sizeof rest);
    return len + sizeof rest;
}

static struct foreign_part part_of(uint64_t bytes)
{
    return (struct foreign_part){.len = bytes, .bits = bytes * 8, .hashes = WORDS};
}

static bool is_sbbf(const struct foreign_head *head)
{
    uint64_t bytes;
    const size_t len = head->len < HEADER_LEN ? head->len : HEADER_LEN;
    const size_t header = decode_header(head->data, len, &bytes);
    return header > 0 && head->file_len == header + bytes;
}

/* The header has no length of its own, so it is read byte by byte. */
static int read_sbbf(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t header[HEADER_LEN];
    uint64_t bytes = 0;
    size_t len = 0, have = 1;
    while (len < sizeof header && have && decode_header(header, len, &bytes) == 0) {
        const int rc = in->read(in, header + len, 1, &have, err);
        if (rc < 0)
            return rc;
        len += have;
    }
    if (decode_header(header, len, &bytes) != len || len == 0)
        return fail(err, DEJA_EFORMAT,
                    "is not a Parquet filter block, or is truncated inside its header");
    int rc = foreign_add_part(f, part_of(bytes), true, err);
    if (rc == DEJA_OK)
        rc = foreign_in_body(in, f, &f->part[0], err);
    return rc == DEJA_OK ? foreign_in_end(in, f, err) : rc;
}

static bool write_sbbf(const struct foreign *f, struct foreign_out *out)
{
    uint8_t header[HEADER_LEN];
    const size_t len = encode_header(f->part[0].len, header);
    return out->put(out, header, len) && out->put(out, f->part[0].body, f->part[0].len);
}

/* The sizes of Arrow: a power of two. */
static int plan_sbbf(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    const int rc = foreign_check_wish(n, p, err);
    if (rc < 0)
        return rc;
    const double bits = -8.0 * (double)n / log(1 - pow(p, 1.0 / WORDS));
    uint64_t bytes = BLOCK_LEN;
    while (bytes < NEW_LEN && (double)bytes * 8 < floor(bits))
        bytes *= 2;
    if (!((double)bytes * 8 >= floor(bits)))
        return fail(err, DEJA_EINVAL,
                    "no Parquet filter of at most 128 MiB holds %" PRIu64 " keys at rate %g", n,
                    p);
    struct foreign_part part = part_of(bytes);
    part.capacity = n;
    part.fp_rate = p;
    return foreign_add_part(f, part, true, err);
}

/* --- .parquet files ------------------------------------------------------------------ */

struct column { /* of one row group */
    int64_t type, offset;
    bool has_filter;
    char name[NAME_LEN];
};

struct footer {
    struct foreign *f;
    struct foreign_in *in;
    deja_error *err;
    int rc;
    char name[NAME_LEN];   /* of the column that is read */
    char others[NAME_LEN]; /* the names of all columns with a filter */
    uint64_t groups;       /* so far */
    bool several;
};

/* Joins the parts of a name with dots. */
static void read_path(struct thrift *t, struct column *c)
{
    int type;
    size_t len = 0;
    for (uint64_t n = thrift_list(t, &type); n > 0 && !t->failed; n--) {
        const deja_slice word = type == THRIFT_BINARY ? thrift_binary(t) : (deja_slice){"", 0};
        t->failed |= type != THRIFT_BINARY || word.len > sizeof c->name - 2 - len;
        if (t->failed)
            return;
        if (len > 0)
            c->name[len++] = '.';
        memcpy(c->name + len, word.data, word.len);
        len += word.len;
        c->name[len] = '\0';
    }
}

static void read_metadata(struct thrift *t, struct column *c)
{
    int id = 0, type;
    while ((type = thrift_field(t, &id)) != THRIFT_STOP) {
        if (id == 1 && type == THRIFT_I32)
            c->type = thrift_integer(t);
        else if (id == 3 && type == THRIFT_LIST)
            read_path(t, c);
        else if (id == 14 && type == THRIFT_I64) {
            c->offset = thrift_integer(t);
            c->has_filter = true;
        } else
            thrift_skip(t, type);
    }
}

/* Reads the filter of a column chunk. */
static int read_filter(struct footer *o, const struct column *c)
{
    uint8_t header[HEADER_LEN] = {0};
    uint64_t bytes = 0;
    const uint64_t offset = (uint64_t)c->offset;
    const uint64_t left = c->offset > 0 && offset < o->in->len ? o->in->len - offset : 0;
    const size_t some = left < HEADER_LEN ? (size_t)left : HEADER_LEN;
    int rc = some ? o->in->at(o->in, offset, header, some, o->err) : DEJA_OK;
    const size_t len = rc == DEJA_OK ? decode_header(header, some, &bytes) : 0;
    if (rc == DEJA_OK && (len == 0 || bytes > left - len))
        rc = fail(o->err, DEJA_EFORMAT, "its column %.60s has no filter where its footer says",
                  c->name);
    if (rc == DEJA_OK)
        rc = foreign_add_part(o->f, part_of(bytes), false, o->err);
    if (rc == DEJA_OK)
        rc = o->in->at(o->in, offset + len, o->f->part[o->f->n_parts - 1].body, (size_t)bytes,
                       o->err);
    return rc;
}

/* Adds the name to the list for messages, if it fits.  Every row group has the same columns. */
static void list_name(struct footer *o, const char *name)
{
    const size_t len = strlen(o->others), comma = len ? 2 : 0, more = strlen(name) + 1;
    if (o->groups != 1 || len + comma + more > sizeof o->others)
        return;
    memcpy(o->others + len, ", ", comma);
    memcpy(o->others + len + comma, name, more);
}

/* Without a wanted column, the only one with strings is taken. */
static void take_column(struct footer *o, const struct column *c)
{
    enum {
        BYTE_ARRAY = 6,
        FIXED_BYTE_ARRAY = 7
    };
    const bool strings = c->type == BYTE_ARRAY || c->type == FIXED_BYTE_ARRAY;
    const bool any = !o->f->column;
    if (!c->has_filter || (any && !strings))
        return;
    list_name(o, c->name);
    if (any && o->name[0] == '\0')
        memcpy(o->name, c->name, sizeof o->name);
    if (strcmp(any ? o->name : o->f->column, c->name) != 0)
        o->several |= any;
    else if (strings)
        o->rc = read_filter(o, c);
    else
        o->rc = fail(o->err, DEJA_ENOTSUP,
                     "cannot be checked: its column %.60s holds numbers, not strings", c->name);
}

static void read_column(struct thrift *t, struct footer *o)
{
    struct column c = {.name = ""};
    int id = 0, type;
    while ((type = thrift_field(t, &id)) != THRIFT_STOP) {
        if (id == 3 && type == THRIFT_STRUCT)
            read_metadata(t, &c);
        else
            thrift_skip(t, type);
    }
    if (!t->failed && o->rc == DEJA_OK)
        take_column(o, &c);
}

/* Reads field `wanted` of a struct, a list of structs, with `each`; skips the others. */
static void read_lists(struct thrift *t, struct footer *o, int wanted,
                       void (*each)(struct thrift *, struct footer *))
{
    int id = 0, type, inner;
    while ((type = thrift_field(t, &id)) != THRIFT_STOP) {
        if (id != wanted || type != THRIFT_LIST) {
            thrift_skip(t, type);
            continue;
        }
        uint64_t n = thrift_list(t, &inner);
        t->failed |= n > 0 && inner != THRIFT_STRUCT;
        for (; n > 0 && !t->failed && o->rc == DEJA_OK; n--)
            each(t, o);
        if (o->rc < 0)
            return;
    }
}

static void read_row_group(struct thrift *t, struct footer *o)
{
    o->groups++;
    read_lists(t, o, 1, read_column);
}

static int read_footer(struct foreign *f, struct foreign_in *in, const uint8_t *data, size_t len,
                       deja_error *err)
{
    struct thrift t = {data, data + len, false};
    struct footer o = {.f = f, .in = in, .err = err};
    read_lists(&t, &o, 4, read_row_group);
    if (o.rc < 0)
        return o.rc;
    if (t.failed)
        return fail(err, DEJA_EFORMAT, "its footer is damaged");
    if (o.several)
        return fail(err, DEJA_EINVAL,
                    "has filters for several columns; give --filter-column with one of: %s",
                    o.others);
    if (f->n_parts > 0)
        return DEJA_OK;
    if (o.others[0])
        return fail(err, DEJA_EINVAL, "has no filter for column %.40s, only for: %s", f->column,
                    o.others);
    return fail(err, DEJA_EFORMAT,
                "has no Bloom filters; write it with them, or build a filter from its column");
}

static bool is_parquet(const struct foreign_head *head)
{
    return head->len >= 4 && memcmp(head->data, "PAR1", 4) == 0;
}

static int read_parquet(struct foreign *f, struct foreign_in *in, deja_error *err)
{
    uint8_t end[8];
    if (!in->at)
        return fail(err, DEJA_ENOTSUP,
                    "cannot be read: a .parquet file must be a regular file and not compressed");
    if (in->len < 12)
        return fail(err, DEJA_EFORMAT, "is not a Parquet file: it is too short");
    int rc = in->at(in, in->len - 8, end, sizeof end, err);
    const uint64_t len = load_le(end, 4);
    if (rc == DEJA_OK && (memcmp(end + 4, "PAR1", 4) != 0 || len > in->len - 12))
        rc = fail(err, DEJA_EFORMAT,
                  "is not a Parquet file, or is encrypted or truncated: it has no footer");
    uint8_t *data = rc == DEJA_OK ? malloc(len ? (size_t)len : 1) : NULL;
    if (rc == DEJA_OK && !data)
        rc = fail(err, DEJA_ENOMEM, "needs %" PRIu64 " bytes for its footer", len);
    if (rc == DEJA_OK)
        rc = in->at(in, in->len - 8 - len, data, (size_t)len, err);
    if (rc == DEJA_OK)
        rc = read_footer(f, in, data, (size_t)len, err);
    free(data);
    return rc;
}

/* --- Keys ------------------------------------------------------------------------------ */

static void hash(const void *filter, const deja_slice *keys, size_t n, uint64_t *out)
{
    (void)filter;
    for (size_t i = 0; i < n; i++)
        out[i] = XXH64(keys[i].data, keys[i].len, 0);
}

static uint64_t next(struct foreign_probe *p)
{
    static const uint32_t constant[WORDS] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                             0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
    const uint64_t blocks = p->bits / (BLOCK_LEN * 8), block = (p->a >> 32) * blocks >> 32;
    const uint32_t i = p->i++ % WORDS, bit = (uint32_t)p->a * constant[i] >> 27;
    return block * BLOCK_LEN * 8 + i * 32 + bit;
}

/* The mean over the blocks: a crowded block claims more keys. */
static double rate(const struct foreign *f, const struct foreign_part *part)
{
    double sum = 0;
    (void)f;
    for (uint64_t at = 0; at < part->len; at += BLOCK_LEN) {
        double all = 1;
        for (int i = 0; i < WORDS; i++)
            all *= __builtin_popcount((uint32_t)load_le(part->body + at + 4 * i, 4)) / 32.0;
        sum += all;
    }
    return sum / ((double)part->len / BLOCK_LEN);
}

#define SBBF                                                                                      \
    .hashing = "XXH64, split blocks", .hash_id = "xxh64", .words = 1, .hash = hash, .next = next, \
    .rate = rate

const struct foreign_format foreign_parquet = {.name = "parquet",
                                               .title = "a Parquet file",
                                               .columns = true,
                                               .is = is_parquet,
                                               .read = read_parquet,
                                               SBBF};

const struct foreign_format foreign_sbbf = {.name = "sbbf",
                                            .title = "a Parquet filter block",
                                            .is = is_sbbf,
                                            .read = read_sbbf,
                                            .plan = plan_sbbf,
                                            .write = write_sbbf,
                                            SBBF};
