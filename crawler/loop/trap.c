/* trap.c - URLs that a server makes up without end.
 *
 * Two kinds are known by their looks.  A path that repeats itself is refused at sight: the same
 * one to four segments, three times in a row.  Calendars, sessions and searches give ever new
 * numbers and values to the same names: URLs of one shape are counted by the caller, and beyond a
 * limit no more are taken.  What is left is bounded by depth and by pages a host. */
#include "crawler/loop/trap.h"
#include "tools/base/ascii.h"

#define SEGMENTS 64
#define PATTERN  4 /* segments that may repeat together */

/* How often the `len` segments before number `end` stand there in a row. */
static size_t times_in_a_row(const deja_slice *segment, size_t end, size_t len)
{
    size_t times = 1;
    for (size_t at = end - len; at >= len; at -= len, times++)
        for (size_t i = 0; i < len; i++)
            if (ascii_compare(segment[at - len + i], segment[end - len + i]) != 0)
                return times;
    return times;
}

bool trap_repeats(deja_slice path)
{
    deja_slice segment[SEGMENTS];
    const char *p = path.data, *end = p + path.len;
    size_t n = 0;
    while (p < end && *p == '/' && n < SEGMENTS) {
        const char *from = ++p;
        while (p < end && *p != '/' && *p != '?')
            p++;
        segment[n++] = ascii_between(from, p);
    }
    for (size_t stop = 1; stop <= n; stop++)
        for (size_t len = 1; len <= PATTERN && len * TRAP_REPEATS <= stop; len++)
            if (times_in_a_row(segment, stop, len) >= TRAP_REPEATS)
                return true;
    return false;
}

/* Runs of digits become one 0. */
static bool add_path(struct buffer *out, deja_slice path)
{
    const char *p = path.data;
    for (size_t i = 0; i < path.len; i++) {
        const bool digit = ascii_is_digit(p[i]);
        if (digit && i > 0 && ascii_is_digit(p[i - 1]))
            continue;
        if (!buffer_add(out, digit ? "0" : &p[i], 1))
            return false;
    }
    return true;
}

/* Names of parameters alone. */
static bool add_names(struct buffer *out, deja_slice query)
{
    const char *p = query.data;
    bool in_value = false;
    for (size_t i = 0; i < query.len; i++) {
        if (p[i] == '&')
            in_value = false;
        else if (p[i] == '=')
            in_value = true;
        if (!in_value && !buffer_add(out, &p[i], 1))
            return false;
    }
    return true;
}

bool trap_shape(deja_slice url, struct buffer *out)
{
    const char *p = url.data;
    const char *mark = url.len ? memchr(p, '?', url.len) : NULL;
    const char *host = url.len ? memmem(p, url.len, "://", 3) : NULL;
    const char *path = host ? memchr(host + 3, '/', url.len - (size_t)(host + 3 - p)) : NULL;
    const char *end = p + url.len;
    if (!path || (mark && path > mark))
        path = mark ? mark : end;
    return buffer_add(out, p, (size_t)(path - p)) &&
           add_path(out, ascii_between(path, mark ? mark : end)) &&
           (!mark || add_names(out, ascii_between(mark, end)));
}
