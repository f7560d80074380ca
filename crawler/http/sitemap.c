/* sitemap.c - the URLs in a sitemap (sitemaps.org): what stands between <loc> and </loc>.
 *
 * A list of that shape needs no XML parser: elements are looked for by name, with or without a
 * prefix, CDATA is opened, and the five entities of XML are undone, with those of numbers below
 * 128.  What stands in <image:loc> is no page.  Rubbish gives URLs that are none, and those are
 * counted as such later. */
#include "crawler/http/sitemap.h"
#include "tools/base/ascii.h"

#define LOC_MAX 8192

/* "&#39;", "&#039;" or "&#x27;": how long it is; 0: it is none. */
static size_t decode_number(const char *p, size_t len, char *out)
{
    const bool hex = len > 2 && ascii_lower(p[2]) == 'x';
    const int base = hex ? 16 : 10;
    const size_t digits = hex ? 3 : 2;
    size_t i = digits;
    int value = 0;
    if (len < digits || p[1] != '#')
        return 0;
    for (; i < len && ascii_hex(p[i]) >= 0 && ascii_hex(p[i]) < base && value < 128; i++)
        value = base * value + ascii_hex(p[i]);
    if (i == digits || i == len || p[i] != ';' || value == 0 || value > 127)
        return 0;
    *out = (char)value;
    return i + 1;
}

/* p is at an ampersand, or at any other byte, which stands for itself. */
static size_t decode_entity(const char *p, size_t len, char *out)
{
    static const struct {
        const char *name;
        char byte;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    *out = *p;
    if (*p != '&')
        return 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i].name);
        if (len >= n && memcmp(p, known[i].name, n) == 0) {
            *out = known[i].byte;
            return n;
        }
    }
    const size_t n = decode_number(p, len, out);
    return n > 0 ? n : 1;
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

/* Is this the end of a prefix that makes a loc one of an image?  Of Google's extensions no other
 * has an element of that name. */
static bool is_image(const char *begin, const char *name)
{
    static const char prefix[] = "image:";
    const size_t n = sizeof prefix - 1;
    return (size_t)(name - begin) >= n && memcmp(name - n, prefix, n) == 0;
}

/* Behind the tag of the next <loc> from p on, or NULL. */
static const char *find_loc(const char *begin, const char *p, const char *end)
{
    while (p < end && (p = memmem(p, (size_t)(end - p), "loc>", 4)) != NULL) {
        if ((p[-1] == '<' || p[-1] == ':') && !is_image(begin, p))
            return p + 4;
        p += 4;
    }
    return NULL;
}

int sitemap_extract(deja_slice xml, links_take *take, void *ctx)
{
    const char *begin = xml.data, *end = begin + xml.len;
    int rc = DEJA_OK;
    if (xml.len < 2)
        return rc;
    /* From the second byte on: find_loc looks at the one before. */
    for (const char *p = begin + 1; rc >= 0 && (p = find_loc(begin, p, end)) != NULL;) {
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
