/* test_dated_rates.c - the rate of filters with dates is n / 2^53.
 *
 * That rate is too low to measure, so the keys are hashes that differ only in FREE of the 53 bits;
 * the other bits are constant, and the low 11 are random because they must not matter.  Then a key
 * that was never added is found with probability n / 2^FREE, which is 2^(53 - FREE) times fp_now.
 * The free bits are in turn the highest, the lowest and every second one.  If a slot held fewer
 * bits, some choice would have more hits; if it held more, fewer. */
#include "unit.h"

#include "binom.h"
#include "calls.h"
#include "options.h"
#include "rng.h"
#include <math.h>

#define FREE   20
#define KEYS   3000
#define PROBES 400000

/* The hash whose free bits are the bits of x: bit i is at first + i * step. */
static uint64_t spread(uint64_t x, unsigned first, unsigned step, uint64_t low)
{
    uint64_t hash = UINT64_C(0x5a5a5a5a5a5a5800) | low >> 53;
    for (unsigned i = 0; i < FREE; i++)
        hash ^= (x >> i & 1) << (first + i * step);
    return hash;
}

static void measure(deja_options opt, unsigned first, unsigned step)
{
    deja_filter *f = new_filter(opt);
    struct rng r = rng_seeded(first);
    uint64_t hits = 0;
    for (int i = 0; i < KEYS; i++) {
        const uint64_t hash = spread(rng_next(&r), first, step, rng_next(&r));
        assert_int_equal(deja_filter_add_hashed(f, &hash, 1, NULL, NULL, NULL), DEJA_OK);
    }
    const double rate = stats_of(f).fp_now * 0x1p53 / (1 << FREE);
    for (int i = 0; i < PROBES; i++) {
        const uint64_t hash = spread(rng_next(&r), first, step, rng_next(&r));
        uint8_t found;
        deja_filter_contains_hashed(f, &hash, 1, &found);
        hits += found;
    }
    if (!binom_within(hits, PROBES, rate, 5.0))
        fail_msg("bits from %u in steps of %u: %zu hits of %d, expected %.1f", first, step,
                 (size_t)hits, PROBES, rate * PROBES);
    deja_filter_free(f);
}

static void keys_are_told_apart_by_53_bits(void **state)
{
    const deja_options plain =
        FIELDS(.kind = DEJA_EXACT, .capacity = KEYS, .seed = 1, .flags = DEJA_DATES);
    const deja_options series = FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT,
                                       .capacity = KEYS / 20, .seed = 1, .flags = DEJA_DATES);
    const deja_options *const both[] = {&plain, &series};
    for (size_t i = 0; i < 2; i++) {
        measure(*both[i], 64 - FREE, 1);
        measure(*both[i], 11, 1);
        measure(*both[i], 13, 2);
    }
}

/* The loss is the sum of the rates: of n keys, n (n - 1) / 2 / 2^53 are mistaken for earlier ones.
 * */
static void the_expected_loss_is_that_of_53_bits(void **state)
{
    const deja_options opt =
        FIELDS(.kind = DEJA_EXACT, .capacity = 1000000, .fp_rate = 1e-6, .flags = DEJA_DATES);
    deja_plan plan = DEJA_PLAN_INIT;
    assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
    assert_true(fabs(plan.fp_rate / (1e6 / 0x1p53) - 1) < 1e-9);
    assert_true(fabs(plan.lost / (1e6 * (1e6 - 1) / 2 / 0x1p53) - 1) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_told_apart_by_53_bits),
        cmocka_unit_test(the_expected_loss_is_that_of_53_bits),
    };
    return cmocka_run_group_tests_name("stat.dated_rates", tests, NULL, NULL);
}
