/* jsonpick.c - one string out of a JSON object.
 *
 * To pick a string it is enough to know where strings and brackets end, so this is no JSON parser:
 * it builds nothing, checks only what it has to step over, and does not look at what comes behind
 * the string.  What a parser would refuse may pass; what it would accept gives the same string.
 * Values that are not asked for are skipped by counting brackets, so nesting costs neither stack
 * nor memory.  Any byte may be in the text.
 *
 * Escapes become UTF-8.  Half of a surrogate pair becomes U+FFFD, the replacement character, and a
 * backslash before anything that JSON does not know stays as it is. */
#include "jsonpick.h"
#include "scan.h"
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (scan_is_blank(*at) || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* From an opening quote to behind the closing one; NULL when there is none. */
static const char *skip_string(const char *at, const char *end)
{
    const char *quote = scan_quote(at + 1, end);
    return quote ? quote + 1 : NULL;
}

static const char *skip_brackets(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        switch (*at) {
        case '"':
            at = skip_string(at, end);
            if (!at)
                return NULL;
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (--depth == 0)
                return at + 1;
            break;
        default:
            break;
        }
        at++;
    }
    return NULL;
}

/* Behind the value that begins at `at`; NULL when it has no end. */
static const char *skip_value(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at == '"')
        return skip_string(at, end);
    if (*at == '{' || *at == '[')
        return skip_brackets(at, end);
    static const char ends[] = {',', '}', ']', ' ', '\t', '\r', '\n'};
    const char *begin = at;
    while (at < end && !memchr(ends, *at, sizeof ends))
        at++;
    return at > begin ? at : NULL;
}

/* --- Escapes --------------------------------------------------------------- */

static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The number in \uXXXX at `at`, or -1 when that is something else. */
static long hex4(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    long value = 0;
    for (int i = 2; i < 6; i++) {
        const int digit = scan_hex(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* *at stands at a backslash: what it means, up to 4 bytes and never more than it is long.  *at
 * goes behind the escape. */
static size_t unescape(const char **at, const char *end, char *out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *from = *at;
    const long high = hex4(from, end);
    if (high >= 0) {
        const long low = hex4(from + 6, end);
        const bool pair = high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
        *at += pair ? 12 : 6;
        if (pair)
            return put_utf8((uint32_t)(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), out);
        return put_utf8(high >= 0xd800 && high < 0xe000 ? REPLACEMENT : (uint32_t)high, out);
    }
    const char *letter = end - from > 1 ? memchr(letters, from[1], sizeof letters - 1) : NULL;
    if (letter) {
        out[0] = meanings[letter - letters];
        *at += 2;
    } else {
        out[0] = *from;
        *at += 1;
    }
    return 1;
}

bool jsonpick_is_raw(deja_slice value)
{
    return value.len > 0 && *(const char *)value.data == '"';
}

size_t jsonpick_decode(deja_slice raw, char *out)
{
    const char *at = (const char *)raw.data + 1;
    const char *end = (const char *)raw.data + raw.len - 1;
    size_t len = 0;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(out + len, at, plain);
        len += plain;
        at += plain;
        if (slash)
            len += unescape(&at, end, out + len);
    }
    return len;
}

/* --- Members --------------------------------------------------------------- */

/* Is the string between the quotes of [at, end) called so? */
static bool is_called(const char *at, const char *end, const char *name, size_t len)
{
    at++;
    end--;
    if (!memchr(at, '\\', (size_t)(end - at)))
        return (size_t)(end - at) == len && memcmp(at, name, len) == 0;
    size_t same = 0;
    while (at < end) {
        char c[4];
        size_t n = 1;
        if (*at == '\\')
            n = unescape(&at, end, c);
        else
            c[0] = *at++;
        if (len - same < n || memcmp(name + same, c, n) != 0)
            return false;
        same += n;
    }
    return same == len;
}

/* Where the value of that member begins in the object that begins at `at`, or NULL. */
static const char *find_member(const char *at, const char *end, const char *name, size_t len)
{
    at++;
    for (;;) {
        at = skip_space(at, end);
        if (at < end && *at == ',') {
            at++;
            continue;
        }
        if (at == end || *at != '"')
            return NULL;
        const char *called = at;
        at = skip_string(at, end);
        if (!at)
            return NULL;
        const bool found = is_called(called, at, name, len);
        at = skip_space(at, end);
        if (at == end || *at != ':')
            return NULL;
        at = skip_space(at + 1, end);
        if (found)
            return at;
        at = skip_value(at, end);
        if (!at)
            return NULL;
    }
}

bool jsonpick_find(deja_slice text, deja_slice path, deja_slice *value)
{
    const char *end = (const char *)text.data + text.len;
    const char *object = skip_space(text.data, end);
    const char *name = path.data;
    size_t len = path.len;
    const char *at = NULL;
    while (!at) {
        if (!object || object == end || *object != '{')
            return false;
        at = find_member(object, end, name, len);
        const char *dot = at ? NULL : memchr(name, '.', len);
        if (!at && !dot)
            return false;
        if (at)
            break;
        object = find_member(object, end, name, (size_t)(dot - name));
        len -= (size_t)(dot + 1 - name);
        name = dot + 1;
    }
    if (at == end || *at != '"')
        return false;
    const char *close = scan_quote(at + 1, end);
    if (!close)
        return false;
    *value = (deja_slice){at + 1, (size_t)(close - at - 1)};
    if (memchr(at, '\\', (size_t)(close - at)))
        *value = (deja_slice){at, (size_t)(close + 1 - at)};
    return true;
}
