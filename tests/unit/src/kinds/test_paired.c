/* test_paired.c - additions and deletions in two filters: answers, counts, sizes,
 * and refusals. */
#include "unit.h"

#define EVERY .kind = DEJA_PAIRED, .seed = 1,
#include "calls.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include "plans.h"
#include <math.h>
#include <string.h>

static bool take_out(deja_filter *f, uint64_t number)
{
    bool removed = false;
    assert_int_equal(deja_filter_remove(f, key_of(&number), &removed, NULL), DEJA_OK);
    return removed;
}

/* --- Answers ------------------------------------------------------------------- */

static void removed_keys_are_absent_and_the_rest_stay(void **state)
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

static void a_removed_key_that_is_added_again_is_never_found(void **state)
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

static void removing_an_absent_key_is_refused(void **state)
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

/* Unlike with counters, removing a false positive affects no member. */
static void removing_false_positives_keeps_all_members(void **state)
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
        assert_true(
            has(f, i)); /* the deletions are nearly empty, so none is mistaken for removed */
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

/* --- Overfull ---------------------------------------------------------------------- */

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

/* --- Refusals and visits ------------------------------------------------------------- */

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

static void the_next_visit_is_sized_by_adds_and_removals(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .deletions = 500, .fp_rate = 1e-6));
    for (uint64_t i = 0; i < 800; i++)
        add(f, i);
    for (uint64_t i = 0; i < 160; i++)
        take_out(f, i);
    add(f, 0);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    deja_stats s = stats_of(f);
    assert_in_range(s.capacity, 900,
                    901); /* 800 and an eighth, and a fraction of a key for losses */
    assert_int_equal(s.deletions_capacity, 180);
    assert_int_equal(s.visit, 2);
    assert_int_equal(s.last_distinct, 800);
    assert_int_equal(s.keys + s.deletions + s.removed + s.refused + s.hidden + s.bits_set, 0);
    assert_true(add(f, 0)); /* the deletions were emptied as well */
    assert_true(has(f, 0));
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    assert_int_equal(stats_of(f).deletions_capacity, 180); /* nothing was removed: unchanged */
    const deja_options next = {.size = sizeof next, .capacity = 50, .deletions = 9};
    assert_int_equal(deja_filter_rotate(f, &next, NULL), DEJA_OK);
    s = stats_of(f);
    assert_int_equal(s.capacity, 50);
    assert_int_equal(s.deletions_capacity, 9);
    deja_filter_free(f);
}

static void the_deletions_of_a_visit_have_their_own_hashes(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 100));
    assert_int_equal(f->part[0]->salt, 0);
    assert_int_equal(f->part[1]->salt, dj_part_salt(f->key, 1, 1));
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    assert_int_equal(f->part[1]->salt, dj_part_salt(f->key, 2, 1));
    deja_filter_free(f);
}

/* --- Sizes ---------------------------------------------------------------- */

static void each_half_is_a_blocked_filter_of_its_own_capacity(void **state)
{
    const struct dj_plan plan =
        resolved(OPTIONS(.capacity = 50000, .deletions = 7000, .fp_rate = 0.01));
    deja_options half = OPTIONS(.capacity = 50000, .fp_rate = 0.01);
    half.kind = DEJA_BLOCKED;
    const struct dj_plan entries = resolved(half);
    half.capacity = 7000;
    const struct dj_plan removals = resolved(half);
    assert_memory_equal(&plan.shape, &entries.shape, sizeof plan.shape);
    assert_memory_equal(&plan.removal, &removals.shape, sizeof plan.removal);
    assert_int_equal(dj_plan_parts(&plan), 2);
    assert_int_equal(dj_plan_bytes(&plan), (plan.shape.bits + plan.removal.bits) / 8);
    struct dj_part part = {0};
    assert_true(dj_plan_part(&plan, 1, &part));
    assert_int_equal(part.capacity, 7000);
    assert_int_equal(part.shape.bits, removals.shape.bits);
}

static void by_default_as_many_removals_as_keys_are_expected(void **state)
{
    const struct dj_plan plan = resolved(OPTIONS(.capacity = 3000, .fp_rate = 0.01));
    assert_int_equal(plan.deletions, 3000);
    assert_int_equal(plan.removal.bits, plan.shape.bits);
    deja_plan told = DEJA_PLAN_INIT;
    const deja_options opt = OPTIONS(.capacity = 3000, .fp_rate = 0.01);
    assert_int_equal(deja_plan_make(&opt, &told, NULL), DEJA_OK);
    assert_int_equal(told.deletions, 3000);
    assert_int_equal(told.bits, 2 * plan.shape.bits);
    assert_true(told.fn_rate > 0 && told.fn_rate <= 0.01);
    assert_true(told.fp_rate > 0 && told.fp_rate <= 0.01);
}

static void memory_is_split_in_proportion(void **state)
{
    static const struct {
        uint64_t memory, capacity, deletions, entries; /* bytes */
    } rows[] = {
        {1 << 20, 1000, 0, 1 << 19},
        {1 << 20, 3000, 1000, 3 << 18},
        {1 << 20, 1000, 3000, 1 << 18},
        {128, 1000000, 1, 64},
        {128, 1, 1000000, 64},
        {4096 + 63, 1, 1, 2048},
        {192, UINT64_C(1) << 53, 1, 128},
        {192, 1, UINT64_C(1) << 53, 64},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        const struct dj_plan plan =
            resolved(OPTIONS(.memory = rows[i].memory, .capacity = rows[i].capacity,
                             .deletions = rows[i].deletions, .cache_lines = 1));
        assert_int_equal(plan.shape.bits / 8, rows[i].entries);
        assert_int_equal(plan.removal.bits / 8,
                         (rows[i].memory - rows[i].entries) / DJ_BLOCK_BYTES * DJ_BLOCK_BYTES);
        assert_int_equal(plan.capacity, rows[i].capacity);
        assert_true(plan.fp_rate > 0 && plan.fp_rate < 1);
    }
}

static void capacity_follows_from_memory_and_rate(void **state)
{
    const struct dj_plan even = resolved(OPTIONS(.memory = 1 << 20, .fp_rate = 0.01));
    assert_int_equal(even.deletions, even.capacity);
    assert_true(dj_plan_bytes(&even) <= 1 << 20);
    assert_true(dj_shape_rate(&even.shape, (double)even.capacity) <= 0.01);
    assert_true(dj_shape_rate(&even.removal, (double)even.deletions) <= 0.01);
    const struct dj_plan few =
        resolved(OPTIONS(.memory = 1 << 20, .fp_rate = 0.01, .deletions = 1000));
    assert_int_equal(few.deletions, 1000);
    assert_true(few.capacity > even.capacity * 19 / 10);
    assert_true(dj_plan_bytes(&few) <= 1 << 20);
    assert_true(dj_shape_rate(&few.removal, 1000) <= 0.01);
}

static void the_rule_of_the_thesis_sizes_both_halves(void **state)
{
    const struct dj_plan plan =
        resolved(OPTIONS(.capacity = 10000, .deletions = 2000, .hashes = 4, .multiplier = 2));
    assert_int_equal(plan.shape.k, 4);
    assert_int_equal(plan.removal.k, 4);
    assert_true(plan.shape.bits >= 80000 && plan.shape.bits < 80000 + DJ_BLOCK_BITS);
    assert_true(plan.removal.bits >= 16000 && plan.removal.bits < 16000 + DJ_BLOCK_BITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removed_keys_are_absent_and_the_rest_stay),
        cmocka_unit_test(a_removed_key_that_is_added_again_is_never_found),
        cmocka_unit_test(removing_an_absent_key_is_refused),
        cmocka_unit_test(removing_false_positives_keeps_all_members),
        cmocka_unit_test(rates_are_those_of_both_halves),
        cmocka_unit_test(full_deletions_forget_everything),
        cmocka_unit_test(unions_folds_and_counts_are_refused_with_the_reason),
        cmocka_unit_test(the_next_visit_is_sized_by_adds_and_removals),
        cmocka_unit_test(the_deletions_of_a_visit_have_their_own_hashes),
        cmocka_unit_test(each_half_is_a_blocked_filter_of_its_own_capacity),
        cmocka_unit_test(by_default_as_many_removals_as_keys_are_expected),
        cmocka_unit_test(memory_is_split_in_proportion),
        cmocka_unit_test(capacity_follows_from_memory_and_rate),
        cmocka_unit_test(the_rule_of_the_thesis_sizes_both_halves),
    };
    return cmocka_run_group_tests_name("unit.paired", tests, NULL, NULL);
}
