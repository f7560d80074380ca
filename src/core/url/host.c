/* host.c - parse and write hosts as the WHATWG URL standard does.
 *
 * %XX is decoded, letters become lower case, and non-ASCII hosts go through IDNA.  If the last
 * label is a number, the host must be an IPv4 address: 0x7f.1 and 2130706433 are 127.0.0.1.  An
 * ASCII host goes through IDNA only if it has labels that start with xn--; the standard rejects
 * these if they do not decode to a valid label.  The rules of deja 0.1, and builds without IDNA,
 * keep them unchanged.
 *
 * The work is done in place, at the end of the output text. */
#include "core/url/host.h"
#include "core/base/letters.h"
#include "core/url/idna.h"
#include "core/url/parse.h"
#include "core/url/url.h"
#include "core/url/uts46.h"
#include <stdio.h>

/* Bytes that no host may contain; a domain also excludes controls, DEL and %. */
static bool is_forbidden(char c, bool domain)
{
    switch (c) {
    case '\0':
    case '\t':
    case '\n':
    case '\r':
    case ' ':
    case '#':
    case '/':
    case ':':
    case '<':
    case '>':
    case '?':
    case '@':
    case '[':
    case '\\':
    case ']':
    case '^':
    case '|':
        return true;
    default:
        return domain && ((unsigned char)c < ' ' || c == 0x7f || c == '%');
    }
}

static bool any_forbidden(const char *s, size_t len, bool domain)
{
    for (size_t i = 0; i < len; i++)
        if (is_forbidden(s[i], domain))
            return true;
    return false;
}

/* --- IPv4 --------------------------------------------------------------- */

#define TOO_LARGE UINT64_MAX

/* Parses a number in C notation: 0x is hexadecimal, 0 octal, otherwise decimal; 0x alone is 0. */
static bool parse_number(const char *s, size_t len, uint64_t *value)
{
    unsigned base = 10;
    if (len == 0)
        return false;
    if (len >= 2 && s[0] == '0') {
        const bool hex = dj_lower(s[1]) == 'x';
        base = hex ? 16 : 8;
        s += hex ? 2 : 1;
        len -= hex ? 2 : 1;
    }
    *value = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = (unsigned)dj_hex_value(s[i]); /* no digit: above any base */
        if (digit >= base)
            return false;
        /* The value no longer matters once it exceeds any address. */
        *value = *value > UINT32_MAX ? TOO_LARGE : *value * base + digit;
    }
    return true;
}

static size_t label_end(const char *s, size_t len, size_t from)
{
    while (from < len && s[from] != '.')
        from++;
    return from;
}

static bool ends_in_number(const char *s, size_t len)
{
    uint64_t value;
    if (len && s[len - 1] == '.')
        len--;
    size_t begin = len;
    while (begin > 0 && s[begin - 1] != '.')
        begin--;
    size_t digits = begin;
    while (digits < len && s[digits] >= '0' && s[digits] <= '9')
        digits++;
    return begin < len && (digits == len || parse_number(s + begin, len - begin, &value));
}

/* Parses up to four numbers: all except the last are bytes, and the last fills the remaining
 * bytes. */
static bool parse_ipv4(const char *s, size_t len, uint32_t *address)
{
    uint64_t part[4];
    size_t n = 0;
    if (len && s[len - 1] == '.')
        len--;
    for (size_t begin = 0, end; begin <= len; begin = end + 1) {
        end = label_end(s, len, begin);
        if (n == 4 || !parse_number(s + begin, end - begin, &part[n++]))
            return false;
    }
    const unsigned last_bits = (unsigned)(5 - n) * 8;
    if (part[n - 1] >> last_bits)
        return false;
    uint64_t sum = part[n - 1];
    for (size_t i = 0; i + 1 < n; i++) {
        if (part[i] > 255)
            return false;
        sum |= part[i] << (24 - 8 * i);
    }
    *address = (uint32_t)sum;
    return true;
}

static void put_ipv4(struct dj_text *out, uint32_t a)
{
    char dotted[16];
    const int len = snprintf(dotted, sizeof dotted, "%u.%u.%u.%u", a >> 24, a >> 16 & 255,
                             a >> 8 & 255, a & 255);
    dj_text_bytes(out, dotted, (size_t)len);
}

/* --- IPv6 --------------------------------------------------------------- */

struct reader {
    const char *at, *end;
};

/* Read up to four hex digits; returns their number. */
static int read_hex(struct reader *r, unsigned *value)
{
    int n = 0;
    for (*value = 0; n < 4 && r->at < r->end; n++, r->at++) {
        const int digit = dj_hex_value(*r->at);
        if (digit < 0)
            break;
        *value = *value * 16 + (unsigned)digit;
    }
    return n;
}

/* Reads 1.2.3.4 at the very end: four decimal bytes without leading zeros. */
static bool read_dotted(struct reader *r, uint16_t piece[2])
{
    for (int i = 0; i < 4; i++) {
        unsigned value = 0;
        int n = 0;
        if (i > 0 && (r->at == r->end || *r->at++ != '.'))
            return false;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; n++, r->at++) {
            if (n > 0 && value == 0)
                return false;
            value = value * 10 + (unsigned)(*r->at - '0');
            if (value > 255)
                return false;
        }
        if (n == 0)
            return false;
        piece[i / 2] = (uint16_t)(piece[i / 2] * 256u + value);
    }
    return r->at == r->end;
}

/* Insert the zeros that `::` stands for. */
static void spread(uint16_t piece[8], int n, int gap)
{
    const size_t tail = (size_t)(n - gap);
    memmove(piece + (8 - tail), piece + gap, tail * sizeof *piece);
    memset(piece + gap, 0, (size_t)(8 - n) * sizeof *piece);
}

static bool parse_ipv6(struct reader r, uint16_t piece[8])
{
    int n = 0, gap = -1;
    if (r.end - r.at >= 2 && r.at[0] == ':' && r.at[1] == ':') {
        gap = 0;
        r.at += 2;
    }
    while (r.at < r.end) {
        const char *begin = r.at;
        unsigned value;
        if (n == 8)
            return false;
        if (*r.at == ':') { /* the second of two colons */
            if (gap >= 0 || n == 0)
                return false;
            gap = n;
            r.at++;
            continue;
        }
        const int digits = read_hex(&r, &value);
        if (r.at < r.end && *r.at == '.') {
            r.at = begin;
            if (n > 6 || !read_dotted(&r, &piece[n]))
                return false;
            n += 2;
            break;
        }
        if (digits == 0)
            return false;
        piece[n++] = (uint16_t)value;
        if (r.at < r.end && (*r.at++ != ':' || r.at == r.end))
            return false;
    }
    if (gap < 0)
        return n == 8;
    if (n == 8) /* :: stands for at least one zero */
        return false;
    spread(piece, n, gap);
    return true;
}

/* The first of the longest runs of two or more zero pieces. */
static void longest_zeros(const uint16_t piece[8], int *begin, int *len)
{
    *begin = -1;
    *len = 1;
    for (int i = 0, run = 0; i < 8; i++) {
        run = piece[i] ? 0 : run + 1;
        if (run > *len) {
            *len = run;
            *begin = i - run + 1;
        }
    }
}

static void put_ipv6(struct dj_text *out, const uint16_t piece[8])
{
    int gap, gap_len;
    longest_zeros(piece, &gap, &gap_len);
    dj_text_byte(out, '[');
    for (int i = 0; i < 8; i++) {
        char hex[8];
        if (i == gap) {
            dj_text_bytes(out, i ? ":" : "::", i ? 1 : 2);
            i += gap_len - 1;
            continue;
        }
        const int len = snprintf(hex, sizeof hex, "%x%s", piece[i], i < 7 ? ":" : "");
        dj_text_bytes(out, hex, (size_t)len);
    }
    dj_text_byte(out, ']');
}

static int write_ipv6(struct dj_text *out, deja_slice host)
{
    uint16_t piece[8] = {0};
    const char *s = host.data;
    if (host.len < 2 || s[host.len - 1] != ']' ||
        !parse_ipv6((struct reader){s + 1, s + host.len - 1}, piece))
        return DEJA_ENOTURL;
    put_ipv6(out, piece);
    return DEJA_OK;
}

/* --- Domains ------------------------------------------------------------ */

/* Write the host decoded, with ASCII in lower case; true if all of it is ASCII. */
static bool put_decoded(struct dj_text *out, deja_slice host)
{
    const char *s = host.data;
    bool ascii = true;
    for (size_t i = 0; i < host.len; i++) {
        const int value = s[i] == '%' ? dj_percent_triplet(s, host.len, i) : -1;
        const char c = value < 0 ? s[i] : (char)value;
        ascii &= (unsigned char)c < 0x80;
        dj_text_byte(out, dj_lower(c));
        i += value < 0 ? 0 : 2;
    }
    return ascii;
}

/* True if a label of this host, in lower case, starts with xn--. */
static bool any_encoded(const char *s, size_t len)
{
    for (size_t begin = 0; begin < len; begin = label_end(s, len, begin) + 1)
        if (len - begin >= 4 && memcmp(s + begin, "xn--", 4) == 0)
            return true;
    return false;
}

int dj_host_write(struct dj_text *out, deja_slice host, uint32_t version)
{
    if (host.len && *(const char *)host.data == '[')
        return write_ipv6(out, host);
    const size_t start = out->len;
    const bool ascii = put_decoded(out, host);
    const bool encoded = ascii && version == DJ_URL_UTS46 && dj_idna_here() &&
                         any_encoded(out->at + start, out->len - start);
    if (!ascii || encoded) {
        if (memchr(out->at + start, '\0', out->len - start))
            return DEJA_ENOTURL;
        const int rc = version == DJ_URL_IDNA2008 ? dj_idna_to_ascii(out, start)
                                                  : dj_uts46_to_ascii(out, start);
        if (rc < 0)
            return rc;
    }
    const char *s = out->at + start;
    const size_t len = out->len - start;
    uint32_t address;
    if (len == 0 || any_forbidden(s, len, true))
        return DEJA_ENOTURL;
    if (!ends_in_number(s, len))
        return DEJA_OK;
    if (!parse_ipv4(s, len, &address))
        return DEJA_ENOTURL;
    out->len = start;
    put_ipv4(out, address);
    return DEJA_OK;
}

int dj_host_write_opaque(struct dj_text *out, deja_slice host, dj_percent_writer *spell)
{
    if (host.len && *(const char *)host.data == '[')
        return write_ipv6(out, host);
    if (any_forbidden(host.data, host.len, false))
        return DEJA_ENOTURL;
    const size_t start = out->len;
    spell(out, host, DJ_SET_OPAQUE);
    for (size_t i = start; spell == dj_percent_normal && i < out->len; i++) {
        if (dj_percent_triplet(out->at, out->len, i) >= 0)
            i += 2; /* keep the triplet's hex digits in upper case */
        else
            out->at[i] = dj_lower(out->at[i]);
    }
    return DEJA_OK;
}
