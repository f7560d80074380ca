/* codec_zstd.c - zstd (RFC 8878) with libzstd; see codec.h.
 *
 * Windows above 2^27 bytes = 128 MiB are rejected, as by the zstd program, so that a hostile file
 * cannot allocate gigabytes. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_ZSTD
#include "tools/base/fail.h"
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG   27
#define HEADER_BEGIN 5 /* bytes that determine the length of a frame's header */
#define BLOCK_HEADER 3

struct zstd {
    ZSTD_DStream *stream;
    size_t wants; /* bytes to the end of the next block or header; 0: a new frame */
};

static void zstd_close(void *decoder)
{
    struct zstd *z = decoder;
    ZSTD_freeDStream(z->stream);
    free(z);
}

static void *zstd_open(void)
{
    struct zstd *z = calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->stream = ZSTD_createDStream();
    if (z->stream &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG)))
        return z;
    zstd_close(z);
    return NULL;
}

/* Frames of the formats before 0.8, recognized by their first byte, are rejected.  Some builds of
 * libzstd can decode them, but have been seen to return memory that they never wrote. */
static bool begins_frame(unsigned char first)
{
    return first == 0x28 || first >> 4 == 5;
}

static int refuse(size_t rc, deja_error *err)
{
    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_memory_allocation:
        return codec_no_memory(err);
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail(err, DEJA_EFORMAT,
                    "needs a zstd window above 128 MiB; pipe it through zstd -dc --long=31");
    case ZSTD_error_prefix_unknown:
        return codec_not_more(&codec_zstd, err);
    case ZSTD_error_dictionary_wrong:
        return fail(err, DEJA_EFORMAT,
                    "needs a zstd dictionary; pipe it through zstd -dc -D DICTIONARY");
    default:
        return fail(err, DEJA_EFORMAT, "contains damaged zstd data (%s)", ZSTD_getErrorName(rc));
    }
}

/* The decoder drops the output of a call that ends with an error.  So it gets one block at a time,
 * and none while it has output left.  Everything before a damaged block is returned that way. */
static int zstd_step(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap,
                     size_t *len, deja_error *err)
{
    struct zstd *z = decoder;
    if (codec_waits(in))
        return DEJA_OK;
    if (in->fresh && !begins_frame(in->bytes[in->pos]))
        return codec_not_more(&codec_zstd, err);
    const size_t have = in->len - in->pos;
    const size_t wants = z->wants ? z->wants : HEADER_BEGIN;
    const size_t give = !in->flushed ? 0 : have < wants ? have : wants;
    ZSTD_inBuffer from = {in->bytes, in->pos + give, in->pos};
    ZSTD_outBuffer to = {buf, cap, 0};
    const size_t rc = ZSTD_decompressStream(z->stream, &to, &from);
    in->pos = from.pos;
    *len = to.pos;
    in->flushed = to.pos < cap;
    in->fresh = rc == 0;
    in->first = in->first && rc != 0;
    if (ZSTD_isError(rc))
        return refuse(rc, err);
    /* The decoder asks for a block together with the header of the next one. */
    z->wants = rc > BLOCK_HEADER ? rc - BLOCK_HEADER : rc;
    return DEJA_OK;
}

const struct codec codec_zstd = {"zstd", "libzstd", zstd_open, zstd_step, zstd_close};
#else
const struct codec codec_zstd = {"zstd", "libzstd", NULL, NULL, NULL};
#endif
