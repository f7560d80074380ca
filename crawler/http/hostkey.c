/* hostkey.c - one name for a host, however its URLs spell it.
 *
 * Links are untrusted. http://u1@host/, http://u2@host/, https://host:8443/ and http://HOST./ all
 * lead to one machine.  If each had its own delay, thirty such links would send thirty requests at
 * once.  So pages are fetched without credentials, and delays, limits and concurrent requests are
 * counted per host name. robots.txt is not: each scheme and port has its own (RFC 9309, 2.3).
 *
 * A crawl's URL profile may leave spellings of a host unchanged (scrapy does), but libcurl
 * understands all of them, so names always use the rules of profile safe.
 *
 * Limit: two names of one address are two hosts. */
#include "crawler/http/hostkey.h"
#include "tools/base/ascii.h"
#include <arpa/inet.h>

struct authority {
    deja_slice all, host, port; /* all: with credentials; port: with its colon */
};

static struct authority split(deja_slice url)
{
    const char *p = url.data, *const end = p + url.len;
    const char *from = url.len ? memmem(p, url.len, "://", 3) : NULL;
    from = from ? from + 3 : p;
    const char *until = from;
    while (until < end && *until != '/' && *until != '?' && *until != '#')
        until++;
    const char *at = until > from ? memrchr(from, '@', (size_t)(until - from)) : NULL;
    const char *const host = at ? at + 1 : from;
    const char *colon = until > host ? memrchr(host, ':', (size_t)(until - host)) : NULL;
    if (!colon || memchr(colon, ']', (size_t)(until - colon)))
        colon = until;
    struct authority a = {.all = ascii_between(from, until),
                          .host = ascii_between(host, colon),
                          .port = ascii_between(colon, until)};
    if (a.host.len > 0 && host[a.host.len - 1] == '.')
        a.host.len--;
    return a;
}

bool hostkey_has_credentials(deja_slice url)
{
    const struct authority a = split(url);
    return a.all.len > 0 && memchr(a.all.data, '@', a.all.len);
}

int hostkey_clean(deja_slice url, struct buffer *room, deja_slice *clean)
{
    const struct authority a = split(url);
    const char *begin = url.data;
    /* No host ends with two dots.  Without them, 4.. would become an address. */
    if (a.host.len == 0 || ((const char *)a.host.data)[a.host.len - 1] == '.')
        return DEJA_ENOTURL;
    *clean = url;
    if (a.all.len == a.host.len + a.port.len)
        return DEJA_OK;
    struct buffer out = {0};
    const char *rest = (const char *)a.all.data + a.all.len;
    const bool ok = buffer_add(&out, begin, (size_t)((const char *)a.all.data - begin)) &&
                    buffer_add(&out, a.host.data, a.host.len) &&
                    buffer_add(&out, a.port.data, a.port.len) &&
                    buffer_add(&out, rest, (size_t)(begin + url.len - rest));
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
    for (size_t i = 0; i < host.len; i++) {
        const char c = ascii_lower(p[i]);
        if (!buffer_add(out, &c, 1))
            return false;
    }
    return true;
}

enum port {
    NO_PORT,
    UNUSUAL_PORT,
    ANY_PORT
};

static int add_name(deja_slice url, enum port port, struct buffer *out)
{
    const struct authority written = split(url);
    const size_t len = (size_t)((const char *)written.all.data - (const char *)url.data) +
                       written.all.len; /* skip the path: it does not matter here */
    struct buffer room = {0};
    deja_slice canon;
    if (!buffer_reserve(&room, DEJA_URL_ROOM(len)))
        return DEJA_ENOMEM;
    if (deja_url_canon(deja_url_profile(DEJA_URL_SAFE), (deja_slice){url.data, len}, room.data,
                       room.cap, &canon, NULL) < 0)
        canon = url;
    const struct authority a = split(canon);
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
