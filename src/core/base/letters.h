/* letters.h - ASCII letters and digits, independent of the locale. */
#ifndef DJ_LETTERS_H
#define DJ_LETTERS_H
#include <stdbool.h>

static inline bool dj_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool dj_is_alpha(char c)
{
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z';
}

static inline char dj_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* The value of a hexadecimal digit, or -1. */
static inline int dj_hex_value(char c)
{
    const char lower = (char)(c | 0x20);
    return dj_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* RFC 3986 2.3: bytes that mean the same with or without percent-encoding. */
static inline bool dj_is_unreserved(char c)
{
    return dj_is_alpha(c) || dj_is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

#endif
