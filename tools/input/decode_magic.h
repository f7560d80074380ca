/* decode_magic.h - recognizes file formats by their first bytes: those that deja decompresses, and
 * those that it must not mistake for lines.
 *
 * Everything else is plain.  A list of lines must never be rejected, so a pattern has at least one
 * byte that does not occur in text (a control byte, or one that UTF-8 forbids there), or is ten
 * bytes long, like bzip2's. */
#ifndef TOOLS_INPUT_DECODE_MAGIC_H
#define TOOLS_INPUT_DECODE_MAGIC_H
#include "tools/input/codec.h"
#include "tools/input/decode.h"

struct decode_magic {
    enum decode_format format;
    const struct codec *codec; /* NULL: the file is rejected */
    const char *what;          /* "a zip archive" */
    const char *remedy;        /* advice, printed after "; "; FILE is replaced by its name */
    size_t len;
    const char *bytes;
    size_t loose; /* the position of a byte that may be any from `from` to `to`; from is 0: none */
    unsigned char from, to;
};
/* Returns the row for a file that starts with `head`, or NULL.  *more becomes true if a row could
 * still match with further bytes.  DECODE_MAGIC bytes are always enough. */
const struct decode_magic *decode_magic(const unsigned char *head, size_t len, bool *more);

#endif
