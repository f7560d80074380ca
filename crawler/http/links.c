/* links.c - finds the links of an HTML page.
 *
 * gumbo parses the page into a tree as browsers do, however malformed it is; a walk over the tree
 * finds
 *
 *     a, area         href      a page
 *     iframe, frame   src       a page
 *     link            href      a page (canonical, next, alternate ...), or with `embeds` a
 *                               style sheet, icon ...
 *     meta            content   of http-equiv=refresh: "5; url=next.html"
 *     img, script, source, video, audio, embed, input, object, track   with `embeds`
 *     base            href      the base of all relative links
 *
 * deja_url_resolve makes them absolute. rel=nofollow on a link, and a robots or deja meta element
 * with nofollow in it, ask crawlers not to follow.
 *
 * Pages are untrusted.  For many tags, gumbo's time grows with the depth, so a page of nothing but
 * open tags would keep it busy for hours, and it frees its tree recursively.  So it gets its
 * memory from an arena with limits of memory and time (arena.h), and nothing is freed piece by
 * piece.  The walk is not recursive either.
 *
 * Limits: text is read as UTF-8, whatever the page declares; links created by scripts are not
 * found; srcset and CSS are not read. */
#include "crawler/http/links.h"
#include "crawler/http/arena.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include <gumbo.h>

#define MAX_MEMORY  ((size_t)256 << 20)
#define MAX_CPU     2.0 /* seconds */
#define ROBOTS_NAME "deja"

struct walk {
    const struct links_options *o;
    links_take *take;
    void *ctx;
    struct links_count *count;
    deja_slice base;
    struct buffer own_base; /* from a base element */
    bool nofollow;          /* the page asks not to follow its links */
    struct buffer room;
};

/* --- Attributes and words ---------------------------------------------------- */

static deja_slice attribute(const GumboElement *e, const char *name)
{
    const GumboAttribute *a = gumbo_get_attribute(&e->attributes, name);
    return a ? (deja_slice){a->value, strlen(a->value)} : (deja_slice){NULL, 0};
}

/* True if a list of words, separated by blanks or commas, has one of these. */
static bool has_word(deja_slice list, const char *const *words)
{
    if (list.len == 0)
        return false;
    const char *p = list.data, *end = p + list.len;
    while (p < end) {
        const char *from = p;
        while (p < end && !ascii_is_space(*p) && *p != ',')
            p++;
        for (const char *const *w = words; *w; w++)
            if (p > from && ascii_is(ascii_between(from, p), *w))
                return true;
        p++;
    }
    return false;
}

static const char *const nofollow_words[] = {"nofollow", "none", NULL};
static const char *const embed_words[] = {"stylesheet", "icon",          "preload",
                                          "manifest",   "modulepreload", "apple-touch-icon",
                                          "mask-icon",  "prefetch",      NULL};
static const char *const host_words[] = {"dns-prefetch", "preconnect", NULL}; /* not pages */

/* --- Links -------------------------------------------------------------------- */

/* *url is the link's target, stored in the walk's room. */
static int resolve(struct walk *w, deja_slice link, deja_slice *url)
{
    const size_t room = DEJA_URL_ROOM(w->base.len + link.len);
    w->room.len = 0;
    if (!buffer_reserve(&w->room, room))
        return DEJA_ENOMEM;
    return deja_url_resolve(w->base, link, w->room.data, room, url, NULL);
}

static int give(struct walk *w, deja_slice link)
{
    deja_slice url;
    if (!link.data)
        return DEJA_OK;
    /* Blanks around a link are not part of it, however many there are. */
    link = ascii_trim(link);
    const int rc = link.len <= w->o->max_len ? resolve(w, link, &url) : DEJA_ENOTURL;
    if (rc == DEJA_ENOMEM)
        return rc;
    if (rc < 0 || url.len > w->o->max_len) {
        w->count->bad++;
        return DEJA_OK;
    }
    w->count->found++;
    return w->take(w->ctx, url);
}

static int give_if_followed(struct walk *w, const GumboElement *e, deja_slice link)
{
    static const char *const words[] = {"nofollow", NULL};
    if (link.data && !w->o->nofollow && (w->nofollow || has_word(attribute(e, "rel"), words))) {
        w->count->nofollow++;
        return DEJA_OK;
    }
    return give(w, link);
}

/* Returns the URL in "5; url='next.html'", or nothing. */
static deja_slice refresh_target(deja_slice content)
{
    const deja_slice none = {NULL, 0};
    const char *p = content.data, *end = p + content.len;
    while (p < end && *p != ';' && *p != ',')
        p++;
    if (p == end)
        return none;
    deja_slice rest = ascii_trim(ascii_between(p + 1, end));
    if (ascii_begins(rest, "url")) {
        const char *text = rest.data;
        const deja_slice behind = ascii_trim((deja_slice){text + 3, rest.len - 3});
        if (behind.len > 0 && ((const char *)behind.data)[0] == '=')
            rest = ascii_trim((deja_slice){(const char *)behind.data + 1, behind.len - 1});
    }
    const char *text = rest.data;
    if (rest.len > 0 && (text[0] == '"' || text[0] == '\'')) {
        const char *close = memchr(text + 1, text[0], rest.len - 1);
        return ascii_between(text + 1, close ? close : text + rest.len);
    }
    return rest.len > 0 ? rest : none;
}

static int from_meta(struct walk *w, const GumboElement *e)
{
    const deja_slice name = attribute(e, "name");
    const deja_slice content = attribute(e, "content");
    if ((ascii_is(name, "robots") || ascii_is(name, ROBOTS_NAME)) && content.data &&
        has_word(content, nofollow_words))
        w->nofollow = true;
    if (!content.data || !ascii_is(ascii_trim(attribute(e, "http-equiv")), "refresh"))
        return DEJA_OK;
    return give_if_followed(w, e, refresh_target(content));
}

static int from_link(struct walk *w, const GumboElement *e)
{
    const deja_slice rel = attribute(e, "rel");
    if (has_word(rel, host_words) || (!w->o->embeds && has_word(rel, embed_words)))
        return DEJA_OK;
    return give_if_followed(w, e, attribute(e, "href"));
}

/* Only the first base element with a valid href counts. */
static int from_base(struct walk *w, const GumboElement *e)
{
    const deja_slice href = attribute(e, "href");
    deja_slice url;
    if (w->own_base.data || !href.data || href.len > w->o->max_len)
        return DEJA_OK;
    const int rc = resolve(w, href, &url);
    if (rc < 0)
        return rc == DEJA_ENOMEM ? rc : DEJA_OK;
    if (!buffer_add(&w->own_base, url.data, url.len))
        return DEJA_ENOMEM;
    w->base = buffer_slice(&w->own_base);
    return DEJA_OK;
}

static int from_element(struct walk *w, const GumboElement *e)
{
    switch (e->tag) {
    case GUMBO_TAG_A:
    case GUMBO_TAG_AREA:
        return give_if_followed(w, e, attribute(e, "href"));
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_FRAME:
        return give_if_followed(w, e, attribute(e, "src"));
    case GUMBO_TAG_LINK:
        return from_link(w, e);
    case GUMBO_TAG_META:
        return from_meta(w, e);
    case GUMBO_TAG_IMG:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_SOURCE:
    case GUMBO_TAG_VIDEO:
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_EMBED:
    case GUMBO_TAG_INPUT:
    case GUMBO_TAG_TRACK:
        return w->o->embeds ? give(w, attribute(e, "src")) : DEJA_OK;
    case GUMBO_TAG_OBJECT:
        return w->o->embeds ? give(w, attribute(e, "data")) : DEJA_OK;
    default:
        return DEJA_OK;
    }
}

/* --- The walk ------------------------------------------------------------------ */

static const GumboVector *children(const GumboNode *n)
{
    if (n->type == GUMBO_NODE_DOCUMENT)
        return &n->v.document.children;
    if (n->type == GUMBO_NODE_ELEMENT || n->type == GUMBO_NODE_TEMPLATE)
        return &n->v.element.children;
    return NULL;
}

/* The node after n in document order, or NULL. */
static const GumboNode *next_node(const GumboNode *n, const GumboNode *root)
{
    const GumboVector *inner = children(n);
    if (inner && inner->length > 0)
        return inner->data[0];
    while (n != root) {
        const GumboVector *around = children(n->parent);
        if (n->index_within_parent + 1 < around->length)
            return around->data[n->index_within_parent + 1];
        n = n->parent;
    }
    return NULL;
}

typedef int visit_element(struct walk *w, const GumboElement *e);

static int for_elements(struct walk *w, const GumboNode *root, visit_element *visit)
{
    int rc = DEJA_OK;
    for (const GumboNode *n = root; n && rc >= 0; n = next_node(n, root))
        if (n->type == GUMBO_NODE_ELEMENT)
            rc = visit(w, &n->v.element);
    return rc;
}

/* Finds the base first, because it also applies to links before it. */
static int find_base(struct walk *w, const GumboElement *e)
{
    return e->tag == GUMBO_TAG_BASE ? from_base(w, e) : DEJA_OK;
}

static void *get(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void keep(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

/* Returns the tree, or NULL if it exceeds the arena's limits. */
static const GumboNode *parse(deja_slice html, struct arena *arena)
{
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = get;
    options.deallocator = keep;
    options.userdata = arena;
    options.max_errors = 0;
    if (setjmp(arena->last) != 0)
        return NULL;
    return gumbo_parse_with_options(&options, html.data, html.len)->document;
}

static clock_t deadline(double seconds)
{
    return seconds < 0 ? 0 : clock() + (clock_t)(seconds * (double)CLOCKS_PER_SEC);
}

int links_extract(deja_slice html, deja_slice url, const struct links_options *o, links_take *take,
                  void *ctx, struct links_count *count)
{
    struct walk w = {.o = o, .take = take, .ctx = ctx, .count = count, .base = url};
    struct arena arena = {.max = o->max_memory ? o->max_memory : MAX_MEMORY,
                          .until = deadline(o->max_cpu != 0 ? o->max_cpu : MAX_CPU)};
    *count = (struct links_count){0};
    if (html.len == 0)
        return DEJA_OK;
    const GumboNode *document = parse(html, &arena);
    int rc = document ? for_elements(&w, document, find_base) : DEJA_EFULL;
    if (rc >= 0)
        rc = for_elements(&w, document, from_element);
    arena_fini(&arena);
    buffer_fini(&w.own_base);
    buffer_fini(&w.room);
    return rc;
}
