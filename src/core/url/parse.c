/* parse.c - the URL parser of the WHATWG standard, without its state machine.
 *
 * The standard reads a URL one code point at a time through some twenty states, because it must
 * also serve setters.  For a whole URL a few cuts are equivalent: the scheme ends at the colon,
 * the authority at the slash; the host starts after the last @ of the authority, the port after
 * the next colon; the fragment starts at the first #, the query at the first ?. The lenient rules
 * are implemented here too: surrounding white space, tabs and line ends anywhere, any number of
 * slashes or backslashes after http:.
 *
 * Schemes that are not special follow RFC 3986: an authority only after two slashes, and no
 * meaning for backslashes.  Here, `file` is one of these schemes.  The standard has rules for
 * Windows drives and for file: with one slash, which only merge spellings; a crawler does not need
 * them. */
#include "core/url/parse.h"
#include "core/base/letters.h"
#include "core/base/os.h"
#include <string.h>

static char at(deja_slice s, size_t i)
{
    return ((const char *)s.data)[i];
}

static bool is_slash(char c, bool special)
{
    return c == '/' || (special && c == '\\');
}

static size_t find(deja_slice s, char c)
{
    const char *hit = s.len ? memchr(s.data, c, s.len) : NULL;
    return hit ? (size_t)(hit - (const char *)s.data) : s.len;
}

/* --- Cleaning ----------------------------------------------------------- */

static bool is_edge(char c)
{
    return (unsigned char)c <= ' ';
}

static bool is_removed(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

deja_slice dj_parse_clean(deja_slice url, char *room)
{
    while (url.len && is_edge(at(url, 0)))
        url = dj_slice_from(url, 1);
    while (url.len && is_edge(at(url, url.len - 1)))
        url.len--;
    size_t i = 0, n = 0;
    while (i < url.len && !is_removed(at(url, i)))
        i++;
    if (i == url.len)
        return url;
    for (i = 0; i < url.len; i++)
        if (!is_removed(at(url, i)))
            room[n++] = at(url, i);
    return (deja_slice){room, n};
}

/* --- Schemes ------------------------------------------------------------ */

static const struct special {
    const char *name;
    int port;
} special[] = {{"http", 80}, {"https", 443}, {"ftp", 21}, {"ws", 80}, {"wss", 443}};

static bool same_word(deja_slice s, const char *lower)
{
    size_t i = 0;
    while (i < s.len && lower[i] && dj_lower(at(s, i)) == lower[i])
        i++;
    return i == s.len && lower[i] == '\0';
}

/* The entry of a special scheme, or NULL. */
static const struct special *special_of(deja_slice scheme)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (same_word(scheme, special[i].name))
            return &special[i];
    return NULL;
}

bool dj_parse_is_special(deja_slice scheme)
{
    return special_of(scheme);
}

size_t dj_parse_scheme(deja_slice clean)
{
    if (clean.len == 0 || !dj_is_alpha(at(clean, 0)))
        return 0;
    for (size_t i = 1; i < clean.len; i++) {
        const char c = at(clean, i);
        if (c == ':')
            return i;
        if (!dj_is_alpha(c) && !dj_is_digit(c) && c != '+' && c != '-' && c != '.')
            return 0;
    }
    return 0;
}

/* --- Authority ---------------------------------------------------------- */

static size_t authority_len(deja_slice rest, bool is_special)
{
    size_t i = 0;
    while (i < rest.len && !is_slash(at(rest, i), is_special) && at(rest, i) != '?' &&
           at(rest, i) != '#')
        i++;
    return i;
}

/* The offset of the port's colon: the first one outside the brackets of an IPv6 address. */
static size_t host_len(deja_slice host)
{
    bool inside = false;
    size_t i = 0;
    for (; i < host.len && (inside || at(host, i) != ':'); i++) {
        if (at(host, i) == '[')
            inside = true;
        else if (at(host, i) == ']')
            inside = false;
    }
    return i;
}

static int parse_port(deja_slice digits, struct dj_url *u)
{
    int port = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!dj_is_digit(at(digits, i)))
            return DEJA_ENOTURL;
        port = port * 10 + (at(digits, i) - '0');
        if (port > 65535)
            return DEJA_ENOTURL;
    }
    const struct special *s = u->special ? special_of(u->scheme) : NULL;
    u->port = digits.len == 0 || (s && s->port == port) ? DJ_NO_PORT : port;
    return DEJA_OK;
}

/* user:password; either may contain an @, but only the password a colon. */
static void parse_userinfo(deja_slice info, struct dj_url *u)
{
    const size_t colon = find(info, ':');
    u->username = dj_slice_upto(info, colon);
    if (colon < info.len)
        u->password = dj_slice_from(info, colon + 1);
}

int dj_parse_authority(deja_slice rest, struct dj_url *u)
{
    deja_slice host = dj_slice_upto(rest, authority_len(rest, u->special));
    const deja_slice tail = dj_slice_from(rest, host.len);
    const char *last_at = host.len ? dj_os_find_last(host.data, '@', host.len) : NULL;
    bool needs_host = u->special;
    if (last_at) {
        const size_t info_len = (size_t)(last_at - (const char *)host.data);
        parse_userinfo(dj_slice_upto(host, info_len), u);
        host = dj_slice_from(host, info_len + 1);
        needs_host = true;
    }
    u->has_host = true;
    u->host = dj_slice_upto(host, host_len(host));
    if (u->host.len < host.len) {
        needs_host = true;
        const int rc = parse_port(dj_slice_from(host, u->host.len + 1), u);
        if (rc < 0)
            return rc;
    }
    if (needs_host && u->host.len == 0)
        return DEJA_ENOTURL;
    dj_parse_tail(tail, u);
    return DEJA_OK;
}

/* --- The whole URL ------------------------------------------------------ */

void dj_parse_tail(deja_slice rest, struct dj_url *u)
{
    const size_t hash = find(rest, '#');
    u->has_fragment = hash < rest.len;
    if (u->has_fragment)
        u->fragment = dj_slice_from(rest, hash + 1);
    rest.len = hash;
    const size_t mark = find(rest, '?');
    u->has_query = mark < rest.len;
    if (u->has_query)
        u->query = dj_slice_from(rest, mark + 1);
    u->path = dj_slice_upto(rest, mark);
}

int dj_parse_url(deja_slice clean, struct dj_url *u)
{
    const size_t scheme_len = dj_parse_scheme(clean);
    if (scheme_len == 0)
        return DEJA_ENOTURL;
    *u = (struct dj_url){.scheme = dj_slice_upto(clean, scheme_len), .port = DJ_NO_PORT};
    u->special = dj_parse_is_special(u->scheme);
    deja_slice rest = dj_slice_from(clean, scheme_len + 1);
    if (u->special) {
        while (rest.len && is_slash(at(rest, 0), true))
            rest = dj_slice_from(rest, 1);
        return dj_parse_authority(rest, u);
    }
    if (rest.len >= 2 && at(rest, 0) == '/' && at(rest, 1) == '/')
        return dj_parse_authority(dj_slice_from(rest, 2), u);
    u->opaque = rest.len == 0 || at(rest, 0) != '/';
    dj_parse_tail(rest, u);
    return DEJA_OK;
}
