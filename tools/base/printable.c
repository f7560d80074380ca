/* printable.c - escapes untrusted text for terminals.
 *
 * Messages quote file names, column names, option values, settings, URLs and server replies.
 * Anyone who controls these could clear the screen, fake lines, or enter commands as the user.  So
 * console.c (standard error), out_json.c, out_table.c and fail_path escape them here.  Lines of
 * data are not messages: they are printed byte for byte, as cat does.
 *
 *     C0 and DEL               terminals act on them; \x1b starts an escape sequence
 *     C1 (U+0080 to U+009F)    the same; U+009B also starts an escape sequence
 *     bidirectional controls   change the order in which text is shown
 *     U+2028, U+2029           end a line in some programs
 *     bytes that are not UTF-8 8-bit terminals treat some of them as C1 */
#include "tools/base/printable.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The range of second bytes allowed after a first byte: no overlong forms, no surrogates, nothing
 * above U+10FFFF.  Returns the length that the first byte announces, or 0 if it cannot be first. */
static size_t begin(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t printable_next(const void *text, size_t len, enum printable_class *class, uint32_t *code)
{
    const unsigned char *s = text;
    unsigned char low, high;
    const size_t want = begin(s[0], &low, &high);
    size_t n = 1;
    uint32_t c = want > 1 ? s[0] & (0xffu >> (want + 1)) : s[0];
    for (; n < want && n < len && s[n] >= low && s[n] <= high; n++) {
        c = c << 6 | (s[n] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    *class = n != want ? PRINTABLE_NOT_UTF8 : is_control(c) ? PRINTABLE_CONTROL : PRINTABLE;
    *code = c;
    return n;
}

/* Writes one escape for a character, or one for each byte. */
static size_t escape(char out[20], const unsigned char *s, size_t n, bool whole, uint32_t code)
{
    if (whole)
        return (size_t)snprintf(out, 20, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    for (size_t i = 0; i < n; i++)
        (void)snprintf(out + 4 * i, 20 - 4 * i, "\\x%02x", s[i]);
    return 4 * n;
}

size_t printable(char *out, size_t cap, const void *text, size_t len, bool ascii)
{
    const unsigned char *const s = text;
    size_t at = 0, done = 0;
    while (done < len) {
        enum printable_class class;
        uint32_t code;
        char escaped[20];
        const size_t n = printable_next(s + done, len - done, &class, &code);
        const bool plain = class == PRINTABLE && (code < 0x80 || !ascii);
        const size_t wide =
            plain ? n : escape(escaped, s + done, n, class == PRINTABLE_CONTROL, code);
        if (wide >= cap - at)
            break;
        memcpy(out + at, plain ? (const char *)s + done : escaped, wide);
        at += wide;
        done += n;
    }
    out[at] = '\0';
    return done;
}

size_t printable_cut(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        const unsigned char first = (unsigned char)text[len - back];
        unsigned char low, high;
        if (first >= 0x80 && first <= 0xbf)
            continue; /* the character starts before it */
        return begin(first, &low, &high) > back ? len - back : len;
    }
    return len;
}

/* Where character number n begins, or the end of the text. */
static size_t begin_of(const char *text, size_t n)
{
    size_t at = 0;
    for (; text[at]; at++)
        if (((unsigned char)text[at] & 0xc0) != 0x80 && n-- == 0)
            break;
    return at;
}

void printable_middle(char *text, size_t columns)
{
    static const char dots[] = "...";
    size_t n = 0;
    for (const char *s = text; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    if (n <= columns)
        return;
    const size_t kept = columns - strlen(dots), head = kept / 2;
    const size_t to = begin_of(text, head), from = begin_of(text, n - (kept - head));
    memcpy(text + to, dots, strlen(dots));
    memmove(text + to + strlen(dots), text + from, strlen(text + from) + 1);
}

void printable_append(char *text, size_t cap, const char *fmt, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text + used, cap - used, fmt, args);
    va_end(args);
}
