/* utf16.h - UTF-8 to UTF-16, as Java decodes strings. */
#ifndef TOOLS_FOREIGN_UTF16_H
#define TOOLS_FOREIGN_UTF16_H
#include "deja.h"

/* Writes the beginning of the text as little-endian UTF-16, as much as fits into cap bytes (at least
 * 4), removes it from the text, and returns the number of bytes.  Each longest beginning of a
 * sequence that is not continued correctly becomes one U+FFFD. */
size_t utf16_le(deja_slice *text, uint8_t *out, size_t cap);

#endif
