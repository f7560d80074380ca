/* test_mix.c - high halves of products, against those of the library. */
#include "unit.h"

#include "core/base/wide.h"
#include "rng.h"
#include "tools/base/mix.h"

static void high_halves_are_those_of_the_library(void **state)
{
    struct rng r = rng_seeded(3);
    assert_int_equal(mix_high(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    assert_int_equal(mix_high(UINT64_MAX, 1), 0);
    assert_int_equal(mix_high(UINT64_C(1) << 32, UINT64_C(1) << 32), 1);
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t a = rng_next(&r) >> rng_below(&r, 64);
        const uint64_t b = rng_next(&r) >> rng_below(&r, 64);
        assert_int_equal(mix_high(a, b), dj_mulhi(a, b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(high_halves_are_those_of_the_library),
    };
    return cmocka_run_group_tests_name("unit.mix", tests, NULL, NULL);
}
