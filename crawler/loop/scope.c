/* scope.c - which URLs belong to a crawl.
 *
 * Seeds leave marks: an authority, a registrable domain, or the beginning of a URL.  A URL belongs
 * when its own mark is among them.  Marks are sorted, and few: as many as seeds.
 *
 * What is a registrable domain (example.co.uk, not co.uk) is for the Public Suffix List to say
 * (libpsl, with the list that is built into it). */
#include "crawler/loop/scope.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include <libpsl.h>
#include <regex.h>
#include <stdlib.h>

struct scope {
    uint32_t kind;
    regex_t match, exclude;
    bool has_match, has_exclude;
    char **mark;
    size_t n, cap;
};

/* --- Parts of a URL ------------------------------------------------------------ */

deja_slice scope_origin(deja_slice url)
{
    const char *p = url.data, *end = p + url.len;
    const char *at = url.len ? memmem(p, url.len, "://", 3) : NULL;
    at = at ? at + 3 : p;
    while (at < end && *at != '/' && *at != '?')
        at++;
    return ascii_between(p, at);
}

deja_slice scope_path(deja_slice url)
{
    const deja_slice origin = scope_origin(url);
    return (deja_slice){(const char *)url.data + origin.len, url.len - origin.len};
}

bool scope_is_web(deja_slice url)
{
    return ascii_begins(url, "http:") || ascii_begins(url, "https:");
}

static deja_slice authority(deja_slice url)
{
    const deja_slice origin = scope_origin(url);
    const char *p = origin.data, *end = p + origin.len;
    const char *at = origin.len ? memmem(p, origin.len, "://", 3) : NULL;
    const char *begin = at ? at + 3 : p;
    const char *user = end > begin ? memrchr(begin, '@', (size_t)(end - begin)) : NULL;
    return ascii_between(user ? user + 1 : begin, end);
}

/* The registrable domain, or the host itself when it has none, as an address of numbers. */
static deja_slice domain(deja_slice url, char room[256])
{
    deja_slice host = authority(url);
    const char *p = host.data;
    const char *colon = host.len ? memrchr(p, ':', host.len) : NULL;
    if (colon && !memchr(colon, ']', host.len - (size_t)(colon - p)))
        host.len = (size_t)(colon - p);
    if (host.len == 0 || host.len > 255)
        return host;
    const char last = p[host.len - 1];
    if (last == ']' || ascii_is_digit(last))
        return host;
    memcpy(room, p, host.len);
    room[host.len] = '\0';
    const char *known = psl_registrable_domain(psl_builtin(), room);
    return known ? ascii_slice(known) : host;
}

static deja_slice mark_of(const scope *s, deja_slice url, char room[256])
{
    return s->kind == SCOPE_DOMAIN ? domain(url, room) : authority(url);
}

/* Up to the last slash of the path: http://h/docs/ for http://h/docs/a.html. */
static deja_slice prefix_of(deja_slice url)
{
    const char *p = url.data;
    const char *query = url.len ? memchr(p, '?', url.len) : NULL;
    const size_t len = query ? (size_t)(query - p) : url.len;
    const char *slash = len ? memrchr(p, '/', len) : NULL;
    return slash ? ascii_between(p, slash + 1) : url;
}

/* --- The scope ------------------------------------------------------------------ */

static int compile(regex_t *regex, const char *text, const char *option, deja_error *err)
{
    char why[120];
    const int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return DEJA_OK;
    (void)regerror(code, regex, why, sizeof why);
    return fail(err, DEJA_EINVAL, "%s: '%.60s' is no regular expression: %s", option, text, why);
}

int scope_new(uint32_t kind, const char *match, const char *exclude, scope **out, deja_error *err)
{
    scope *s = calloc(1, sizeof *s);
    int rc = DEJA_OK;
    *out = NULL;
    if (!s)
        return fail(err, DEJA_ENOMEM, "no memory for the scope");
    s->kind = kind;
    if (kind == SCOPE_REGEX) {
        rc = compile(&s->match, match, "--match", err);
        s->has_match = rc == DEJA_OK;
    }
    if (rc == DEJA_OK && exclude) {
        rc = compile(&s->exclude, exclude, "--exclude", err);
        s->has_exclude = rc == DEJA_OK;
    }
    if (rc == DEJA_OK)
        *out = s;
    else
        scope_free(s);
    return rc;
}

void scope_free(scope *s)
{
    if (!s)
        return;
    if (s->has_match)
        regfree(&s->match);
    if (s->has_exclude)
        regfree(&s->exclude);
    for (size_t i = 0; i < s->n; i++)
        free(s->mark[i]);
    free(s->mark);
    free(s);
}

static int compare_marks(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int scope_add(scope *s, deja_slice seed)
{
    char room[256];
    const deja_slice mark = s->kind == SCOPE_PREFIX ? prefix_of(seed) : mark_of(s, seed, room);
    void *wider = array_grow(s->mark, &s->cap, s->n + 1, sizeof(char *));
    if (!wider)
        return DEJA_ENOMEM;
    s->mark = wider;
    char *copy = ascii_copy(mark);
    if (!copy)
        return DEJA_ENOMEM;
    s->mark[s->n++] = copy;
    qsort(s->mark, s->n, sizeof(char *), compare_marks);
    return DEJA_OK;
}

static bool has_mark(const scope *s, deja_slice mark)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int c = ascii_compare(ascii_slice(s->mark[middle]), mark);
        if (c == 0)
            return true;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool has_prefix(const scope *s, deja_slice url)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t len = strlen(s->mark[i]);
        if (url.len >= len && memcmp(url.data, s->mark[i], len) == 0)
            return true;
    }
    return false;
}

/* regexec takes strings; a URL that does not fit is matched by its beginning. */
static bool matches(const regex_t *regex, deja_slice url)
{
    char text[4096];
    const size_t len = url.len < sizeof text ? url.len : sizeof text - 1;
    memcpy(text, url.data, len);
    text[len] = '\0';
    return regexec(regex, text, 0, NULL, 0) == 0;
}

bool scope_has(const scope *s, deja_slice url)
{
    char room[256];
    if (s->has_exclude && matches(&s->exclude, url))
        return false;
    switch (s->kind) {
    case SCOPE_ANY:
        return true;
    case SCOPE_REGEX:
        return matches(&s->match, url);
    case SCOPE_PREFIX:
        return has_prefix(s, url);
    default:
        return has_mark(s, mark_of(s, url, room));
    }
}
