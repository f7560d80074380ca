/* test_schedule.c - the choice of the next host: pauses, priorities, shares and concurrency, compared with a
 * simple model. */
#include "crawler/loop/schedule.h"
#include "rng.h"
#include "unit.h"

#include <stdio.h>

static struct host *add(struct schedule *s, const char *name, int64_t best, double ready_at)
{
    struct host *h = schedule_add(s, (deja_slice){name, strlen(name)}, (int64_t)s->n_hosts + 1);
    assert_non_null(h);
    h->waiting = 1;
    h->best = best;
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

static void the_ready_host_with_the_best_url_is_next(void **state)
{
    struct schedule s = {.per_host = 1};
    double pause;
    struct host *deep = add(&s, "deep", -5, 0);
    add(&s, "later", 0, 10);
    struct host *flat = add(&s, "flat", -2, 1);
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

/* At equal priority, the host that has waited longest is next. */
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

/* One page of the best host: NULL if none is ready. */
static struct host *request(struct schedule *s, double now)
{
    double pause;
    struct host *h = schedule_next(s, now, &pause);
    if (h) {
        schedule_count(s, h);
        assert_int_equal(schedule_update(s, h), DEJA_OK);
    }
    return h;
}

/* The large host always has the better URL.  In each turn it gets as many pages as every other. */
static void a_host_gets_its_share_of_a_turn(void **state)
{
    struct schedule s = {.per_host = 1, .share = 3};
    struct host *large = add(&s, "large", 9, 0), *small[5];
    char name[20];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "small%d", i);
        small[i] = add(&s, name, 1, 0);
    }
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(request(&s, 1), large);
        for (int i = 0; i < 15; i++)
            assert_ptr_not_equal(request(&s, 1), large);
    }
    for (int i = 0; i < 5; i++) {
        small[i]->waiting = 0;
        assert_int_equal(schedule_update(&s, small[i]), DEJA_OK);
    }
    for (int i = 0; i < 20; i++) /* alone, it never waits */
        assert_ptr_equal(request(&s, 1), large);
    schedule_fini(&s);
}

/* In each turn, every host gets at most its share, and a new turn begins only when all ready hosts
 * had theirs. */
static void turns_are_fair_to_all_hosts(void **state)
{
    enum {
        N = 30,
        SHARE = 4
    };
    struct schedule s = {.per_host = 1, .share = SHARE};
    struct host *all[N];
    uint64_t turn = 0;
    int had[N] = {0};
    struct rng rng = rng_seeded(3);
    char name[20];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "host%d", i);
        all[i] = add(&s, name, (int64_t)rng_below(&rng, 1000), 0);
    }
    for (int step = 0; step < 20 * N * SHARE; step++) {
        struct host *h = request(&s, 1);
        int at = 0;
        while (all[at] != h)
            at++;
        if (s.turn != turn) {
            for (int i = 0; i < N; i++) {
                assert_int_equal(had[i], SHARE);
                had[i] = 0;
            }
            turn = s.turn;
        }
        assert_true(++had[at] <= SHARE);
        h->best = (int64_t)rng_below(&rng, 1000);
        assert_int_equal(schedule_update(&s, h), DEJA_OK);
    }
    assert_int_equal(turn, 19);
    schedule_fini(&s);
}

static void hosts_are_found_by_their_number(void **state)
{
    struct schedule s = {.per_host = 1};
    char name[20];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "host%d", i);
        assert_non_null(schedule_add(&s, (deja_slice){name, strlen(name)}, 3 * i));
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "host%d", i);
        assert_string_equal(schedule_find_id(&s, 3 * i)->name, name);
        assert_null(schedule_find_id(&s, 3 * i + 1));
    }
    assert_null(schedule_find_id(&s, -1));
    schedule_fini(&s);
    assert_null(schedule_find_id(&s, 0));
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
        if (!best || h->best > best->best ||
            (h->best == best->best && h->ready_at < best->ready_at))
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
        h->best = (int64_t)rng_below(&rng, 4);
        h->ready_at = step + (double)rng_below(&rng, 40) + (double)rng_below(&rng, 1000) * 1e-6;
        assert_int_equal(schedule_update(&s, h), DEJA_OK);
        const struct host *got = schedule_next(&s, step, &pause);
        const struct host *want = slow_next(all, step, s.per_host);
        assert_int_equal(got != NULL, want != NULL);
        if (got)
            assert_true(got->best == want->best && got->ready_at == want->ready_at);
    }
    schedule_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_found_by_their_whole_name),
        cmocka_unit_test(the_ready_host_with_the_best_url_is_next),
        cmocka_unit_test(a_host_waits_for_its_robots_txt),
        cmocka_unit_test(an_origin_has_its_own_robots_txt),
        cmocka_unit_test(errands_are_done_in_order),
        cmocka_unit_test(no_host_starves),
        cmocka_unit_test(a_host_gets_its_share_of_a_turn),
        cmocka_unit_test(turns_are_fair_to_all_hosts),
        cmocka_unit_test(hosts_are_found_by_their_number),
        cmocka_unit_test(the_schedule_agrees_with_a_linear_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
