/* resolve.c - resolve a link in a page.
 *
 * A link without a scheme takes parts of the page's URL, from the left: the scheme, then the
 * authority, then the path up to its last slash, then the query.  The standard has one oddity: if
 * a link has the same special scheme as the page, the scheme counts as absent unless two slashes
 * follow.  Browsers resolve http:g in http://a/b/c to http://a/b/g; RFC 3986 (5.2.2) leaves that
 * to "backward compatibility".  The result is spelled as the standard's parser spells it, with its
 * fragment: encoded only where required, and not normalized further. */
#include "core/url/url.h"
#include "core/url/write.h"

static bool starts_with_slash(deja_slice s, bool special)
{
    const char c = s.len ? *(const char *)s.data : '\0';
    return c == '/' || (special && c == '\\');
}

static bool same_scheme(deja_slice a, deja_slice b)
{
    const char *x = a.data, *y = b.data;
    size_t i = 0;
    while (i < a.len && i < b.len && (x[i] | 0x20) == (y[i] | 0x20))
        i++; /* the bit is already set in . + - and digits */
    return i == a.len && i == b.len;
}

/* Parse a link without a scheme; *joined: its path continues the base's. */
static int parse_relative(deja_slice link, const struct dj_url *base, struct dj_url *u,
                          bool *joined)
{
    *u = (struct dj_url){.scheme = base->scheme, .special = base->special, .port = DJ_NO_PORT};
    if (starts_with_slash(link, u->special) &&
        starts_with_slash(dj_slice_from(link, 1), u->special)) {
        link = dj_slice_from(link, 2);
        while (u->special && starts_with_slash(link, true))
            link = dj_slice_from(link, 1);
        return dj_parse_authority(link, u);
    }
    *u = *base;
    dj_parse_tail(link, u);
    if (base->opaque && (u->path.len || u->has_query || !u->has_fragment))
        return DEJA_ENOTURL; /* only a fragment can be resolved against mailto: */
    if (u->path.len == 0) {
        u->path = base->path;
        if (!u->has_query) {
            u->has_query = base->has_query;
            u->query = base->query;
        }
    } else {
        *joined = !starts_with_slash(u->path, u->special);
    }
    return DEJA_OK;
}

static int parse_link(deja_slice base, deja_slice link, struct dj_url *base_url, struct dj_url *u,
                      bool *joined)
{
    const size_t scheme_len = dj_parse_scheme(link);
    const int rc = dj_parse_url(base, base_url);
    if (scheme_len == 0)
        return rc < 0 ? rc : parse_relative(link, base_url, u, joined);
    const deja_slice rest = dj_slice_from(link, scheme_len + 1);
    if (rc == DEJA_OK && base_url->special &&
        same_scheme(dj_slice_upto(link, scheme_len), base_url->scheme) &&
        !(rest.len >= 2 && memcmp(rest.data, "//", 2) == 0))
        return parse_relative(rest, base_url, u, joined);
    return dj_parse_url(link, u);
}

static int resolve(deja_slice base, deja_slice link, char *out, size_t cap, deja_slice *url)
{
    struct dj_url base_url, u;
    bool joined = false;
    *url = link;
    if (cap < DEJA_URL_ROOM(base.len + link.len))
        return DEJA_ESPACE;
    /* The end of the buffer holds copies without tabs and line ends. */
    cap -= base.len + link.len;
    base = dj_parse_clean(base, out + cap);
    link = dj_parse_clean(link, out + cap + base.len);
    int rc = parse_link(base, link, &base_url, &u, &joined);
    if (rc < 0)
        return rc;
    struct dj_text text = dj_text_in(out, cap);
    rc = dj_write_origin(&text, &u, dj_percent_encode, DJ_URL_UTS46);
    if (rc < 0)
        return rc;
    struct dj_path path = {&text, 0, dj_percent_encode, u.special, NULL};
    dj_write_path(&path, &u, joined ? &base_url : NULL);
    dj_write_query(&text, &u, dj_percent_encode);
    if (u.has_fragment) {
        dj_text_byte(&text, '#');
        dj_percent_encode(&text, u.fragment, DJ_SET_FRAGMENT);
    }
    *url = dj_text_slice(&text);
    return text.short_of_room ? DEJA_ESPACE : DEJA_OK;
}

int deja_url_resolve(deja_slice base, deja_slice link, char *out, size_t cap, deja_slice *url,
                     deja_error *err)
{
    return dj_url_explain(resolve(base, link, out, cap, url), link, err);
}
