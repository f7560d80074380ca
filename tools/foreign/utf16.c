/* utf16.c - UTF-8 to UTF-16; see utf16.h. */
#include "tools/foreign/utf16.h"

#define REPLACEMENT 0xfffdu

/* The range of the second byte after `lead`, and how many bytes follow; 0: `lead` starts no
 * sequence.  As in table 3-7 of Unicode, except for surrogates (0xed): Java replaces them whole. */
static int follow(uint8_t lead, uint8_t *least, uint8_t *most)
{
    *least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    *most = lead == 0xf4 ? 0x8f : 0xbf;
    return lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
}

/* Decodes one code point, or U+FFFD, and returns the number of bytes that it used. */
static size_t decode(const uint8_t *at, size_t len, uint32_t *point)
{
    uint8_t least, most;
    const int more = follow(at[0], &least, &most);
    size_t used = 1;
    *point = at[0];
    if (at[0] < 0x80)
        return used;
    *point = more == 1 ? at[0] & 0x1fu : more == 2 ? at[0] & 0x0fu : at[0] & 0x07u;
    for (int i = 0; i < more; i++, least = 0x80, most = 0xbf) {
        if (used == len || at[used] < least || at[used] > most) {
            *point = REPLACEMENT;
            return used;
        }
        *point = *point << 6 | (at[used++] & 0x3fu);
    }
    if (!more || (*point >= 0xd800 && *point <= 0xdfff))
        *point = REPLACEMENT;
    return used;
}

static uint8_t *put(uint8_t *out, uint32_t unit)
{
    out[0] = (uint8_t)unit;
    out[1] = (uint8_t)(unit >> 8);
    return out + 2;
}

size_t utf16_le(deja_slice *text, uint8_t *out, size_t cap)
{
    const uint8_t *at = text->data, *const start = out, *const end = out + cap;
    size_t left = text->len;
    while (left > 0 && end - out >= 4) {
        uint32_t point;
        const size_t used = decode(at, left, &point);
        at += used;
        left -= used;
        if (point > 0xffff) {
            out = put(out, 0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        out = put(out, point);
    }
    *text = (deja_slice){at, left};
    return (size_t)(out - start);
}
