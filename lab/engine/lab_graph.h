/* lab_graph.h - a site: pages and the links between them.
 *
 * Node 0 is not a page but the place where a crawl starts: its links are the seeds.  The pages are
 * 1 .. nodes - 1. */
#ifndef LAB_ENGINE_LAB_GRAPH_H
#define LAB_ENGINE_LAB_GRAPH_H
#include "deja.h"

struct lab_link {
    uint32_t from, to;
};

struct lab_graph { /* begin with {0} */
    uint32_t nodes;
    uint64_t *first; /* the links of node i are to[first[i]] .. to[first[i + 1] - 1] */
    uint32_t *to;
    deja_slice *url;  /* of each node, or NULL: the lab's own URLs */
    char *bytes;      /* of the URLs */
    uint64_t id;      /* identifies the graph; for the journal */
    char source[160]; /* for people: where the graph comes from */
};

#define LAB_GRAPH_NODES UINT32_C(0x7fffffff) /* the most */

/* Sort n links by their origin; the order of the links of a page is kept.  All numbers must be
 * below nodes. */
int lab_graph_of(struct lab_graph *g, uint32_t nodes, const struct lab_link *link, size_t n,
                 deja_error *err);

/* A site with this many pages.  Every page is linked from a random older page, so all can be
 * reached.  Further links come from random pages, such that the number of links to a page follows
 * the power law of the Web: d links with a probability proportional to d^-2.1 (Broder et al.,
 * "Graph structure in the Web", 2000). */
int lab_graph_make(struct lab_graph *g, uint32_t pages, uint64_t seed, deja_error *err);
void lab_graph_fini(struct lab_graph *g);

static inline uint64_t lab_graph_links(const struct lab_graph *g)
{
    return g->nodes > 0 ? g->first[g->nodes] : 0;
}

#endif
