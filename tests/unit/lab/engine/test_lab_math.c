/* test_lab_math.c - the lab's theory compared with closed forms, tables of the Poisson
 * distribution, and a simulation. */
#include "lab/engine/lab_math.h"
#include "rng.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define assert_close(have, want, relative)                                                        \
    do {                                                                                          \
        const double have_ = (have), want_ = (want);                                              \
        if (!(fabs(have_ - want_) <= (relative)*fabs(want_)))                                     \
            fail_msg(#have " is %.9g, not %.9g", have_, want_);                                   \
    } while (0)

static void a_full_filter_follows_the_formula(void **state)
{
    const struct lab_bloom b = {1e6, 3, 1, 2.0, false};
    assert_close(lab_bloom_rate(&b), pow(1 - exp(-0.5), 3), 1e-12);
    const struct lab_bloom two = {1e6, 3, 2, 2.0, false};
    assert_close(lab_bloom_rate(&two), pow(1 - exp(-0.5), 6), 1e-12);
}

/* With one hash function, the mean over the filling is 1 - M (1 - e^(-1/M)). */
static void a_filling_filter_follows_the_integral(void **state)
{
    const struct lab_bloom b = {1e6, 1, 1, 2.0, true};
    assert_close(lab_bloom_rate(&b), 1 - 2 * (1 - exp(-0.5)), 1e-9);
    assert_close(lab_bloom_lost_until(&b, 0.5), 0.5 - 2 * (1 - exp(-0.25)), 1e-9);
    assert_true(lab_bloom_lost_until(&b, 0) == 0);
}

/* --- Scatter, simulated --------------------------------------------------- */

#define KEYS 1000u
#define RUNS 3000u

/* One run: sets bits at random, then queries at random; returns the share of hits. */
static double simulate(const struct lab_bloom *b, struct rng *rng)
{
    const uint64_t m = (uint64_t)(b->n * b->k * b->multiplier);
    uint8_t *bit = calloc(b->copies * m, 1);
    double hits = 0;
    assert_non_null(bit);
    for (uint32_t phase = b->filling ? 1 : 0; phase < 2; phase++)
        for (uint32_t i = 0; i < (uint32_t)b->n; i++) {
            bool seen = true;
            for (uint32_t j = 0; j < b->copies * b->k; j++) {
                uint8_t *at = &bit[j / b->k * m + rng_below(rng, m)];
                seen &= *at & 1;
                if (b->filling)
                    *at |= 2; /* its own bits count only for later keys */
                else if (phase == 0)
                    *at = 1;
            }
            if (b->filling)
                for (uint64_t j = 0; j < b->copies * m; j++)
                    bit[j] |= bit[j] >> 1;
            hits += phase == 1 && seen;
        }
    free(bit);
    return hits / b->n;
}

static void expect_scatter(const struct lab_bloom *b, uint32_t runs, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const double x = simulate(b, &rng);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / runs, variance = squares / runs - mean * mean;
    const double sigma = lab_bloom_sigma(b);
    /* The mean must be within 5 of its standard deviations (plus 1/n, which the theory neglects),
     * the variance within 5 of its own, sqrt(2 / runs) of it, plus 2% for the same reason. */
    if (fabs(mean - lab_bloom_rate(b)) > 5 * sigma / sqrt(runs) + 2 * lab_bloom_rate(b) / b->n)
        fail_msg("mean %g, theory %g", mean, lab_bloom_rate(b));
    if (fabs(variance / (sigma * sigma) - 1) > 5 * sqrt(2.0 / runs) + 0.02)
        fail_msg("variance %g, theory %g", variance, sigma * sigma);
}

static void one_run_scatters_as_predicted(void **state)
{
    expect_scatter(&(struct lab_bloom){KEYS, 1, 1, 2.0, false}, RUNS, 1);
    expect_scatter(&(struct lab_bloom){KEYS, 3, 1, 1.7, false}, RUNS, 2);
    expect_scatter(&(struct lab_bloom){KEYS, 2, 2, 1.7, false}, RUNS, 3);
}

static void a_filling_run_scatters_as_predicted(void **state)
{
    expect_scatter(&(struct lab_bloom){200, 1, 1, 2.0, true}, RUNS, 4);
    expect_scatter(&(struct lab_bloom){200, 2, 1, 1.7, true}, RUNS, 5);
}

/* --- Rare events ------------------------------------------------------------ */

/* From tables of exact Poisson confidence limits. */
static void intervals_match_the_published_tables(void **state)
{
    assert_true(lab_poisson_low(0) == 0);
    assert_close(lab_poisson_high(0), 3.6889, 1e-4);
    assert_close(lab_poisson_low(1), 0.025318, 1e-4);
    assert_close(lab_poisson_high(1), 5.5716, 1e-4);
    assert_close(lab_poisson_low(10), 4.7954, 1e-4);
    assert_close(lab_poisson_high(10), 18.390, 1e-4);
    assert_close(lab_poisson_low(1e6), 1e6 - 1960, 1e-6);
}

static void the_distance_of_rare_events_is_right(void **state)
{
    assert_true(fabs(lab_poisson_sigma(0, 1e-9)) < 1e-3);
    assert_true(fabs(lab_poisson_sigma(10, 10)) < 0.2);
    /* P(X >= 4 | 1) is 0.019, P(X = 4) / 2 is 0.0077: a tail of 0.0113 */
    assert_close(lab_poisson_sigma(4, 1), 2.28, 0.01);
    assert_true(lab_poisson_sigma(0, 20) < -5);
    assert_true(lab_poisson_sigma(100, 20) > 8);
    /* Where both forms apply, they agree. */
    assert_close(lab_poisson_sigma(1100, 1000), 100 / sqrt(1000), 0.02);
}

static void blocks_scatter_more_than_single_bits(void **state)
{
    const double rate = 0.02, plain = sqrt(rate * (1 - rate) / 1e5);
    assert_true(lab_blocked_sigma(1e5, 7, 10, 1e5, rate) > plain);
    assert_true(lab_blocked_sigma(1e5, 7, 10, 1e5, rate) < 3 * plain);
    /* With many blocks, the extra scatter vanishes. */
    assert_close(lab_blocked_sigma(1e9, 7, 10, 1e5, rate), plain, 0.001);
}

static void mean_error_and_fitted_line_are_right(void **state)
{
    double x[] = {4, 1, 3, 2}, y[] = {9, 3, 7, 5};
    assert_close(lab_spread(x, 4).mean, 2.5, 1e-12);
    assert_close(lab_spread(x, 4).error, sqrt(5.0 / 3 / 4), 1e-12);
    assert_true(lab_spread(x, 1).error == 0);
    const struct lab_line line = lab_fit(x, y, 4);
    assert_close(line.a, 1, 1e-9);
    assert_close(line.b, 2, 1e-9);
    assert_close(line.r2, 1, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_filter_follows_the_formula),
        cmocka_unit_test(a_filling_filter_follows_the_integral),
        cmocka_unit_test(one_run_scatters_as_predicted),
        cmocka_unit_test(a_filling_run_scatters_as_predicted),
        cmocka_unit_test(intervals_match_the_published_tables),
        cmocka_unit_test(the_distance_of_rare_events_is_right),
        cmocka_unit_test(blocks_scatter_more_than_single_bits),
        cmocka_unit_test(mean_error_and_fitted_line_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
