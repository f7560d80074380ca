/* sitemap.c - the URLs in a sitemap (sitemaps.org): what stands between <loc> and </loc>.
 *
 * A list of that shape needs no XML parser: elements are looked for by name, with or without a
 * prefix, CDATA is opened, and the five entities of XML are undone, with those of numbers below
 * 128.  Rubbish gives URLs that are none, and those are counted as such later. */
#include "sitemap.h"
#include "ascii.h"

#define LOC_MAX 8192

static size_t decode_entity(const char *p, size_t len, char *out)
{
    static const struct {
        const char *name;
        char byte;
    } known[] = {{"&amp;", '&'},   {"&lt;", '<'},  {"&gt;", '>'},   {"&quot;", '"'},
                 {"&apos;", '\''}, {"&#38;", '&'}, {"&#39;", '\''}, {"&#x26;", '&'}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i].name);
        if (len >= n && memcmp(p, known[i].name, n) == 0) {
            *out = known[i].byte;
            return n;
        }
    }
    *out = *p;
    return 1;
}

static deja_slice without_cdata(deja_slice text)
{
    static const char open[] = "<![CDATA[";
    const size_t n = sizeof open - 1;
    if (text.len < n + 3 || memcmp(text.data, open, n) != 0)
        return text;
    return ascii_trim((deja_slice){(const char *)text.data + n, text.len - n - 3});
}

static int give(deja_slice text, links_take *take, void *ctx)
{
    char url[LOC_MAX];
    size_t len = 0;
    text = without_cdata(ascii_trim(text));
    const char *p = text.data;
    if (text.len == 0 || text.len > sizeof url)
        return DEJA_OK;
    for (size_t i = 0; i < text.len;)
        i += decode_entity(p + i, text.len - i, &url[len++]);
    return take(ctx, (deja_slice){url, len});
}

/* Where the element's name begins that ends with "loc>", or NULL. */
static const char *find_loc(const char *p, const char *end)
{
    while (p < end && (p = memmem(p, (size_t)(end - p), "loc>", 4)) != NULL) {
        if (p[-1] == '<' || p[-1] == ':')
            return p + 4;
        p += 4;
    }
    return NULL;
}

int sitemap_extract(deja_slice xml, links_take *take, void *ctx)
{
    const char *end = (const char *)xml.data + xml.len;
    int rc = DEJA_OK;
    if (xml.len < 2)
        return rc;
    /* From the second byte on: find_loc looks at the one before. */
    for (const char *p = (const char *)xml.data + 1; rc >= 0 && (p = find_loc(p, end)) != NULL;) {
        const char *close = memmem(p, (size_t)(end - p), "</", 2);
        if (!close)
            break;
        rc = give(ascii_between(p, close), take, ctx);
        /* Behind the closing tag, which has the same name. */
        const char *tag = memchr(close, '>', (size_t)(end - close));
        p = tag ? tag + 1 : end;
    }
    return rc;
}
