/* decode_magic.h - what a file is, by its first bytes: formats that deja decompresses, and formats
 * that it must not mistake for lines.
 *
 * Anything else is plain.  So a pattern has at least one byte that text does not have (a control
 * byte, or one that UTF-8 forbids there), or is ten bytes long, as that of bzip2: a list of lines
 * must never be refused. */
#ifndef TOOLS_INPUT_DECODE_MAGIC_H
#define TOOLS_INPUT_DECODE_MAGIC_H
#include "tools/input/codec.h"
#include "tools/input/decode.h"

struct decode_magic {
    enum decode_format format;
    const struct codec *codec; /* NULL: not decompressed, but refused */
    const char *what;          /* "a zip archive" */
    const char *remedy;        /* what to do about it, after "; "; FILE is its name */
    size_t len;
    const char *bytes;
    size_t loose; /* where a byte may be any from `from` to `to`; from is 0: nowhere */
    unsigned char from, to;
};
/* The row for a file that begins with `head`, or NULL.  *more: further bytes could still make it
 * one.  DECODE_MAGIC bytes are always enough. */
const struct decode_magic *decode_magic(const unsigned char *head, size_t len, bool *more);

#endif
