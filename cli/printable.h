/* printable.h - text from elsewhere, made harmless for terminals. */
#ifndef CLI_PRINTABLE_H
#define CLI_PRINTABLE_H
#include "deja.h"

/* Copies text with a zero behind it, as much as fits into cap bytes, and returns how many bytes of
 * it did.  Terminals obey control characters and characters that turn the direction of writing or
 * end a line; these become escapes, \x1b or \u202e, and so do bytes that are no UTF-8.  All else
 * stays as it is; with ascii, for terminals of another encoding, ASCII alone does.  What was made
 * harmless before does not change. */
size_t printable(char *out, size_t cap, const void *text, size_t len, bool ascii);

enum printable_class { PRINTABLE, PRINTABLE_CONTROL, PRINTABLE_NOT_UTF8 };
/* The bytes of the character at s, and which one it is; or of what stands in the place of one. */
size_t printable_next(const void *s, size_t len, enum printable_class *class, uint32_t *code);

/* The length of a text that was cut, without the half of a character at its end. */
size_t printable_cut(const char *text, size_t len);

#endif
