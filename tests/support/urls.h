/* urls.h - canonical forms as text that tests can compare. */
#ifndef DJ_TEST_URLS_H
#define DJ_TEST_URLS_H
#include "deja.h"
#include "rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_A_URL "(not a URL)"

static inline deja_slice bytes_of(const char *text)
{
    return (deja_slice){text, strlen(text)};
}

/* A URL or the name of an error, NUL-terminated; the caller frees it. */
static inline char *text_of(int rc, deja_slice url)
{
    char *text = malloc(url.len + 64);
    if (!text)
        abort();
    if (rc == DEJA_OK)
        snprintf(text, url.len + 64, "%.*s", (int)url.len, (const char *)url.data);
    else
        snprintf(text, 64, "%s", rc == DEJA_ENOTURL ? NOT_A_URL : deja_strerror(rc));
    return text;
}

/* In a buffer of exactly the required size, so that sanitizers catch one byte more. */
static inline char *canon_slice(const deja_url_rules *rules, deja_slice url)
{
    const size_t cap = DEJA_URL_ROOM(url.len);
    char *room = malloc(cap);
    deja_slice canon;
    if (!room)
        abort();
    const int rc = deja_url_canon(rules, url, room, cap, &canon, NULL);
    char *text = text_of(rc, canon);
    free(room);
    return text;
}

static inline char *canon_of(uint32_t profile, const char *url)
{
    return canon_slice(deja_url_profile(profile), bytes_of(url));
}

static inline char *resolved(const char *base, const char *link)
{
    const size_t cap = DEJA_URL_ROOM(strlen(base) + strlen(link));
    char *room = malloc(cap);
    deja_slice url;
    if (!room)
        abort();
    const int rc = deja_url_resolve(bytes_of(base), bytes_of(link), room, cap, &url, NULL);
    char *text = text_of(rc, url);
    free(room);
    return text;
}

/* Changes a URL in a few places: inserts bytes that mean something to a parser, repeats pieces,
 * cuts pieces out.  The buffer at `url` has cap bytes; returns the new length. */
static inline size_t mutate_url(struct rng *r, char *url, size_t len, size_t cap)
{
    static const char salt[] = "/\\.:@?#&=;%%%%20aAfFeE[]-_~ \t\n\r\0\x7f\xc3\xbc\xffxn'\"<>|^`{}";
    for (uint64_t changes = 1 + rng_below(r, 6); changes > 0; changes--) {
        const size_t at = (size_t)rng_below(r, len + 1);
        const size_t n = (size_t)rng_below(r, len - at + 1) % 8;
        const char c = salt[rng_below(r, sizeof salt - 1)];
        switch (rng_below(r, 4)) {
        case 0: /* insert one */
            if (len == cap)
                break;
            memmove(url + at + 1, url + at, len - at);
            url[at] = c;
            len++;
            break;
        case 1: /* replace one */
            if (at < len)
                url[at] = c;
            break;
        case 2: /* remove a piece */
            memmove(url + at, url + at + n, len - at - n);
            len -= n;
            break;
        default: /* repeat a piece */
            if (len + n > cap)
                break;
            memmove(url + at + n, url + at, len - at);
            len += n;
        }
    }
    return len;
}

#endif
