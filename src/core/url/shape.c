/* shape.c - the shape profile: pages made from one template become one URL.
 *
 * It starts from the crawl profile's form and replaces variable parts with fixed ones: every
 * parameter loses its value, and in the path a number becomes 0, a hash 0123456789abcdef, a UUID
 * zeros, and a language in the first segment `en`.  So a shape is itself a URL, and the shape of a
 * shape is the same shape.  docs/url/profile-shape.md lists the rules with examples. */
#include "core/base/letters.h"
#include "core/url/url.h"

#define HASH_LEAST  16 /* hexadecimal digits */
#define TOKEN_LEAST 20 /* letters of both cases and digits: an identifier in base64 */
#define RUN_LEAST   4  /* digits next to letters: a number in a name, unlike v2 or mp3 */

/* A form that is rewritten in place: no step makes it longer. */
struct shape {
    char *at; /* where the next byte goes */
};

static void put(struct shape *s, const char *bytes, size_t n)
{
    memmove(s->at, bytes, n);
    s->at += n;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return dj_lower(c) >= 'a' && dj_lower(c) <= 'z';
}

static bool is_hex(char c)
{
    return dj_hex_value(c) >= 0;
}

static size_t span(const char *at, const char *end, bool (*is)(char))
{
    size_t n = 0;
    while (at + n < end && is(at[n]))
        n++;
    return n;
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c);
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(const char *at, size_t len)
{
    if (len != 36)
        return false;
    for (size_t i = 0; i < len; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? at[i] != '-' : !is_hex(at[i]))
            return false;
    }
    return true;
}

/* The two-letter codes of ISO 639-1 that sites use as the first segment of their paths. */
static bool is_language(const char *at)
{
    static const char codes[] =
        "af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy "
        "id is it ja ka kk km kn ko ku ky la lb lo lt lv mk ml mn mr ms mt my nb ne nl nn no or pa "
        "pl ps pt ro ru si sk sl so sq sr sv sw ta te th tl tr uk ur uz vi zh zu ";
    for (const char *code = codes; *code; code += 3)
        if (code[0] == dj_lower(at[0]) && code[1] == dj_lower(at[1]))
            return true;
    return false;
}

/* de, de-at or pt_BR. */
static bool is_locale(const char *at, size_t len)
{
    const bool region =
        len == 5 && (at[2] == '-' || at[2] == '_') && is_letter(at[3]) && is_letter(at[4]);
    return (len == 2 || region) && is_language(at);
}

/* Whether a word is an identifier: many hexadecimal digits, or a long mixture of letters and
 * digits. */
static bool is_hash(const char *at, size_t len)
{
    size_t digits = 0, upper = 0, lower = 0, hex = 0;
    for (size_t i = 0; i < len; i++) {
        digits += is_digit(at[i]);
        upper += at[i] >= 'A' && at[i] <= 'Z';
        lower += at[i] >= 'a' && at[i] <= 'z';
        hex += is_hex(at[i]);
    }
    if (!digits || digits == len)
        return false;
    return (len >= HASH_LEAST && hex == len) || (len >= TOKEN_LEAST && upper && lower);
}

/* A run of letters and digits. */
static void put_word(struct shape *s, const char *at, size_t len)
{
    static const char hash[] = "0123456789abcdef";
    const char *end = at + len;
    if (is_hash(at, len)) {
        put(s, hash, sizeof hash - 1);
        return;
    }
    while (at < end) {
        const size_t digits = span(at, end, is_digit), letters = span(at + digits, end, is_letter);
        if (digits == len || digits >= RUN_LEAST)
            put(s, "0", 1);
        else
            put(s, at, digits);
        put(s, at + digits, letters);
        at += digits + letters;
    }
}

/* The length of the byte between two words, or of an escape.  If a % does not begin an escape, the
 * word after it is copied unchanged, because a shortened word could form an escape with the %. */
static size_t escape_length(const char *at, const char *end)
{
    if (at == end || *at != '%')
        return at < end;
    const bool escape = end - at >= 3 && is_hex(at[1]) && is_hex(at[2]);
    return escape ? 3 : 1 + span(at + 1, end, is_word);
}

static void put_segment(struct shape *s, const char *at, size_t len, bool first)
{
    static const char zeros[] = "00000000-0000-0000-0000-000000000000";
    const char *end = at + len;
    if (first && is_locale(at, len)) {
        put(s, "en", 2);
        return;
    }
    if (is_uuid(at, len)) {
        put(s, zeros, sizeof zeros - 1);
        return;
    }
    while (at < end) {
        const size_t word = span(at, end, is_word);
        put_word(s, at, word);
        at += word;
        const size_t other = escape_length(at, end);
        put(s, at, other);
        at += other;
    }
}

static void put_path(struct shape *s, const char *at, const char *end)
{
    for (bool first = true; at < end; first = false) {
        const char *slash = memchr(at + 1, '/', (size_t)(end - at) - 1);
        const char *stop = slash ? slash : end;
        put(s, at, 1);
        put_segment(s, at + 1, (size_t)(stop - at) - 1, first);
        at = stop;
    }
}

/* The names of the parameters, each once; crawl has sorted them. */
static void put_names(struct shape *s, const char *at, const char *end)
{
    const char *last = NULL;
    size_t last_len = 0;
    while (at < end) {
        const char *amp = memchr(at, '&', (size_t)(end - at));
        const char *stop = amp ? amp : end, *equals = memchr(at, '=', (size_t)(stop - at));
        const size_t len = (size_t)((equals ? equals : stop) - at);
        if (len && (!last || len != last_len || memcmp(at, last, len) != 0)) {
            put(s, last ? "&" : "?", 1);
            last = s->at;
            last_len = len;
            put(s, at, len);
        }
        at = stop + 1;
    }
}

/* Rewrite the canonical form [at, end); returns its new end. */
static char *reduce(char *at, char *end)
{
    char *colon = memchr(at, ':', (size_t)(end - at));
    if (!colon || end - colon < 4 || colon[1] != '/' || colon[2] != '/')
        return end; /* URLs such as mailto: have no path */
    char *path = memchr(colon + 3, '/', (size_t)(end - colon) - 3);
    if (!path)
        return end;
    const char *mark = memchr(path, '?', (size_t)(end - path));
    struct shape s = {path};
    put_path(&s, path, mark ? mark : end);
    if (mark)
        put_names(&s, mark + 1, end);
    return s.at;
}

int dj_url_shape(const struct deja_url_rules *rules, deja_slice url, struct dj_text *out)
{
    const size_t begin = out->len;
    struct deja_url_rules crawl = *rules;
    crawl.profile = DEJA_URL_CRAWL;
    const int rc = dj_url_safe(&crawl, url, out);
    if (rc == DEJA_OK && !out->short_of_room)
        out->len = (size_t)(reduce(out->at + begin, out->at + out->len) - out->at);
    return rc;
}
