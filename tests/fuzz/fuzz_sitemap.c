/* fuzz_sitemap.c - sitemaps of any bytes; and lines of the input, written into a sitemap, are
 * read back.
 *
 * The first byte selects how they are written: with entities, as CDATA, with a prefix.
 * Conversion to UTF-8 at most doubles the length of a URL. */
#include "checking.h"
#include "crawler/http/sitemap.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include <stdint.h>

static int any(void *ctx, deja_slice url)
{
    *(size_t *)ctx += url.len;
    check(url.len > 0);
    return DEJA_OK;
}

static int add_line(void *ctx, deja_slice url)
{
    check(buffer_add(ctx, url.data, url.len) && buffer_text(ctx, "\n"));
    return DEJA_OK;
}

static void add_escaped(struct buffer *xml, deja_slice line)
{
    const char *p = line.data;
    for (size_t i = 0; i < line.len; i++) {
        const char *entity = p[i] == '&'   ? "&amp;"
                             : p[i] == '<' ? "&lt;"
                             : p[i] == '>' ? "&gt;"
                             : p[i] == '"' ? "&quot;"
                                           : NULL;
        check(entity ? buffer_text(xml, entity) : buffer_add(xml, &p[i], 1));
    }
}

/* XML has no control characters, and non-ASCII bytes must be UTF-8. */
static bool is_text(deja_slice line)
{
    const char *p = line.data;
    for (size_t i = 0; i < line.len; i++)
        if (p[i] < ' ' || p[i] > '~')
            return false;
    return true;
}

/* Lines that a sitemap can hold: neither empty nor too long. */
static void add_loc(struct buffer *xml, struct buffer *want, deja_slice line, unsigned how)
{
    const char *name = how & 1 ? "s:loc" : "loc";
    line = ascii_trim(line);
    if (line.len == 0 || line.len > 1000 || !is_text(line))
        return;
    check(buffer_text(xml, "<") && buffer_text(xml, name) && buffer_text(xml, ">"));
    if ((how & 2) && !memmem(line.data, line.len, "]]>", 3))
        check(buffer_text(xml, "<![CDATA[") && buffer_add(xml, line.data, line.len) &&
              buffer_text(xml, "]]>"));
    else
        add_escaped(xml, line);
    check(buffer_text(xml, "</") && buffer_text(xml, name) && buffer_text(xml, ">\n"));
    check(buffer_add(want, line.data, line.len) && buffer_text(want, "\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer xml = {0}, want = {0}, got = {0};
    size_t bytes = 0;
    check(sitemap_extract((deja_slice){data, size}, any, &bytes) == DEJA_OK && bytes <= 2 * size);
    check(buffer_text(&xml, "<?xml version='1.0'?><urlset>"));
    for (size_t at = 1; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t stop = end ? (size_t)(end - data) : size;
        add_loc(&xml, &want, (deja_slice){data + at, stop - at}, data[0]);
        at = stop + 1;
    }
    check(buffer_text(&xml, "</urlset>"));
    check(sitemap_extract(buffer_slice(&xml), add_line, &got) == DEJA_OK);
    check(got.len == want.len && (got.len == 0 || memcmp(got.data, want.data, got.len) == 0));
    buffer_fini(&xml);
    buffer_fini(&want);
    buffer_fini(&got);
    return 0;
}
