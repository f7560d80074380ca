/* serverurl.c - the URL of a server: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]. */
#include "cli/server/serverurl.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <string.h>

#define DEFAULT_PORT 6379

/* The message must not contain the password. */
static int bad_url(const char *url, deja_error *err)
{
    const char *at = strrchr(url, '@');
    return fail(
        err, DEJA_EINVAL,
        "'%s%s' is not the URL of a server; use redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]",
        at ? "..." : "", fail_path(at ? at : url).text);
}

bool serverurl_copy(char *to, size_t cap, const char *from, size_t len)
{
    if (len >= cap)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* Decodes a name or password, in which %XX is a byte. */
static bool decode(char *to, size_t cap, const char *from, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++, n++) {
        const bool coded = from[i] == '%' && len - i > 2 && ascii_hex(from[i + 1]) >= 0 &&
                           ascii_hex(from[i + 2]) >= 0;
        if (n + 1 >= cap)
            return false;
        to[n] = coded ? (char)(16 * ascii_hex(from[i + 1]) + ascii_hex(from[i + 2])) : from[i];
        i += coded ? 2 : 0;
    }
    to[n] = '\0';
    return true;
}

/* The decimal number in [text, end), or -1 if it is not one or exceeds `most`. */
int serverurl_number(const char *text, const char *end, int most)
{
    long n = 0;
    if (text == end)
        return -1;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        n = 10 * n + (*text - '0');
        if (n > most)
            return -1;
    }
    return (int)n;
}

/* HOST[:PORT], up to end; a host that contains colons is in brackets. */
static bool parse_host(const char *host, const char *end, struct serverurl *n)
{
    const char *bracket = *host == '[' ? memchr(host, ']', (size_t)(end - host)) : NULL;
    const char *rest = bracket ? bracket + 1 : host;
    const char *colon = memchr(rest, ':', (size_t)(end - rest));
    const char *stop = colon ? colon : end;
    n->port = colon ? serverurl_number(colon + 1, end, 65535) : DEFAULT_PORT;
    if (bracket && stop != rest)
        return false;
    host += bracket != NULL;
    stop = bracket ? bracket : stop;
    return serverurl_copy(n->host, sizeof n->host, host, (size_t)(stop - host)) && n->host[0] &&
           n->port > 0;
}

int serverurl_parse(const char *url, struct serverurl *a, deja_error *err)
{
    static const char scheme[] = "redis://";
    *a = (struct serverurl){0};
    const bool has_scheme = strncmp(url, scheme, sizeof scheme - 1) == 0;
    if (!has_scheme && strstr(url, "://"))
        return bad_url(url, err);
    const char *at = has_scheme ? url + sizeof scheme - 1 : url; /* the scheme may be omitted */
    const char *end = at + strcspn(at, "/"), *host = at;
    for (const char *p = at; p < end; p++)
        if (*p == '@')
            host = p + 1;
    if (host > at) {
        const char *colon = memchr(at, ':', (size_t)(host - 1 - at));
        const char *secret = colon ? colon + 1 : at;
        if ((colon && !decode(a->user, sizeof a->user, at, (size_t)(colon - at))) ||
            !decode(a->password, sizeof a->password, secret, (size_t)(host - 1 - secret)))
            return bad_url(url, err);
    }
    a->db = *end && end[1] ? serverurl_number(end + 1, end + strlen(end), 1 << 20) : 0;
    if (!parse_host(host, end, a) || a->db < 0)
        return bad_url(url, err);
    return DEJA_OK;
}
