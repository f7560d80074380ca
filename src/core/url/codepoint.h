/* codepoint.h - UTF-8, one code point at a time.
 *
 * "Well-formed" is as Unicode defines it (table 3-7): no overlong forms, no surrogates, nothing
 * beyond U+10FFFF.  Python's strict decoder accepts the same set. */
#ifndef DJ_CODEPOINT_H
#define DJ_CODEPOINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes of the code point at s, or 0 if the next n bytes do not start with one. */
static inline size_t dj_codepoint_read(const char *s, size_t n, uint32_t *c)
{
    const unsigned char *u = (const unsigned char *)s;
    if (n == 0)
        return 0;
    *c = u[0];
    if (u[0] < 0x80)
        return 1;
    const size_t len = u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    *c = u[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (u[i] & 0x3fu);
    }
    if (len == 3 && (*c < 0x800 || (*c >= 0xd800 && *c < 0xe000)))
        return 0;
    if (len == 4 && (*c < 0x10000 || *c > 0x10ffff))
        return 0;
    return len;
}

static inline bool dj_codepoint_all_ascii(const char *s, size_t n)
{
    unsigned char all = 0;
    for (size_t i = 0; i < n; i++)
        all |= (unsigned char)s[i];
    return all < 0x80;
}

static inline bool dj_codepoint_all_valid(const char *s, size_t n)
{
    uint32_t c;
    for (size_t i = 0, len; i < n; i += len)
        if ((len = dj_codepoint_read(s + i, n - i, &c)) == 0)
            return false;
    return true;
}

#endif
