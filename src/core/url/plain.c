/* plain.c - the rules for odd bytes, the portable kernel of plain.h, and the choice of a
 * kernel. */
#include "core/url/plain.h"
#include "core/base/compiler.h"
#include "core/base/letters.h"
#include "core/url/params.h"
#include "core/url/plain_reason.h"
#include "core/url/scrapy.h"

/* --- Odd bytes and queries ---------------------------------------------------- */

/* A decimal number up to `most`, without a leading 0; -1 for anything else. */
static long number(const char *s, const char *end, long most)
{
    long value = 0;
    if (s == end || end - s > 5 || (*s == '0' && end - s > 1))
        return -1;
    for (; s < end; s++) {
        if (!dj_is_digit(*s))
            return -1;
        value = 10 * value + (*s - '0');
    }
    return value <= most ? value : -1;
}

static bool is_quad(const char *s, const char *end)
{
    for (int dots = 3; dots > 0; dots--) {
        const char *dot = memchr(s, '.', (size_t)(end - s));
        if (!dot || number(s, dot, 255) < 0)
            return false;
        s = dot + 1;
    }
    return number(s, end, 255) >= 0;
}

/* Labels of a-z 0-9 - _, the last one starting with a letter. */
static bool is_name(const char *s, const char *end)
{
    const char *label = s;
    for (; s < end; s++) {
        if (*s == '.' && s == label)
            return false;
        if (*s == '.')
            label = s + 1;
        else if (!(*s >= 'a' && *s <= 'z') && !dj_is_digit(*s) && *s != '-' && *s != '_')
            return false;
    }
    return label < end && *label >= 'a' && *label <= 'z';
}

bool dj_plain_host_is_fine(const struct deja_url_rules *rules, const char *url, size_t begin,
                           size_t end)
{
    const char *host = url + begin, *stop = url + end;
    const char *colon = memchr(host, ':', end - begin);
    if (colon) {
        const long port = number(colon + 1, stop, 65535);
        const long usual = begin == 8 ? 443 : 80; /* https:// or http:// */
        if (port < 0 || port == usual || rules->profile == DEJA_URL_GSB)
            return false;
        stop = colon;
    }
    return is_quad(host, stop) || is_name(host, stop);
}

static int upper_hex(char c)
{
    return c > 'F' ? -1 : dj_hex_value(c);
}

/* True if canonicalization leaves the triplet unchanged: it is in upper case, and its byte must
 * stay encoded. */
static bool triplet_is_fine(uint32_t profile, const char *s, size_t len)
{
    const int high = len > 2 ? upper_hex(s[1]) : -1, low = len > 2 ? upper_hex(s[2]) : -1;
    if (high < 0 || low < 0)
        return false;
    const int byte = high << 4 | low;
    if (profile == DEJA_URL_SCRAPY)
        return dj_scrapy_keeps_escape((unsigned char)byte);
    /* gsb unescapes everything and escapes few bytes; it treats line ends specially. */
    return profile == DEJA_URL_GSB ? byte == ' ' || byte >= 0x7f : !dj_is_unreserved((char)byte);
}

bool dj_plain_odd_is_fine(const struct deja_url_rules *rules, const char *url, size_t len,
                          size_t at, bool in_query)
{
    if (in_query && rules->profile == DEJA_URL_SCRAPY) /* strips blanks, rejects invalid UTF-8 */
        return url[at] > ' ' && (unsigned char)url[at] < 0x80;
    if (url[at] == '%')
        return triplet_is_fine(rules->profile, url + at, len - at);
    /* Path parameters: crawl drops some of them, w3lib has its own rules. */
    return url[at] == ';' &&
           (in_query || rules->profile == DEJA_URL_SAFE || rules->profile == DEJA_URL_GSB);
}

bool dj_plain_fragment_is_fine(const struct deja_url_rules *rules, const char *url, size_t len,
                               size_t at)
{
    bool ascii = true;
    for (size_t i = at; i < len; i++)
        ascii = ascii && (unsigned char)url[i] < 0x80;
    return ascii || rules->profile != DEJA_URL_SCRAPY; /* it rejects invalid UTF-8 anywhere */
}

struct piece {
    const char *at;
    size_t len, name_len;
};

/* Take the next piece, up to a `&`; false if none is left. */
static bool next_piece(const char **query, const char *end, struct piece *p)
{
    if (*query > end)
        return false;
    const char *amp = memchr(*query, '&', (size_t)(end - *query));
    p->at = *query;
    p->len = (size_t)((amp ? amp : end) - *query);
    const char *equals = memchr(p->at, '=', p->len);
    p->name_len = equals ? (size_t)(equals - p->at) : p->len;
    *query = p->at + p->len + 1;
    return true;
}

static bool in_order(const char *a, size_t a_len, const char *b, size_t b_len, bool *equal)
{
    const size_t both = a_len < b_len ? a_len : b_len;
    const int order = memcmp(a, b, both);
    *equal = order == 0 && a_len == b_len;
    return order < 0 || (order == 0 && a_len <= b_len);
}

/* Names in order, no empty pieces, no names to drop. */
static bool crawl_query_is_fine(const struct dj_params *drop, const char *query, size_t len)
{
    struct piece before = {query, 0, 0}, p;
    const char *at = query, *end = query + len;
    bool equal;
    while (next_piece(&at, end, &p)) {
        if (p.len == 0 || !in_order(before.at, before.name_len, p.at, p.name_len, &equal) ||
            (drop && dj_params_has(drop, (deja_slice){p.at, p.name_len})))
            return false;
        before = p;
    }
    return true;
}

/* Pairs sorted by name and value, made of bytes that w3lib does not escape. */
static bool scrapy_query_is_fine(const char *query, size_t len)
{
    struct piece before = {query, 0, 0}, p;
    const char *at = query, *end = query + len;
    for (size_t i = 0; i < len; i++)
        if (!dj_is_unreserved(query[i]) && query[i] != '&' && query[i] != '=')
            return false;
    for (bool first = true; next_piece(&at, end, &p); first = false) {
        const char *value = p.at + p.name_len + 1;
        bool equal = false;
        if (p.name_len == p.len || memchr(value, '=', p.len - p.name_len - 1))
            return false;
        if (!first && !in_order(before.at, before.name_len, p.at, p.name_len, &equal))
            return false;
        if (equal && !in_order(before.at, before.len, p.at, p.len, &equal))
            return false;
        before = p;
    }
    return true;
}

bool dj_plain_query_is_fine(const struct deja_url_rules *rules, const char *query, size_t len)
{
    if (rules->profile == DEJA_URL_CRAWL)
        return crawl_query_is_fine(rules->drop, query, len);
    return rules->profile != DEJA_URL_SCRAPY || scrapy_query_is_fine(query, len);
}

/* --- The portable kernel -------------------------------------------------------- */

enum {
    ODD = 1,
    UNHOST = 2,
    SLASH = 4,
    DOT = 8
};

static unsigned marks_of(unsigned char c)
{
    if (c >= 'a' && c <= 'z')
        return 0;
    if ((c >= '0' && c <= '9') || c == '-' || c == '_')
        return 0;
    if (c == '.')
        return DOT;
    if (c == '/')
        return SLASH | UNHOST;
    if ((c >= 'A' && c <= 'Z') || (c && strchr("!$&()*+,:=@[]|~", c)))
        return UNHOST;
    return ODD | UNHOST;
}

static void mark(const char *url, size_t len, struct dj_marks *m)
{
    *m = (struct dj_marks){0};
    for (size_t i = 0; i < len; i++) {
        const unsigned marks = marks_of((unsigned char)url[i]);
        const uint64_t bit = UINT64_C(1) << i % 64;
        m->odd[i / 64] |= marks & ODD ? bit : 0;
        m->slash[i / 64] |= marks & SLASH ? bit : 0;
        m->dot[i / 64] |= marks & DOT ? bit : 0;
        m->unhost |= i < 64 && marks & UNHOST ? bit : 0;
    }
}

static enum dj_plain portable_look(const struct deja_url_rules *rules, const char *url,
                                   size_t *len)
{
    struct dj_marks m;
    if (*len < PLAIN_LEAST || *len > DJ_PLAIN_MAX)
        return DJ_PLAIN_NO;
    const size_t begin = scheme_length(url);
    if (!begin)
        return DJ_PLAIN_NO;
    mark(url, *len, &m);
    return reason(rules, url, len, begin, &m, (*len + 63) / 64);
}

const struct dj_plain_kernel dj_plain_portable = {"portable", portable_look, NULL};

const struct dj_plain_kernel *dj_plain_best(void)
{
#ifdef DJ_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return &dj_plain_avx2;
#endif
#ifdef DJ_HAVE_NEON
    return &dj_plain_neon;
#else
    return &dj_plain_portable;
#endif
}
