/* gsb.c - the canonical form that Google Safe Browsing defines, for block lists.
 *
 * The published rules, in order ("URLs and Hashing" of the Safe Browsing API, version 4; the part
 * about IPv6 is from the later edition of that page):
 *
 *   1. drop tab, CR, LF; drop the fragment; drop surrounding spaces
 *   2. unescape %XX until nothing is left to unescape
 *   3. host: no user info, no port, dots trimmed and collapsed, addresses in their plain form,
 *      lower case; IDNA names in ASCII
 *   4. path: "." and ".." resolved, runs of slashes collapsed; the query is left alone
 *   5. escape bytes <= 0x20 and >= 0x7f, `#` and `%`, in upper case
 *
 * Step 2 takes one pass: escapes never overlap, so the order of replacement does not matter, and
 * an output byte can only complete an escape that ends with it.  Each replacement removes two
 * bytes, which bounds the work by the length.  (Repeating passes until nothing changes would be
 * quadratic for %25252525...)
 *
 * The form is idempotent.  The rules alone do not ensure that, so:
 * - The text is parsed after step 2, as the rules require: a `/`, `?`, `@` or `:` that results
 *   from unescaping is a delimiter like any other, as it would be in the next pass.  `#` is not
 *   (the rules' own example is host%23.com): it is escaped again, so the next pass finds no
 *   fragment either.
 * - A port is everything from the first `:`; "a:1:2" would otherwise lose one number per pass.
 * - A name that IDNA rejects is escaped byte by byte.  So is one that IDNA maps to characters that
 *   names cannot have: a fullwidth solidus must not become a delimiter.
 * - "scheme:" is a scheme only if "//" follows.  "host:80" is a host with a port; anything else
 *   with a colon after a scheme's characters, such as mailto:me, has no host. */
#include "core/base/letters.h"
#include "core/url/address.h"
#include "core/url/codepoint.h"
#include "core/url/url.h"
#ifdef DEJA_HAVE_IDN2
#include <idn2.h>
#endif

static bool is_scheme_char(char c)
{
    return dj_is_alpha(c) || dj_is_digit(c) || c == '+' || c == '-' || c == '.';
}

static void put_lower(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s[i] = dj_lower(s[i]);
}

static void write_escaped(struct dj_text *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c > 0x20 && c < 0x7f && c != '#' && c != '%')
            dj_text_byte(out, s[i]);
        else
            dj_text_triplet(out, c);
    }
}

/* --- Cleaning and unescaping ---------------------------------------------- */

static bool is_dropped(char c)
{
    return c == '\t' || c == '\r' || c == '\n';
}

/* Does steps 1 and 2; `to` has room for url.len bytes. */
static size_t unescape(deja_slice url, char *to)
{
    const char *s = url.data, *end = s + url.len;
    const char *const fragment = url.len ? memchr(s, '#', url.len) : NULL;
    if (fragment)
        end = fragment;
    while (s < end && (*s == ' ' || is_dropped(*s)))
        s++;
    while (end > s && (end[-1] == ' ' || is_dropped(end[-1])))
        end--;
    size_t n = 0;
    for (; s < end; s++) {
        if (is_dropped(*s))
            continue;
        to[n++] = *s;
        while (n >= 3 && to[n - 3] == '%') {
            const int high = dj_hex_value(to[n - 2]), low = dj_hex_value(to[n - 1]);
            if (high < 0 || low < 0)
                break;
            to[n - 3] = (char)(high << 4 | low);
            n -= 2;
        }
    }
    return n;
}

/* --- Addresses -------------------------------------------------------------- */

static void write_decimal(struct dj_text *out, uint32_t byte)
{
    if (byte >= 100)
        dj_text_byte(out, (char)('0' + byte / 100));
    if (byte >= 10)
        dj_text_byte(out, (char)('0' + byte / 10 % 10));
    dj_text_byte(out, (char)('0' + byte % 10));
}

static void write_ipv4(struct dj_text *out, uint32_t address)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        write_decimal(out, address >> shift & 255);
        if (shift)
            dj_text_byte(out, '.');
    }
}

/* RFC 5952: no leading zeros, the first of the longest runs of two or more zero words as "::". */
static void write_ipv6(struct dj_text *out, const uint16_t word[8])
{
    unsigned gap = 8, gap_len = 1;
    for (unsigned i = 0, run = 0; i < 8; i++) {
        run = word[i] ? 0 : run + 1;
        if (run > gap_len) {
            gap_len = run;
            gap = i + 1 - run;
        }
    }
    dj_text_byte(out, '[');
    for (unsigned i = 0; i < 8;) {
        if (i == gap) {
            dj_text_bytes(out, "::", 2);
            i += gap_len;
            continue;
        }
        if (i && i != gap + gap_len)
            dj_text_byte(out, ':');
        for (int shift = 12; shift >= 0; shift -= 4)
            if (word[i] >> shift || shift == 0)
                dj_text_byte(out, "0123456789abcdef"[word[i] >> shift & 15]);
        i++;
    }
    dj_text_byte(out, ']');
}

/* The IPv4 address inside an IPv4-mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) address. */
static bool holds_ipv4(const uint16_t word[8], uint32_t *address)
{
    static const uint16_t mapped[6] = {0, 0, 0, 0, 0, 0xffff}, nat64[6] = {0x64, 0xff9b};
    if (memcmp(word, mapped, sizeof mapped) != 0 && memcmp(word, nat64, sizeof nat64) != 0)
        return false;
    *address = (uint32_t)word[6] << 16 | word[7];
    return true;
}

/* --- Host ------------------------------------------------------------------- */

static size_t collapse_dots(char *s, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] != '.' || (kept > 0 && s[kept - 1] != '.'))
            s[kept++] = s[i];
    return kept > 0 && s[kept - 1] == '.' ? kept - 1 : kept;
}

/* Write the ASCII form of a non-ASCII name to `to`; *n is its length, or 0 if it has none. */
#define NAME_MAX_ASCII 255
static int name_to_ascii(const char *s, size_t len, char to[NAME_MAX_ASCII + 1], size_t *n)
{
    *n = 0;
    if (!dj_codepoint_all_valid(s, len))
        return DEJA_OK;
#ifndef DEJA_HAVE_IDN2
    (void)to;
    return DEJA_ENOTSUP;
#else
    char name[4 * NAME_MAX_ASCII + 1]; /* longer names are invalid, as are names with a NUL */
    if (len >= sizeof name || memchr(s, 0, len))
        return DEJA_OK;
    memcpy(name, s, len);
    name[len] = 0;
    uint8_t *ascii = NULL;
    const int rc =
        idn2_lookup_u8((const uint8_t *)name, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (rc == IDN2_MALLOC)
        return DEJA_ENOMEM;
    if (rc != IDN2_OK)
        return DEJA_OK;
    const size_t got = strlen((const char *)ascii);
    bool is_name = got <= NAME_MAX_ASCII;
    for (size_t i = 0; is_name && i < got; i++) {
        const char c = (char)ascii[i];
        is_name = dj_is_alpha(c) || dj_is_digit(c) || c == '-' || c == '_' || c == '.';
    }
    if (is_name) {
        memcpy(to, ascii, got);
        *n = collapse_dots(to, got); /* from full stops in other scripts */
    }
    idn2_free(ascii);
    return DEJA_OK;
#endif
}

/* `s` is the text between "//" and the path; it is overwritten. */
static int write_host(struct dj_text *out, char *s, size_t n)
{
    char ascii[NAME_MAX_ASCII + 1];
    for (size_t i = n; i > 0; i--)
        if (s[i - 1] == '@') {
            s += i;
            n -= i;
            break;
        }
    const char *const bracket = n && s[0] == '[' ? memchr(s, ']', n) : NULL;
    const size_t from = bracket ? (size_t)(bracket - s) : 0;
    const char *const port = n ? memchr(s + from, ':', n - from) : NULL;
    if (port)
        n = (size_t)(port - s);
    n = collapse_dots(s, n);
    if (n == 0)
        return DEJA_ENOTURL;
    if (!dj_codepoint_all_ascii(s, n)) {
        size_t ascii_len;
        const int rc = name_to_ascii(s, n, ascii, &ascii_len);
        if (rc < 0)
            return rc;
        if (ascii_len) {
            s = ascii;
            n = ascii_len;
        }
    }
    put_lower(s, n);
    uint16_t word[8];
    uint32_t address;
    if (s[0] == '[' && s[n - 1] == ']' && n > 2 && dj_address_ipv6(s + 1, n - 2, word)) {
        if (holds_ipv4(word, &address))
            write_ipv4(out, address);
        else
            write_ipv6(out, word);
    } else if (dj_address_ipv4(s, n, &address)) {
        write_ipv4(out, address);
    } else {
        write_escaped(out, s, n);
    }
    return DEJA_OK;
}

/* --- Path ------------------------------------------------------------------- */

/* Resolve "." and "..", then collapse slashes.  In this order "/a//../b" loses the empty segment
 * and becomes "/a/b".  `s` starts with a slash; returns the new length.  Each segment is removed
 * at most once, so the total time is linear. */
static size_t resolve_path(char *s, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const char *const slash = memchr(s + i + 1, '/', n - i - 1);
        end = slash ? (size_t)(slash - s) : n;
        const size_t len = end - i - 1;
        const bool up = len == 2 && s[i + 1] == '.' && s[i + 2] == '.';
        if (up || (len == 1 && s[i + 1] == '.')) {
            if (up)
                while (kept > 0 && s[--kept] != '/')
                    ;
            if (end == n)
                s[kept++] = '/';
        } else {
            memmove(s + kept, s + i, end - i);
            kept += end - i;
        }
    }
    size_t single = 0;
    for (size_t i = 0; i < kept; i++)
        if (s[i] != '/' || single == 0 || s[single - 1] != '/')
            s[single++] = s[i];
    return single;
}

/* --- The whole URL ---------------------------------------------------------- */

/* Finds the length of the scheme before "://", or 0; returns false if this is not a URL with a
 * host. */
static bool find_scheme(const char *s, size_t n, size_t *scheme)
{
    size_t i = 0;
    *scheme = 0;
    while (i < n && (dj_is_alpha(s[i]) || (i > 0 && is_scheme_char(s[i]))))
        i++;
    if (i == 0 || i == n || s[i] != ':')
        return true;
    if (n - i >= 3 && s[i + 1] == '/' && s[i + 2] == '/') {
        *scheme = i;
        return true;
    }
    size_t digits = i + 1;
    while (digits < n && dj_is_digit(s[digits]))
        digits++;
    return digits > i + 1 && (digits == n || s[digits] == '/' || s[digits] == '?');
}

int dj_url_gsb(const struct deja_url_rules *rules, deja_slice url, struct dj_text *out)
{
    (void)rules;
    if (out->cap - out->len < DEJA_URL_ROOM(url.len)) {
        out->short_of_room = true;
        return DEJA_OK;
    }
    char *s = out->at + out->cap - url.len; /* scratch, beyond anything that is written */
    size_t n = unescape(url, s), scheme;
    if (!find_scheme(s, n, &scheme))
        return DEJA_ENOTURL;
    if (scheme) {
        put_lower(s, scheme);
        dj_text_bytes(out, s, scheme);
        dj_text_bytes(out, "://", 3);
        s += scheme + 3;
        n -= scheme + 3;
    } else {
        dj_text_bytes(out, "http://", 7);
    }
    size_t host = 0;
    while (host < n && s[host] != '/' && s[host] != '?')
        host++;
    const char *const query = host < n ? memchr(s + host, '?', n - host) : NULL;
    const size_t path_end = query ? (size_t)(query - s) : n;
    const int rc = write_host(out, s, host);
    if (rc < 0)
        return rc;
    if (path_end > host)
        write_escaped(out, s + host, resolve_path(s + host, path_end - host));
    else
        dj_text_byte(out, '/');
    write_escaped(out, s + path_end, n - path_end);
    return DEJA_OK;
}
