/* queuecost.c - what a page costs in the queue of `deja crawl`, by the length of the queue.
 *
 *     queuecost fill DIR URLS          a queue of this length, breadth first, with HOSTS hosts
 *     queuecost run DIR ORDER PAGES    changes its order, then fetches pages
 *
 * A page is: take the next URL of a random host; add a new URL, so that the queue keeps its length;
 * count LINKS links to random URLs, if the order counts links; mark the page as done.  Prints the
 * processor time of the process and of the system for it, in microseconds per page, and the seconds
 * for changing the order. */
#include "crawler/queue/frontier.h"
#include "tools/base/mix.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define HOSTS      1000
#define LINKS      10
#define PER_SYNC   500 /* pages: about what a crawl at full speed syncs in half a second */
#define PER_COMMIT 32

static uint64_t state = 1;

static int failed(const deja_error *err)
{
    fprintf(stderr, "queuecost: %s\n", err->text);
    return 1;
}

static deja_slice url_of(uint64_t i, char room[96])
{
    const int len = snprintf(room, 96, "http://host-%03d.example.org/section/page-%010llu.html",
                             (int)(mix64(i) % HOSTS), (unsigned long long)i);
    return (deja_slice){room, (size_t)len};
}

static int add(frontier *f, uint64_t i, uint32_t depth, deja_error *err)
{
    char room[96];
    int64_t id;
    const struct frontier_url u = {.host = 1 + (int64_t)(mix64(i) % HOSTS),
                                   .depth = depth,
                                   .parent = 1,
                                   .url = url_of(i, room)};
    return frontier_add(f, 1, &u, &id, err);
}

static int add_hosts(frontier *f, deja_error *err)
{
    char name[40];
    int64_t id;
    int rc = DEJA_OK;
    for (int i = 0; i < HOSTS && rc == DEJA_OK; i++) {
        const int len = snprintf(name, sizeof name, "host-%03d.example.org", i);
        rc = frontier_host(f, (deja_slice){name, (size_t)len}, &id, err);
    }
    return rc;
}

static int fill(frontier *f, uint64_t urls, deja_error *err)
{
    int rc = add_hosts(f, err);
    for (uint64_t i = 0; i < urls && rc == DEJA_OK; i++) {
        rc = add(f, i, (uint32_t)(i * 20 / urls), err); /* as breadth first finds them */
        if (rc == DEJA_OK && i % 50000 == 0)
            rc = frontier_sync(f, err);
    }
    return rc == DEJA_OK ? frontier_sync(f, err) : rc;
}

static int ignore(void *ctx, int64_t host, int64_t priority, deja_error *err)
{
    (void)ctx, (void)host, (void)priority, (void)err;
    return DEJA_OK;
}

/* Links to random URLs; some of them are already fetched. */
static int count_links(frontier *f, uint64_t urls, deja_error *err)
{
    char room[96];
    int64_t number;
    int rc = DEJA_OK;
    for (int i = 0; i < LINKS && rc == DEJA_OK; i++) {
        const double cash = (double)(mix_next(&state) >> 40) * 1e-9;
        rc = frontier_number(url_of(mix_below(mix_next(&state), urls), room), &number, err);
        if (rc == DEJA_OK)
            rc = frontier_credit(f, 1, number, cash, ignore, NULL, err);
    }
    return rc;
}

static int fetch(frontier *f, uint32_t order, uint64_t urls, uint64_t page, deja_error *err)
{
    static const struct frontier_page done = {.status = 200, .mime = {"text/html", 9}};
    struct frontier_url u;
    size_t n = 0;
    int64_t best;
    int rc = DEJA_OK;
    while (rc == DEJA_OK && n == 0) /* a short queue has hosts without URLs */
        rc = frontier_take(f, 1 + (int64_t)mix_below(mix_next(&state), HOSTS), &u, 1, &n, err);
    if (rc == DEJA_OK && order != ORDER_BREADTH)
        rc = frontier_best(f, u.host, &best, err);
    if (rc == DEJA_OK)
        rc = add(f, urls + page, u.depth + 1, err);
    if (rc == DEJA_OK && order_counts_links(order))
        rc = count_links(f, urls + page, err);
    if (rc == DEJA_OK)
        rc = frontier_done(f, u.id, &done, err);
    if (n > 0)
        frontier_url_free(&u);
    return rc;
}

struct cost {
    double user, system;
};

static struct cost cost_now(void)
{
    struct rusage r;
    (void)getrusage(RUSAGE_SELF, &r);
    return (struct cost){(double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec * 1e-6,
                         (double)r.ru_stime.tv_sec + (double)r.ru_stime.tv_usec * 1e-6};
}

static int run(frontier *f, uint32_t order, uint64_t pages, deja_error *err)
{
    int64_t urls;
    const struct cost begun = cost_now();
    int rc = frontier_order(f, order, NULL, NULL, err);
    if (rc == DEJA_OK)
        rc = frontier_last(f, &urls, err);
    if (rc == DEJA_OK)
        rc = frontier_reorder(f, order == ORDER_OPIC, err);
    if (rc == DEJA_OK)
        rc = frontier_sync(f, err);
    const struct cost changed = cost_now();
    for (uint64_t i = 0; i < pages && rc == DEJA_OK; i++) {
        rc = fetch(f, order, (uint64_t)urls, i, err);
        if (rc == DEJA_OK && i % PER_COMMIT == 0)
            rc = frontier_commit(f, err);
        if (rc == DEJA_OK && i % PER_SYNC == 0)
            rc = frontier_sync(f, err);
    }
    if (rc == DEJA_OK)
        rc = frontier_sync(f, err);
    const struct cost now = cost_now();
    printf("%lld\t%.1f\t%.1f\t%.2f\n", (long long)urls,
           (now.user - changed.user) / (double)pages * 1e6,
           (now.system - changed.system) / (double)pages * 1e6,
           changed.user + changed.system - begun.user - begun.system);
    return rc;
}

static uint32_t order_of(const char *name)
{
    static const char *const names[] = {"", "breadth", "depth", "backlinks", "opic"};
    for (uint32_t i = 1; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return 0;
}

int main(int argc, char **argv)
{
    frontier *f;
    deja_error err = {0};
    const bool fills = argc == 4 && strcmp(argv[1], "fill") == 0;
    const uint32_t order = argc == 5 && strcmp(argv[1], "run") == 0 ? order_of(argv[3]) : 0;
    if (!fills && order == 0) {
        fprintf(stderr, "usage: queuecost fill DIR URLS | run DIR ORDER PAGES\n");
        return 2;
    }
    if (frontier_open(argv[2], &f, &err) != DEJA_OK)
        return failed(&err);
    const int rc = fills ? fill(f, strtoull(argv[3], NULL, 10), &err)
                         : run(f, order, strtoull(argv[4], NULL, 10), &err);
    frontier_close(f);
    return rc == DEJA_OK ? 0 : failed(&err);
}
