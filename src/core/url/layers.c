/* layers.c - split a URL into layers: site, folder, folder, ..., page.
 *
 * The cuts are before the slashes of the path, so the first i layers together are the prefix that
 * all URLs in that folder share.  Any bytes are accepted: without ://, the first layer ends at the
 * first slash.  Nothing is cut after the first ? or #.
 *
 * Eight bytes are tested at a time: if x is the xor of the bytes and the byte searched for, bit 7
 * of each byte of ~(((x & 0x7f..) + 0x7f..) | x) is set exactly where x has a zero byte.  Each
 * word is read once, and its cuts are processed in the order of their positions. */
#include "core/url/layers.h"
#include "core/base/bytes.h"
#include "core/url/parse.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

size_t dj_layers_scheme(deja_slice url)
{
    const char *s = url.data;
    const size_t colon = url.len ? dj_parse_scheme(url) : 0;
    return colon && url.len - colon >= 3 && s[colon + 1] == '/' && s[colon + 2] == '/' ? colon + 3
                                                                                       : 0;
}

static inline uint64_t zeros(uint64_t x)
{
    return ~(((x & EACH(0x7f)) + EACH(0x7f)) | x) & EACH(0x80);
}

/* Up to eight bytes starting at i, padded with zeros past the end. */
static inline uint64_t load_some(const char *s, size_t i, size_t len)
{
    if (i + 8 <= len)
        return dj_load64(s + i);
    if (len >= 8)
        return dj_load64(s + len - 8) >> 8 * (i + 8 - len);
    uint64_t x = 0;
    for (size_t at = i; at < len; at++)
        x |= (uint64_t)(unsigned char)s[at] << 8 * (at - i);
    return x;
}

size_t dj_layers_split(deja_slice url, deja_slice *layer, size_t cap, size_t *path)
{
    const char *s = url.data;
    size_t n = 0, begin = 0, end = url.len;
    for (size_t i = dj_layers_scheme(url); i < end; i += 8) {
        const uint64_t x = load_some(s, i, url.len);
        const uint64_t stops = zeros(x ^ EACH('?')) | zeros(x ^ EACH('#'));
        uint64_t cuts = zeros(x ^ EACH('/'));
        if (stops) {
            cuts &= (stops & -stops) - 1;
            end = i + (size_t)__builtin_ctzll(stops) / 8;
        }
        for (; cuts && n + 1 < cap; cuts &= cuts - 1) {
            const size_t at = i + (size_t)__builtin_ctzll(cuts) / 8;
            layer[n++] = (deja_slice){s + begin, at - begin};
            begin = at;
        }
    }
    layer[n++] = (deja_slice){begin ? s + begin : s, url.len - begin};
    *path = end - begin;
    return n;
}

size_t deja_url_split(deja_slice url, deja_slice *layer, size_t cap)
{
    size_t path;
    return url.len && cap ? dj_layers_split(url, layer, cap, &path) : 0;
}
