/* scan.h - finds words between blanks, and the end of a quoted string, in a line.
 *
 * The text is [at, end) and may contain any byte. */
#ifndef TOOLS_BASE_SCAN_H
#define TOOLS_BASE_SCAN_H
#include "deja.h"
#include "tools/base/marks.h"
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

/* The first `a` or `b`, or end. */
static inline const char *scan_either(const char *at, const char *end, char a, char b)
{
    for (; end - at >= MARKS_BYTES; at += MARKS_BYTES) {
        const uint32_t marks = marks_of(at, a) | marks_of(at, b);
        if (marks)
            return at + marks_first(marks);
    }
    while (at < end && *at != a && *at != b)
        at++;
    return at;
}

/* The first '"' that no backslash escapes, or NULL.  *escapes becomes true if there is a backslash
 * before it. */
static inline const char *scan_string(const char *at, const char *end, bool *escapes)
{
    *escapes = false;
    for (;;) {
        at = scan_either(at, end, '"', '\\');
        if (at == end)
            return NULL;
        if (*at == '"')
            return at;
        *escapes = true;
        if (end - at < 2)
            return NULL;
        at += 2;
    }
}

#define SCAN_NEAR 32 /* bytes in which scan_either finds a quote faster than memchr */

/* The same without `escapes`; faster in long texts, which have many. */
static inline const char *scan_quote(const char *at, const char *end)
{
    const char *near = end - at > SCAN_NEAR ? at + SCAN_NEAR : end;
    const char *found = scan_either(at, near, '"', '\\');
    if (found < near && *found == '"')
        return found;
    while (found < end) {
        const char *quote = memchr(found, '"', (size_t)(end - found));
        if (!quote)
            return NULL;
        const char *first = quote;
        while (first > at && first[-1] == '\\')
            first--;
        if ((quote - first) % 2 == 0)
            return quote;
        found = quote + 1;
    }
    return NULL;
}

static inline bool scan_begins(const char *at, const char *end, const char *with)
{
    const size_t len = strlen(with);
    return (size_t)(end - at) >= len && memcmp(at, with, len) == 0;
}

#endif
