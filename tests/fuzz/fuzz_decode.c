/* fuzz_decode.c - compressed framing: content survives a round trip, and damage is detected.
 *
 * The first byte selects the type of the rest: raw bytes (0, 1), or content that is compressed
 * here, in one stream or two, as gzip or zstd (2 .. 5) or, from 0xf0 on, as xz or bzip2 (6 .. 9).
 * It is then damaged at the place in the third byte, unless the second byte is 0.  Reading it
 * from a file or a pipe, in pieces of any size, must give the same bytes and the same end.  Intact
 * streams must decode to their content.  A damaged stream with a checksum must fail, or decode to
 * its content if the damage is in unused bytes. */
#include "checking.h"
#include "tools/input/decode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef DEJA_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef DEJA_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef DEJA_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef DEJA_HAVE_BZIP2
#include <bzlib.h>
#endif

#define MOST ((size_t)1 << 16) /* what a pipe holds, and enough of a decompression bomb */

struct result {
    unsigned char *data;
    size_t len;
    int rc;
    deja_error err;
};

/* Reads everything, up to MOST bytes. */
static struct result read_all(int fd, size_t piece)
{
    struct result r = {.data = malloc(MOST), .rc = DEJA_OK};
    struct decode *d;
    check(r.data && decode_new(fd, NULL, NULL, &d, NULL) == DEJA_OK);
    while (r.len < MOST) {
        const size_t room = MOST - r.len < piece ? MOST - r.len : piece;
        unsigned char *buf = malloc(room); /* its own block, so that overruns are detected */
        size_t len = 77;
        check(buf);
        r.rc = decode_read(d, buf, room, true, &len, &r.err);
        check(r.rc < 0 || len <= room);
        if (r.rc == DEJA_OK)
            memcpy(r.data + r.len, buf, len);
        free(buf);
        if (r.rc < 0 || len == 0)
            break;
        r.len += len;
    }
    if (r.rc < 0) {
        size_t len;
        deja_error again = {0};
        check(r.err.status == r.rc && r.err.text[0]);
        check(decode_read(d, r.data, 1, true, &len, &again) == r.rc); /* and the error is
                                                                       * permanent */
    }
    decode_free(d);
    return r;
}

static struct result from_file(const unsigned char *data, size_t len, size_t piece)
{
    const int fd = memfd_create("fuzz_decode", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
    const struct result r = read_all(fd, piece);
    close(fd);
    return r;
}

static struct result from_pipe(const unsigned char *data, size_t len, size_t piece)
{
    int fd[2];
    check(pipe(fd) == 0 && write(fd[1], data, len) == (ssize_t)len);
    close(fd[1]);
    const struct result r = read_all(fd[0], piece);
    close(fd[0]);
    return r;
}

#ifdef DEJA_HAVE_ZLIB
static size_t gzip(const unsigned char *data, size_t len, unsigned char *out, size_t cap)
{
    z_stream z = {0};
    check(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (unsigned)len;
    z.next_out = out;
    z.avail_out = (unsigned)cap;
    check(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}
#endif

#ifdef DEJA_HAVE_ZSTD
static size_t zstd(const unsigned char *data, size_t len, unsigned char *out, size_t cap)
{
    static ZSTD_CCtx *c;
    if (!c) {
        c = ZSTD_createCCtx();
        check(c && !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)));
    }
    const size_t n = ZSTD_compress2(c, out, cap, data, len);
    check(!ZSTD_isError(n));
    return n;
}
#endif

#ifdef DEJA_HAVE_LZMA
static size_t xz(const unsigned char *data, size_t len, unsigned char *out, size_t cap)
{
    size_t n = 0;
    check(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, data, len, out, &n, cap) == LZMA_OK);
    return n;
}
#endif

#ifdef DEJA_HAVE_BZIP2
static size_t bzip2(const unsigned char *data, size_t len, unsigned char *out, size_t cap)
{
    unsigned n = (unsigned)cap;
    char *from = (char *)(uintptr_t)data;
    check(BZ2_bzBuffToBuffCompress((char *)out, &n, from, (unsigned)len, 1, 0, 0) == BZ_OK);
    return n;
}
#endif

typedef size_t compressor(const unsigned char *data, size_t len, unsigned char *out, size_t cap);

/* NULL if it is not in this build. */
static compressor *compressor_of(unsigned how)
{
#ifdef DEJA_HAVE_ZLIB
    if (how == 2 || how == 3)
        return gzip;
#endif
#ifdef DEJA_HAVE_ZSTD
    if (how == 4 || how == 5)
        return zstd;
#endif
#ifdef DEJA_HAVE_LZMA
    if (how == 6 || how == 7)
        return xz;
#endif
#ifdef DEJA_HAVE_BZIP2
    if (how == 8 || how == 9)
        return bzip2;
#endif
    return NULL;
}

static size_t compress_as(compressor *pack, bool twice, const unsigned char *data, size_t len,
                          unsigned char *out, size_t cap)
{
    const size_t half = twice ? len / 2 : len; /* a second stream after the first */
    size_t n = 0;
    for (size_t at = 0, part = half; at < len || n == 0; at += part, part = len - at)
        n += pack(data + at, part, out + n, cap - n);
    return n;
}

static void free_result(struct result *r)
{
    free(r->data);
}

/* In three libraries, the part of a damaged block that comes out before the error depends on the
 * size of the pieces: libbz2 drops the output of the call that finds the damage, liblzma detects
 * some damage only at the end of a call, and libzstd writes a small block as soon as it can.  For
 * these, one result must be a prefix of the other. */
static void same(const struct result *a, const struct result *b, bool loosely)
{
    const size_t len = a->len < b->len ? a->len : b->len;
    check(a->rc == b->rc && memcmp(a->data, b->data, len) == 0);
    check(a->len == b->len || (loosely && a->rc == DEJA_EFORMAT));
    check(a->rc == DEJA_OK || strcmp(a->err.text, b->err.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char packed[MOST];
    if (size < 4 || size > 8192)
        return 0;
    const unsigned how = data[0] < 0xf0 ? data[0] % 6 : 6 + data[0] % 4, damage = data[1];
    const size_t piece = (size_t)data[2] * data[2] + 1, place = data[2] + 256u * data[3];
    const unsigned char *content = data + 4, *bytes = content;
    size_t len = size - 4;
    compressor *pack = compressor_of(how);
    if (pack) {
        len = compress_as(pack, how % 2, content, size - 4, packed, sizeof packed);
        packed[place % len] ^= (unsigned char)damage;
        bytes = packed;
    }
    struct result whole = from_file(bytes, len, MOST), pieces = from_file(bytes, len, piece),
                  piped = from_pipe(bytes, len, piece);
    const size_t least = len < 3 ? len : 3;
    const bool loosely = memcmp(bytes, "BZh", least) == 0 ||
                         memcmp(bytes, "\xfd\x37z", least) == 0 ||
                         memcmp(bytes, "\x28\xb5\x2f", least) == 0;
    same(&whole, &pieces, loosely);
    same(&whole, &piped, loosely);
    if (pack && damage == 0)
        check(whole.rc == DEJA_OK);
    /* The first bytes identify the format: damaged, they mean a different one.  A block whose damaged
     * length exceeds MOST is not read up to its checksum. */
    if (pack && whole.rc == DEJA_OK && whole.len < MOST &&
        (damage == 0 || place % len >= DECODE_MAGIC))
        check(whole.len <= size - 4 && memcmp(whole.data, content, whole.len) == 0);
    free_result(&whole);
    free_result(&pieces);
    free_result(&piped);
    return 0;
}
