/* decode.c - the bytes behind a file descriptor: plain, gzip or zstd, told apart by content.
 *
 * The name of a file says nothing here: the first four bytes do.  They are looked at with pread
 * where that is possible, so that plain files are read in whole pages straight into the caller's
 * buffer; from a pipe they are read, and handed out again first.  A pipe that has delivered only
 * one or two bytes is waited for only while these could still begin a magic number.
 *
 * Both compressed formats allow several streams one after the other (cat a.gz b.gz, pigz, bgzip,
 * pzstd), and all of them are read.  What follows the last one must be another one, or for gzip
 * zero bytes, with which tapes are padded; anything else is an error and not skipped, because
 * skipping could lose lines without a word.
 *
 * zstd decoders refuse windows above 2^27 bytes = 128 MiB by default, as the zstd tool does, so a
 * hostile file cannot ask for gigabytes.
 *
 * gzip: RFC 1952.  zstd: RFC 8878. */
#include "decode.h"
#include "fail.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef DEJA_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef DEJA_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define PACKED_CAP        ((size_t)128 << 10) /* compressed bytes held; zstd's largest block */
#define READ_MAX          ((size_t)1 << 30)   /* Linux reads less than 2 GiB at once */
#define STOP_WAIT_MS      100
#define LULL_MS           2 /* a pipe silent for so long has nothing more just now */
#define ZSTD_WINDOW_LOG   27
#define ZSTD_HEADER_BEGIN 5 /* bytes that tell how long a frame's header is */
#define ZSTD_BLOCK_HEADER 3

struct decode {
    int fd;
    bool regular;            /* reading never waits */
    const atomic_bool *stop; /* or NULL */
    uint64_t raw;

    bool sniffed;
    enum decode_format format;
    unsigned char head[DECODE_MAGIC]; /* bytes taken from a pipe to find the format ... */
    size_t head_len, head_pos;        /* ... and how many of them were handed out */

    bool end;         /* of fd */
    int failed;       /* 0, or the status that all further reads have */
    deja_error error; /* its words */

    /* Compressed streams only. */
    unsigned char *packed;
    size_t packed_len, packed_pos;
    bool fresh;   /* between two streams: the end of fd is welcome */
    bool flushed; /* the decoder holds no output back */
#ifdef DEJA_HAVE_ZLIB
    z_stream gz;
    bool gz_made;
    bool gz_first; /* still in the first member */
#endif
#ifdef DEJA_HAVE_ZSTD
    ZSTD_DStream *zst;
    size_t zst_wants; /* bytes to the end of the block or header that comes; 0: a new frame */
#endif
};

/* --- What is it? --------------------------------------------------------- */

static const unsigned char gzip_magic[] = {0x1f, 0x8b, 0x08};
static const unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
/* A zstd file may also begin with a frame to be skipped: 0x50 to 0x5f and these. */
static const unsigned char skip_magic[] = {0x2a, 0x4d, 0x18};

static bool begins(const unsigned char *head, size_t len, const unsigned char *magic, size_t n)
{
    return memcmp(head, magic, len < n ? len : n) == 0;
}

int decode_sniff(const unsigned char *head, size_t len)
{
    if (len == 0)
        return -1;
    if (begins(head, len, gzip_magic, sizeof gzip_magic))
        return len >= sizeof gzip_magic ? DECODE_GZIP : -1;
    if (begins(head, len, zstd_magic, sizeof zstd_magic) ||
        (head[0] >> 4 == 5 && begins(head + 1, len - 1, skip_magic, sizeof skip_magic)))
        return len >= DECODE_MAGIC ? DECODE_ZSTD : -1;
    return DECODE_PLAIN;
}

const char *decode_name(enum decode_format format)
{
    return format == DECODE_GZIP ? "gzip" : format == DECODE_ZSTD ? "zstd" : "plain";
}

bool decode_supported(enum decode_format format)
{
    switch (format) {
    case DECODE_GZIP:
#ifdef DEJA_HAVE_ZLIB
        return true;
#else
        return false;
#endif
    case DECODE_ZSTD:
#ifdef DEJA_HAVE_ZSTD
        return true;
#else
        return false;
#endif
    case DECODE_PLAIN:
        break;
    }
    return true;
}

/* --- The file descriptor ------------------------------------------------- */

static bool stopped(const struct decode *d)
{
    return d->stop && atomic_load_explicit(d->stop, memory_order_relaxed);
}

/* Are there bytes, or the end, within so many milliseconds (-1: for ever)? */
static bool readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0; /* also for POLLHUP and POLLERR: read will say which */
}

/* read(2) without its moods; *len stays 0 at the end, when stopped, and when `wait` is false
 * and nothing comes for LULL_MS.  The wait for a pipe is in poll, with a limit when somebody may
 * want to stop us: a signal interrupts only the thread that happens to get it, and it may come
 * just before the wait begins. */
static int read_raw(struct decode *d, void *buf, size_t cap, bool wait, size_t *len,
                    deja_error *err)
{
    *len = 0;
    if (cap > READ_MAX)
        cap = READ_MAX;
    while (!stopped(d)) {
        if (!d->regular && !wait && !readable(d->fd, LULL_MS))
            return DEJA_OK;
        if (!d->regular && wait && d->stop && !readable(d->fd, STOP_WAIT_MS))
            continue;
        ssize_t got = read(d->fd, buf, cap);
        if (got > 0) {
            *len = (size_t)got;
            d->raw += (uint64_t)got;
            return DEJA_OK;
        }
        if (got == 0) {
            d->end = true;
            return DEJA_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) { /* somebody made it non-blocking */
            if (!wait)
                return DEJA_OK;
            readable(d->fd, d->stop ? STOP_WAIT_MS : -1);
        } else if (errno == EISDIR) {
            return fail(err, DEJA_EIO, "is a directory; name files, or use find ... |");
        } else if (errno != EINTR) {
            return fail_errno(err, "cannot be read");
        }
    }
    return DEJA_OK;
}

/* --- gzip ---------------------------------------------------------------- */

static int cut_short(deja_error *err)
{
    return fail(err, DEJA_EFORMAT, "ends inside its compressed data: the file is cut short");
}

#ifdef DEJA_HAVE_ZLIB
static int gzip_init(struct decode *d, deja_error *err)
{
    int rc = inflateInit2(&d->gz, 15 + 16); /* the largest window; only gzip, not zlib, headers */
    if (rc != Z_OK)
        return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
    d->gz_made = true;
    d->gz_first = true;
    return DEJA_OK;
}

static int gzip_step(struct decode *d, unsigned char *buf, size_t cap, size_t *len,
                     deja_error *err)
{
    unsigned char *in = d->packed + d->packed_pos;
    size_t in_len = d->packed_len - d->packed_pos;
    if (d->fresh && !d->gz_first) { /* padding */
        while (in_len && *in == 0) {
            in++;
            in_len--;
        }
        d->packed_pos = d->packed_len - in_len;
    }
    if (in_len == 0 && d->fresh) {
        d->flushed = true;
        return DEJA_OK;
    }
    uInt room = cap < UINT_MAX ? (uInt)cap : UINT_MAX;
    d->gz.next_in = in;
    d->gz.avail_in = (uInt)in_len;
    d->gz.next_out = buf;
    d->gz.avail_out = room;
    int rc = inflate(&d->gz, Z_NO_FLUSH);
    d->packed_pos = d->packed_len - d->gz.avail_in;
    *len = room - d->gz.avail_out;
    d->flushed = d->gz.avail_out != 0;
    d->fresh = false;
    switch (rc) {
    case Z_STREAM_END:
        d->fresh = true;
        d->gz_first = false;
        inflateReset(&d->gz);
        return DEJA_OK;
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do without more input */
        return DEJA_OK;
    case Z_MEM_ERROR:
        return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
    default:
        if (!d->gz_first && d->gz.msg && strcmp(d->gz.msg, "incorrect header check") == 0)
            return fail(err, DEJA_EFORMAT,
                        "has bytes after its gzip data that are not gzip; cut them off, or "
                        "decompress it with gzip -d, which ignores them");
        return fail(err, DEJA_EFORMAT, "holds damaged gzip data (%s)",
                    d->gz.msg ? d->gz.msg : "unknown reason");
    }
}
#endif

/* --- zstd ---------------------------------------------------------------- */

#ifdef DEJA_HAVE_ZSTD
static int zstd_init(struct decode *d, deja_error *err)
{
    d->zst = ZSTD_createDStream();
    if (!d->zst ||
        ZSTD_isError(ZSTD_DCtx_setParameter(d->zst, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
        return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
    return DEJA_OK;
}

static int not_zstd(deja_error *err)
{
    return fail(err, DEJA_EFORMAT,
                "has bytes after its zstd data that are not zstd; cut them off");
}

/* Frames of the formats before 0.8, told by their first byte, are refused: libzstd has decoders
 * for them, in some builds, and these have been seen to call memory they never wrote decoded. */
static bool begins_frame(unsigned char first)
{
    return first == zstd_magic[0] || first >> 4 == 5;
}

/* The decoder forgets what it has decoded in a call that ends with an error.  It gets a block at a
 * time, and none while it holds output back, so that what comes before a damaged one is never
 * among that. */
static int zstd_step(struct decode *d, unsigned char *buf, size_t cap, size_t *len,
                     deja_error *err)
{
    if (d->fresh && d->packed_pos == d->packed_len) {
        d->flushed = true;
        return DEJA_OK;
    }
    if (d->fresh && !begins_frame(d->packed[d->packed_pos]))
        return not_zstd(err);
    const size_t have = d->packed_len - d->packed_pos;
    const size_t wants = d->zst_wants ? d->zst_wants : ZSTD_HEADER_BEGIN;
    const size_t give = !d->flushed ? 0 : have < wants ? have : wants;
    ZSTD_inBuffer in = {d->packed, d->packed_pos + give, d->packed_pos};
    ZSTD_outBuffer out = {buf, cap, 0};
    size_t rc = ZSTD_decompressStream(d->zst, &out, &in);
    d->packed_pos = in.pos;
    *len = out.pos;
    d->flushed = out.pos < cap;
    d->fresh = rc == 0;
    if (!ZSTD_isError(rc)) {
        /* With a block it would like the header of the next one. */
        d->zst_wants = rc > ZSTD_BLOCK_HEADER ? rc - ZSTD_BLOCK_HEADER : rc;
        return DEJA_OK;
    }
    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_memory_allocation:
        return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail(err, DEJA_EFORMAT,
                    "needs a zstd window above 128 MiB; pipe it through zstd -dc --long=31");
    case ZSTD_error_prefix_unknown:
        return not_zstd(err);
    case ZSTD_error_dictionary_wrong:
        return fail(err, DEJA_EFORMAT,
                    "needs a zstd dictionary; pipe it through zstd -dc -D DICTIONARY");
    default:
        return fail(err, DEJA_EFORMAT, "holds damaged zstd data (%s)", ZSTD_getErrorName(rc));
    }
}
#endif

/* --- All of them --------------------------------------------------------- */

int decode_new(int fd, const atomic_bool *stop, struct decode **out, deja_error *err)
{
    struct decode *d = calloc(1, sizeof *d);
    if (!d)
        return fail(err, DEJA_ENOMEM, "cannot be read: out of memory");
    struct stat st;
    d->fd = fd;
    d->stop = stop;
    d->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *out = d;
    return DEJA_OK;
}

void decode_free(struct decode *d)
{
    if (!d)
        return;
#ifdef DEJA_HAVE_ZLIB
    if (d->gz_made)
        inflateEnd(&d->gz);
#endif
#ifdef DEJA_HAVE_ZSTD
    ZSTD_freeDStream(d->zst);
#endif
    free(d->packed);
    free(d);
}

/* The first bytes of a file, without taking them; -1 where that cannot be done. */
static ssize_t peek_at(int fd, unsigned char head[DECODE_MAGIC])
{
    const off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t have = at < 0 ? -1 : 0;
    while (have >= 0 && have < DECODE_MAGIC) {
        const ssize_t got = pread(fd, head + have, DECODE_MAGIC - (size_t)have, at + have);
        if (got == 0)
            break;
        if (got > 0)
            have += got;
        else if (errno != EINTR)
            have = -1;
    }
    return have;
}

/* Find the format.  What has to be consumed for that is in head. */
static int sniff(struct decode *d, deja_error *err)
{
    unsigned char peek[DECODE_MAGIC];
    ssize_t got = d->regular ? peek_at(d->fd, peek) : -1;
    int format = -1;
    if (got >= 0) { /* may err for a file that is just being written; reading it did, too */
        format = decode_sniff(peek, (size_t)got);
    } else {
        while (format < 0 && !d->end && !stopped(d)) {
            size_t len;
            int rc =
                read_raw(d, d->head + d->head_len, DECODE_MAGIC - d->head_len, true, &len, err);
            if (rc < 0)
                return rc;
            d->head_len += len;
            format = decode_sniff(d->head, d->head_len);
        }
        if (stopped(d))
            return DEJA_OK;
    }
    d->format = format < 0 ? DECODE_PLAIN : (enum decode_format)format;
    d->sniffed = true;
    if (d->format == DECODE_PLAIN)
        return DEJA_OK;

    const char *name = decode_name(d->format);
    if (!decode_supported(d->format))
        return fail(err, DEJA_EFORMAT,
                    "is %s-compressed, and this deja was built without %s; decompress it first: "
                    "%s -dc FILE | deja ...",
                    name, d->format == DECODE_GZIP ? "zlib" : "libzstd", name);
    d->packed = malloc(PACKED_CAP);
    if (!d->packed)
        return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
    memcpy(d->packed, d->head, d->head_len);
    d->packed_len = d->head_len;
    d->head_pos = d->head_len;
    d->fresh = true;
    d->flushed = true;
#ifdef DEJA_HAVE_ZLIB
    if (d->format == DECODE_GZIP)
        return gzip_init(d, err);
#endif
#ifdef DEJA_HAVE_ZSTD
    if (d->format == DECODE_ZSTD)
        return zstd_init(d, err);
#endif
    return DEJA_OK;
}

static int step(struct decode *d, unsigned char *buf, size_t cap, size_t *len, deja_error *err)
{
#ifdef DEJA_HAVE_ZLIB
    if (d->format == DECODE_GZIP)
        return gzip_step(d, buf, cap, len, err);
#endif
#ifdef DEJA_HAVE_ZSTD
    if (d->format == DECODE_ZSTD)
        return zstd_step(d, buf, cap, len, err);
#endif
    (void)d, (void)buf, (void)cap, (void)len;
    return fail(err, DEJA_EFORMAT, "cannot be decompressed");
}

static int read_packed(struct decode *d, unsigned char *buf, size_t cap, bool wait, size_t *len,
                       deja_error *err)
{
    while (*len == 0) {
        if (d->packed_pos == d->packed_len && d->flushed) {
            d->packed_pos = 0;
            d->packed_len = 0;
            if (!d->end) {
                int rc = read_raw(d, d->packed, PACKED_CAP, wait, &d->packed_len, err);
                if (rc < 0)
                    return rc;
            }
            if (d->end)
                return d->fresh ? DEJA_OK : cut_short(err);
            if (d->packed_len == 0)
                return DEJA_OK;
        }
        int rc = step(d, buf, cap, len, err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

static int read_plain(struct decode *d, unsigned char *buf, size_t cap, bool wait, size_t *len,
                      deja_error *err)
{
    size_t left = d->head_len - d->head_pos;
    if (left) {
        *len = left < cap ? left : cap;
        memcpy(buf, d->head + d->head_pos, *len);
        d->head_pos += *len;
        return DEJA_OK;
    }
    return d->end ? DEJA_OK : read_raw(d, buf, cap, wait, len, err);
}

int decode_read(struct decode *d, void *buf, size_t cap, bool wait, size_t *len, deja_error *err)
{
    assert(cap > 0);
    *len = 0;
    int rc = d->failed;
    if (rc == DEJA_OK && !d->sniffed)
        rc = d->failed = sniff(d, &d->error);
    if (rc == DEJA_OK && d->sniffed)
        rc = d->failed = d->format == DECODE_PLAIN
                             ? read_plain(d, buf, cap, wait, len, &d->error)
                             : read_packed(d, buf, cap, wait, len, &d->error);
    if (rc == DEJA_OK || *len > 0) /* what was decoded before the damage comes first */
        return DEJA_OK;
    if (err)
        *err = d->error;
    return rc;
}

bool decode_ended(const struct decode *d)
{
    return d->end && d->head_pos == d->head_len && d->packed_pos == d->packed_len &&
           (d->format == DECODE_PLAIN || d->flushed);
}

uint64_t decode_raw_bytes(const struct decode *d)
{
    return d->raw;
}
