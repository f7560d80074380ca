/* test_order.c - priorities: their order, their weights, and values at the limits. */
#include "crawler/queue/order.h"
#include "rng.h"
#include "unit.h"
#include <float.h>
#include <math.h>

static int64_t level(uint32_t kind, int weight, uint32_t depth, int64_t links, double cash)
{
    const struct order_facts facts = {.depth = depth, .links = links, .cash = cash};
    return order_priority(kind, weight, &facts);
}

static const uint32_t kinds[] = {0, ORDER_BREADTH, ORDER_DEPTH, ORDER_BACKLINKS, ORDER_OPIC};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void each_order_looks_at_its_own_fact(void **state)
{
    (void)state;
    assert_true(level(ORDER_BREADTH, 0, 1, 0, 0) > level(ORDER_BREADTH, 0, 2, 9, 9));
    assert_true(level(0, 0, 1, 0, 0) == level(ORDER_BREADTH, 0, 1, 5, 5));
    assert_true(level(ORDER_DEPTH, 0, 2, 0, 0) > level(ORDER_DEPTH, 0, 1, 9, 9));
    assert_true(level(ORDER_BACKLINKS, 0, 9, 2, 0) > level(ORDER_BACKLINKS, 0, 1, 1, 9));
    assert_true(level(ORDER_OPIC, 0, 9, 0, 0.2) > level(ORDER_OPIC, 0, 1, 9, 0.1));
}

/* Values that cannot be told apart may only differ by less than one part in 10^11. */
static void cash_keeps_its_order_however_small(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    double cash = 1e6;
    int64_t before = level(ORDER_OPIC, 0, 0, 0, cash);
    while (cash > DBL_MIN) {
        cash *= 1 - 1e-11 - (double)rng_below(&rng, 1000) * 1e-3;
        const int64_t now = level(ORDER_OPIC, 0, 0, 0, cash);
        assert_true(now < before && now >= 0);
        before = now;
    }
    assert_true(level(ORDER_OPIC, 0, 0, 0, 0) == 0);
}

/* A weight counts more than any facts, and is found again in the priority. */
static void a_weight_comes_before_the_order(void **state)
{
    (void)state;
    static const double cash[] = {0, DBL_TRUE_MIN, 1, DBL_MAX};
    static const int64_t links[] = {0, 1, 1000000, INT64_MAX};
    static const uint32_t depth[] = {0, 1, 50, UINT32_MAX};
    for (size_t k = 0; k < KINDS; k++) {
        int64_t most = INT64_MIN;
        for (int weight = -ORDER_WEIGHT_MAX; weight <= ORDER_WEIGHT_MAX; weight++) {
            const int64_t below = most;
            for (size_t i = 0; i < 64; i++) {
                const int64_t p =
                    level(kinds[k], weight, depth[i / 16], links[i / 4 % 4], cash[i % 4]);
                assert_true(p > below);
                assert_int_equal(order_weight(p), weight);
                most = p > most ? p : most;
            }
        }
    }
}

static void weights_and_facts_out_of_range_are_limited(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        assert_true(level(kinds[k], INT32_MAX, 1, 1, 1) ==
                    level(kinds[k], ORDER_WEIGHT_MAX, 1, 1, 1));
        assert_true(level(kinds[k], INT32_MIN, 1, 1, 1) ==
                    level(kinds[k], -ORDER_WEIGHT_MAX, 1, 1, 1));
        assert_true(order_weight(INT64_MIN) == -2048 && order_weight(INT64_MAX) == 2047);
    }
    assert_true(level(ORDER_BACKLINKS, 0, 0, -5, 0) == 0);
    assert_true(level(ORDER_OPIC, 0, 0, 0, NAN) == 0 && level(ORDER_OPIC, 0, 0, 0, -1) == 0);
    assert_true(level(ORDER_OPIC, 0, 0, 0, INFINITY) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_order_looks_at_its_own_fact),
        cmocka_unit_test(cash_keeps_its_order_however_small),
        cmocka_unit_test(a_weight_comes_before_the_order),
        cmocka_unit_test(weights_and_facts_out_of_range_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
