/* test_paired_plan.c - how large a paired filter is: each half is that of its own number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EVERY .kind = DEJA_PAIRED,
#include "options.h"
#include "plans.h"

static void each_half_is_the_blocked_filter_of_its_number(void **state)
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

static void as_many_removals_as_keys_are_expected_unless_said(void **state)
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
                             .deletions = rows[i].deletions));
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

static void the_rule_of_the_thesis_sizes_both(void **state)
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
        cmocka_unit_test(each_half_is_the_blocked_filter_of_its_number),
        cmocka_unit_test(as_many_removals_as_keys_are_expected_unless_said),
        cmocka_unit_test(memory_is_split_in_proportion),
        cmocka_unit_test(capacity_follows_from_memory_and_rate),
        cmocka_unit_test(the_rule_of_the_thesis_sizes_both),
    };
    return cmocka_run_group_tests_name("unit.paired_plan", tests, NULL, NULL);
}
