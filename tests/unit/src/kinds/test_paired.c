/* test_paired.c - two filters for one question: answers, counts, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EVERY .kind = DEJA_PAIRED, .seed = 1,
#include "calls.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include <math.h>
#include <string.h>

static bool add(deja_filter *f, uint64_t number)
{
    bool is_new = false;
    assert_int_equal(deja_filter_add(f, key_of(&number), &is_new, NULL), DEJA_OK);
    return is_new;
}

static bool take_out(deja_filter *f, uint64_t number)
{
    bool removed = false;
    assert_int_equal(deja_filter_remove(f, key_of(&number), &removed, NULL), DEJA_OK);
    return removed;
}

static bool has(const deja_filter *f, uint64_t number)
{
    return deja_filter_contains(f, key_of(&number));
}

/* --- Answers ------------------------------------------------------------------- */

static void what_was_removed_is_gone_and_the_rest_is_there(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 100, .fp_rate = 1e-9));
    for (uint64_t i = 0; i < 100; i++)
        assert_true(add(f, i));
    for (uint64_t i = 0; i < 50; i++)
        assert_true(take_out(f, i));
    for (uint64_t i = 0; i < 200; i++)
        assert_int_equal(has(f, i), i >= 50 && i < 100);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.keys, 50);
    assert_int_equal(s.deletions, 50);
    assert_int_equal(s.deletions_capacity, 100);
    assert_int_equal(s.removed, 50);
    assert_int_equal(s.refused, 0);
    assert_int_equal(s.hidden, 0);
    assert_int_equal(s.parts, 2);
    assert_int_equal(s.part_kind, DEJA_BLOCKED);
    assert_true(fabs(s.distinct - 50) < 10);
    deja_filter_free(f);
}

static void a_key_that_comes_back_is_new_every_time_and_never_found(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 100, .fp_rate = 1e-9));
    assert_true(add(f, 7));
    assert_false(add(f, 7));
    assert_true(take_out(f, 7));
    for (uint64_t turn = 1; turn <= 3; turn++) {
        assert_true(add(f, 7));
        assert_false(has(f, 7));
        assert_int_equal(stats_of(f).hidden, turn);
    }
    assert_false(take_out(f, 7)); /* it is absent */
    const deja_stats s = stats_of(f);
    assert_int_equal(s.keys, 0);
    assert_int_equal(s.offered, 5);
    assert_int_equal(s.removed, 1);
    assert_int_equal(s.refused, 1);
    deja_filter_free(f);
}

static void what_is_not_there_is_refused_and_changes_nothing(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 100, .fp_rate = 1e-9));
    assert_true(add(f, 1));
    for (uint64_t i = 2; i < 50; i++)
        assert_false(take_out(f, i));
    const deja_stats s = stats_of(f);
    assert_int_equal(s.refused, 48);
    assert_int_equal(s.removed, 0);
    assert_int_equal(f->part[1]->kind->body.bits_set(f->part[1]), 0);
    assert_true(has(f, 1));
    deja_filter_free(f);
}

/* Unlike counters: a false positive can be removed, and all members stay. */
static void removing_strangers_by_mistake_takes_nothing_from_members(void **state)
{
    deja_filter *f =
        new_filter(OPTIONS(.capacity = 100, .fp_rate = 0.3, .deletions = UINT64_C(1000000)));
    uint64_t mistakes = 0;
    for (uint64_t i = 0; i < 100; i++)
        add(f, i);
    for (uint64_t i = 1000; i < 2000; i++)
        mistakes += take_out(f, i);
    assert_in_range(mistakes, 150, 450);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(has(f, i)); /* the deletions are nearly empty: none is claimed */
    deja_filter_free(f);
}

static void rates_are_those_of_both_halves(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 5000, .deletions = 3000, .fp_rate = 0.05));
    for (uint64_t i = 0; i < 5000; i++)
        add(f, i);
    const double alone = stats_of(f).fp_now;
    assert_true(stats_of(f).fn_now <= 0);
    for (uint64_t i = 0; i < 3000; i++)
        take_out(f, i);
    const deja_stats s = stats_of(f);
    assert_true(s.fn_now > 0.04 && s.fn_now < 0.06);
    assert_true(fabs(s.fp_now - alone * (1 - s.fn_now)) < 1e-12);
    assert_true(fabs(s.distinct - (double)s.keys) < 200);
    deja_filter_free(f);
}

/* --- Full to the brim ------------------------------------------------------------ */

static void full_deletions_forget_everything(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.memory = 128, .capacity = 1, .hashes = 4));
    add(f, 1);
    memset(f->part[1]->body, 0xff, f->part[1]->body_len);
    assert_false(has(f, 1));
    const deja_stats s = stats_of(f);
    assert_true(s.fn_now >= 1 && s.fp_now <= 0 && s.distinct <= 0);
    memset(f->part[0]->body, 0xff, f->part[0]->body_len);
    assert_true(stats_of(f).distinct <= 0);
    deja_filter_free(f);
}

/* --- What it refuses, and visits --------------------------------------------------- */

static void unions_folds_and_counts_are_refused_with_the_reason(void **state)
{
    deja_filter *a = new_filter(OPTIONS(.capacity = 100)),
                *b = new_filter(OPTIONS(.capacity = 100));
    deja_error err = {0, ""};
    double keys;
    uint64_t count = 7;
    const uint64_t number = 1;
    add(a, number);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "removed and the other added"));
    assert_int_equal(deja_filter_overlap(a, b, &keys, NULL, &err), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "forget keys that are found now"));
    assert_int_equal(deja_filter_count(a, key_of(&number), &count, NULL), DEJA_ENOTSUP);
    assert_int_equal(count, 7);
    assert_true(has(a, number));
    deja_filter_free(a);
    deja_filter_free(b);
}

static void the_next_visit_is_sized_from_what_came_and_what_went(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .deletions = 500, .fp_rate = 1e-6));
    for (uint64_t i = 0; i < 800; i++)
        add(f, i);
    for (uint64_t i = 0; i < 160; i++)
        take_out(f, i);
    add(f, 0);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    deja_stats s = stats_of(f);
    assert_in_range(s.capacity, 900, 901); /* 800 and an eighth; some hundredths of a key lost */
    assert_int_equal(s.deletions_capacity, 180);
    assert_int_equal(s.visit, 2);
    assert_int_equal(s.last_distinct, 800);
    assert_int_equal(s.keys + s.deletions + s.removed + s.refused + s.hidden + s.bits_set, 0);
    assert_true(add(f, 0)); /* forgiven: the deletions began anew as well */
    assert_true(has(f, 0));
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    assert_int_equal(stats_of(f).deletions_capacity, 180); /* nothing went: as before */
    const deja_options next = {.size = sizeof next, .capacity = 50, .deletions = 9};
    assert_int_equal(deja_filter_rotate(f, &next, NULL), DEJA_OK);
    s = stats_of(f);
    assert_int_equal(s.capacity, 50);
    assert_int_equal(s.deletions_capacity, 9);
    deja_filter_free(f);
}

static void the_deletions_of_a_visit_have_hashes_of_their_own(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 100));
    assert_int_equal(f->part[0]->salt, 0);
    assert_int_equal(f->part[1]->salt, dj_part_salt(f->key, 1, 1));
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    assert_int_equal(f->part[1]->salt, dj_part_salt(f->key, 2, 1));
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_removed_is_gone_and_the_rest_is_there),
        cmocka_unit_test(a_key_that_comes_back_is_new_every_time_and_never_found),
        cmocka_unit_test(what_is_not_there_is_refused_and_changes_nothing),
        cmocka_unit_test(removing_strangers_by_mistake_takes_nothing_from_members),
        cmocka_unit_test(rates_are_those_of_both_halves),
        cmocka_unit_test(full_deletions_forget_everything),
        cmocka_unit_test(unions_folds_and_counts_are_refused_with_the_reason),
        cmocka_unit_test(the_next_visit_is_sized_from_what_came_and_what_went),
        cmocka_unit_test(the_deletions_of_a_visit_have_hashes_of_their_own),
    };
    return cmocka_run_group_tests_name("unit.paired", tests, NULL, NULL);
}
