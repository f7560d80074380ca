/* logline.c - the request target in a line of a web server's log; see logline.h.
 *
 * The request is the quoted string behind the date, which is the first to follow a bracket:
 * quotes in the fields before it would be escaped.  It is taken for a request when it begins with
 * a method, a word of letters, and ends with HTTP/ and a version, or, as in the days before that,
 * when nothing comes behind a target that begins with a slash.
 *
 * Apache writes \" and \\, \n and its like, and \xhh for other bytes that do not print; nginx
 * writes \xhh for all of them. */
#include "tools/input/logline.h"
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
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
    const char *last = memrchr(at, ' ', (size_t)(end - at));
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

/* *at stands at a backslash: the byte that it means, and *at goes behind. */
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
