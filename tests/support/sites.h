/* sites.h - numbered URLs like those of a crawl: many share hosts, folders and pages.
 *
 * Segment t of URL number i is word v of its place. v is derived from i and the seed, out of
 * `words`, with small v more frequent than large ones (the square of a uniform number).  With 0
 * words, all segments differ.  If `queries` is set, one URL in four has a query. */
#ifndef TEST_SITES_H
#define TEST_SITES_H
#include "core/base/bytes.h"
#include "deja.h"
#include <stdio.h>

struct sites {
    uint64_t seed, words;
    unsigned least, most; /* segments */
    bool queries;
};

#define SITES_URL 256 /* enough room for 10 segments */

static inline uint64_t sites_word(const struct sites *s, uint64_t number, unsigned t)
{
    const uint64_t drawn = dj_mix64(dj_mix64(number + s->seed * DJ_GOLDEN) + t * DJ_GOLDEN);
    return s->words ? dj_mulhi(dj_mulhi(drawn, drawn), s->words) : number * 16 + t;
}

static inline unsigned sites_segments(const struct sites *s, uint64_t number)
{
    const uint64_t drawn = dj_mix64(number * DJ_GOLDEN + ~s->seed);
    return s->least + (unsigned)dj_mulhi(drawn, s->most - s->least + 1);
}

static inline deja_slice sites_url(const struct sites *s, uint64_t number, char *out)
{
    const unsigned n = sites_segments(s, number);
    int len = snprintf(out, SITES_URL, "http://%llx.example",
                       (unsigned long long)sites_word(s, number, 0));
    for (unsigned t = 1; t < n; t++)
        len += snprintf(out + len, SITES_URL - (size_t)len, "/%llx",
                        (unsigned long long)sites_word(s, number, t));
    if (s->queries && number % 4 == 0)
        len += snprintf(out + len, SITES_URL - (size_t)len, "?id=%llx",
                        (unsigned long long)sites_word(s, number, 15));
    return (deja_slice){out, (size_t)len};
}

#endif
