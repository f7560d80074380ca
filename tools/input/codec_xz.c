/* codec_xz.c - xz with liblzma; see codec.h.
 *
 * The decoder may use up to 256 MiB.  Files of xz -9 need 65 MiB; only larger custom dictionaries,
 * up to 4 GiB, need more, and a hostile file must not get that much.
 *
 * Zero bytes after a stream are padding, as the format defines. */
#include "tools/input/codec.h"
#ifdef DEJA_HAVE_LZMA
#include "tools/base/fail.h"
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>

#define MEMORY_MAX ((uint64_t)256 << 20)

static void xz_close(void *decoder)
{
    lzma_end(decoder);
    free(decoder);
}

static void *xz_open(void)
{
    static const lzma_stream none = LZMA_STREAM_INIT;
    lzma_stream *z = malloc(sizeof *z);
    if (!z)
        return NULL;
    *z = none;
    if (lzma_stream_decoder(z, MEMORY_MAX, 0) == LZMA_OK)
        return z;
    xz_close(z);
    return NULL;
}

static int refuse(const lzma_stream *z, lzma_ret rc, bool first, deja_error *err)
{
    switch (rc) {
    case LZMA_MEM_ERROR:
        return codec_no_memory(err);
    case LZMA_MEMLIMIT_ERROR:
        return fail(err, DEJA_EFORMAT,
                    "needs %" PRIu64 " MiB of memory to decompress, and deja allows %" PRIu64
                    "; pipe it through xz -dc",
                    (lzma_memusage(z) >> 20) + 1, MEMORY_MAX >> 20);
    case LZMA_FORMAT_ERROR:
        if (!first)
            return codec_not_more(&codec_xz, err);
        break;
    case LZMA_OPTIONS_ERROR:
        return fail(err, DEJA_EFORMAT,
                    "is damaged, or uses xz features that this version of liblzma lacks");
    default:
        break;
    }
    return fail(err, DEJA_EFORMAT, "contains damaged xz data");
}

static int xz_step(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap,
                   size_t *len, deja_error *err)
{
    lzma_stream *z = decoder;
    codec_skip_padding(in);
    if (codec_waits(in))
        return DEJA_OK;
    if (codec_is_over(in, 0xfd))
        return codec_not_more(&codec_xz, err);
    CODEC_GIVE(z, in, buf, cap);
    lzma_ret rc = lzma_code(z, LZMA_RUN);
    CODEC_TAKE(z, in, cap, len);
    if (rc == LZMA_STREAM_END) {
        codec_stream_ended(in);
        rc = lzma_stream_decoder(z, MEMORY_MAX, 0); /* for the next stream; reuses the memory */
    }
    /* LZMA_BUF_ERROR: it needs more input. */
    return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? DEJA_OK : refuse(z, rc, in->first, err);
}

const struct codec codec_xz = {"xz", "liblzma", xz_open, xz_step, xz_close};
#else
const struct codec codec_xz = {"xz", "liblzma", NULL, NULL, NULL};
#endif
