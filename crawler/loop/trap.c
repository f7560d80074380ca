/* trap.c - crawler traps: servers that generate URLs endlessly.
 *
 * Two kinds can be recognized.  A path that repeats itself, the same one to four segments three
 * times in a row, is refused at once.  Calendars, sessions and searches produce new numbers and
 * values for the same names; the caller counts URLs of the same shape and accepts no more after a
 * limit.  Other traps are bounded by the depth and by the number of pages per host. */
#include "crawler/loop/trap.h"
#include "tools/base/urlparts.h"

#define SEGMENTS 64
#define PATTERN  4 /* segments that may repeat together */

/* How many times in a row the `len` segments that end at number `end` occur. */
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

/* Each run of digits becomes one 0. */
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

/* Only the names of the parameters. */
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
    const struct url_parts a = url_parts(url);
    const char *path = a.rest.data, *const end = path + a.rest.len;
    const char *mark = a.rest.len ? memchr(path, '?', a.rest.len) : NULL;
    return buffer_add(out, a.origin.data, a.origin.len) &&
           add_path(out, ascii_between(path, mark ? mark : end)) &&
           (!mark || add_names(out, ascii_between(mark, end)));
}
