/* lab_reach.h - what a page of a site costs if it is lost: the pages that every path leads through.
 *
 * Page d dominates page v if each path from the start to v leads through d.  Then v is out of reach
 * if d is lost.  The closest dominator of each page is its parent in a tree, the dominator tree;
 * losing a page loses its subtree. */
#ifndef LAB_ENGINE_LAB_REACH_H
#define LAB_ENGINE_LAB_REACH_H
#include "lab/engine/lab_graph.h"

#define LAB_NOWHERE UINT32_MAX

/* The nodes in reach, numbered in the order of a breadth-first crawl; the start is number 0. */
struct lab_reach { /* begin with {0} */
    uint32_t n;
    uint32_t *order;  /* the node with this number */
    uint32_t *number; /* of each node of the graph; LAB_NOWHERE: out of reach */
    uint32_t *parent; /* number of the closest dominator; that of the start is 0 */
    uint32_t *below;  /* pages in the subtree, including the root */
    double depth;     /* mean number of pages on the way from the start, including itself */
};

int lab_reach_make(struct lab_reach *r, const struct lab_graph *g, deja_error *err);
void lab_reach_fini(struct lab_reach *r);

/* If visit v loses page i, in the order of arrival, with the probability lost[v][i], not counting
 * pages that it takes along: the expected number of pages missed by all of these visits, which use
 * different hash functions, and its standard deviation.
 *
 * A visit misses a page if it loses one of its dominators:
 *
 *     1 - product over its dominators d (including itself) of (1 - lost[v][d])
 *
 * This is a lower bound: a page is also missed if one lost page blocks one path, and another the
 * other.  That needs two losses at once, so for small rates the bound is close. */
#define LAB_VISITS_MAX 8u
struct lab_missed {
    double mean, sigma;
};
int lab_reach_missed(const struct lab_reach *r, const double *const *lost, uint32_t visits,
                     struct lab_missed *missed, deja_error *err);

#endif
