/* lab_graph.c - a site: pages and the links between them; see lab_graph.h. */
#include "lab/engine/lab_graph.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <math.h>
#include <stdio.h>

#define WEB_EXPONENT 2.1
#define LINKS_MAX    1000u /* to one page */

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for the links");
}

int lab_graph_of(struct lab_graph *g, uint32_t nodes, const struct lab_link *link, size_t n,
                 deja_error *err)
{
    *g = (struct lab_graph){.nodes = nodes, .id = mix_fnv1a(MIX_FNV1A, &nodes, sizeof nodes)};
    g->first = calloc((size_t)nodes + 2, sizeof *g->first);
    g->to = calloc(n + 1, sizeof *g->to);
    if (!g->first || !g->to) {
        lab_graph_fini(g);
        return no_memory(err);
    }
    /* A counting sort: first[i + 1] is the next free place of node i, and at the end its end. */
    for (size_t i = 0; i < n; i++)
        g->first[link[i].from + 2]++;
    for (uint32_t i = 1; i < nodes; i++)
        g->first[i + 1] += g->first[i];
    for (size_t i = 0; i < n; i++)
        g->to[g->first[link[i].from + 1]++] = link[i].to;
    for (size_t i = 0; i < n; i++)
        g->id = mix_fnv1a(g->id, &link[i], sizeof link[i]);
    return DEJA_OK;
}

/* --- A generated site -------------------------------------------------------------------- */

struct maker {
    struct lab_link *link;
    size_t n, cap;
    uint64_t random;
    double most[LINKS_MAX]; /* most[d - 1]: the probability of up to d links to a page */
};

static void make_law(struct maker *m)
{
    double sum = 0;
    for (uint32_t d = 1; d <= LINKS_MAX; d++)
        m->most[d - 1] = sum += pow(d, -WEB_EXPONENT);
    for (uint32_t d = 1; d <= LINKS_MAX; d++)
        m->most[d - 1] /= sum;
}

static uint32_t draw_links(struct maker *m)
{
    const double u = (double)(mix_next(&m->random) >> 11) * 0x1p-53;
    uint32_t d = 1;
    while (d < LINKS_MAX && u >= m->most[d - 1])
        d++;
    return d;
}

static bool add_link(struct maker *m, uint32_t from, uint32_t to)
{
    struct lab_link *room = array_grow(m->link, &m->cap, m->n + 1, sizeof *m->link);
    if (!room)
        return false;
    m->link = room;
    m->link[m->n++] = (struct lab_link){from, to};
    return true;
}

/* Page 1 is the home page. */
static bool make_links(struct maker *m, uint32_t pages)
{
    bool ok = add_link(m, 0, 1);
    for (uint32_t page = 2; ok && page <= pages; page++) {
        const uint32_t links = draw_links(m);
        ok = add_link(m, 1 + (uint32_t)mix_below(mix_next(&m->random), page - 1), page);
        for (uint32_t i = 1; ok && i < links; i++)
            ok = add_link(m, 1 + (uint32_t)mix_below(mix_next(&m->random), pages), page);
    }
    return ok;
}

int lab_graph_make(struct lab_graph *g, uint32_t pages, uint64_t seed, deja_error *err)
{
    struct maker *m = calloc(1, sizeof *m);
    *g = (struct lab_graph){0};
    if (!m)
        return no_memory(err);
    m->random = seed;
    make_law(m);
    const int rc =
        make_links(m, pages) ? lab_graph_of(g, pages + 1, m->link, m->n, err) : no_memory(err);
    (void)snprintf(g->source, sizeof g->source, "generated, %lu pages", (unsigned long)pages);
    free(m->link);
    free(m);
    return rc;
}

void lab_graph_fini(struct lab_graph *g)
{
    free(g->first);
    free(g->to);
    free(g->url);
    free(g->bytes);
    *g = (struct lab_graph){0};
}
