/* test_schedule.c - the choice of the next host: pauses, depth and concurrency, compared with a
 * simple model. */
#include "crawler/loop/schedule.h"
#include "rng.h"
#include "unit.h"

#include <stdio.h>

static struct host *add(struct schedule *s, const char *name, uint32_t depth, double ready_at)
{
    struct host *h = schedule_add(s, (deja_slice){name, strlen(name)}, 1);
    assert_non_null(h);
    h->waiting = 1;
    h->depth = depth;
    h->ready_at = ready_at;
    assert_int_equal(schedule_update(s, h), DEJA_OK);
    return h;
}

static void hosts_are_found_by_their_whole_name(void **state)
{
    struct schedule s = {.per_host = 1};
    assert_null(schedule_find(&s, (deja_slice){"http://a", 8}));
    struct host *a = add(&s, "http://a", 0, 0), *ab = add(&s, "http://ab", 0, 0);
    assert_ptr_equal(schedule_find(&s, (deja_slice){"http://ab", 8}), a);
    assert_ptr_equal(schedule_find(&s, (deja_slice){"http://ab", 9}), ab);
    assert_null(schedule_find(&s, (deja_slice){"http://", 7}));
    schedule_fini(&s);
}

static void the_ready_host_with_the_lowest_depth_is_next(void **state)
{
    struct schedule s = {.per_host = 1};
    double pause;
    struct host *deep = add(&s, "deep", 5, 0);
    add(&s, "later", 0, 10);
    struct host *flat = add(&s, "flat", 2, 1);
    assert_ptr_equal(schedule_next(&s, 0.5, &pause), deep);
    assert_ptr_equal(schedule_next(&s, 1, &pause), flat);
    assert_true(pause == 9);
    flat->waiting = 0;
    deep->in_flight = 1;
    assert_int_equal(schedule_update(&s, flat), DEJA_OK);
    assert_int_equal(schedule_update(&s, deep), DEJA_OK);
    assert_null(schedule_next(&s, 1, &pause));
    assert_true(pause == 9);
    assert_non_null(schedule_next(&s, 10, &pause));
    assert_true(pause < 0); /* no host is pausing */
    schedule_fini(&s);
}

static void a_host_waits_for_its_robots_txt(void **state)
{
    struct schedule s = {.per_host = 4};
    double pause;
    struct host *h = add(&s, "h", 0, 0);
    h->asking = 1;
    assert_int_equal(schedule_update(&s, h), DEJA_OK);
    assert_null(schedule_next(&s, 1, &pause));
    schedule_fini(&s);
}

static struct origin *origin(struct host *h, const char *name)
{
    struct origin *o = host_origin(h, (deja_slice){name, strlen(name)});
    assert_non_null(o);
    return o;
}

static void an_origin_has_its_own_robots_txt(void **state)
{
    struct schedule s = {.per_host = 1};
    struct host *h = add(&s, "h", 0, 0);
    struct origin *plain = origin(h, "http://h"), *tls = origin(h, "https://h");
    struct origin *port = origin(h, "http://h:8080");
    assert_true(plain != tls && plain != port && tls != port);
    assert_ptr_equal(origin(h, "http://h"), plain);
    assert_ptr_equal(origin(h, "https://h"), tls);
    assert_ptr_equal(origin(h, "http://h:8080"), port);
    assert_ptr_equal(tls->host, h);
    schedule_fini(&s);
}

/* A redirect of robots.txt can lead to a host that has no URLs, or is pausing itself. */
static void errands_are_done_in_order(void **state)
{
    struct schedule s = {.per_host = 1};
    double pause;
    struct host *from = add(&s, "from", 0, 0), *to = add(&s, "to", 0, 5);
    to->waiting = 0;
    to->asking = 1;
    assert_int_equal(schedule_update(&s, to), DEJA_OK);
    assert_null(host_take_errand(to));
    struct origin *a = origin(from, "http://from"), *b = origin(from, "https://from");
    host_add_errand(to, a);
    host_add_errand(to, b);
    from->waiting = 0;
    assert_int_equal(schedule_update(&s, from), DEJA_OK);
    assert_int_equal(schedule_update(&s, to), DEJA_OK);
    assert_null(schedule_next(&s, 4, &pause)); /* the host's pause applies to errands too */
    assert_true(pause == 1);
    assert_ptr_equal(schedule_next(&s, 5, &pause), to);
    to->in_flight = 1;
    assert_int_equal(schedule_update(&s, to), DEJA_OK);
    assert_null(schedule_next(&s, 6, &pause));
    assert_ptr_equal(host_take_errand(to), a);
    assert_ptr_equal(host_take_errand(to), b);
    assert_null(host_take_errand(to));
    schedule_fini(&s);
}

/* At equal depth, the host that has waited longest is next. */
static void no_host_starves(void **state)
{
    struct schedule s = {.per_host = 1};
    double pause;
    char name[20];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "host%d", i);
        add(&s, name, 1, (i * 37) % 50);
    }
    for (int i = 0; i < 50; i++) {
        struct host *h = schedule_next(&s, 100, &pause);
        assert_true(h->ready_at == i);
        h->waiting = 0;
        assert_int_equal(schedule_update(&s, h), DEJA_OK);
    }
    assert_null(schedule_next(&s, 100, &pause));
    schedule_fini(&s);
}

#define HOSTS 40

/* The expected answer of schedule_next, by linear search. */
static const struct host *slow_next(struct host *const *all, double now, uint32_t per_host)
{
    const struct host *best = NULL;
    for (size_t i = 0; i < HOSTS; i++) {
        const struct host *h = all[i];
        if (h->waiting == 0 || h->in_flight >= per_host || h->ready_at > now)
            continue;
        if (!best || h->depth < best->depth ||
            (h->depth == best->depth && h->ready_at < best->ready_at))
            best = h;
    }
    return best;
}

static void the_schedule_agrees_with_a_linear_search(void **state)
{
    struct schedule s = {.per_host = 2};
    struct host *all[HOSTS];
    struct rng rng = rng_seeded(5);
    char name[20];
    double pause;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(name, sizeof name, "host%d", i);
        all[i] = add(&s, name, 0, 0);
    }
    for (int step = 0; step < 20000; step++) {
        struct host *h = all[rng_below(&rng, HOSTS)];
        h->waiting = rng_below(&rng, 3);
        h->in_flight = (uint32_t)rng_below(&rng, 3);
        h->depth = (uint32_t)rng_below(&rng, 4);
        h->ready_at = step + (double)rng_below(&rng, 40) + (double)rng_below(&rng, 1000) * 1e-6;
        assert_int_equal(schedule_update(&s, h), DEJA_OK);
        const struct host *got = schedule_next(&s, step, &pause);
        const struct host *want = slow_next(all, step, s.per_host);
        assert_int_equal(got != NULL, want != NULL);
        if (got)
            assert_true(got->depth == want->depth && got->ready_at == want->ready_at);
    }
    schedule_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_found_by_their_whole_name),
        cmocka_unit_test(the_ready_host_with_the_lowest_depth_is_next),
        cmocka_unit_test(a_host_waits_for_its_robots_txt),
        cmocka_unit_test(an_origin_has_its_own_robots_txt),
        cmocka_unit_test(errands_are_done_in_order),
        cmocka_unit_test(no_host_starves),
        cmocka_unit_test(the_schedule_agrees_with_a_linear_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
