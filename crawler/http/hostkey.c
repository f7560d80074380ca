/* hostkey.c - gives a host one name, however its URLs spell it.
 *
 * Links are untrusted. http://u1@host/, http://u2@host/, https://host:8443/ and http://HOST./ all
 * lead to one machine.  If each had its own delay, thirty such links would send thirty requests at
 * once.  So pages are fetched without credentials, and delays, limits and concurrent requests are
 * counted per host name. robots.txt is not: each scheme and port has its own (RFC 9309, 2.3).
 *
 * A crawl's URL profile may leave spellings of a host unchanged (scrapy does), but libcurl
 * understands all of them, so names always use the rules of the safe profile.
 *
 * Limit: two names of one address are two hosts. */
#include "crawler/http/hostkey.h"
#include "tools/base/urlparts.h"
#include <arpa/inet.h>

/* Splits a URL into its parts; removes the final dot of the host. */
static struct url_parts split(deja_slice url)
{
    struct url_parts a = url_parts(url);
    if (a.host.len > 0 && ((const char *)a.host.data)[a.host.len - 1] == '.')
        a.host.len--;
    return a;
}

int hostkey_canon(const deja_url_rules *rules, deja_slice url, struct buffer *room,
                  deja_slice *canon)
{
    room->len = 0;
    if (!buffer_reserve(room, DEJA_URL_ROOM(url.len)))
        return DEJA_ENOMEM;
    const int rc = deja_url_canon(rules, url, room->data, room->cap, canon, NULL);
    return rc == DEJA_OK ? hostkey_clean(*canon, room, canon) : rc;
}

bool hostkey_has_credentials(deja_slice url)
{
    const struct url_parts a = split(url);
    return a.authority.len > 0 && memchr(a.authority.data, '@', a.authority.len);
}

int hostkey_clean(deja_slice url, struct buffer *room, deja_slice *clean)
{
    const struct url_parts a = split(url);
    /* No host ends with two dots.  Without them, 4.. would become an address. */
    if (a.host.len == 0 || ((const char *)a.host.data)[a.host.len - 1] == '.')
        return DEJA_ENOTURL;
    *clean = url;
    if (a.authority.len == a.host.len + a.port.len)
        return DEJA_OK;
    struct buffer out = {0};
    const bool ok = buffer_add(&out, a.origin.data, a.origin.len - a.authority.len) &&
                    buffer_add(&out, a.host.data, a.host.len) &&
                    buffer_add(&out, a.port.data, a.port.len) &&
                    buffer_add(&out, a.rest.data, a.rest.len);
    if (!ok) {
        buffer_fini(&out);
        return DEJA_ENOMEM;
    }
    buffer_fini(room);
    *room = out;
    *clean = buffer_slice(room);
    return DEJA_OK;
}

/* An IPv4-mapped IPv6 address is that IPv4 address. */
static bool add_host(struct buffer *out, deja_slice host)
{
    const char *p = host.data;
    char text[INET6_ADDRSTRLEN];
    struct in6_addr v6;
    struct in_addr v4;
    if (p[0] == '[' && host.len > 2 && host.len - 2 < sizeof text) {
        memcpy(text, p + 1, host.len - 2);
        text[host.len - 2] = '\0';
        if (inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_V4MAPPED(&v6)) {
            memcpy(&v4, v6.s6_addr + 12, sizeof v4);
            return inet_ntop(AF_INET, &v4, text, sizeof text) && buffer_text(out, text);
        }
    }
    return buffer_lower(out, host);
}

enum port {
    NO_PORT,
    UNUSUAL_PORT,
    ANY_PORT
};

static int add_name(deja_slice url, enum port port, struct buffer *out)
{
    const deja_slice origin = url_parts(url).origin; /* the path does not matter here */
    struct buffer room = {0};
    deja_slice canon;
    if (!buffer_reserve(&room, DEJA_URL_ROOM(origin.len)))
        return DEJA_ENOMEM;
    if (deja_url_canon(deja_url_profile(DEJA_URL_SAFE), origin, room.data, room.cap, &canon,
                       NULL) < 0)
        canon = url;
    const struct url_parts a = split(canon);
    const char *const usual = ascii_begins(canon, "https:") ? ":443" : ":80";
    bool ok = a.host.len == 0 || add_host(out, a.host);
    if (ok && port != NO_PORT && a.port.len > 1)
        ok = buffer_add(out, a.port.data, a.port.len);
    else if (ok && port == ANY_PORT)
        ok = buffer_text(out, usual);
    buffer_fini(&room);
    return !ok ? DEJA_ENOMEM : a.host.len > 0 ? DEJA_OK : DEJA_ENOTURL;
}

int hostkey_name(deja_slice url, struct buffer *out)
{
    return add_name(url, NO_PORT, out);
}

int hostkey_name_and_port(deja_slice url, struct buffer *out)
{
    return add_name(url, ANY_PORT, out);
}

bool hostkey_same(deja_slice a, deja_slice b)
{
    struct buffer both = {0};
    bool same = add_name(a, UNUSUAL_PORT, &both) == DEJA_OK;
    const size_t len = both.len;
    same = same && add_name(b, UNUSUAL_PORT, &both) == DEJA_OK && both.len == 2 * len &&
           memcmp(both.data, both.data + len, len) == 0;
    buffer_fini(&both);
    return same;
}
