/* test_losses.c - the losses of a single run of dedup with a state. */
#include "cli/session/losses.h"
#include "unit.h"

static deja_filter *filter(double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = DEJA_CLASSIC;
    opt.capacity = 10000;
    opt.fp_rate = p;
    opt.seed = 1;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

static void add(deja_filter *f, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        assert_int_equal(deja_filter_add(f, (deja_slice){&i, sizeof i}, NULL, NULL), DEJA_OK);
}

static deja_stats stats_of(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    return s;
}

/* They are judged before any key is in the filter. */
static void the_first_lines_of_a_new_state_cannot_be_lost(void **state)
{
    (void)state;
    deja_filter *f = filter(0.05);
    struct losses l = {0};
    losses_add(&l, f, 5000);
    add(f, 0, 5000);
    assert_true(stats_of(f).lost > 1);
    assert_true(losses_of_run(&l, f) < 1e-9);
    deja_filter_free(f);
}

static void a_short_run_is_judged_by_the_current_rate(void **state)
{
    (void)state;
    deja_filter *f = filter(0.05);
    struct losses l = {0};
    add(f, 0, 9000);
    const double expected = 500 * stats_of(f).fp_now / (1 - stats_of(f).fp_now);
    losses_add(&l, f, 500);
    add(f, 9000, 500);
    assert_true(losses_of_run(&l, f) > 0.999 * expected);
    assert_true(losses_of_run(&l, f) < 1.001 * expected);
    deja_filter_free(f);
}

static void earlier_runs_do_not_count(void **state)
{
    (void)state;
    deja_filter *f = filter(0.05);
    struct losses l = {0};
    add(f, 0, 7000);
    const double before = stats_of(f).lost;
    for (uint64_t i = 7000; i < 10000; i += 100) {
        losses_add(&l, f, 100);
        add(f, i, 100);
    }
    const double run = losses_of_run(&l, f), difference = stats_of(f).lost - before;
    assert_true(run > 0.95 * difference && run < 1.05 * difference);
    deja_filter_free(f);
}

static void negligible_losses_are_bounded_without_the_body(void **state)
{
    (void)state;
    deja_filter *f = filter(1e-6);
    struct losses l = {0};
    losses_add(&l, f, 1000);
    add(f, 0, 1000);
    losses_add(&l, f, 1000);
    assert_false(l.judged);
    assert_true(losses_of_run(&l, f) > 0.0019 && losses_of_run(&l, f) < LOSSES_LEAST);
    assert_true(losses_in_memory(f, 1000) < LOSSES_LEAST);
    deja_filter_free(f);
}

static void losses_in_memory_are_those_of_the_filter(void **state)
{
    (void)state;
    deja_filter *f = filter(0.05);
    add(f, 0, 20000); /* beyond its capacity */
    const double lost = losses_in_memory(f, 1);
    assert_true(lost > 100 && lost <= stats_of(f).lost && lost >= stats_of(f).lost);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_lines_of_a_new_state_cannot_be_lost),
        cmocka_unit_test(a_short_run_is_judged_by_the_current_rate),
        cmocka_unit_test(earlier_runs_do_not_count),
        cmocka_unit_test(negligible_losses_are_bounded_without_the_body),
        cmocka_unit_test(losses_in_memory_are_those_of_the_filter),
    };
    return cmocka_run_group_tests_name("unit.losses", tests, NULL, NULL);
}
