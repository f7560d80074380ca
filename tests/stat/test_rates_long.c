/* test_rates_long.c - test_rates.c with more probes: down to one in a million, and finer.
 *
 * The same hypotheses and bounds (five standard deviations, fixed seeds); 20,000 hits if 300
 * million probes give that many, so that a rate 4% off would show, and 300 hits at 1e-6. */
#include "unit.h"

#include "trial.h"
#include <stdio.h>

#define Z 5.0

static const struct kind {
    const char *name;
    deja_options opt;
    uint64_t first; /* a growing filter starts with 1/n of the keys */
} kinds[] = {
    {"classic", {.kind = DEJA_CLASSIC}, 1},
    {"classic F 2", {.kind = DEJA_CLASSIC, .filters = 2}, 1},
    {"blocked", {.kind = DEJA_BLOCKED}, 1},
    {"blocked F 2", {.kind = DEJA_BLOCKED, .filters = 2}, 1},
    {"scalable", {.kind = DEJA_SCALABLE}, 20},
    {"scalable of classic", {.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC}, 20},
};
static const double some_p[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

static void begin(struct trial *t, const struct kind *kind, uint64_t n, double p, uint64_t seed)
{
    deja_options opt = kind->opt;
    opt.capacity = n / kind->first;
    opt.fp_rate = p;
    assert_true(trial_begin(t, opt, seed));
}

static double fp_now(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    return s.fp_now;
}

/* --- Rates -------------------------------------------------------------- */

static void check_rate(struct trial *t, const char *name, double p, double most_probes)
{
    const struct forecast at_n = forecast_all(t), at_fill = forecast_now(t, fp_now(t->f));
    const uint64_t probes = (uint64_t)fmin(fmax(20000 / at_n.rate, 1e6), most_probes);
    const uint64_t hits = trial_probe(t, probes);
    const double expected = at_n.rate * (double)probes;
    print_message("    %-20s p %-6g %8zu keys %10zu probes %8zu hits, expected %10.1f  "
                  "(%+.2f %%, rate scatters by %.2f %%)\n",
                  name, p, (size_t)t->keys, (size_t)probes, (size_t)hits, expected,
                  100 * ((double)hits / expected - 1), 100 * at_n.sigma / at_n.rate);
    assert_true(binom_within_spread(hits, probes, at_n.rate, at_n.sigma, Z));
    assert_true(binom_within_spread(hits, probes, at_fill.rate, at_fill.sigma, Z));
    assert_true((double)hits <= p * (double)probes ||
                binom_within_spread(hits, probes, p, at_n.sigma, Z));
}

static void check_all(uint64_t n, double most_probes)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++) {
            struct trial t;
            begin(&t, &kinds[k], n, some_p[i], 100 * k + i + 1);
            assert_true(trial_fill(&t, n));
            check_rate(&t, kinds[k].name, some_p[i], most_probes);
            trial_end(&t);
        }
}

static void filters_of_100000_keys_have_the_rates_of_theory(void **state)
{
    check_all(100000, 3e8);
}

static void filters_of_2_million_keys_have_the_rates_of_theory(void **state)
{
    check_all(2000000, 5e7);
}

/* One kind of body with any k, at 20 bits per key. */
static void every_k_has_the_rate_of_theory(void **state)
{
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++)
        for (uint32_t k = 1; k <= 16; k++) {
            struct trial t;
            const deja_options opt = {
                .kind = kind, .capacity = 100000, .memory = 250000, .hashes = k};
            assert_true(trial_begin(&t, opt, 40 + k));
            assert_true(trial_fill(&t, 100000));
            const struct forecast c = forecast_all(&t);
            const uint64_t probes = (uint64_t)(4000 / c.rate), hits = trial_probe(&t, probes);
            print_message("    %s, k %2u: %zu hits of %zu, expected 4000\n", deja_kind_name(kind),
                          k, (size_t)hits, (size_t)probes);
            assert_true(binom_within_spread(hits, probes, c.rate, c.sigma, Z));
            trial_end(&t);
        }
}

/* --- Hash families ------------------------------------------------------ */

/* 50,000 numbered URLs at p = 1e-3, 2 million queries for others: 2,000 hits. */
static void every_hash_family_has_the_rate_of_theory_on_urls(void **state)
{
    enum {
        MEMBERS = 50000,
        STRANGERS = 2000000
    };
    for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_MIXED; hash++) {
        struct trial t;
        const deja_options opt = {
            .kind = DEJA_CLASSIC, .hash = hash, .capacity = MEMBERS, .fp_rate = 1e-3};
        assert_true(trial_begin(&t, opt, 50 + hash));
        trial_urls(t.f, true, 0, MEMBERS);
        t.keys = MEMBERS;
        const uint64_t hits = trial_urls(t.f, false, MEMBERS, MEMBERS + STRANGERS);
        const struct forecast c = forecast_all(&t);
        print_message("    %-8s k %2u: %zu hits, expected %.1f\n", deja_hash_name(hash),
                      t.f->part[0]->shape.k, (size_t)hits, c.rate * STRANGERS);
        assert_true(binom_within_spread(hits, STRANGERS, c.rate, c.sigma, Z));
        trial_end(&t);
    }
}

/* --- Lost keys ---------------------------------------------------------- */

/* Two million distinct keys, one after another: those not reported as new are lost, and their
 * number is nearly Poisson around the sum of the rates at the time of each add. */
static void as_many_keys_are_lost_as_theory_says(void **state)
{
    enum {
        KEYS = 2000000
    };
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 1; i < DJ_ARRAY_LEN(some_p); i++) {
            struct trial t;
            deja_stats s = DEJA_STATS_INIT;
            begin(&t, &kinds[k], KEYS, some_p[i], 300 * k + i + 1);
            assert_true(trial_fill(&t, KEYS));
            assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
            const uint64_t lost = t.keys - t.told_new;
            print_message("    %-20s p %-6g %6zu lost, the account says %.1f\n", kinds[k].name,
                          some_p[i], (size_t)lost, s.lost);
            assert_true(poisson_within(lost, s.lost, Z));
            trial_end(&t);
        }
}

/* --- Pollution ---------------------------------------------------------- */

/* bits_sigma is neither too wide nor too narrow: over 300 seeds the mean of z is within 5 /
 * sqrt(300) of 0, and the mean of its square within 5 sqrt(2 / 300) of 1. */
static void honest_keys_scatter_as_the_stats_say(void **state)
{
    enum {
        SEEDS = 300
    };
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++) {
        double sum = 0, squares = 0;
        if (kinds[k].opt.kind == DEJA_BLOCKED && kinds[k].opt.filters > 1)
            continue; /* tens of milliseconds for each call; test_rates.c covers one */
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct trial t;
            deja_stats s = DEJA_STATS_INIT;
            begin(&t, &kinds[k], 50000, 1e-3, seed);
            assert_true(trial_fill(&t, 50000));
            assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
            const double z = ((double)s.bits_set - s.bits_expected) / s.bits_sigma;
            assert_true(fabs(z) < Z);
            sum += z;
            squares += z * z;
            trial_end(&t);
        }
        print_message("    %-20s mean of z %+.3f, of its square %.3f\n", kinds[k].name,
                      sum / SEEDS, squares / SEEDS);
        assert_true(normal_within(sum / SEEDS, 0, 1 / sqrt(SEEDS), Z));
        assert_true(normal_within(squares / SEEDS, 1, sqrt(2.0 / SEEDS), Z));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_of_100000_keys_have_the_rates_of_theory),
        cmocka_unit_test(filters_of_2_million_keys_have_the_rates_of_theory),
        cmocka_unit_test(every_k_has_the_rate_of_theory),
        cmocka_unit_test(every_hash_family_has_the_rate_of_theory_on_urls),
        cmocka_unit_test(as_many_keys_are_lost_as_theory_says),
        cmocka_unit_test(honest_keys_scatter_as_the_stats_say),
    };
    return cmocka_run_group_tests_name("stat.rates_long", tests, NULL, NULL);
}
