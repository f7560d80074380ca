/* scrapy.c - the result of w3lib.url.canonicalize_url, byte for byte, so that Scrapy users can
 * migrate.
 *
 * The reference is w3lib 2.1.1 on Python 3.11 (Debian 12) with default arguments, given the URL's
 * bytes as UTF-8 text; if it raises an exception, the bytes are not a URL here.
 * tests/url/w3lib_agrees.py compares the two.  canonicalize_url does this:
 *
 *   strip       surrounding control characters and spaces, tabs and line ends everywhere
 *   split       scheme, "//" and network location, path, ";" and parameters of the last segment
 *               (in some schemes), query; the fragment is dropped.  Every part is optional.
 *   netloc      to ASCII by IDNA 2003, including user info and port; unchanged if that fails;
 *               lower case; trailing colons dropped.  ASCII ones only become lower case.
 *   path        unescaped, except %2F and %3F, and escaped again; an empty one is "/"
 *   parameters  escaped where necessary
 *   query       split at "&" and ";", unescaped with "+" as space, sorted by name and value,
 *               written as name=value, escaped except letters, digits and "-._~"
 *
 * Unlike the other profiles it is not idempotent: %2541 becomes %41 the first time and A the
 * second. */
#include "core/url/scrapy.h"
#include "core/base/letters.h"
#include "core/url/address.h"
#include "core/url/codepoint.h"
#include "core/url/idna2003.h"
#include "core/url/lowercase.h"
#include <stdlib.h>

struct part {
    char *at;
    size_t len;
};

struct parts {
    struct part scheme, netloc, path, params, query;
};

/* --- Which bytes stay --------------------------------------------------------- */

/* One bit per ASCII byte. */
static const uint32_t unreserved[4] = {0, 0x03ff6000, 0x87fffffe, 0x47fffffe};
/* the same plus :/?[]@!$&'()*+,;=|% */
static const uint32_t path_safe[4] = {0, 0xaffffff2, 0xafffffff, 0x57fffffe};

static bool is_safe(unsigned char c, const uint32_t safe[4])
{
    return c < 0x80 && (safe[c >> 5] >> (c & 31) & 1);
}

static void write_quoted(struct dj_text *out, unsigned char c, const uint32_t safe[4])
{
    if (is_safe(c, safe))
        dj_text_byte(out, (char)c);
    else
        dj_text_triplet(out, c);
}

bool dj_scrapy_keeps_escape(unsigned char c)
{
    return c == '/' || c == '?' || !is_safe(c, path_safe);
}

/* The byte that the escape at s stands for, or -1. */
static int escaped_byte(const char *s, size_t n)
{
    const int high = n >= 3 && s[0] == '%' ? dj_hex_value(s[1]) : -1;
    const int low = high >= 0 ? dj_hex_value(s[2]) : -1;
    return low >= 0 ? high * 16 + low : -1;
}

/* --- Splitting ---------------------------------------------------------------- */

static struct part strip(deja_slice url, char *to)
{
    const unsigned char *s = url.data, *end = s + url.len;
    struct part p = {to, 0};
    while (s < end && *s <= ' ')
        s++;
    while (end > s && end[-1] <= ' ')
        end--;
    for (; s < end; s++)
        if (*s != '\t' && *s != '\n' && *s != '\r')
            p.at[p.len++] = (char)*s;
    return p;
}

/* Cut `rest` at its first `c`; returns the part after it, which may be empty. */
static struct part cut_at(struct part *rest, char c)
{
    char *const at = rest->len ? memchr(rest->at, c, rest->len) : NULL;
    struct part behind = {rest->at + rest->len, 0};
    if (at) {
        behind = (struct part){at + 1, (size_t)(rest->at + rest->len - at) - 1};
        rest->len = (size_t)(at - rest->at);
    }
    return behind;
}

static bool has(struct part p, char c)
{
    return p.len && memchr(p.at, c, p.len);
}

static bool is_one_of(struct part name, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == name.len && memcmp(*list, name.at, name.len) == 0)
            return true;
    return false;
}

/* Remove and return the scheme, in lower case. */
static struct part take_scheme(struct part *rest)
{
    struct part scheme = {rest->at, 0};
    size_t i = 0;
    while (i < rest->len &&
           (dj_is_alpha(rest->at[i]) ||
            (i > 0 && ((rest->at[i] >= '0' && rest->at[i] <= '9') || rest->at[i] == '+' ||
                       rest->at[i] == '-' || rest->at[i] == '.'))))
        i++;
    if (i == 0 || i == rest->len || rest->at[i] != ':')
        return scheme;
    for (size_t j = 0; j < i; j++)
        scheme.at[j] = (char)dj_lowercase((unsigned char)scheme.at[j]);
    scheme.len = i;
    rest->at += i + 1;
    rest->len -= i + 1;
    return scheme;
}

/* RFC 3986's IPvFuture as Python parses it, or an IPv6 address, possibly with a zone. */
static bool is_bracket_host(struct part host)
{
    if (host.len && host.at[0] == 'v') {
        size_t i = 1;
        while (i < host.len && dj_hex_value(host.at[i]) >= 0)
            i++;
        return i > 1 && i + 1 < host.len && host.at[i] == '.';
    }
    uint16_t word[8];
    const bool has_zone = has(host, '%');
    const struct part zone = cut_at(&host, '%');
    if (has_zone && (zone.len == 0 || has(zone, '%')))
        return false;
    return dj_address_ipv6(host.at, host.len, word);
}

/* Brackets must enclose an address that is the whole host. */
static bool brackets_are_fine(struct part netloc)
{
    const bool open = has(netloc, '['), closed = has(netloc, ']');
    if (!open && !closed)
        return true;
    if (open != closed)
        return false;
    struct part host = netloc;
    for (size_t i = netloc.len; i > 0; i--)
        if (netloc.at[i - 1] == '@') {
            host = (struct part){netloc.at + i, netloc.len - i};
            break;
        }
    if (!has(host, '[')) {
        (void)cut_at(&host, ':');
        return is_bracket_host(host);
    }
    if (host.at[0] != '[')
        return false;
    host = (struct part){host.at + 1, host.len - 1};
    const struct part port = cut_at(&host, ']');
    return (port.len == 0 || port.at[0] == ':') && is_bracket_host(host);
}

/* Characters that NFKC normalization maps to text with a delimiter in it. */
static bool hides_delimiter(struct part netloc)
{
    static const uint16_t hiding[] = {
        0x2047, 0x2048, 0x2049, 0x2100, 0x2101, 0x2105, 0x2106, 0x2a74, 0xfe13, 0xfe16,
        0xfe55, 0xfe56, 0xfe5f, 0xfe6b, 0xff03, 0xff0f, 0xff1a, 0xff1f, 0xff20,
    };
    uint32_t c = 0;
    if (dj_codepoint_all_ascii(netloc.at, netloc.len))
        return false;
    for (size_t i = 0; i < netloc.len;) {
        i += dj_codepoint_read(netloc.at + i, netloc.len - i, &c);
        for (size_t j = 0; c >= 0x2000 && j < sizeof hiding / sizeof hiding[0]; j++)
            if (c == hiding[j])
                return true;
    }
    return false;
}

static bool split(struct part rest, struct parts *p)
{
    static const char *const with_params[] = {
        "",     "ftp",   "hdl", "prospero", "http", "imap", "https", "shttp",
        "rtsp", "rtspu", "sip", "sips",     "mms",  "sftp", "tel",   NULL,
    };
    *p = (struct parts){.scheme = take_scheme(&rest)};
    p->netloc = (struct part){rest.at, 0};
    if (rest.len >= 2 && rest.at[0] == '/' && rest.at[1] == '/') {
        size_t end = 2;
        while (end < rest.len && rest.at[end] != '/' && rest.at[end] != '?' && rest.at[end] != '#')
            end++;
        p->netloc = (struct part){rest.at + 2, end - 2};
        rest.at += end;
        rest.len -= end;
        if (!brackets_are_fine(p->netloc) || hides_delimiter(p->netloc))
            return false;
    }
    (void)cut_at(&rest, '#');
    p->query = cut_at(&rest, '?');
    p->path = rest;
    p->params = (struct part){rest.at + rest.len, 0};
    if (is_one_of(p->scheme, with_params)) {
        size_t last = rest.len; /* start of the last segment */
        while (last > 0 && rest.at[last - 1] != '/')
            last--;
        struct part segment = {rest.at + last, rest.len - last};
        p->params = cut_at(&segment, ';');
        p->path.len = last + segment.len;
    }
    return true;
}

/* --- Network location --------------------------------------------------------- */

static void write_codepoint(struct dj_text *out, uint32_t c)
{
    static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (len == 1)
        dj_text_byte(out, (char)c);
    else
        dj_text_byte(out, (char)(head[len] | c >> 6 * (len - 1)));
    for (int i = len - 2; i >= 0; i--)
        dj_text_byte(out, (char)(0x80 | (c >> 6 * i & 0x3f)));
}

static void write_lower(struct dj_text *out, struct part text)
{
    uint32_t c = 0;
    for (size_t i = 0, len; i < text.len; i += len) {
        len = dj_codepoint_read(text.at + i, text.len - i, &c);
        if (c == 0x130) /* capital I with a dot: i and a combining dot */
            dj_text_bytes(out, "i\xcc\x87", 3);
        else
            write_codepoint(out, dj_lowercase(c));
    }
}

static int write_netloc(struct dj_text *out, struct part netloc)
{
    const size_t from = out->len;
    bool is_ascii = dj_codepoint_all_ascii(netloc.at, netloc.len);
    if (is_ascii) {
        dj_text_bytes(out, netloc.at, netloc.len);
    } else {
        const int rc = dj_idna2003_write(out, (deja_slice){netloc.at, netloc.len});
        if (rc < 0 && rc != DEJA_ENOTURL)
            return rc;
        is_ascii = rc == DEJA_OK;
    }
    if (is_ascii) {
        for (size_t i = from; i < out->len; i++)
            out->at[i] = (char)dj_lowercase((unsigned char)out->at[i]);
    } else {
        out->len = from;
        out->short_of_room = false; /* the failed attempt may have set it */
        write_lower(out, netloc);
    }
    while (out->len > from && out->at[out->len - 1] == ':')
        out->len--;
    return DEJA_OK;
}

/* --- Path and query ------------------------------------------------------------ */

static void write_path(struct dj_text *out, struct part path)
{
    for (size_t i = 0; i < path.len; i++) {
        const int byte = escaped_byte(path.at + i, path.len - i);
        if (byte == '/')
            dj_text_bytes(out, "%2F", 3);
        else if (byte == '?')
            dj_text_bytes(out, "%3F", 3);
        else
            write_quoted(out, (unsigned char)(byte < 0 ? path.at[i] : byte), path_safe);
        i += byte < 0 ? 0 : 2;
    }
    if (path.len == 0)
        dj_text_byte(out, '/');
}

struct pair {
    struct part name, value;
};

/* Unescape in place: the result is never longer. */
static void unquote(struct part *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++) {
        const int byte = escaped_byte(text->at + i, text->len - i);
        const char c = byte >= 0 ? (char)byte : text->at[i] == '+' ? ' ' : text->at[i];
        text->at[n++] = c;
        i += byte < 0 ? 0 : 2;
    }
    text->len = n;
}

static int compare_bytes(struct part a, struct part b)
{
    const size_t shared = a.len < b.len ? a.len : b.len;
    const int order = shared ? memcmp(a.at, b.at, shared) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *const x = a, *const y = b;
    const int order = compare_bytes(x->name, y->name);
    return order ? order : compare_bytes(x->value, y->value);
}

/* Most queries have few pairs, and qsort may allocate. */
static void sort_pairs(struct pair *pair, size_t n)
{
    if (n > 32) {
        qsort(pair, n, sizeof *pair, compare_pairs);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const struct pair moving = pair[i];
        size_t j = i;
        for (; j > 0 && compare_pairs(&moving, &pair[j - 1]) < 0; j--)
            pair[j] = pair[j - 1];
        pair[j] = moving;
    }
}

static void write_plus_quoted(struct dj_text *out, struct part text)
{
    size_t copied = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (is_safe((unsigned char)text.at[i], unreserved))
            continue;
        dj_text_bytes(out, text.at + copied, i - copied);
        if (text.at[i] == ' ')
            dj_text_byte(out, '+');
        else
            dj_text_triplet(out, (unsigned char)text.at[i]);
        copied = i + 1;
    }
    dj_text_bytes(out, text.at + copied, text.len - copied);
}

#define PAIRS_ON_STACK 256

/* Overwrites the query's bytes. */
static int write_query(struct dj_text *out, struct part query)
{
    struct pair few[PAIRS_ON_STACK], *pair = few;
    size_t most = 1, n = 0;
    for (size_t i = 0; i < query.len; i++)
        most += query.at[i] == '&' || query.at[i] == ';';
    if (most > PAIRS_ON_STACK && !(pair = calloc(most, sizeof *pair)))
        return DEJA_ENOMEM;
    for (size_t from = 0, end; from < query.len; from = end + 1) {
        for (end = from; end < query.len && query.at[end] != '&' && query.at[end] != ';'; end++)
            ;
        if (end == from)
            continue;
        struct pair *const p = &pair[n++];
        p->name = (struct part){query.at + from, end - from};
        p->value = cut_at(&p->name, '=');
        unquote(&p->name);
        unquote(&p->value);
    }
    sort_pairs(pair, n);
    for (size_t i = 0; i < n; i++) {
        dj_text_byte(out, i == 0 ? '?' : '&');
        write_plus_quoted(out, pair[i].name);
        dj_text_byte(out, '=');
        write_plus_quoted(out, pair[i].value);
    }
    if (pair != few)
        free(pair);
    return DEJA_OK;
}

int dj_scrapy_write_query(const struct deja_url_rules *rules, deja_slice query,
                          struct dj_text *out)
{
    (void)rules;
    out->cap -= query.len; /* the end of the buffer holds a copy */
    struct part copy = {out->at + out->cap, query.len};
    if (query.len)
        memcpy(copy.at, query.data, query.len);
    const int rc = write_query(out, copy);
    out->cap += query.len;
    return rc;
}

/* --- The whole URL -------------------------------------------------------------- */

static int write_parts(struct dj_text *out, const struct parts *p)
{
    /* Schemes that get "//" even without a network location. */
    static const char *const with_netloc[] = {
        "ftp",   "http",  "gopher", "nntp",     "telnet", "imap",  "wais",  "file", "mms",
        "https", "shttp", "snews",  "prospero", "rtsp",   "rtspu", "rsync", "svn",  "svn+ssh",
        "sftp",  "nfs",   "git",    "git+ssh",  "ws",     "wss",   NULL,
    };
    if (p->scheme.len) {
        dj_text_bytes(out, p->scheme.at, p->scheme.len);
        dj_text_byte(out, ':');
    }
    const size_t slashes = out->len;
    dj_text_bytes(out, "//", 2);
    const int rc = write_netloc(out, p->netloc);
    if (rc < 0)
        return rc;
    if (out->len == slashes + 2) {
        const bool has_slashes = p->path.len >= 2 && p->path.at[0] == '/' && p->path.at[1] == '/';
        if (has_slashes || !is_one_of(p->scheme, with_netloc))
            out->len = slashes;
    }
    if (out->len > slashes && p->path.len && p->path.at[0] != '/')
        dj_text_byte(out, '/');
    write_path(out, p->path);
    if (p->params.len) {
        dj_text_byte(out, ';');
        for (size_t i = 0; i < p->params.len; i++)
            write_quoted(out, (unsigned char)p->params.at[i], path_safe);
    }
    return write_query(out, p->query);
}

int dj_url_scrapy(const struct deja_url_rules *rules, deja_slice url, struct dj_text *out)
{
    (void)rules;
    if (out->cap - out->len < DEJA_URL_ROOM(url.len)) {
        out->short_of_room = true;
        return DEJA_OK;
    }
    if (!dj_codepoint_all_valid(url.data, url.len))
        return DEJA_ENOTURL;
    struct parts parts;
    if (!split(strip(url, out->at + out->cap - url.len), &parts))
        return DEJA_ENOTURL;
    /* The scratch that `parts` points to follows this range.  The form does not fit only if IDNA
     * lengthens a network location of hundreds of labels, which cannot be a host name. */
    struct dj_text form = dj_text_in(out->at, out->len + 3 * url.len + 256);
    form.len = out->len;
    const int rc = write_parts(&form, &parts);
    out->len = form.len;
    return rc == DEJA_OK && form.short_of_room ? DEJA_ENOTURL : rc;
}
