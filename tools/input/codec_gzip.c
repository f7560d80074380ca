/* codec_gzip.c - gzip (RFC 1952) with zlib; see codec.h.
 *
 * Zero bytes after the last member are padding, as on tapes. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_ZLIB
#include "tools/base/fail.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void *gzip_open(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, 15 + 16) != Z_OK) { /* the largest window; gzip headers only */
        free(z);
        z = NULL;
    }
    return z;
}

static void gzip_close(void *decoder)
{
    inflateEnd(decoder);
    free(decoder);
}

static int gzip_step(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap,
                     size_t *len, deja_error *err)
{
    z_stream *z = decoder;
    codec_skip_padding(in);
    if (codec_waits(in))
        return DEJA_OK;
    if (codec_is_over(in, 0x1f))
        return codec_not_more(&codec_gzip, err);
    CODEC_GIVE(z, in, buf, cap);
    const int rc = inflate(z, Z_NO_FLUSH);
    CODEC_TAKE(z, in, cap, len);
    switch (rc) {
    case Z_STREAM_END:
        codec_stream_ended(in);
        inflateReset(z);
        return DEJA_OK;
    case Z_OK:
    case Z_BUF_ERROR: /* it needs more input */
        return DEJA_OK;
    case Z_MEM_ERROR:
        return codec_no_memory(err);
    default:
        if (!in->first && z->msg && strcmp(z->msg, "incorrect header check") == 0)
            return codec_not_more(&codec_gzip, err);
        return fail(err, DEJA_EFORMAT, "contains damaged gzip data (%s)",
                    z->msg ? z->msg : "unknown reason");
    }
}

const struct codec codec_gzip = {"gzip", "zlib", gzip_open, gzip_step, gzip_close};
#else
const struct codec codec_gzip = {"gzip", "zlib", NULL, NULL, NULL};
#endif
