/* packed.h - gzip and zstd files by hand: stored blocks (gzip), raw and repeated ones (zstd). That
 * takes no library, and every field of the formats can be wrong on purpose. */
#ifndef TEST_PACKED_H
#define TEST_PACKED_H
#include "decode.h"
#include "reading.h"

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

typedef void put_packed(struct bytes *out, const char *data, size_t len, size_t piece);
static const struct packer {
    enum decode_format format;
    put_packed *put;
    const char *library;
} packers[] = {{DECODE_GZIP, put_gzip, "zlib"}, {DECODE_ZSTD, put_zstd, "libzstd"}};

static inline struct reading read_bytes(const struct bytes *b, size_t block_size)
{
    const char *path = file(0, b->data, b->len);
    struct input_options o = options_for(&path, 1);
    o.block_size = block_size;
    return read_all(&o);
}

#endif
