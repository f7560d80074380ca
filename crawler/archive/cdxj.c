/* cdxj.c - writes the index of an archive, which says where each page is.
 *
 * Replay tools look up a URL by binary search in sorted lines
 *
 *     org,example)/a?b=1 20260102030405 {"url": "http://example.org/a?b=1", "mime": ...}
 *
 * The key is the URL with the host reversed, so that the pages of a domain are adjacent (SURT:
 * sort-friendly URI reordering transform), in the spelling that the Internet Archive's tools use:
 * scheme, www, default ports and a trailing slash are omitted, letters are lower case, parameters
 * are sorted.  Numeric addresses are not reversed.
 *
 * Limit: those tools also drop some session parameters from the key; this code keeps them. */
#include "crawler/archive/cdxj.h"
#include "tools/base/out.h"
#include "tools/base/urlparts.h"
#include <inttypes.h>
#include <stdio.h>

/* --- Keys -------------------------------------------------------------------- */

static bool is_number_address(deja_slice host)
{
    const char *p = host.data;
    if (host.len > 0 && p[0] == '[')
        return true;
    for (size_t i = 0; i < host.len; i++)
        if (!ascii_is_digit(p[i]) && p[i] != '.')
            return false;
    return host.len > 0;
}

/* www.example.org and www2.example.org become example.org, even with the trailing dot of the
 * root. */
static deja_slice without_www(deja_slice host)
{
    const char *p = host.data;
    size_t n = 3;
    while (host.len > 1 && p[host.len - 1] == '.')
        host.len--;
    if (!ascii_begins(host, "www"))
        return host;
    while (n < host.len && ascii_is_digit(p[n]))
        n++;
    return n < host.len && p[n] == '.' ? (deja_slice){p + n + 1, host.len - n - 1} : host;
}

static bool add_turned(struct buffer *out, deja_slice host)
{
    const char *p = host.data;
    size_t end = host.len;
    for (size_t i = host.len; i-- > 0;) {
        if (p[i] != '.')
            continue;
        if (!buffer_lower(out, (deja_slice){p + i + 1, end - i - 1}) || !buffer_text(out, ","))
            return false;
        end = i;
    }
    return buffer_lower(out, (deja_slice){p, end});
}

static int compare_slices(const void *a, const void *b)
{
    return ascii_compare(*(const deja_slice *)a, *(const deja_slice *)b);
}

/* Sort the parameters in out->data[from, end) in place. */
static bool sort_query(struct buffer *out, size_t from)
{
    size_t n = 1, i = 0;
    for (size_t at = from; at < out->len; at++)
        n += out->data[at] == '&';
    const size_t len = out->len - from;
    deja_slice *part = malloc(n * sizeof *part);
    char *copy = malloc(len + 1);
    if (part && copy) {
        memcpy(copy, out->data + from, len);
        copy[len] = '&';
        for (char *p = copy; i < n; p = (char *)memchr(p, '&', (size_t)(copy + len + 1 - p)) + 1)
            part[i++] = ascii_between(p, memchr(p, '&', (size_t)(copy + len + 1 - p)));
        qsort(part, n, sizeof *part, compare_slices);
        out->len = from;
        for (i = 0; i < n; i++) /* the same total length: there is room */
            (void)(buffer_add(out, "&", i > 0) && buffer_add(out, part[i].data, part[i].len));
    }
    const bool ok = part && copy;
    free(part);
    free(copy);
    return ok;
}

static bool add_rest(struct buffer *out, deja_slice rest)
{
    const char *p = rest.data;
    const char *mark = rest.len ? memchr(p, '?', rest.len) : NULL;
    deja_slice path = mark ? ascii_between(p, mark) : rest;
    if (path.len > 1 && p[path.len - 1] == '/')
        path.len--;
    if (!(path.len ? buffer_lower(out, path) : buffer_text(out, "/")))
        return false;
    if (!mark || mark + 1 == p + rest.len)
        return true;
    const size_t from = out->len + 1;
    return buffer_text(out, "?") && buffer_lower(out, ascii_between(mark + 1, p + rest.len)) &&
           sort_query(out, from);
}

int cdxj_key(deja_slice url, struct buffer *out)
{
    const struct url_parts a = url_parts(url);
    const bool ok = (is_number_address(a.host) ? buffer_lower(out, a.host)
                                               : add_turned(out, without_www(a.host))) &&
                    buffer_add(out, a.port.data, a.port.len) && buffer_text(out, ")") &&
                    add_rest(out, a.rest);
    return ok ? DEJA_OK : DEJA_ENOMEM;
}

/* --- Lines ------------------------------------------------------------------- */

/* Writes one character per byte, because only mime types can have non-ASCII bytes. */
static bool add_json(struct buffer *out, deja_slice s)
{
    const char *p = s.data;
    bool ok = buffer_text(out, "\"");
    for (size_t i = 0; ok && i < s.len; i++) {
        char escape[JSON_ESCAPE];
        const unsigned char c = (unsigned char)p[i];
        const bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
        ok = plain ? buffer_add(out, &c, 1) : buffer_add(out, escape, json_escape(escape, c));
    }
    return ok && buffer_text(out, "\"");
}

int cdxj_line(const struct cdxj_entry *e, struct buffer *out)
{
    char text[160];
    struct tm t;
    bool ok = cdxj_key(e->url, out) == DEJA_OK && gmtime_r(&e->when, &t) &&
              strftime(text, sizeof text, " %Y%m%d%H%M%S {\"url\": ", &t) > 0 &&
              buffer_text(out, text) && add_json(out, e->url);
    if (ok && e->mime.len > 0)
        ok = buffer_text(out, ", \"mime\": ") && add_json(out, e->mime);
    snprintf(text, sizeof text, ", \"status\": \"%d\"", e->status);
    ok = ok && buffer_text(out, text) && buffer_text(out, ", \"digest\": ") &&
         add_json(out, ascii_slice(e->digest));
    snprintf(text, sizeof text,
             ", \"length\": \"%" PRIu64 "\", \"offset\": \"%" PRIu64 "\", \"filename\": \"%s\"}\n",
             e->place.len, e->place.at, warc_name(e->place.file).text);
    return ok && buffer_text(out, text) ? DEJA_OK : DEJA_ENOMEM;
}
