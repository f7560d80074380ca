/* codec_gzip.c - gzip (RFC 1952) with zlib; see codec.h.
 *
 * Zero bytes after the last member are padding, as tapes have it. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_ZLIB
#include "tools/base/fail.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void *gzip_open(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, 15 + 16) != Z_OK) { /* the largest window; no zlib headers */
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
    const uInt room = cap < UINT_MAX ? (uInt)cap : UINT_MAX;
    z->next_in = in->bytes + in->pos;
    z->avail_in = (uInt)(in->len - in->pos);
    z->next_out = buf;
    z->avail_out = room;
    const int rc = inflate(z, Z_NO_FLUSH);
    in->pos = in->len - z->avail_in;
    *len = room - z->avail_out;
    in->flushed = z->avail_out != 0;
    in->fresh = false;
    switch (rc) {
    case Z_STREAM_END:
        in->fresh = true;
        in->first = false;
        inflateReset(z);
        return DEJA_OK;
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do without more input */
        return DEJA_OK;
    case Z_MEM_ERROR:
        return codec_no_memory(err);
    default:
        if (!in->first && z->msg && strcmp(z->msg, "incorrect header check") == 0)
            return codec_not_more(&codec_gzip, err);
        return fail(err, DEJA_EFORMAT, "holds damaged gzip data (%s)",
                    z->msg ? z->msg : "unknown reason");
    }
}
#endif

const struct codec codec_gzip = {
    .name = "gzip",
    .library = "zlib",
#ifdef DEJA_HAVE_ZLIB
    .open = gzip_open,
    .step = gzip_step,
    .close = gzip_close,
#endif
};
