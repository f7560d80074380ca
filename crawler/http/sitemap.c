/* sitemap.c - finds the URLs in a sitemap (sitemaps.org) with expat.
 *
 * A <loc> counts whatever its prefix, unless it is inside an <image>, which is not a page.  URLs
 * are returned as UTF-8 whatever the encoding of the file; an encoding that expat does not know is
 * read as Latin-1, which is right for ASCII URLs.  From a damaged file, the URLs before the damage
 * count.
 *
 * Sitemaps are untrusted: parsing stops at an entity declaration, so there is nothing to expand,
 * and nothing outside the file is ever loaded. */
#include "crawler/http/sitemap.h"
#include "tools/base/ascii.h"
#include <expat.h>

#define LOC_MAX   8192
#define DEPTH_MAX 64        /* a sitemap has three or four levels */
#define PIECE     (1 << 30) /* expat counts in int */

struct reading {
    XML_Parser parser;
    links_take *take;
    void *ctx;
    unsigned depth;
    unsigned image, loc; /* depth of the open element; 0: none is open */
    size_t len;          /* of url; LOC_MAX + 1: too long */
    int rc;              /* result of take */
    char url[LOC_MAX];
};

static const char *without_prefix(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

static void XMLCALL begin_element(void *ctx, const char *name, const char **attributes)
{
    struct reading *r = ctx;
    (void)attributes;
    name = without_prefix(name);
    if (++r->depth > DEPTH_MAX)
        (void)XML_StopParser(r->parser, XML_FALSE);
    else if (!r->image && strcmp(name, "image") == 0)
        r->image = r->depth;
    else if (!r->image && !r->loc && strcmp(name, "loc") == 0) {
        r->loc = r->depth;
        r->len = 0;
    }
}

static void XMLCALL end_element(void *ctx, const char *name)
{
    struct reading *r = ctx;
    (void)name;
    if (r->image == r->depth)
        r->image = 0;
    if (r->loc == r->depth) {
        const deja_slice url = ascii_trim((deja_slice){r->url, r->len <= LOC_MAX ? r->len : 0});
        r->loc = 0;
        if (url.len > 0 && r->rc >= 0)
            r->rc = r->take(r->ctx, url);
        if (r->rc < 0)
            (void)XML_StopParser(r->parser, XML_FALSE);
    }
    r->depth--;
}

static void XMLCALL add_text(void *ctx, const char *text, int len)
{
    struct reading *r = ctx;
    if (!r->loc || r->len > LOC_MAX)
        return;
    const bool fits = (size_t)len <= LOC_MAX - r->len;
    if (fits)
        memcpy(r->url + r->len, text, (size_t)len);
    r->len = fits ? r->len + (size_t)len : LOC_MAX + 1;
}

static void XMLCALL refuse_entity(void *ctx, const char *name, int is_parameter, const char *value,
                                  int value_len, const char *base, const char *system_id,
                                  const char *public_id, const char *notation)
{
    const struct reading *r = ctx;
    (void)name, (void)is_parameter, (void)value, (void)value_len;
    (void)base, (void)system_id, (void)public_id, (void)notation;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static int XMLCALL read_as_latin1(void *ctx, const char *name, XML_Encoding *encoding)
{
    (void)ctx, (void)name;
    for (int i = 0; i < 256; i++)
        encoding->map[i] = i;
    encoding->data = NULL;
    encoding->convert = NULL;
    encoding->release = NULL;
    return XML_STATUS_OK;
}

/* Some servers put blank lines before the XML declaration, which is invalid. */
static deja_slice without_blanks_before(deja_slice xml)
{
    const char *from = xml.data, *const end = from + xml.len;
    while (from < end && ascii_is_space(*from))
        from++;
    return ascii_between(from, end);
}

static int parse(struct reading *r, deja_slice xml)
{
    const char *at = xml.data;
    for (size_t left = xml.len; left > 0;) {
        const int piece = left < PIECE ? (int)left : PIECE;
        left -= (size_t)piece;
        if (XML_Parse(r->parser, at, piece, left == 0) != XML_STATUS_OK)
            break;
        at += piece;
    }
    if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
        return DEJA_ENOMEM;
    return r->rc < 0 ? r->rc : DEJA_OK;
}

int sitemap_extract(deja_slice xml, links_take *take, void *ctx)
{
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser)
        return DEJA_ENOMEM;
    struct reading r = {.parser = parser, .take = take, .ctx = ctx};
    XML_SetUserData(parser, &r);
    XML_SetElementHandler(parser, begin_element, end_element);
    XML_SetCharacterDataHandler(parser, add_text);
    XML_SetEntityDeclHandler(parser, refuse_entity);
    XML_SetUnknownEncodingHandler(parser, read_as_latin1, NULL);
    const int rc = parse(&r, xml.len ? without_blanks_before(xml) : xml);
    XML_ParserFree(parser);
    return rc;
}
