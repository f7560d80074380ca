/* test_overlap.c - the estimated number of keys that two filters have in common. */
#include "unit.h"

#define EVERY .seed = 7,
#include "binom.h"
#include "combining.h"
#include <math.h>

static void common(deja_options opt, uint64_t a, uint64_t b, uint64_t both, double slack)
{
    deja_filter *x = filled(opt, 0, a), *y = filled(opt, a - both, a - both + b);
    double keys = -1, sigma = -1;
    deja_error err = {0, ""};
    works(deja_filter_overlap(x, y, &keys, &sigma, &err), &err);
    assert_true(sigma > 0);
    if (!normal_within(keys, (double)both, sigma * slack, 5))
        fail_msg("%g +- %g instead of %g", keys, sigma, (double)both);
    deja_filter_free(x);
    deja_filter_free(y);
}

static void common_keys_are_estimated_within_their_error(void **state)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .capacity = 20000, .fp_rate = 0.01);
        opt.seed = seed;
        common(opt, 10000, 8000, 3000, 1);
        common(opt, 10000, 8000, 0, 1);
        common(opt, 10000, 10000, 10000, 1);
        common(opt, 20000, 500, 100, 1);
        opt.kind = DEJA_BLOCKED; /* crowded blocks add a few percent to the deviation */
        common(opt, 10000, 8000, 3000, 1.1);
        common(opt, 3000, 20000, 2000, 1.1);
        opt.filters = 2;
        common(opt, 10000, 8000, 3000, 1.1);
    }
}

/* The stated error matches the scatter of many trials. */
static void the_error_of_common_keys_is_as_stated(void **state)
{
    enum {
        TRIALS = 200
    };
    double sum = 0, squares = 0, stated = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        deja_options opt =
            OPTIONS(.kind = DEJA_CLASSIC, .memory = 2048, .capacity = 2000, .hashes = 5);
        double keys, sigma;
        opt.seed = seed;
        deja_filter *x = filled(opt, 0, 1500), *y = filled(opt, 900, 2400);
        assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
        sum += keys - 600;
        squares += (keys - 600) * (keys - 600);
        stated += sigma * sigma;
        deja_filter_free(x);
        deja_filter_free(y);
    }
    assert_true(fabs(sum / TRIALS) < 5 * sqrt(stated / TRIALS / TRIALS));
    /* A sum of 200 squares has a relative deviation of a tenth. */
    assert_true(squares > 0.5 * stated && squares < 1.5 * stated);
}

static void common_keys_work_for_two_sizes_and_for_tables(void **state)
{
    double keys, sigma;
    const deja_options opt = OPTIONS(.memory = 65536, .capacity = 20000);
    deja_filter *x = filled(opt, 0, 10000);
    deja_filter *y = filled(smaller(x, opt, 1), 6000, 12000);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(deja_filter_overlap(turn ? y : x, turn ? x : y, &keys, &sigma, NULL),
                         DEJA_OK);
        assert_true(normal_within(keys, 4000, sigma * 1.1, 5));
    }
    deja_filter_free(x);
    deja_filter_free(y);
    const deja_options exact = OPTIONS(.kind = DEJA_EXACT, .capacity = 5000);
    x = filled(exact, 0, 3000);
    y = filled(exact, 1000, 5000);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
    assert_true(keys >= 2000 && keys <= 2000 && sigma <= 0);
    deja_filter_free(x);
    deja_filter_free(y);
}

static void empty_and_full_filters_give_no_common_keys(void **state)
{
    double keys, sigma;
    deja_error err = {0, ""};
    const deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .memory = 64, .capacity = 10);
    deja_filter *x = new_filter(opt), *y = new_filter(opt);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
    assert_true(keys <= 0 && sigma <= 0);
    add_keys(x, 0, 5000);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "all bits of the union are set"));
    deja_filter_free(x);
    deja_filter_free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_keys_are_estimated_within_their_error),
        cmocka_unit_test(the_error_of_common_keys_is_as_stated),
        cmocka_unit_test(common_keys_work_for_two_sizes_and_for_tables),
        cmocka_unit_test(empty_and_full_filters_give_no_common_keys),
    };
    return cmocka_run_group_tests_name("unit.overlap", tests, NULL, NULL);
}
