/* codec.h - decompresses one format; decode.c drives it.
 *
 * A compressed file is one or more streams in sequence.  The file may end only between two streams,
 * while `fresh` is set. */
#ifndef TOOLS_INPUT_CODEC_H
#define TOOLS_INPUT_CODEC_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* The compressed bytes that have been read, and the state of the decoder. */
struct codec_input {
    unsigned char *bytes;
    size_t len, pos; /* pos: bytes consumed by the decoder */
    bool fresh;      /* between two streams, or before the first */
    bool first;      /* before the end of the first stream */
    bool flushed;    /* the decoder has no more output for these bytes */
};

#define CODEC_MAX ((size_t)1 << 30) /* fits an unsigned int */

struct codec {
    const char *name;    /* also the program's name: NAME -dc FILE decompresses */
    const char *library; /* the library that it requires */
    /* Returns a decoder, or NULL if out of memory.  open is NULL in a build without the
     * library. */
    void *(*open)(void);
    /* Reads from `in` and writes up to cap (at most CODEC_MAX) bytes to buf.  It must make progress,
     * or set `flushed` if it needs more bytes.  *len is 0 before the call; even after an error it
     * is the number of good bytes in buf.  The error text completes "FILE ...". */
    int (*step)(void *decoder, struct codec_input *in, unsigned char *buf, size_t cap, size_t *len,
                deja_error *err);
    void (*close)(void *decoder);
};
extern const struct codec codec_gzip, codec_zstd, codec_xz, codec_bzip2;

/* Return the errors that all formats share. */
int codec_no_memory(deja_error *err);
/* Returns the error for other bytes after the last stream. */
int codec_not_more(const struct codec *c, deja_error *err);
/* Whether the next stream is still to be read. */
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
/* Whether the byte after a stream cannot start another one.  A library may need more bytes to
 * detect that, and there may be none. */
static inline bool codec_is_over(const struct codec_input *in, unsigned char begin)
{
    return in->fresh && !in->first && in->bytes[in->pos] != begin;
}
/* Skips zero bytes after a stream: tapes and block devices pad files with zeros. */
static inline void codec_skip_padding(struct codec_input *in)
{
    while (in->fresh && !in->first && in->pos < in->len && in->bytes[in->pos] == 0)
        in->pos++;
}

/* Use these before and after a call of zlib, liblzma or libbz2, whose streams have the same
 * fields. */
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
