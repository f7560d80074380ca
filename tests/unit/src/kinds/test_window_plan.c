/* test_window_plan.c - how large a window is: all generations together keep what p promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/window.h"
#include "options.h"
#include "plans.h"

static void all_generations_together_stay_below_p(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        const struct dj_plan plan = resolved(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                                     .fp_rate = 1e-3, .generations = generations));
        const struct dj_shape s = dj_window_generation(&plan.shape, generations + 1);
        const double rate = dj_shape_rate(&s, (double)dj_generations_quota(&plan));
        assert_true(dj_generations_quota(&plan) * generations >= 100001);
        assert_true(rate * (generations + 1) <= 1e-3);
        assert_true(plan.shape.bits % (DJ_BLOCK_BITS * (generations + 1)) == 0);
        const deja_plan told = plan_of(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                               .fp_rate = 1e-3, .generations = generations));
        assert_int_equal(told.generations, generations);
        assert_int_equal(told.bits, plan.shape.bits);
        assert_true(told.fp_rate <= 1e-3 && told.fp_rate > 0.9e-3);
        assert_true(told.lost > 0 && told.lost < 100);
    }
}

static void memory_tells_the_keys_of_a_window_or_its_rate(void **state)
{
    const deja_plan keys =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .fp_rate = 0.01));
    assert_int_equal(keys.generations, 1);
    assert_in_range(keys.bytes, (1 << 20) - 128, 1 << 20);
    assert_true(keys.fp_rate <= 0.01);
    assert_in_range(keys.capacity, 350000, 380000);
    const deja_plan rate =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .capacity = keys.capacity));
    assert_true(rate.fp_rate <= keys.fp_rate * 1.0001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_generations_together_stay_below_p),
        cmocka_unit_test(memory_tells_the_keys_of_a_window_or_its_rate),
    };
    return cmocka_run_group_tests_name("unit.window_plan", tests, NULL, NULL);
}
