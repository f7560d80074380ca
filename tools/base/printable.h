/* printable.h - escapes untrusted text for terminals. */
#ifndef TOOLS_BASE_PRINTABLE_H
#define TOOLS_BASE_PRINTABLE_H
#include "deja.h"

/* Copies as much of text as fits into cap bytes, with a terminating zero, and returns how many
 * bytes of text that was.  Control characters and bytes that are not UTF-8 become escapes such as
 * \x1b or \u202e; with ascii, for terminals that do not use UTF-8, so does everything outside
 * ASCII.  Escaping an escaped text again does not change it. */
size_t printable(char *out, size_t cap, const void *text, size_t len, bool ascii);

enum printable_class {
    PRINTABLE,
    PRINTABLE_CONTROL,
    PRINTABLE_NOT_UTF8
};
/* Returns the length of the character at s and stores its class and code point.  For bytes that
 * are not UTF-8: the length of the longest prefix that could have become a character. */
size_t printable_next(const void *s, size_t len, enum printable_class *class, uint32_t *code);

/* Returns the length of a truncated text without an incomplete last character. */
size_t printable_cut(const char *text, size_t len);

/* Replaces the middle of a text that has more than `columns` characters (at least 5) with "...". */
void printable_middle(char *text, size_t columns);

/* Appends to the string in `text`, which has room for cap bytes.  Text that does not fit is cut
 * off. */
void printable_append(char *text, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
