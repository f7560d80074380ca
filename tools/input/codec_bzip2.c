/* codec_bzip2.c - bzip2 with libbz2; see codec.h.
 *
 * A decoder uses at most 4 MB.  It must read a whole block of up to 900 kB before it returns any of
 * it.  If the block turns out to be damaged, the output of that call is dropped; earlier blocks
 * have been returned by earlier calls. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_BZIP2
#include "tools/base/fail.h"
#include <bzlib.h>
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

/* Starts a new decoder, because libbz2 cannot reset one. */
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
    CODEC_GIVE(z, in, buf, cap);
    const int rc = BZ2_bzDecompress(z);
    CODEC_TAKE(z, in, cap, len);
    switch (rc) {
    case BZ_OK:
        return DEJA_OK;
    case BZ_STREAM_END:
        codec_stream_ended(in);
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
    return fail(err, DEJA_EFORMAT, "contains damaged bzip2 data");
}

const struct codec codec_bzip2 = {"bzip2", "libbz2", bzip2_open, bzip2_step, bzip2_close};
#else
const struct codec codec_bzip2 = {"bzip2", "libbz2", NULL, NULL, NULL};
#endif
