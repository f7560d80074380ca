/* ascii.h - handles protocol text: ASCII letters in every locale, trimming, comparing. */
#ifndef TOOLS_BASE_ASCII_H
#define TOOLS_BASE_ASCII_H
#include "deja.h"
#include <stdlib.h>
#include <string.h>

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_alpha(char c)
{
    const char l = ascii_lower(c);
    return l >= 'a' && l <= 'z';
}

static inline bool ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a hexadecimal digit, or -1. */
static inline int ascii_hex(char c)
{
    const char l = ascii_lower(c);
    return ascii_is_digit(l) ? l - '0' : l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

static inline deja_slice ascii_slice(const char *text)
{
    return (deja_slice){text, strlen(text)};
}

/* Returns a copy as a string, which the caller frees; NULL if out of memory. */
static inline char *ascii_copy(deja_slice s)
{
    char *copy = malloc(s.len + 1);
    if (!copy)
        return NULL;
    if (s.len > 0)
        memcpy(copy, s.data, s.len);
    copy[s.len] = '\0';
    return copy;
}

/* Compares bytes, like strcmp.  If one slice is a prefix of the other, the shorter is less. */
static inline int ascii_compare(deja_slice a, deja_slice b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int c = len > 0 ? memcmp(a.data, b.data, len) : 0;
    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

/* The bytes from `from` up to `until`, which point into the same text. */
static inline deja_slice ascii_between(const char *from, const char *until)
{
    return (deja_slice){from, (size_t)(until - from)};
}

static inline deja_slice ascii_trim(deja_slice s)
{
    const char *from = s.data;
    while (s.len > 0 && ascii_is_space(from[0])) {
        from++;
        s.len--;
    }
    while (s.len > 0 && ascii_is_space(from[s.len - 1]))
        s.len--;
    return (deja_slice){from, s.len};
}

/* Whether s is this word in any case.  The word itself is in lower case. */
static inline bool ascii_is(deja_slice s, const char *word)
{
    const char *p = s.data;
    for (size_t i = 0; i < s.len; i++)
        if (word[i] == '\0' || ascii_lower(p[i]) != word[i])
            return false;
    return word[s.len] == '\0';
}

static inline bool ascii_begins(deja_slice s, const char *word)
{
    const size_t len = strlen(word);
    return s.len >= len && ascii_is((deja_slice){s.data, len}, word);
}

#endif
