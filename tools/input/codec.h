/* codec.h - how one compressed format becomes plain bytes; decode.c drives it.
 *
 * A compressed file is one stream or several, one after the other.  Between two streams it is
 * `fresh`: there, and nowhere else, the file may end. */
#ifndef TOOLS_INPUT_CODEC_H
#define TOOLS_INPUT_CODEC_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* The compressed bytes at hand, and where the decoder stands. */
struct codec_input {
    unsigned char *bytes;
    size_t len, pos; /* pos: taken by the decoder */
    bool fresh;      /* between two streams, or before the first */
    bool first;      /* no stream has ended yet */
    bool flushed;    /* the decoder holds no output back */
};

#define CODEC_MAX ((size_t)1 << 30) /* fits an unsigned int */

struct codec {
    const char *name;    /* also of the tool: NAME -dc FILE decompresses */
    const char *library; /* that this needs */
    /* A decoder; NULL: out of memory.  open is NULL in a build without the library. */
    void *(*open)(void);
    /* Takes bytes from `in` and writes up to cap bytes, at most CODEC_MAX, to buf.  It must make progress, or set
     * `flushed` if it needs more bytes.  *len, which is 0 before, also counts with an error: these
     * bytes came before it.  Errors are phrases for after a file's name. */
    int (*step)(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap, size_t *len,
                deja_error *err);
    void (*close)(void *decoder);
};
extern const struct codec codec_gzip, codec_zstd, codec_xz, codec_bzip2;

/* Errors that they share. */
int codec_no_memory(deja_error *err);
int codec_not_more(const struct codec *c,
                   deja_error *err); /* other bytes follow the last stream */
/* Is everything before the next stream taken? */
static inline bool codec_waits(struct codec_input *in)
{
    const bool waits = in->fresh && in->pos == in->len;
    in->flushed = in->flushed || waits;
    return waits;
}
/* A stream has ended; another may follow. */
static inline void codec_stream_ended(struct codec_input *in)
{
    in->fresh = true;
    in->first = false;
}
/* After a stream, does the next byte not begin another one?  Libraries may want more bytes to say
 * so, and there may be none. */
static inline bool codec_is_over(const struct codec_input *in, unsigned char begin)
{
    return in->fresh && !in->first && in->bytes[in->pos] != begin;
}
/* Skips the zero bytes with which tapes and block devices pad the end of a file. */
static inline void codec_skip_padding(struct codec_input *in)
{
    while (in->fresh && !in->first && in->pos < in->len && in->bytes[in->pos] == 0)
        in->pos++;
}

/* Before and after a call of zlib, liblzma or libbz2, whose streams have the same fields. */
#define CODEC_GIVE(z, in, buf, cap)                                                               \
    do {                                                                                          \
        (z)->next_in = (void *)((in)->bytes + (in)->pos);                                         \
        (z)->avail_in = (unsigned)((in)->len - (in)->pos);                                        \
        (z)->next_out = (void *)(buf);                                                            \
        (z)->avail_out = (unsigned)(cap);                                                         \
    } while (0)
#define CODEC_TAKE(z, in, cap, len)                                                               \
    do {                                                                                          \
        (in)->pos = (in)->len - (z)->avail_in;                                                    \
        (in)->flushed = (z)->avail_out != 0;                                                      \
        (in)->fresh = false;                                                                      \
        *(len) = (cap) - (z)->avail_out;                                                          \
    } while (0)

#endif
