/* test_crawl_order.c - which pages each order of a crawl fetches first.
 *
 * The lab makes sites whose links follow the power law of the Web.  Each is crawled in each order,
 * with the queue and the ranking of `deja crawl` but without a network.  The measure is the share of
 * all PageRank that the pages have after 10, 30 and 50 % of the site.  PageRank is computed here, by
 * power iteration over the whole graph, with the damping 0.85.
 *
 * The hypotheses, for the mean of fixed seeds: opic and backlinks are ahead of breadth by a margin
 * after 10 and 30 %, and breadth is ahead of depth by a large one.  docs/crawl.md has the table that
 * this test prints.  Each page must come exactly once in any order. */
#include "crawler/loop/ranking.h"
#include "lab/engine/lab_graph.h"
#include "scratch.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>

#define PAGES 5000u
#define SEEDS 5
#define PARTS 3
static const unsigned percent[PARTS] = {10, 30, 50};

/* --- PageRank ------------------------------------------------------------------------- */

/* Pages without links, and all pages at random, lead to any page.  Node 0 is not a page. */
static double *page_rank(const struct lab_graph *g)
{
    const double damping = 0.85, n = g->nodes - 1;
    double *rank = calloc(g->nodes, sizeof *rank), *next = calloc(g->nodes, sizeof *next);
    double moved = 1;
    MUST(rank && next);
    for (uint32_t i = 1; i < g->nodes; i++)
        rank[i] = 1 / n;
    while (moved > 1e-12) {
        double dangling = 0;
        memset(next, 0, g->nodes * sizeof *next);
        for (uint32_t i = 1; i < g->nodes; i++) {
            const uint64_t links = g->first[i + 1] - g->first[i];
            dangling += links == 0 ? rank[i] : 0;
            for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++)
                next[g->to[k]] += rank[i] / (double)links;
        }
        moved = 0;
        for (uint32_t i = 1; i < g->nodes; i++) {
            next[i] = (1 - damping) / n + damping * (next[i] + dangling / n);
            moved += fabs(next[i] - rank[i]);
        }
        memcpy(rank, next, g->nodes * sizeof *rank);
    }
    free(next);
    return rank;
}

/* --- A crawl without a network ---------------------------------------------------------- */

struct site {
    struct crawler c;
    struct crawl_options options;
    const struct lab_graph *graph;
    bool *known;
    int64_t host;
    double waiting; /* cash of all URLs that wait */
};

static deja_slice url_of(uint32_t page, char room[40])
{
    return (deja_slice){room, (size_t)snprintf(room, 40, "http://site.invalid/%u", page)};
}

static void must(int rc, const deja_error *err)
{
    if (rc != DEJA_OK)
        fail_msg("%s", err->text);
}

static void add(struct site *s, uint32_t page, int64_t parent, uint32_t depth)
{
    char room[40];
    deja_error err = {0};
    const struct frontier_url u = {
        .host = s->host, .depth = depth, .parent = parent, .url = url_of(page, room)};
    s->known[page] = true;
    must(frontier_add(s->c.queue, 1, &u, &s->c.last_id, &err), &err);
}

static void begin(struct site *s, const struct lab_graph *g, uint32_t order)
{
    struct host *h;
    deja_error err = {0};
    *s = (struct site){.graph = g, .options = {.order = order}};
    s->c.o = &s->options;
    s->c.visit = 1;
    s->c.schedule.per_host = 1;
    s->known = calloc(g->nodes, sizeof *s->known);
    MUST(s->known);
    must(frontier_open(scratch_folder, &s->c.queue, &err), &err);
    must(ranking_open(&s->c, &err), &err);
    must(frontier_host(s->c.queue, (deja_slice){"site.invalid", 12}, &s->host, &err), &err);
    h = schedule_add(&s->c.schedule, (deja_slice){"site.invalid", 12}, s->host);
    MUST(h);
    add(s, 1, 0, 0);
}

static void end(struct site *s)
{
    ranking_close(&s->c);
    schedule_fini(&s->c.schedule);
    frontier_close(s->c.queue);
    (void)remove(scratch_path("queue.db"));
    free(s->known);
}

/* Fetches the next page; returns its number, or 0 after the last. */
static uint32_t step(struct site *s)
{
    static const struct frontier_page fetched = {.status = 200};
    const struct lab_graph *g = s->graph;
    struct frontier_url u;
    size_t n;
    char room[40];
    deja_error err = {0};
    must(frontier_take(s->c.queue, s->host, &u, 1, &n, &err), &err);
    if (n == 0)
        return 0;
    const uint32_t page = (uint32_t)strtoul(strrchr(u.url.data, '/') + 1, NULL, 10);
    ranking_begin(&s->c);
    for (uint64_t k = g->first[page]; k < g->first[page + 1]; k++) {
        if (!s->known[g->to[k]])
            add(s, g->to[k], u.id, u.depth + 1);
        must(ranking_link(&s->c, url_of(g->to[k], room), &err), &err);
    }
    must(ranking_finish(&s->c, &u, &err), &err);
    must(frontier_done(s->c.queue, u.id, &fetched, &err), &err);
    frontier_url_free(&u);
    return page;
}

/* Adds the shares of PageRank after each part of the site. */
static void crawl(const struct lab_graph *g, const double *rank, uint32_t order,
                  double share[PARTS])
{
    struct site s;
    bool *fetched = calloc(g->nodes, sizeof *fetched);
    double sum = 0;
    uint32_t n = 0, page;
    MUST(fetched);
    begin(&s, g, order);
    while ((page = step(&s)) != 0) {
        assert_false(fetched[page]);
        fetched[page] = true;
        sum += rank[page];
        n++;
        for (size_t i = 0; i < PARTS; i++)
            if (n == (g->nodes - 1) * percent[i] / 100)
                share[i] += sum / SEEDS;
    }
    assert_int_equal(n, g->nodes - 1);
    end(&s);
    free(fetched);
}

static void important_pages_come_first(void **state)
{
    (void)state;
    double share[ORDER_OPIC + 1][PARTS] = {{0}};
    deja_error err = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_graph g;
        must(lab_graph_make(&g, PAGES, seed, &err), &err);
        double *rank = page_rank(&g);
        for (uint32_t order = ORDER_BREADTH; order <= ORDER_OPIC; order++)
            crawl(&g, rank, order, share[order]);
        free(rank);
        lab_graph_fini(&g);
    }
    for (uint32_t order = ORDER_BREADTH; order <= ORDER_OPIC; order++) {
        printf("%-10s", crawl_order_name(order));
        for (size_t i = 0; i < PARTS; i++)
            printf("  %u %% of the pages: %.1f %%", percent[i], 100 * share[order][i]);
        printf("\n");
    }
    for (size_t i = 0; i < PARTS; i++)
        assert_true(share[ORDER_BREADTH][i] > share[ORDER_DEPTH][i] + 0.2);
    assert_true(share[ORDER_BACKLINKS][0] > share[ORDER_BREADTH][0] + 0.05);
    assert_true(share[ORDER_OPIC][0] > share[ORDER_BREADTH][0] + 0.08);
    assert_true(share[ORDER_BACKLINKS][1] > share[ORDER_BREADTH][1] + 0.01);
    assert_true(share[ORDER_OPIC][1] > share[ORDER_BREADTH][1] + 0.03);
}

static int add_cash(void *site, const struct frontier_url *u, deja_error *err)
{
    struct site *s = site;
    double cash;
    const int rc = frontier_cash(s->c.queue, u->id, &cash, err);
    assert_true(cash >= 0);
    s->waiting += cash;
    return rc;
}

/* The cash of a page goes to its links and nowhere else, so all URLs that wait never have more than
 * the seed had. */
static void cash_is_never_made(void **state)
{
    (void)state;
    struct lab_graph g;
    struct site s;
    deja_error err = {0};
    double before = 1;
    must(lab_graph_make(&g, 500, 7, &err), &err);
    begin(&s, &g, ORDER_OPIC);
    for (uint32_t n = 0;; n++) {
        s.waiting = 0;
        must(frontier_each_waiting(s.c.queue, add_cash, &s, &err), &err);
        assert_true(s.waiting <= before * (1 + 1e-12));
        assert_true(n == 500 || s.waiting > 0);
        before = s.waiting;
        if (!step(&s))
            break;
    }
    end(&s);
    lab_graph_fini(&g);
}

/* A crawl that changes to opic starts with equal cash, and no change loses or repeats a URL. */
static void an_order_can_change_during_a_crawl(void **state)
{
    (void)state;
    struct lab_graph g;
    struct site s;
    deja_error err = {0};
    const uint32_t orders[] = {ORDER_BREADTH, ORDER_OPIC, ORDER_DEPTH, ORDER_BACKLINKS,
                               ORDER_OPIC};
    uint32_t n = 0, page = 1;
    must(lab_graph_make(&g, 1000, 3, &err), &err);
    begin(&s, &g, ORDER_BREADTH);
    while (page) {
        if (n % 50 == 0) {
            ranking_close(&s.c);
            s.c.links.number = (struct buffer){0};
            s.options.order = orders[n / 50 % 5];
            s.options.prefer = n % 100 ? "5$:-3\n7" : NULL;
            must(ranking_open(&s.c, &err), &err);
        }
        if (n > 0 && n % 50 == 0 && s.options.order == ORDER_OPIC) {
            s.waiting = 0;
            must(frontier_each_waiting(s.c.queue, add_cash, &s, &err), &err);
            assert_true(s.waiting >= 1 && s.waiting == floor(s.waiting)); /* 1 for each */
        }
        page = step(&s);
        n += page != 0;
        if (page == 0)
            break;
    }
    assert_int_equal(n, 1000);
    end(&s);
    lab_graph_fini(&g);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
    const struct CMUnitTest tests[] = {
        TEST(important_pages_come_first),
        TEST(cash_is_never_made),
        TEST(an_order_can_change_during_a_crawl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
