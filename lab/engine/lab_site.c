/* lab_site.c - makes the graph of a site whose pages are known by their URLs; see lab_site.h.
 *
 * URLs are numbered by sorting them, not by hashing: an attacker could make them collide. */
#include "lab/engine/lab_site.h"
#include "lab/engine/lab.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/input/input.h"
#include <stdio.h>

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for a site");
}

static deja_slice url_of(const struct lab_site *s, const struct lab_name *n)
{
    return (deja_slice){s->text.data + n->at, n->len};
}

int lab_site_page(struct lab_site *s, deja_slice url, bool seed, deja_error *err)
{
    struct lab_name *room = array_grow(s->name, &s->cap, s->n + 1, sizeof *s->name);
    if (room)
        s->name = room;
    const size_t at = s->text.len;
    if (!room || !buffer_add(&s->text, url.data, url.len))
        return no_memory(err);
    s->name[s->n++] = (struct lab_name){at, url.len, seed};
    return DEJA_OK;
}

/* --- Numbers -------------------------------------------------------------------------- */

static int by_url(const void *a, const void *b, void *site)
{
    return ascii_compare(url_of(site, a), url_of(site, b));
}

/* qsort_r has another signature on each system. */
static _Thread_local struct lab_site *sorted;

static int by_url_of_sorted(const void *a, const void *b)
{
    return by_url(a, b, sorted);
}

/* Sorts the pages, and keeps one of each. */
static void sort_names(struct lab_site *s)
{
    size_t kept = 0;
    sorted = s;
    if (s->n > 0)
        qsort(s->name, s->n, sizeof *s->name, by_url_of_sorted);
    for (size_t i = 0; i < s->n; i++) {
        if (kept > 0 && by_url(&s->name[kept - 1], &s->name[i], s) == 0)
            s->name[kept - 1].seed |= s->name[i].seed;
        else
            s->name[kept++] = s->name[i];
    }
    s->n = kept;
    s->sorted = true;
}

/* The node of a URL; 0: it is not a page. */
static uint32_t number_of(const struct lab_site *s, deja_slice url)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = ascii_compare(url_of(s, &s->name[middle]), url);
        if (order == 0)
            return (uint32_t)middle + 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static int add_link(struct lab_site *s, uint32_t from, uint32_t to, deja_error *err)
{
    struct lab_link *room = array_grow(s->link, &s->cap_links, s->n_links + 1, sizeof *s->link);
    if (!room)
        return no_memory(err);
    s->link = room;
    s->link[s->n_links++] = (struct lab_link){from, to};
    return DEJA_OK;
}

int lab_site_link(struct lab_site *s, deja_slice from, deja_slice to, deja_error *err)
{
    if (!s->sorted)
        sort_names(s);
    const uint32_t a = number_of(s, from), b = number_of(s, to);
    if (a > 0 && b > 0)
        return add_link(s, a, b, err);
    s->unknown++;
    return DEJA_OK;
}

/* --- The graph ---------------------------------------------------------------------------- */

static int take_urls(struct lab_site *s, struct lab_graph *g, deja_error *err)
{
    g->url = calloc(s->n + 1, sizeof *g->url);
    if (!g->url)
        return no_memory(err);
    for (size_t i = 0; i < s->n; i++)
        g->url[i + 1] = url_of(s, &s->name[i]);
    g->id = mix_fnv1a(g->id, s->text.data, s->text.len);
    g->bytes = s->text.data;
    s->text = (struct buffer){0};
    return DEJA_OK;
}

int lab_site_finish(struct lab_site *s, const char *source, struct lab_graph *g, deja_error *err)
{
    size_t seeds = 0;
    int rc = DEJA_OK;
    *g = (struct lab_graph){0};
    if (!s->sorted)
        sort_names(s);
    if (s->n >= LAB_GRAPH_NODES)
        return fail(err, DEJA_EINVAL, "%s: too many pages", fail_path(source).text);
    for (size_t i = 0; i < s->n && rc == DEJA_OK; i++)
        if (s->name[i].seed) {
            rc = add_link(s, 0, (uint32_t)i + 1, err);
            seeds++;
        }
    if (rc == DEJA_OK && seeds == 0)
        rc = fail(err, DEJA_EINVAL, "%s: no page to start from", fail_path(source).text);
    if (rc == DEJA_OK)
        rc = lab_graph_of(g, (uint32_t)s->n + 1, s->link, s->n_links, err);
    if (rc == DEJA_OK)
        rc = take_urls(s, g, err);
    (void)snprintf(g->source, sizeof g->source, "%s", fail_path(source).text);
    if (rc < 0)
        lab_graph_fini(g);
    return rc;
}

void lab_site_fini(struct lab_site *s)
{
    buffer_fini(&s->text);
    free(s->name);
    free(s->link);
    *s = (struct lab_site){0};
}

/* --- Files ------------------------------------------------------------------------------------ */

/* Takes one line; `pages`: for its pages, otherwise for its link. */
static int take_line(struct lab_site *s, deja_slice line, bool pages, deja_error *err)
{
    const char *tab = line.len > 0 ? memchr(line.data, '\t', line.len) : NULL;
    const deja_slice from = {line.data, tab ? (size_t)(tab - (const char *)line.data) : 0};
    const deja_slice to = {tab ? tab + 1 : NULL, tab ? line.len - from.len - 1 : 0};
    int rc = DEJA_OK;
    if (line.len == 0)
        return DEJA_OK;
    if (to.len == 0)
        return DEJA_EFORMAT;
    if (!pages)
        return from.len > 0 ? lab_site_link(s, from, to, err) : DEJA_OK;
    if (from.len > 0)
        rc = lab_site_page(s, from, false, err);
    return rc == DEJA_OK ? lab_site_page(s, to, from.len == 0, err) : rc;
}

static int take_block(struct lab_site *s, const struct block *b, bool pages, deja_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        const int rc = take_line(s, b->keys[i], pages, err);
        if (rc == DEJA_EFORMAT)
            return fail(err, rc, "%s: line %llu is not a link: FROM, a tab, TO",
                        fail_path(b->path).text, (unsigned long long)(b->line + i));
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

static int read_pass(struct lab_site *s, struct input *in, struct block *b, bool pages,
                     const atomic_bool *stop, deja_error *err)
{
    int rc;
    while ((rc = input_next(in, b, err)) > 0) {
        rc = take_block(s, b, pages, err);
        if (rc < 0)
            return rc;
    }
    return rc == 0 && stop && atomic_load(stop) ? LAB_STOPPED : rc;
}

/* Without a seed, the crawl starts at the page that links first. */
static void choose_seed(struct lab_site *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->name[i].seed)
            return;
    if (s->n > 0)
        s->name[0].seed = true;
}

int lab_site_read(struct lab_graph *g, const char *path, const atomic_bool *stop, deja_error *err)
{
    struct input_options o = INPUT_OPTIONS_INIT;
    struct lab_site s = {0};
    struct input *in = NULL;
    struct block b;
    *g = (struct lab_graph){0};
    o.paths = &path;
    o.n_paths = 1;
    o.stop = stop;
    o.twice = true;
    int rc = input_open(&o, &in, err);
    if (rc < 0)
        return rc;
    block_init(&b);
    rc = read_pass(&s, in, &b, true, stop, err);
    if (rc == DEJA_OK) {
        choose_seed(&s);
        input_rewind(in);
        rc = read_pass(&s, in, &b, false, stop, err);
    }
    if (rc == DEJA_OK)
        rc = lab_site_finish(&s, path, g, err);
    block_fini(&b);
    input_close(in);
    lab_site_fini(&s);
    return rc;
}
