/* textdocs.h - the text of a JSON document, without some of its paragraphs.
 *
 * A paragraph is a line of the text that is not blank: the text is split at each line feed, and a
 * line of only ASCII white space is not a paragraph.  So a text is
 *
 *   S0 P1 S1 P2 S2 ... Pk Sk
 *
 * where each S is line feeds and blank lines; only S0 and Sk can be empty. */
#ifndef CLI_SESSION_TEXTDOCS_H
#define CLI_SESSION_TEXTDOCS_H
#include "tools/base/buffer.h"
#include "tools/input/jsonpick.h"
#include <stdint.h>

/* The next paragraph of a decoded text, without surrounding white space; false at the end.  *rest
 * begins with the whole text. */
bool textdoc_next(deja_slice *rest, deja_slice *paragraph);

/* Appends a line, which is a JSON object whose string at `path` has n paragraphs, to the buffer,
 * with only those paragraphs whose answer is `want`; there is at least one.  Each of them keeps
 * the text after it, except that the last is followed by Sk.  S0 and every byte outside the text
 * stay unchanged.  Bytes are copied as they are, in the spelling of the line.  False: out of
 * memory. */
bool textdoc_write(struct buffer *to, deja_slice line, const struct jsonpick_path *path,
                   const uint8_t *answer, size_t n, uint8_t want);

#endif
