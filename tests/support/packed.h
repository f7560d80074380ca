/* packed.h - compressed files written by hand: stored blocks (gzip), raw and repeated ones
 * (zstd), uncompressed chunks (xz).  This needs no library, and every field of a format can be
 * made wrong on purpose. bzip2 always compresses, so its library writes those files. */
#ifndef TEST_PACKED_H
#define TEST_PACKED_H
#include "reading.h"
#include "tools/input/decode.h"
#ifdef DEJA_HAVE_BZIP2
#include <bzlib.h>
#endif

static inline uint32_t crc32_of(const void *data, size_t len)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < len; i++) {
        crc ^= ((const unsigned char *)data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static const char gzip_head[] = "\x1f\x8b\x08\0\0\0\0\0\0\3";

/* A gzip member in stored blocks of at most `piece` bytes. */
static inline void put_gzip(struct bytes *out, const char *data, size_t len, size_t piece)
{
    size_t at = 0;
    put(out, gzip_head, 10);
    do {
        size_t n = len - at < piece ? len - at : piece;
        put_byte(out, at + n == len); /* the last one? stored */
        put_le(out, n, 2);
        put_le(out, ~n & 0xffff, 2);
        put(out, data + at, n);
        at += n;
    } while (at < len);
    put_le(out, crc32_of(data, len), 4);
    put_le(out, len, 4);
}

static inline void put_zstd_head(struct bytes *out, unsigned window_log, unsigned eighths)
{
    put_le(out, 0xfd2fb528, 4);
    put_byte(out, 0); /* no size, no checksum, no dictionary */
    put_byte(out, (char)((window_log - 10) << 3 | eighths));
}

/* A zstd block: raw, or for a single byte with times > 1, that byte repeated. */
static inline void put_zstd_block(struct bytes *out, const char *data, size_t len, size_t times,
                                  bool last)
{
    put_le(out, (times > 1 ? times << 3 | 2 : len << 3) | last, 3);
    put(out, data, len);
}

static inline void put_zstd(struct bytes *out, const char *data, size_t len, size_t piece)
{
    size_t at = 0;
    put_zstd_head(out, 17, 0);
    do {
        size_t n = len - at < piece ? len - at : piece;
        put_zstd_block(out, data + at, n, 1, at + n == len);
        at += n;
    } while (at < len);
}

static inline void put_padding(struct bytes *out, size_t since)
{
    while ((out->len - since) % 4)
        put_byte(out, 0);
}

static inline void put_crc32(struct bytes *out, size_t since)
{
    put_le(out, crc32_of(out->data + since, out->len - since), 4);
}

/* Writes a number as xz does: seven bits per byte, the lowest first. */
static inline void put_varint(struct bytes *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        put_byte(out, (char)(n | 0x80));
    put_byte(out, (char)n);
}

/* An xz stream of one block, with CRC32, in uncompressed chunks of at most `piece` bytes.  A
 * dictionary of 2^(dict_log) bytes. */
static inline void put_xz_of(struct bytes *out, const char *data, size_t len, size_t piece,
                             unsigned dict_log)
{
    size_t at = 0, from;
    put(out, "\xfd\x37zXZ\0\0\1", 8);
    put_crc32(out, out->len - 2);
    const size_t block = out->len;
    put(out, "\2\0\x21\1", 4); /* 12 bytes; one filter, LZMA2 */
    put_byte(out, (char)((dict_log - 12) * 2));
    put(out, "\0\0\0", 3);
    put_crc32(out, block);
    while (at < len) {
        const size_t n = len - at < piece ? len - at : piece;
        put_byte(out, at ? 2 : 1); /* the first one resets the dictionary */
        put_byte(out, (char)((n - 1) >> 8));
        put_byte(out, (char)(n - 1));
        put(out, data + at, n);
        at += n;
    }
    put_byte(out, 0);
    const size_t unpadded = out->len - block + 4;
    put_padding(out, block);
    put_le(out, crc32_of(data, len), 4);
    const size_t index = out->len;
    put(out, "\0\1", 2);
    put_varint(out, unpadded);
    put_varint(out, len);
    put_padding(out, index);
    put_crc32(out, index);
    const size_t index_len = out->len - index;
    struct bytes footer = {0};
    put_le(&footer, index_len / 4 - 1, 4);
    put(&footer, "\0\1", 2);
    from = out->len;
    put_le(out, crc32_of(footer.data, footer.len), 4);
    put(out, footer.data, footer.len);
    put(out, "YZ", 2);
    assert_int_equal(out->len - from, 12);
    drop(&footer);
}

static inline void put_xz(struct bytes *out, const char *data, size_t len, size_t piece)
{
    put_xz_of(out, data, len, piece, 16);
}

static inline void put_bzip2(struct bytes *out, const char *data, size_t len, size_t piece)
{
    (void)piece; /* blocks of 100 kB */
#ifdef DEJA_HAVE_BZIP2
    unsigned cap = (unsigned)(len + len / 50 + 1000);
    char *packed = malloc(cap), none = 0;
    assert_non_null(packed);
    char *from = len ? (char *)(uintptr_t)data : &none;
    assert_int_equal(BZ2_bzBuffToBuffCompress(packed, &cap, from, (unsigned)len, 1, 0, 0), BZ_OK);
    put(out, packed, cap);
    free(packed);
#else
    (void)data;
    (void)len;
    put(out, "BZh91AY&SY", 10); /* enough to be recognized */
#endif
}

typedef void put_packed(struct bytes *out, const char *data, size_t len, size_t piece);
static const struct packer {
    enum decode_format format;
    put_packed *put;
    const char *library;
    size_t magic; /* bytes that identify the format: without them it is a different one */
    bool checked; /* a changed bit is detected, or changes nothing */
    bool pieces;  /* lines are returned as soon as their piece has arrived */
} packers[] = {
    {DECODE_GZIP, put_gzip, "zlib", 4, true, true},
    {DECODE_ZSTD, put_zstd, "libzstd", 4, false, true},
    {DECODE_XZ, put_xz, "liblzma", 6, true, true},
    {DECODE_BZIP2, put_bzip2, "libbz2", 10, true, false},
};

static inline struct reading read_bytes(const struct bytes *b, size_t block_size)
{
    const char *path = file(0, b->data, b->len);
    struct input_options o = options_for(&path, 1);
    o.block_size = block_size;
    return read_all(&o);
}

#endif
