/* logline.c - finds the request target in a line of a web server's log; see logline.h.
 *
 * The request is the quoted string after the date: the first one after a bracket, since quotes in
 * earlier fields are escaped.  It must start with a method, a word of letters, and end with HTTP/
 * and a version; but if the target starts with a slash, it may be the last word, as in HTTP/0.9.
 *
 * Apache writes \" and \\, \n and similar escapes, and \xhh for other bytes that are not printable;
 * nginx writes \xhh for all of them. */
#include "tools/input/logline.h"
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include "tools/base/sys.h"
#include <string.h>

static bool in_method(char c)
{
    return ascii_is_alpha(c) || c == '-' || c == '_';
}

bool logline_target(deja_slice line, deja_slice *target)
{
    static const char before[] = "] \"";
    const char *end = (const char *)line.data + line.len;
    const char *at = line.len ? memmem(line.data, line.len, before, sizeof before - 1) : NULL;
    if (!at)
        return false;
    at += sizeof before - 1;
    end = scan_quote(at, end);
    if (!end)
        return false;
    const char *method = at;
    while (at < end && in_method(*at))
        at++;
    if (at == method || at == end || *at != ' ')
        return false;
    at++;
    const char *last = sys_find_last(at, ' ', (size_t)(end - at));
    if (last && scan_begins(last + 1, end, "HTTP/"))
        end = last;
    else if (last || at == end || *at != '/')
        return false;
    *target = (deja_slice){at, (size_t)(end - at)};
    return target->len > 1 || (target->len == 1 && *at != '*');
}

bool logline_is_raw(deja_slice target)
{
    return target.len && memchr(target.data, '\\', target.len);
}

/* Decodes the escape at *at; *at moves past it. */
static char unescape(const char **at, const char *end)
{
    static const char letters[] = "\"\\bfnrtv", meanings[] = "\"\\\b\f\n\r\t\v";
    const char *from = *at;
    if (end - from >= 4 && from[1] == 'x' && ascii_hex(from[2]) >= 0 && ascii_hex(from[3]) >= 0) {
        *at += 4;
        return (char)(ascii_hex(from[2]) << 4 | ascii_hex(from[3]));
    }
    const char *letter = end - from > 1 ? memchr(letters, from[1], sizeof letters - 1) : NULL;
    *at += letter ? 2 : 1;
    return letter ? meanings[letter - letters] : *from;
}

size_t logline_decode(deja_slice raw, char *out)
{
    const char *at = raw.data;
    const char *end = at + raw.len;
    size_t len = 0;
    while (at < end) {
        if (*at == '\\')
            out[len++] = unescape(&at, end);
        else
            out[len++] = *at++;
    }
    return len;
}
