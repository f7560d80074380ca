/* urlparts.h - finds the authority of a URL and its parts. */
#ifndef TOOLS_BASE_URLPARTS_H
#define TOOLS_BASE_URLPARTS_H
#include "tools/base/ascii.h"
#include "tools/base/sys.h"

/* Slices of the URL; empty if it lacks the part.  A URL without "://" starts with its authority. */
struct url_parts {
    deja_slice origin;    /* scheme://authority */
    deja_slice authority; /* with credentials */
    deja_slice host;      /* an IPv6 address with its brackets */
    deja_slice port;      /* with its colon */
    deja_slice rest;      /* path, query and fragment */
};

static inline struct url_parts url_parts(deja_slice url)
{
    const char *begin = url.data, *const end = begin + url.len;
    const char *from = url.len ? memmem(begin, url.len, "://", 3) : NULL;
    from = from ? from + 3 : begin;
    const char *until = from;
    while (until < end && *until != '/' && *until != '?' && *until != '#')
        until++;
    const char *at = until > from ? sys_find_last(from, '@', (size_t)(until - from)) : NULL;
    const char *const host = at ? at + 1 : from;
    const char *colon = until > host ? sys_find_last(host, ':', (size_t)(until - host)) : NULL;
    if (!colon || memchr(colon, ']', (size_t)(until - colon)))
        colon = until;
    return (struct url_parts){.origin = ascii_between(begin, until),
                              .authority = ascii_between(from, until),
                              .host = ascii_between(host, colon),
                              .port = ascii_between(colon, until),
                              .rest = ascii_between(until, end)};
}

#endif
