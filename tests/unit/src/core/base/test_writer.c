/* test_writer.c - a thread may use plain stores only while no other thread adds.
 *
 * Except in the last test, each step runs other threads one at a time, so its outcome is certain.
 * property.threads tests races of whole filters. */
#include "unit.h"

#include "kinds/kind.h"
#include <pthread.h>
#include <time.h>

/* --- Another thread ----------------------------------------------------- */

struct visit {
    struct dj_writer *w;
    pthread_t thread;
    atomic_bool entered, may_leave;
    bool sole;
};

static void *visit(void *arg)
{
    struct visit *v = arg;
    v->sole = dj_writer_enter(v->w);
    atomic_store(&v->entered, true);
    while (!atomic_load(&v->may_leave))
        sched_yield();
    dj_writer_leave(v->w, v->sole);
    return NULL;
}

static void begin(struct visit *v, struct dj_writer *w)
{
    v->w = w;
    v->sole = false;
    atomic_init(&v->entered, false);
    atomic_init(&v->may_leave, false);
    assert_int_equal(pthread_create(&v->thread, NULL, visit, v), 0);
}

static bool end(struct visit *v)
{
    atomic_store(&v->may_leave, true);
    assert_int_equal(pthread_join(v->thread, NULL), 0);
    return v->sole;
}

/* One batch in another thread, from start to end. */
static bool other_thread_is_sole(struct dj_writer *w)
{
    struct visit v;
    begin(&v, w);
    return end(&v);
}

static bool this_thread_is_sole(struct dj_writer *w)
{
    const bool sole = dj_writer_enter(w);
    dj_writer_leave(w, sole);
    return sole;
}

static void wait_a_little(void)
{
    const struct timespec t = {0, 20 * 1000 * 1000};
    nanosleep(&t, NULL);
}

/* --- Tests -------------------------------------------------------------- */

static void the_first_thread_owns_the_filter(void **state)
{
    struct dj_writer w = {0};
    for (int i = 0; i < 10; i++)
        assert_true(this_thread_is_sole(&w));
    assert_false(dj_writer_is_shared(&w));
}

static void a_second_thread_makes_it_shared(void **state)
{
    struct dj_writer w = {0};
    assert_true(this_thread_is_sole(&w));
    assert_false(other_thread_is_sole(&w));
    assert_true(dj_writer_is_shared(&w));
    for (int i = 0; i < 10; i++) {
        assert_false(this_thread_is_sole(&w));
        assert_false(other_thread_is_sole(&w));
    }
}

static void the_owner_need_not_be_the_main_thread(void **state)
{
    struct dj_writer w = {0};
    struct visit v;
    begin(&v, &w);
    while (!atomic_load(&v.entered))
        sched_yield();
    assert_true(v.sole);
    /* Its batch is still open; entering would wait for it, so it must finish first. */
    assert_true(end(&v));
    assert_false(this_thread_is_sole(&w));
}

static void a_second_thread_waits_for_the_batch_under_way(void **state)
{
    struct dj_writer w = {0};
    struct visit v;
    assert_true(dj_writer_enter(&w));
    begin(&v, &w);
    while (!dj_writer_is_shared(&w)) /* it has announced itself ... */
        sched_yield();
    wait_a_little();
    assert_false(atomic_load(&v.entered)); /* ... and is still waiting */
    dj_writer_leave(&w, true);
    assert_false(end(&v));
}

static void a_third_thread_waits_as_well(void **state)
{
    struct dj_writer w = {0};
    struct visit second, third;
    assert_true(dj_writer_enter(&w));
    begin(&second, &w);
    while (!dj_writer_is_shared(&w))
        sched_yield();
    begin(&third, &w);
    wait_a_little();
    assert_false(atomic_load(&second.entered));
    assert_false(atomic_load(&third.entered));
    dj_writer_leave(&w, true);
    assert_false(end(&second));
    assert_false(end(&third));
}

static void shared_writers_do_not_wait_for_each_other(void **state)
{
    struct dj_writer w = {0};
    struct visit second, third;
    assert_true(this_thread_is_sole(&w));
    begin(&second, &w);
    begin(&third, &w);
    while (!atomic_load(&second.entered) || !atomic_load(&third.entered))
        sched_yield(); /* both are inside at once; the test would hang otherwise */
    assert_false(this_thread_is_sole(&w));
    assert_false(end(&second));
    assert_false(end(&third));
}

static void a_thread_that_adds_alone_becomes_the_owner(void **state)
{
    struct dj_writer w = {0};
    assert_true(this_thread_is_sole(&w));
    assert_false(other_thread_is_sole(&w));
    for (int i = 0; i < DJ_WRITER_ALONE; i++) {
        assert_true(dj_writer_is_shared(&w));
        assert_false(this_thread_is_sole(&w));
    }
    assert_false(dj_writer_is_shared(&w));
    assert_true(this_thread_is_sole(&w));
    assert_false(other_thread_is_sole(&w)); /* and the next thread makes it shared again */
    assert_false(this_thread_is_sole(&w));
}

static void a_thread_inside_a_batch_keeps_it_shared(void **state)
{
    struct dj_writer w = {0};
    struct visit v;
    assert_true(this_thread_is_sole(&w));
    begin(&v, &w);
    while (!atomic_load(&v.entered))
        sched_yield();
    for (int i = 0; i < 10 * DJ_WRITER_ALONE; i++)
        assert_false(this_thread_is_sole(&w));
    assert_false(end(&v));
    for (int i = 0; i < DJ_WRITER_ALONE; i++)
        assert_false(this_thread_is_sole(&w)); /* the other thread's batch was the last */
    assert_true(this_thread_is_sole(&w));
}

static void a_former_owner_does_not_own_it_again(void **state)
{
    struct dj_writer w = {0};
    struct visit v;
    begin(&v, &w); /* the first owner */
    assert_true(end(&v));
    for (int i = 0; i < DJ_WRITER_ALONE; i++)
        assert_false(this_thread_is_sole(&w));
    assert_true(this_thread_is_sole(&w));
    assert_false(other_thread_is_sole(&w));
}

static void after_a_reset_the_next_thread_owns_it(void **state)
{
    struct dj_writer w = {0};
    assert_true(this_thread_is_sole(&w));
    assert_false(other_thread_is_sole(&w));
    dj_writer_reset(&w);
    assert_true(other_thread_is_sole(&w));
    dj_writer_reset(&w);
    assert_true(this_thread_is_sole(&w));
}

static void every_filter_has_its_own_owner(void **state)
{
    struct dj_writer a = {0}, b = {0};
    assert_true(this_thread_is_sole(&a));
    assert_true(other_thread_is_sole(&b));
    assert_true(this_thread_is_sole(&a));
    assert_false(this_thread_is_sole(&b));
}

static void a_filter_of_one_thread_stays_its_own(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.capacity = 1000;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        const deja_slice key = {&i, sizeof i};
        assert_int_equal(deja_filter_add(f, key, NULL, NULL), DEJA_OK);
        assert_true(deja_filter_contains(f, key));
    }
    assert_int_equal(atomic_load(&f->writer.state), 0);
    deja_filter_free(f);
}

/* --- Races --------------------------------------------------------------- */

/* Threads that count batches of their own: a count is lost if one of them is alone while another is
 * inside.  Each batches many times in a row and then rests, so the filter becomes shared and
 * ceases to be again and again. */
enum {
    RACERS = 3,
    ROUNDS = 200,
    BATCHES = 3 * DJ_WRITER_ALONE
};

static struct dj_writer raced;
static _Atomic uint64_t counted, batches_alone;

static void *race(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < BATCHES; j++) {
            const bool sole = dj_writer_enter(&raced);
            dj_writer_count(&counted, 1, !sole);
            if (j % 8 == 0)
                sched_yield(); /* inside a batch */
            dj_writer_count(&counted, 1, !sole);
            dj_writer_leave(&raced, sole);
            atomic_fetch_add(&batches_alone, sole);
        }
        sched_yield();
    }
    return arg;
}

static void no_count_is_lost_while_owners_change(void **state)
{
    pthread_t thread[RACERS];
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, race, NULL), 0);
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&counted), 2 * RACERS * ROUNDS * BATCHES);
    assert_true(atomic_load(&batches_alone) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_thread_owns_the_filter),
        cmocka_unit_test(a_second_thread_makes_it_shared),
        cmocka_unit_test(the_owner_need_not_be_the_main_thread),
        cmocka_unit_test(a_second_thread_waits_for_the_batch_under_way),
        cmocka_unit_test(a_third_thread_waits_as_well),
        cmocka_unit_test(shared_writers_do_not_wait_for_each_other),
        cmocka_unit_test(a_thread_that_adds_alone_becomes_the_owner),
        cmocka_unit_test(a_thread_inside_a_batch_keeps_it_shared),
        cmocka_unit_test(a_former_owner_does_not_own_it_again),
        cmocka_unit_test(after_a_reset_the_next_thread_owns_it),
        cmocka_unit_test(every_filter_has_its_own_owner),
        cmocka_unit_test(a_filter_of_one_thread_stays_its_own),
        cmocka_unit_test(no_count_is_lost_while_owners_change),
    };
    return cmocka_run_group_tests_name("unit.writer", tests, NULL, NULL);
}
