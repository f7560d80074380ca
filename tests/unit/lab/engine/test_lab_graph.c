/* test_lab_graph.c - sites: their links, their dominators by definition, and the cost of a loss. */
#include "lab/engine/lab_reach.h"
#include "tools/base/mix.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static void links_keep_their_order(void **state)
{
    const struct lab_link link[] = {{2, 1}, {0, 2}, {2, 0}, {0, 1}, {2, 2}};
    struct lab_graph g;
    deja_error err;
    assert_int_equal(lab_graph_of(&g, 4, link, 5, &err), DEJA_OK);
    assert_int_equal(lab_graph_links(&g), 5);
    assert_int_equal(g.first[0], 0);
    assert_int_equal(g.first[1], 2);
    assert_int_equal(g.first[2], 2);
    assert_int_equal(g.first[3], 5);
    assert_int_equal(g.first[4], 5);
    const uint32_t to[] = {2, 1, 1, 0, 2};
    assert_memory_equal(g.to, to, sizeof to);
    lab_graph_fini(&g);
}

#define SMALL 24u
#define EDGES 40u

/* The definition: v is out of reach once d is removed. */
static uint32_t reach_without(const struct lab_graph *g, uint32_t gone, bool *in_reach)
{
    uint32_t stack[SMALL], n = 0, found = 0;
    memset(in_reach, 0, SMALL * sizeof *in_reach);
    in_reach[0] = true;
    stack[n++] = 0;
    while (n > 0) {
        const uint32_t from = stack[--n];
        found++;
        for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++)
            if (g->to[i] != gone && !in_reach[g->to[i]]) {
                in_reach[g->to[i]] = true;
                stack[n++] = g->to[i];
            }
    }
    return found;
}

static bool in_subtree(const struct lab_reach *r, uint32_t at, uint32_t root)
{
    while (at > root)
        at = r->parent[at];
    return at == root;
}

static void check_site(const struct lab_graph *g)
{
    struct lab_reach r;
    deja_error err;
    bool all[SMALL], left[SMALL];
    assert_int_equal(lab_reach_make(&r, g, &err), DEJA_OK);
    assert_int_equal(r.n, reach_without(g, LAB_NOWHERE, all));
    for (uint32_t v = 0; v < g->nodes; v++)
        assert_int_equal(r.number[v] != LAB_NOWHERE, all[v]);
    for (uint32_t d = 1; d < r.n; d++) {
        assert_int_equal(r.below[d], r.n - reach_without(g, r.order[d], left));
        for (uint32_t v = 1; v < r.n; v++)
            assert_int_equal(in_subtree(&r, v, d), !left[r.order[v]]);
    }
    lab_reach_fini(&r);
}

static void dominators_by_definition(void **state)
{
    uint64_t random = 5;
    deja_error err;
    for (int turn = 0; turn < 2000; turn++) {
        struct lab_link link[EDGES];
        struct lab_graph g;
        const size_t n = 1 + mix_below(mix_next(&random), EDGES);
        for (size_t i = 0; i < n; i++)
            link[i] = (struct lab_link){(uint32_t)mix_below(mix_next(&random), SMALL),
                                        (uint32_t)mix_below(mix_next(&random), SMALL)};
        assert_int_equal(lab_graph_of(&g, SMALL, link, n, &err), DEJA_OK);
        check_site(&g);
        lab_graph_fini(&g);
    }
}

/* A chain that also links back, as the pages of a calendar do. */
static void long_chain(void **state)
{
    enum {
        N = 100000
    };
    static struct lab_link link[2 * N];
    struct lab_graph g;
    struct lab_reach r;
    deja_error err;
    for (uint32_t i = 0; i < N; i++) {
        link[i] = (struct lab_link){i, i + 1};
        link[N + i] = (struct lab_link){i + 1, i};
    }
    assert_int_equal(lab_graph_of(&g, N + 1, link, 2 * (size_t)N, &err), DEJA_OK);
    assert_int_equal(lab_reach_make(&r, &g, &err), DEJA_OK);
    assert_int_equal(r.below[1], N);
    assert_int_equal(r.below[N], 1);
    assert_float_equal(r.depth, (N + 1) / 2.0, 1e-6);
    lab_reach_fini(&r);
    lab_graph_fini(&g);
}

/* Loses pages at random, by the definition of `missed`, and compares mean and scatter.
 *
 * Hypothesis: both follow the formulas.  q = 0.002 in T = 20,000 trials of a site of 300 pages.
 * The mean must be within 5 of its standard errors of the formula, plus 3% for pages that two
 * losses cut off together, which the formula leaves out; the standard deviation within 10%, for one visit: with two, rare losses of many
 * pages make most of it. */
enum {
    PAGES = 300,
    TRIALS = 20000
};

static double lose(const struct lab_graph *g, uint64_t *random, double q, bool *missed)
{
    uint32_t queue[PAGES + 1], n = 1, fetched = 0;
    bool seen[PAGES + 1] = {true};
    memset(missed, 1, (PAGES + 1) * sizeof *missed);
    queue[0] = 0;
    for (uint32_t at = 0; at < n; at++) {
        const uint32_t from = queue[at];
        missed[from] = false;
        fetched += from > 0;
        for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++) {
            const uint32_t to = g->to[i];
            if (!seen[to] && (double)(mix_next(random) >> 11) * 0x1p-53 >= q)
                queue[n++] = to;
            seen[to] = true;
        }
    }
    return PAGES - (double)fetched;
}

static void check_losses(const struct lab_graph *g, const struct lab_reach *r, uint32_t visits)
{
    const double q = 0.002;
    double lost[PAGES + 1], sum = 0, squares = 0;
    struct lab_missed expect;
    uint64_t random = 11;
    deja_error err;
    for (uint32_t i = 0; i <= PAGES; i++)
        lost[i] = q;
    const double *const each[] = {lost, lost};
    assert_int_equal(lab_reach_missed(r, each, visits, &expect, &err), DEJA_OK);
    for (int i = 0; i < TRIALS; i++) {
        bool all[PAGES + 1], missed[PAGES + 1];
        double count = 0;
        memset(all, 1, sizeof all);
        for (uint32_t v = 0; v < visits; v++) {
            (void)lose(g, &random, q, missed);
            for (uint32_t page = 1; page <= PAGES; page++)
                all[page] &= missed[page];
        }
        for (uint32_t page = 1; page <= PAGES; page++)
            count += all[page];
        sum += count;
        squares += count * count;
    }
    const double mean = sum / TRIALS, sigma = sqrt(squares / TRIALS - mean * mean);
    const double error = expect.sigma / sqrt(TRIALS);
    if (fabs(mean - expect.mean) > 5 * error + 0.03 * expect.mean)
        fail_msg("%u visits: %g missed, expected %g, error %g", visits, mean, expect.mean, error);
    if (visits == 1 && fabs(sigma / expect.sigma - 1) > 0.1)
        fail_msg("%u visits: scatter %g, expected %g", visits, sigma, expect.sigma);
}

static void losses_follow_the_tree(void **state)
{
    struct lab_graph g;
    struct lab_reach r;
    deja_error err;
    assert_int_equal(lab_graph_make(&g, PAGES, 3, &err), DEJA_OK);
    assert_int_equal(lab_reach_make(&r, &g, &err), DEJA_OK);
    assert_int_equal(r.n, PAGES + 1); /* all are in reach */
    check_losses(&g, &r, 1);
    check_losses(&g, &r, 2);
    lab_reach_fini(&r);
    lab_graph_fini(&g);
}

/* The number of links to a page: half of the pages and more have one, as on the Web.
 *
 * Hypothesis: P(1) = 1 / zeta(2.1), cut at 1000, = 0.6412.  n = 100,000, sigma = 0.0015; the bound
 * is 5 sigma. */
static void links_follow_the_power_law(void **state)
{
    enum {
        N = 100000
    };
    static uint32_t links[N + 1];
    struct lab_graph g, same;
    uint32_t ones = 0;
    double sum = 0;
    deja_error err;
    assert_int_equal(lab_graph_make(&g, N, 1, &err), DEJA_OK);
    assert_int_equal(lab_graph_make(&same, N, 1, &err), DEJA_OK);
    assert_true(g.id == same.id);
    for (uint64_t i = 0; i < lab_graph_links(&g); i++)
        links[g.to[i]]++;
    for (uint32_t d = 1; d <= 1000; d++)
        sum += pow(d, -2.1);
    for (uint32_t page = 1; page <= N; page++)
        ones += links[page] == 1;
    const double p = 1 / sum;
    assert_true(fabs(ones / (double)N - p) < 5 * sqrt(p * (1 - p) / N));
    lab_graph_fini(&g);
    lab_graph_fini(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_keep_their_order),
        cmocka_unit_test(dominators_by_definition),
        cmocka_unit_test(long_chain),
        cmocka_unit_test(losses_follow_the_tree),
        cmocka_unit_test(links_follow_the_power_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
