/* plain_reason.h - the checks of plain.h on marked bytes, shared by all kernels. */
#ifndef DJ_PLAIN_REASON_H
#define DJ_PLAIN_REASON_H
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/url/plain.h"

#define PLAIN_LEAST 9 /* http://a/ */

/* Length of http:// or https://, or 0. */
static inline size_t scheme_length(const char *url)
{
    static const char https[8] = {'h', 't', 't', 'p', 's', ':', '/', '/'};
    static const char http[8] = {'h', 't', 't', 'p', ':', '/', '/', 0};
    const uint64_t word = dj_load64((const uint8_t *)url);
    const bool is_https = word == dj_load64((const uint8_t *)https);
    const bool is_http = (word & UINT64_MAX >> 8) == dj_load64((const uint8_t *)http);
    return 8 * (size_t)is_https + 7 * (size_t)is_http;
}

static inline uint64_t bits_below(size_t n) /* n < 64 */
{
    return (UINT64_C(1) << n) - 1;
}

/* No branches, for callers that check many URLs.  Labels consist of plain bytes and are not empty;
 * the last one starts with a letter, so the host is neither a number nor an address. */
static inline bool host_is_plain(uint64_t unhost, uint64_t dot, const char *url, size_t begin,
                                 size_t end)
{
    const uint64_t host = bits_below(end) & ~bits_below(begin);
    const uint64_t dots = dot & host;
    const uint64_t around = (dots << 1 | UINT64_C(1) << begin) & (dots | UINT64_C(1) << end);
    const uint64_t starts = dots << 1 | UINT64_C(1) << begin; /* of labels */
    const size_t last = 63 - (size_t)__builtin_clzll(starts);
    /* A dot at the very end is in `around`; the byte after it is not read. */
    const unsigned char letter = (unsigned char)(url[last < end ? last : begin] - 'a');
    return (((unhost & host) | around) == 0) & (letter < 26);
}

/* True if a label of the host starts with xn--; it must then decode to a valid label. */
static inline bool host_is_encoded(uint64_t dot, const char *url, size_t begin, size_t end)
{
    static const char prefix[4] = {'x', 'n', '-', '-'};
    uint64_t starts = (dot & bits_below(end)) >> begin << begin << 1 | UINT64_C(1) << begin;
    for (; starts; starts &= starts - 1) {
        const size_t at = (size_t)__builtin_ctzll(starts);
        if (at + 4 <= end && memcmp(url + at, prefix, 4) == 0)
            return true;
    }
    return false;
}

/* A segment that starts with a dot might need resolving, and gsb collapses runs of slashes. */
static inline bool path_is_plain(const struct dj_marks *m, size_t words, size_t begin, bool gsb)
{
    uint64_t before = 0, found = 0, region = ~bits_below(begin);
    for (size_t w = 0; w < words; w++, region = UINT64_MAX) {
        const uint64_t behind_slash = m->slash[w] << 1 | before;
        const uint64_t wrong = m->dot[w] | (gsb ? m->slash[w] : 0);
        found |= behind_slash & wrong & region;
        before = m->slash[w] >> 63;
    }
    return found == 0;
}

/* Check the odd bytes one by one. *len is cut at a fragment; *query is the offset after the first
 * `?`. */
static inline bool odd_bytes_are_fine(const struct deja_url_rules *rules, const struct dj_marks *m,
                                      size_t words, const char *url, size_t *len, size_t *query)
{
    for (size_t w = 0; w < words; w++)
        for (uint64_t odd = m->odd[w]; odd; odd &= odd - 1) {
            const size_t at = 64 * w + (size_t)__builtin_ctzll(odd);
            if (url[at] == '#') {
                const bool fine = dj_plain_fragment_is_fine(rules, url, *len, at);
                *len = at;
                return fine;
            }
            if (url[at] == '?')
                *query = *query ? *query : at + 1;
            else if (!dj_plain_odd_is_fine(rules, url, *len, at, *query))
                return false;
        }
    return true;
}

/* The number of words of marks; a constant lets the compiler unroll the loops. */
static inline enum dj_plain reason(const struct deja_url_rules *rules, const char *url,
                                   size_t *len, size_t begin, const struct dj_marks *m,
                                   size_t words)
{
    const uint64_t slash = m->slash[0] >> begin << begin;
    const size_t end = slash ? (size_t)__builtin_ctzll(slash) : *len;
    if (end >= 64)
        return DJ_PLAIN_NO;
    if (DJ_UNLIKELY(!host_is_plain(m->unhost, m->dot[0], url, begin, end)) &&
        !dj_plain_host_is_fine(rules, url, begin, end))
        return DJ_PLAIN_NO;
    if (rules->version == DJ_URL_UTS46 && host_is_encoded(m->dot[0], url, begin, end))
        return DJ_PLAIN_NO;
    if (end == *len)
        return DJ_PLAIN_NO_PATH;
    if (!path_is_plain(m, words, end, rules->profile == DEJA_URL_GSB))
        return DJ_PLAIN_NO;
    uint64_t odd = 0;
    for (size_t w = 0; w < words; w++)
        odd |= m->odd[w];
    if (DJ_LIKELY(!odd))
        return DJ_PLAIN_YES;
    size_t query = 0;
    if (!odd_bytes_are_fine(rules, m, words, url, len, &query))
        return DJ_PLAIN_NO;
    if (query && !dj_plain_query_is_fine(rules, url + query, *len - query))
        return DJ_PLAIN_QUERY;
    return DJ_PLAIN_YES;
}

#endif
