/* expressions.c - the expressions that Safe Browsing looks up for one URL: each host suffix with
 * each path prefix.
 *
 * Hosts: the host itself, and up to four suffixes, formed from its last five labels by removing
 * labels from the front until two are left; an address has no suffixes.  Paths: the path with its
 * query, without it, and up to four prefixes that start at the root and end with a slash.
 *
 * A suffix of the host and a prefix of the path are adjacent in the URL, so each expression is a
 * slice of it and nothing is copied.  The longest, most specific expressions come first.
 *
 * Source: "URLs and Hashing" of the Safe Browsing API, version 4. */
#include "core/url/url.h"

#define HOSTS 5
#define PATHS 6
_Static_assert(HOSTS *PATHS == DEJA_URL_EXPRESSIONS, "room for each host with each path");

/* Whether a canonical host is an address: a dotted quad, or anything in brackets. */
static bool is_address(const char *host, size_t len)
{
    size_t dots = 0;
    if (len && host[0] == '[')
        return true;
    for (size_t i = 0; i < len; i++) {
        if (host[i] == '.')
            dots++;
        else if (host[i] < '0' || host[i] > '9')
            return false;
    }
    return dots == 3 && len <= sizeof "255.255.255.255" - 1;
}

/* Find where each host starts, longest first; returns their number. */
static size_t find_hosts(const char *host, const char *end, const char *start[HOSTS])
{
    const char *label[HOSTS]; /* the last five, in reverse order */
    size_t labels = 0, n = 0;
    start[n++] = host;
    if (is_address(host, (size_t)(end - host)))
        return n;
    for (const char *p = end; p > host && labels < HOSTS; p--)
        if (p[-1] == '.')
            label[labels++] = p;
    for (size_t i = labels; i-- > 1;)
        start[n++] = label[i];
    return n;
}

/* Find where each path ends, longest first; returns their number. */
static size_t find_paths(const char *path, const char *end, const char *stop[PATHS])
{
    const char *prefix[4] = {NULL};
    size_t prefixes = 0, n = 0;
    const char *const query = memchr(path, '?', (size_t)(end - path));
    stop[n++] = end;
    if (query)
        stop[n++] = end = query;
    for (const char *p = path; p < end && prefixes < 4; p++)
        if (*p == '/')
            prefix[prefixes++] = p + 1;
    while (prefixes-- > 0)
        if (prefix[prefixes] != end)
            stop[n++] = prefix[prefixes];
    return n;
}

size_t deja_url_expressions(deja_slice canon, deja_slice expression[DEJA_URL_EXPRESSIONS])
{
    const char *const url = canon.data, *const end = url + canon.len;
    const char *const colon = canon.len ? memchr(url, ':', canon.len) : NULL;
    if (!colon || end - colon < 3 || colon[1] != '/' || colon[2] != '/')
        return 0;
    const char *const host = colon + 3;
    const char *const path = memchr(host, '/', (size_t)(end - host));
    if (!path || path == host)
        return 0;
    const char *start[HOSTS], *stop[PATHS];
    const size_t hosts = find_hosts(host, path, start), paths = find_paths(path, end, stop);
    size_t n = 0;
    for (size_t i = 0; i < hosts; i++)
        for (size_t j = 0; j < paths; j++)
            expression[n++] = (deja_slice){start[i], (size_t)(stop[j] - start[i])};
    return n;
}
