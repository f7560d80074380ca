/* scan.h - finds words between blanks, and the end of a quoted string, in a line.
 *
 * The text is [at, end) and may contain any byte. */
#ifndef TOOLS_BASE_SCAN_H
#define TOOLS_BASE_SCAN_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Finds the next run of bytes that are not blanks, and moves *at past it; false at the end. */
static inline bool scan_word(const char **at, const char *end, deja_slice *word)
{
    const char *begin = *at;
    while (begin < end && scan_is_blank(*begin))
        begin++;
    const char *stop = begin;
    while (stop < end && !scan_is_blank(*stop))
        stop++;
    *word = (deja_slice){begin, (size_t)(stop - begin)};
    *at = stop;
    return stop > begin;
}

/* The first '"' that no backslash escapes, or NULL. */
static inline const char *scan_quote(const char *at, const char *end)
{
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            return NULL;
        const char *first = quote;
        while (first > at && first[-1] == '\\')
            first--;
        if ((quote - first) % 2 == 0)
            return quote;
        at = quote + 1;
    }
    return NULL;
}

static inline bool scan_begins(const char *at, const char *end, const char *with)
{
    const size_t len = strlen(with);
    return (size_t)(end - at) >= len && memcmp(at, with, len) == 0;
}

#endif
