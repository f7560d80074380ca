/* percent.c - percent-encoding, byte by byte.
 *
 * The sets come from the WHATWG URL standard; RFC 3986 (6.2.2.1, 6.2.2.2) adds that %c3 is the
 * same as %C3, and %7E the same as `~`.  deja encodes each byte as it is.  The standard reads its
 * input as UTF-8 and replaces every malformed sequence with U+FFFD, which would merge the raw
 * bytes FF and FE, and so two different URLs.
 *
 * A `%` that does not start a triplet is not encoded, which needs care.  In %4%31 the first %
 * stands for itself.  If %31 were decoded to 1, the text would read %41, a new triplet that the
 * next pass would decode to A.  So a triplet that stands for a hex digit stays encoded directly
 * after such a %, or after such a % and a digit. */
#include "core/url/percent.h"
#include "core/base/letters.h"
#include <string.h>

enum {
    IN_USERINFO = DJ_SET_USERINFO,
    IN_PATH = DJ_SET_PATH | IN_USERINFO,
    IN_QUERY = DJ_SET_QUERY | DJ_SET_SPECIAL_QUERY | IN_PATH,
    IN_QUERY_AND_FRAGMENT = DJ_SET_FRAGMENT | IN_QUERY,
    IN_ALL = DJ_SET_OPAQUE | IN_QUERY_AND_FRAGMENT,
};

/* Controls and all bytes from DEL up are in every set; the others: */
static const uint8_t sets_of[0x7f] = {
    [' '] = IN_ALL,
    ['"'] = IN_QUERY_AND_FRAGMENT,
    ['<'] = IN_QUERY_AND_FRAGMENT,
    ['>'] = IN_QUERY_AND_FRAGMENT,
    ['#'] = IN_QUERY,
    ['\''] = DJ_SET_SPECIAL_QUERY,
    ['`'] = DJ_SET_FRAGMENT | IN_PATH,
    ['?'] = IN_PATH,
    ['^'] = IN_PATH,
    ['{'] = IN_PATH,
    ['}'] = IN_PATH,
    ['/'] = IN_USERINFO,
    [':'] = IN_USERINFO,
    [';'] = IN_USERINFO,
    ['='] = IN_USERINFO,
    ['@'] = IN_USERINFO,
    ['['] = IN_USERINFO,
    ['\\'] = IN_USERINFO,
    [']'] = IN_USERINFO,
    ['|'] = IN_USERINFO,
};

static bool is_in(unsigned set, char c)
{
    const uint8_t byte = (uint8_t)c;
    return byte < ' ' || byte > '~' || (sets_of[byte] & set);
}

int dj_percent_triplet(const char *s, size_t len, size_t at)
{
    if (len - at < 3 || s[at] != '%')
        return -1;
    const int high = dj_hex_value(s[at + 1]), low = dj_hex_value(s[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void dj_percent_encode(struct dj_text *out, deja_slice bytes, unsigned set)
{
    const char *s = bytes.data;
    size_t copied = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        if (!is_in(set, s[i]))
            continue;
        dj_text_bytes(out, s + copied, i - copied);
        dj_text_triplet(out, (uint8_t)s[i]);
        copied = i + 1;
    }
    if (copied < bytes.len)
        dj_text_bytes(out, s + copied, bytes.len - copied);
}

void dj_percent_normal(struct dj_text *out, deja_slice bytes, unsigned set)
{
    const char *s = bytes.data;
    size_t copied = 0;
    size_t open = 0; /* a hex digit decoded at this offset would complete a lone % */
    for (size_t i = 0; i < bytes.len; i++) {
        const bool encode = is_in(set, s[i]);
        if (!encode && s[i] != '%')
            continue;
        const int value = dj_percent_triplet(s, bytes.len, i);
        if (!encode && value < 0) { /* a lone %; in %4, one digit would complete it */
            open = i + 1 + (i + 1 < bytes.len && dj_hex_value(s[i + 1]) >= 0);
            continue;
        }
        dj_text_bytes(out, s + copied, i - copied);
        if (encode)
            dj_text_triplet(out, (uint8_t)s[i]);
        else if (dj_is_unreserved((char)value) &&
                 !(i > 0 && i == open && dj_hex_value((char)value) >= 0))
            dj_text_byte(out, (char)value);
        else
            dj_text_triplet(out, (uint8_t)value);
        i += encode ? 0 : 2;
        copied = i + 1;
    }
    if (copied < bytes.len)
        dj_text_bytes(out, s + copied, bytes.len - copied);
}
