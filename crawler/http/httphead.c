/* httphead.c - reads the fields of a response's header, and rewrites the header for the archive.
 *
 * A WARC record holds the response as the server sent it.  But libcurl has already decoded the
 * chunks, and HTTP/2 has no text header.  So the archive gets the equivalent HTTP/1.1 response, in
 * one piece:
 *
 *     HTTP/2 200                   ->  HTTP/1.1 200 OK
 *     Transfer-Encoding: ...       ->  X-Crawler-Transfer-Encoding: ...
 *
 * The content coding (gzip) is part of the content: it stays in the archive and is decoded only to
 * search for links. */
#include "crawler/http/httphead.h"
#include "tools/base/ascii.h"
#include <stdio.h>
#include <zlib.h>

/* Get the line that starts at *at, without its end; false after the last. */
static bool next_line(deja_slice head, size_t *at, deja_slice *line)
{
    const char *p = head.data;
    if (*at >= head.len)
        return false;
    const char *end = memchr(p + *at, '\n', head.len - *at);
    const size_t stop = end ? (size_t)(end - p) : head.len;
    *line = (deja_slice){p + *at, stop - *at};
    if (line->len > 0 && p[stop - 1] == '\r')
        line->len--;
    *at = stop + 1;
    return true;
}

static bool split_field(deja_slice line, deja_slice *name, deja_slice *value)
{
    const char *p = line.data;
    const char *colon = line.len ? memchr(p, ':', line.len) : NULL;
    if (!colon)
        return false;
    *name = ascii_trim(ascii_between(p, colon));
    *value = ascii_trim(ascii_between(colon + 1, p + line.len));
    return true;
}

deja_slice httphead_field(deja_slice head, const char *name)
{
    deja_slice line, have, value;
    size_t at = 0;
    if (next_line(head, &at, &line)) /* the status line has no name */
        while (next_line(head, &at, &line))
            if (split_field(line, &have, &value) && ascii_is(have, name))
                return value;
    return (deja_slice){NULL, 0};
}

/* --- Media types --------------------------------------------------------------- */

static deja_slice media_type(deja_slice content_type)
{
    const char *p = content_type.data;
    const char *end = content_type.len ? memchr(p, ';', content_type.len) : NULL;
    return end ? ascii_trim(ascii_between(p, end)) : ascii_trim(content_type);
}

static bool looks_like(deja_slice body, const char *const *beginnings)
{
    const char *p = body.data;
    size_t skip = body.len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (skip < body.len && ascii_is_space(p[skip]))
        skip++;
    for (; *beginnings; beginnings++)
        if (ascii_begins((deja_slice){p + skip, body.len - skip}, *beginnings))
            return true;
    return false;
}

bool httphead_is_html(deja_slice content_type, deja_slice body)
{
    static const char *const html[] = {"<!doctype html", "<html", "<head", "<body", "<a ", NULL};
    const deja_slice type = media_type(content_type);
    if (type.len == 0)
        return looks_like(body, html);
    return ascii_is(type, "text/html") || ascii_is(type, "application/xhtml+xml");
}

bool httphead_is_xml(deja_slice content_type, deja_slice body)
{
    static const char *const xml[] = {"<?xml", "<urlset", "<sitemapindex", NULL};
    const deja_slice type = media_type(content_type);
    return ascii_is(type, "text/xml") || ascii_is(type, "application/xml") ||
           looks_like(body, xml);
}

/* --- Archiving ------------------------------------------------------------------ */

/* "HTTP/2 200 " has no reason phrase; HTTP/1.1 requires at least a space. */
static bool add_status_line(struct buffer *out, deja_slice line)
{
    const char *p = line.data;
    const char *blank = line.len ? memchr(p, ' ', line.len) : NULL;
    const deja_slice rest =
        blank ? ascii_trim(ascii_between(blank, p + line.len)) : (deja_slice){"000", 3};
    const bool is_1 = ascii_begins(line, "http/1.");
    const char *version = is_1 && line.len > 7 && p[7] == '0' ? "HTTP/1.0 " : "HTTP/1.1 ";
    return buffer_text(out, version) && buffer_add(out, rest.data, rest.len) &&
           buffer_text(out, rest.len == 3 ? " \r\n" : "\r\n");
}

static bool add_line(struct buffer *out, deja_slice line)
{
    deja_slice name, value;
    if (split_field(line, &name, &value) && ascii_is(name, "transfer-encoding") &&
        !buffer_text(out, "X-Crawler-"))
        return false;
    return buffer_add(out, line.data, line.len) && buffer_text(out, "\r\n");
}

int httphead_archive(deja_slice head, struct buffer *out)
{
    deja_slice line;
    size_t at = 0;
    bool ok = !next_line(head, &at, &line) || add_status_line(out, line);
    while (ok && next_line(head, &at, &line))
        if (line.len > 0)
            ok = add_line(out, line);
    return ok && buffer_text(out, "\r\n") ? DEJA_OK : DEJA_ENOMEM;
}

size_t httphead_end(deja_slice response)
{
    deja_slice line;
    size_t at = 0;
    while (next_line(response, &at, &line))
        if (line.len == 0)
            return at < response.len ? at : response.len;
    return response.len;
}

/* --- Content coding --------------------------------------------------------------- */

#define STEP ((size_t)64 * 1024)

/* window is the number of window bits for inflate, which also selects the header: gzip, zlib or
 * none. */
static int inflate_all(deja_slice raw, int window, size_t max, struct buffer *out)
{
    union { /* zlib never writes to its input, although next_in is not const */
        const void *data;
        Bytef *in;
    } from = {.data = raw.data};
    z_stream z = {.next_in = from.in, .avail_in = (uInt)raw.len};
    int rc = inflateInit2(&z, window);
    if (rc != Z_OK)
        return DEJA_ENOMEM;
    out->len = 0;
    while (rc == Z_OK && out->len < max) {
        const size_t want = max - out->len < STEP ? max - out->len : STEP;
        if (!buffer_reserve(out, want)) {
            rc = Z_MEM_ERROR;
            break;
        }
        z.next_out = (Bytef *)out->data + out->len;
        z.avail_out = (uInt)want;
        rc = inflate(&z, Z_NO_FLUSH);
        out->len += want - z.avail_out;
    }
    (void)inflateEnd(&z);
    if (rc == Z_MEM_ERROR)
        return DEJA_ENOMEM;
    return rc == Z_STREAM_END || out->len >= max ? DEJA_OK : DEJA_EFORMAT;
}

int httphead_decode(deja_slice coding, deja_slice raw, size_t max, struct buffer *room,
                    deja_slice *body)
{
    const bool deflate = ascii_is(coding, "deflate");
    *body = raw;
    if (coding.len == 0 || ascii_is(coding, "identity"))
        return DEJA_OK;
    if (raw.len > UINT32_MAX ||
        (!deflate && !ascii_is(coding, "gzip") && !ascii_is(coding, "x-gzip"))) {
        body->len = 0;
        return DEJA_EFORMAT;
    }
    int rc = inflate_all(raw, 15 + 32, max, room);
    if (rc == DEJA_EFORMAT && deflate && room->len == 0)
        rc = inflate_all(raw, -15, max, room); /* some servers omit zlib's header */
    *body = buffer_slice(room);
    return rc;
}
