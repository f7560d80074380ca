/* lab_reach.c - the dominator tree of a site; see lab_reach.h.
 *
 * Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001: the closest dominator of a
 * page is the closest common ancestor, in the tree found so far, of all pages that link to it.
 * Repeated until nothing changes.  They number the pages in the reverse order of a depth-first walk; any order works in
 * which a dominator comes before its pages, and that of a breadth-first crawl does: the shortest
 * path, too, leads through the dominator. */
#include "lab/engine/lab_reach.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for a site");
}

/* --- The breadth-first order ------------------------------------------------------------ */

static void number_nodes(struct lab_reach *r, const struct lab_graph *g)
{
    memset(r->number, 0xff, g->nodes * sizeof *r->number); /* LAB_NOWHERE */
    r->number[0] = 0;
    r->n = 1;
    for (uint32_t at = 0; at < r->n; at++) {
        const uint32_t from = r->order[at];
        for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++) {
            const uint32_t to = g->to[i];
            if (r->number[to] == LAB_NOWHERE) {
                r->number[to] = r->n;
                r->parent[r->n] = at; /* until the dominator is known */
                r->order[r->n++] = to;
            }
        }
    }
}

/* --- Dominators -------------------------------------------------------------------------- */

/* The links reversed: from the pages that link to each, all as numbers. */
static int reverse(const struct lab_reach *r, const struct lab_graph *g, struct lab_graph *back,
                   deja_error *err)
{
    struct lab_link *link = malloc(((size_t)lab_graph_links(g) + 1) * sizeof *link);
    size_t n = 0;
    if (!link)
        return no_memory(err);
    for (uint32_t at = 0; at < r->n; at++)
        for (uint64_t i = g->first[r->order[at]]; i < g->first[r->order[at] + 1]; i++)
            link[n++] = (struct lab_link){r->number[g->to[i]], at};
    const int rc = lab_graph_of(back, r->n, link, n, err);
    free(link);
    return rc;
}

static uint32_t common_ancestor(const uint32_t *parent, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = parent[a];
        while (b > a)
            b = parent[b];
    }
    return a;
}

/* The tree starts as that of the crawl, in which each page has a parent already. */
static void find_dominators(struct lab_reach *r, const struct lab_graph *back)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = 1; at < r->n; at++) {
            uint32_t best = r->parent[at];
            for (uint64_t i = back->first[at]; i < back->first[at + 1]; i++)
                best = common_ancestor(r->parent, best, back->to[i]);
            changed |= best != r->parent[at];
            r->parent[at] = best;
        }
    }
}

static void measure_tree(struct lab_reach *r)
{
    double sum = 0;
    for (uint32_t at = r->n; at-- > 1;) { /* children come after their parents */
        r->below[at]++;
        r->below[r->parent[at]] += r->below[at];
        sum += r->below[at]; /* each page is counted once for each of its dominators */
    }
    r->depth = r->n > 1 ? sum / (r->n - 1) : 0;
}

int lab_reach_make(struct lab_reach *r, const struct lab_graph *g, deja_error *err)
{
    struct lab_graph back = {0};
    const size_t n = (size_t)g->nodes + 1;
    *r = (struct lab_reach){0};
    r->order = calloc(n, sizeof *r->order);
    r->number = calloc(n, sizeof *r->number);
    r->parent = calloc(n, sizeof *r->parent);
    r->below = calloc(n, sizeof *r->below);
    int rc = r->order && r->number && r->parent && r->below ? DEJA_OK : no_memory(err);
    if (rc == DEJA_OK) {
        number_nodes(r, g);
        rc = reverse(r, g, &back, err);
    }
    if (rc == DEJA_OK) {
        find_dominators(r, &back);
        measure_tree(r);
    } else {
        lab_reach_fini(r);
    }
    lab_graph_fini(&back);
    return rc;
}

void lab_reach_fini(struct lab_reach *r)
{
    free(r->order);
    free(r->number);
    free(r->parent);
    free(r->below);
    *r = (struct lab_reach){0};
}

/* --- Losses ------------------------------------------------------------------------------- */

/* What one visit does to the pages so far. */
struct visit {
    const double *lost;
    double *kept;  /* the probability that no dominator is lost */
    double *above; /* the sum of these probabilities */
};

static void begin_visits(struct visit *visit, uint32_t visits, const double *const *lost,
                         double *room, size_t n)
{
    for (uint32_t v = 0; v < visits; v++) {
        visit[v] = (struct visit){lost[v], room + 2 * v * n, room + (2 * v + 1) * n};
        visit[v].kept[0] = 1;
        visit[v].above[0] = 0;
    }
}

/* The variance: page b is the lowest of the lost dominators of its subtree, one for each visit,
 * with the probability
 *
 *     product over the visits of (a + q) - product of a
 *
 * where q = lost[v][b], and a is the sum for the dominators above it.  It then takes its subtree
 * along, as a whole. */
static void add_page(const struct lab_reach *r, struct visit *visit, uint32_t visits, uint32_t at,
                     struct lab_missed *sum)
{
    const uint32_t parent = r->parent[at];
    double missed = 1, with = 1, without = 1;
    for (uint32_t v = 0; v < visits; v++) {
        const double q = visit[v].lost[at], a = visit[v].above[parent];
        visit[v].kept[at] = visit[v].kept[parent] * (1 - q);
        visit[v].above[at] = a + q;
        missed *= 1 - visit[v].kept[at];
        with *= a + q;
        without *= a;
    }
    sum->mean += missed;
    sum->sigma += (with - without) * r->below[at] * r->below[at];
}

int lab_reach_missed(const struct lab_reach *r, const double *const *lost, uint32_t visits,
                     struct lab_missed *missed, deja_error *err)
{
    struct visit visit[LAB_VISITS_MAX];
    double *room = malloc(2 * (size_t)visits * r->n * sizeof *room);
    *missed = (struct lab_missed){0};
    if (!room)
        return no_memory(err);
    begin_visits(visit, visits, lost, room, r->n);
    for (uint32_t at = 1; at < r->n; at++)
        add_page(r, visit, visits, at, missed);
    missed->sigma = sqrt(missed->sigma);
    free(room);
    return DEJA_OK;
}
