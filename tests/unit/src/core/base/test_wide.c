/* test_wide.c - products, sums and quotients of 128 bits: the portable ones against known values, and
 * against the compiler's type if it has one. */
#include "unit.h"

#include "core/base/wide.h"
#include "rng.h"

#define MOST UINT64_MAX

static void products_are_those_of_long_multiplication(void **state)
{
    static const struct {
        uint64_t a, b, high, low;
    } rows[] = {
        {0, MOST, 0, 0},
        {1, MOST, 0, MOST},
        {MOST, MOST, MOST - 1, 1}, /* (2^64 - 1)^2 = 2^128 - 2^65 + 1 */
        {UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 0},
        {UINT64_C(0xffffffff), UINT64_C(0xffffffff), 0, UINT64_C(0xfffffffe00000001)},
        {UINT64_C(10000000000), UINT64_C(10000000000), 5,
         UINT64_C(7766279631452241920)}, /* 1e20 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dj_halves p = dj_halves_mul(rows[i].a, rows[i].b);
        const struct dj_halves q = dj_halves_mul(rows[i].b, rows[i].a);
        assert_int_equal(p.high, rows[i].high);
        assert_int_equal(p.low, rows[i].low);
        assert_int_equal(q.high, rows[i].high);
        assert_int_equal(q.low, rows[i].low);
        assert_int_equal(dj_mulhi(rows[i].a, rows[i].b), rows[i].high);
    }
}

static void sums_carry_and_wrap(void **state)
{
    const struct dj_halves one = {0, 1}, most = {MOST, MOST}, low = {0, MOST};
    assert_int_equal(dj_halves_add(low, one).high, 1);
    assert_int_equal(dj_halves_add(low, one).low, 0);
    assert_int_equal(dj_halves_add(most, one).high, 0);
    assert_int_equal(dj_halves_add(most, one).low, 0);
    assert_int_equal(dj_halves_add(most, most).high, MOST);
    assert_int_equal(dj_halves_add(most, most).low, MOST - 1);
}

/* Few bits, many bits, and all in between. */
static uint64_t number(struct rng *r)
{
    return rng_next(r) >> rng_below(r, 64);
}

/* q by + rest = the dividend, with rest < by. */
static void quotients_times_divisors_are_the_dividends(void **state)
{
    struct rng r = rng_seeded(1);
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t by = number(&r) + 1, low = number(&r);
        const uint64_t high = by ? rng_below(&r, by) : 0;
        if (!by)
            continue;
        const uint64_t q = dj_halves_div((struct dj_halves){high, low}, by);
        const struct dj_halves p = dj_halves_mul(q, by);
        const uint64_t rest = low - p.low;
        assert_int_equal(p.high + (low < p.low), high);
        assert_true(rest < by);
        assert_int_equal(dj_wide_div(dj_wide_of(high, low), by), q);
    }
    assert_int_equal(dj_halves_div((struct dj_halves){MOST - 1, MOST}, MOST), MOST);
}

static void the_portable_numbers_are_those_of_the_compiler(void **state)
{
#ifdef __SIZEOF_INT128__
    struct rng r = rng_seeded(2);
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t a = number(&r), b = number(&r), c = number(&r), d = number(&r);
        const struct dj_halves p = dj_halves_mul(a, b),
                               s = dj_halves_add(p, (struct dj_halves){c, d});
        const dj_wide sum = dj_wide_add(dj_wide_mul(a, b), dj_wide_of(c, d));
        assert_int_equal(p.high, dj_wide_high(dj_wide_mul(a, b)));
        assert_int_equal(p.low, (uint64_t)dj_wide_mul(a, b));
        assert_int_equal(s.high, dj_wide_high(sum));
        assert_int_equal(s.low, (uint64_t)sum);
    }
#else
    skip(); /* this compiler has none: only the portable ones exist */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_long_multiplication),
        cmocka_unit_test(sums_carry_and_wrap),
        cmocka_unit_test(quotients_times_divisors_are_the_dividends),
        cmocka_unit_test(the_portable_numbers_are_those_of_the_compiler),
    };
    return cmocka_run_group_tests_name("unit.wide", tests, NULL, NULL);
}
