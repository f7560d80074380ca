/* linkgraph.c - the links of a finished crawl; see linkgraph.h.
 *
 * The queue lists the pages, and the archive has them.  Their links are extracted as the crawl did:
 * with the same URL rules, and with or without embedded files and nofollow links. */
#include "crawler/loop/linkgraph.h"
#include "crawler/http/hostkey.h"
#include "crawler/http/httphead.h"
#include "crawler/http/sitemap.h"
#include "crawler/loop/settings.h"
#include "tools/base/fail.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PAGE_MAX ((size_t)64 << 20)
#define URL_MAX  65536u

struct walk {
    const char *folder;
    const struct linkgraph_take *take;
    int dir;
    frontier *queue;
    const deja_url_rules *rules;
    struct links_options links;
    bool sitemaps;
    deja_slice from; /* the page whose links are extracted */
    struct buffer block, decoded, target, room;
    deja_error *err;
};

/* --- The options of the crawl --------------------------------------------------------- */

static int read_rules(struct walk *w, deja_error *err)
{
    struct buffer stored = {0};
    char name[32];
    int rc = frontier_get_blob(w->queue, "url", &stored, NULL, err);
    if (rc == DEJA_OK) {
        const deja_slice all = buffer_slice(&stored);
        const char *blank = all.len > 0 ? memchr(all.data, ' ', all.len) : NULL;
        snprintf(name, sizeof name, "%.*s", blank ? (int)(blank - stored.data) : 0,
                 blank ? stored.data : "");
        w->rules = settings_rules(all, deja_url_profile(deja_profile_parse(name)));
    }
    if (rc == DEJA_OK && !w->rules)
        rc = fail(err, DEJA_EMISMATCH,
                  "%s: this crawl has its own parameters to drop and keep, so its links cannot be "
                  "compared with its pages; give a file of links instead: FROM<tab>TO",
                  fail_path(w->folder).text);
    buffer_fini(&stored);
    return rc;
}

/* A flag is stored as 1. */
static int read_flag(struct walk *w, const char *name, bool *on, deja_error *err)
{
    struct buffer stored = {0};
    const int rc = frontier_get_blob(w->queue, name, &stored, NULL, err);
    *on = stored.len > 0 && stored.data[0] == '1';
    buffer_fini(&stored);
    return rc;
}

static int read_options(struct walk *w, deja_error *err)
{
    w->links.max_len = URL_MAX;
    int rc = read_rules(w, err);
    if (rc == DEJA_OK)
        rc = read_flag(w, "embeds", &w->links.embeds, err);
    if (rc == DEJA_OK)
        rc = read_flag(w, "nofollow", &w->links.nofollow, err);
    return rc == DEJA_OK ? read_flag(w, "sitemaps", &w->sitemaps, err) : rc;
}

/* --- Links ------------------------------------------------------------------------------- */

static int take_link(void *walk, deja_slice url)
{
    struct walk *w = walk;
    deja_slice canon;
    const int rc =
        scope_is_web(url) ? hostkey_canon(w->rules, url, &w->room, &canon) : DEJA_ENOTURL;
    if (rc == DEJA_ENOMEM)
        return fail(w->err, rc, "out of memory for URLs");
    return rc == DEJA_OK ? w->take->link(w->take->ctx, w->from, canon, w->err) : DEJA_OK;
}

/* Pages that the crawl could not read completely have fewer links there, too. */
static int links_of_page(struct walk *w, deja_slice head, deja_slice raw)
{
    struct links_count n = {0};
    deja_slice body;
    int rc = httphead_decode(httphead_field(head, "content-encoding"), raw, PAGE_MAX, &w->decoded,
                             &body);
    if (rc == DEJA_ENOMEM)
        return fail(w->err, rc, "out of memory for a page");
    rc = DEJA_OK;
    if (httphead_is_html(httphead_field(head, "content-type"), body))
        rc = links_extract(body, w->from, &w->links, take_link, w, &n);
    else if (w->sitemaps && httphead_is_xml(httphead_field(head, "content-type"), body))
        rc = sitemap_extract(body, take_link, w);
    return rc == DEJA_EFULL ? DEJA_OK : rc;
}

static int link_of_redirect(struct walk *w, deja_slice head)
{
    const deja_slice location = httphead_field(head, "location");
    deja_slice target;
    w->target.len = 0;
    if (location.len == 0 || location.len > URL_MAX)
        return DEJA_OK;
    if (!buffer_reserve(&w->target, DEJA_URL_ROOM(w->from.len + location.len)))
        return fail(w->err, DEJA_ENOMEM, "out of memory for a redirect");
    if (deja_url_resolve(w->from, location, w->target.data, w->target.cap, &target, NULL) < 0)
        return DEJA_OK;
    return take_link(w, target);
}

static int take_links(void *walk, const struct frontier_url *u, const struct frontier_page *p,
                      deja_error *err)
{
    struct walk *w = walk;
    w->from = u->url;
    w->err = err;
    const int rc = warc_read(w->dir, &p->place, PAGE_MAX, &w->block, err);
    if (rc < 0)
        return rc;
    const deja_slice all = buffer_slice(&w->block);
    const size_t end = httphead_end(all);
    const deja_slice head = {all.data, end};
    return p->status >= 300
               ? link_of_redirect(w, head)
               : links_of_page(w, head, (deja_slice){w->block.data + end, all.len - end});
}

static int take_page(void *walk, const struct frontier_url *u, const struct frontier_page *p,
                     deja_error *err)
{
    const struct walk *w = walk;
    (void)p;
    return w->take->page(w->take->ctx, u->url, u->depth == 0, err);
}

/* --- The folder -------------------------------------------------------------------------- */

static int open_folder(struct walk *w, deja_error *err)
{
    w->dir = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->dir < 0)
        return fail_errno(err, "%s: cannot open the folder", fail_path(w->folder).text);
    if (faccessat(w->dir, "queue.db", F_OK, 0) != 0)
        return fail(err, DEJA_EINVAL, "%s: not the folder of a crawl: it has no queue.db",
                    fail_path(w->folder).text);
    return frontier_open(w->folder, &w->queue, err);
}

int linkgraph_read(const char *folder, const struct linkgraph_take *take, deja_error *err)
{
    struct walk w = {.folder = folder, .take = take, .dir = -1};
    int rc = open_folder(&w, err);
    if (rc == DEJA_OK)
        rc = read_options(&w, err);
    if (rc == DEJA_OK)
        rc = frontier_each_copy(w.queue, take_page, &w, err);
    if (rc == DEJA_OK)
        rc = frontier_each_copy(w.queue, take_links, &w, err);
    if (w.queue)
        frontier_close(w.queue);
    if (w.dir >= 0)
        (void)close(w.dir);
    buffer_fini(&w.block);
    buffer_fini(&w.decoded);
    buffer_fini(&w.target);
    buffer_fini(&w.room);
    return rc;
}
