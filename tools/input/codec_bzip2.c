/* codec_bzip2.c - bzip2 with libbz2; see codec.h.
 *
 * A decoder takes at most 4 MB.  It needs a whole block, of up to 900 kB, before it gives any of
 * it.  If it finds the block damaged while it writes it out, what it has written in that call is
 * forgotten; the blocks before it are not among that. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_BZIP2
#include "tools/base/fail.h"
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>

static void bzip2_close(void *decoder)
{
    BZ2_bzDecompressEnd(decoder);
    free(decoder);
}

static void *bzip2_open(void)
{
    bz_stream *z = calloc(1, sizeof *z);
    if (z && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
        free(z);
        z = NULL;
    }
    return z;
}

/* The library has no call that resets a decoder. */
static int begin_again(bz_stream *z, deja_error *err)
{
    BZ2_bzDecompressEnd(z);
    return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK ? DEJA_OK : codec_no_memory(err);
}

static int bzip2_step(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap,
                      size_t *len, deja_error *err)
{
    bz_stream *z = decoder;
    if (codec_waits(in))
        return DEJA_OK;
    const unsigned room = cap < UINT_MAX ? (unsigned)cap : UINT_MAX;
    z->next_in = (char *)in->bytes + in->pos;
    z->avail_in = (unsigned)(in->len - in->pos);
    z->next_out = (char *)buf;
    z->avail_out = room;
    const int rc = BZ2_bzDecompress(z);
    in->pos = in->len - z->avail_in;
    *len = room - z->avail_out;
    in->flushed = z->avail_out != 0;
    in->fresh = false;
    switch (rc) {
    case BZ_OK:
        return DEJA_OK;
    case BZ_STREAM_END:
        in->fresh = true;
        in->first = false;
        return begin_again(z, err);
    case BZ_MEM_ERROR:
        return codec_no_memory(err);
    case BZ_DATA_ERROR_MAGIC:
        if (!in->first)
            return codec_not_more(&codec_bzip2, err);
        break;
    default:
        break;
    }
    return fail(err, DEJA_EFORMAT, "holds damaged bzip2 data");
}
#endif

const struct codec codec_bzip2 = {
    .name = "bzip2",
    .library = "libbz2",
#ifdef DEJA_HAVE_BZIP2
    .open = bzip2_open,
    .step = bzip2_step,
    .close = bzip2_close,
#endif
};
