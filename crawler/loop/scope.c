/* scope.c - decides which URLs belong to a crawl.
 *
 * Each seed defines a mark: an authority, a registrable domain, or a URL prefix.  A URL belongs to
 * the crawl if its own mark is among them.  The marks are sorted.
 *
 * Registrable domains (example.co.uk, not co.uk) come from the Public Suffix List that is built
 * into libpsl. */
#include "crawler/loop/scope.h"
#include "crawler/loop/pattern.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include "tools/base/urlparts.h"
#include <libpsl.h>
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
    return url_parts(url).origin;
}

deja_slice scope_path(deja_slice url)
{
    return url_parts(url).rest;
}

bool scope_is_web(deja_slice url)
{
    return ascii_begins(url, "http:") || ascii_begins(url, "https:");
}

/* Returns the authority without credentials. */
static deja_slice authority(deja_slice url)
{
    const struct url_parts a = url_parts(url);
    return (deja_slice){a.host.data, a.host.len + a.port.len};
}

/* Returns the registrable domain, or the host itself if it has none, as for a numeric address. */
static deja_slice domain(deja_slice url, char room[256])
{
    const deja_slice host = url_parts(url).host;
    const char *p = host.data;
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

/* Returns the URL up to the last slash of the path: http://h/docs/ for http://h/docs/a.html. */
static deja_slice prefix_of(deja_slice url)
{
    const char *p = url.data;
    const char *query = url.len ? memchr(p, '?', url.len) : NULL;
    const size_t len = query ? (size_t)(query - p) : url.len;
    const char *slash = len ? sys_find_last(p, '/', len) : NULL;
    return slash ? ascii_between(p, slash + 1) : url;
}

/* --- The scope ------------------------------------------------------------------ */

int scope_new(uint32_t kind, const char *match, const char *exclude, scope **out, deja_error *err)
{
    scope *s = calloc(1, sizeof *s);
    int rc = DEJA_OK;
    *out = NULL;
    if (!s)
        return fail(err, DEJA_ENOMEM, "out of memory for the scope");
    s->kind = kind;
    if (kind == SCOPE_REGEX) {
        rc = pattern_compile(&s->match, match, "--match", err);
        s->has_match = rc == DEJA_OK;
    }
    if (rc == DEJA_OK && exclude) {
        rc = pattern_compile(&s->exclude, exclude, "--exclude", err);
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

static int compare_to_mark(const void *key, const void *mark)
{
    return ascii_compare(*(const deja_slice *)key, ascii_slice(*(char *const *)mark));
}

static bool has_mark(const scope *s, deja_slice mark)
{
    return s->n > 0 && bsearch(&mark, s->mark, s->n, sizeof(char *), compare_to_mark);
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

bool scope_has(const scope *s, deja_slice url)
{
    char room[256];
    if (s->has_exclude && pattern_matches(&s->exclude, url))
        return false;
    switch (s->kind) {
    case SCOPE_ANY:
        return true;
    case SCOPE_REGEX:
        return pattern_matches(&s->match, url);
    case SCOPE_PREFIX:
        return has_prefix(s, url);
    default:
        return has_mark(s, mark_of(s, url, room));
    }
}
