/* test_rates.c - measured rates and losses inside the intervals that theory allows.
 *
 * Every test states a hypothesis: a count is binomial (or a sum normal) with these parameters.
 * The bound is five standard deviations, which a correct filter misses for one seed in 1.7
 * million (two sides); the seeds are fixed, so a test that passes once always passes.  Too few
 * hits are a bug as well. trial.h explains the variation between filters.
 *
 * If hashing is not the subject, keys are ready-made hashes from a seeded sequence.  The hash
 * families get numbered URLs, which are typical of crawls and hard on weak functions. */
#include "unit.h"

#include "calls.h"
#include "trial.h"
#include <stdio.h>
#include <stdlib.h>

#define Z 5.0

static void begin(struct trial *t, deja_options opt, uint64_t seed)
{
    assert_true(trial_begin(t, opt, seed));
}

/* --- The kinds ---------------------------------------------------------- */

static const struct kind {
    const char *name;
    deja_options opt; /* without capacity and rate */
    uint64_t first;   /* a growing filter starts with 1/n of the keys */
} kinds[] = {
    {"classic", {.kind = DEJA_CLASSIC}, 1},
    {"classic F 2", {.kind = DEJA_CLASSIC, .filters = 2}, 1},
    {"blocked", {.kind = DEJA_BLOCKED}, 1},
    {"blocked F 2", {.kind = DEJA_BLOCKED, .filters = 2}, 1},
    {"exact", {.kind = DEJA_EXACT}, 1},
    {"spectral", {.kind = DEJA_SPECTRAL}, 1},
    {"spectral 8", {.kind = DEJA_SPECTRAL, .counter_bits = 8}, 1},
    {"spectral 16 F 2", {.kind = DEJA_SPECTRAL, .counter_bits = 16, .filters = 2}, 1},
    {"spectral 32 F 3", {.kind = DEJA_SPECTRAL, .counter_bits = 32, .filters = 3}, 1},
    {"spectral spread", {.kind = DEJA_SPECTRAL, .flags = DEJA_SPREAD}, 1},
    {"spectral spread 32 F 2",
     {.kind = DEJA_SPECTRAL, .counter_bits = 32, .filters = 2, .flags = DEJA_SPREAD},
     1},
    {"scalable", {.kind = DEJA_SCALABLE}, 20},
    {"scalable of classic", {.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC}, 20},
    {"scalable of exact", {.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT}, 20},
};

static deja_options options(const struct kind *kind, uint64_t n, double p)
{
    deja_options opt = kind->opt;
    opt.capacity = n / kind->first;
    opt.fp_rate = p;
    return opt;
}

/* --- Rates over a grid -------------------------------------------------- */

/* Enough probes for 400 hits, but at most a million (10 hits for 1e-5; stat.rates_long uses
 * more). */
static uint64_t probes_for(double rate)
{
    return (uint64_t)fmin(fmax(400.0 / rate, 100000.0), 1000000.0);
}

/* Queries for keys never added, in a filter with t->keys distinct keys; three hypotheses:
 *   hits ~ Binomial(probes, rate at that many keys), with the variation between bodies;
 *   hits ~ Binomial(probes, fp_now), the rate that stats derive from the bits really set;
 *   up to capacity, hits are not more than Binomial(probes, the requested p) allows. */
static void check_rate(struct trial *t, const char *name, double p, bool promised)
{
    const struct forecast at_n = forecast_all(t);
    const uint64_t probes = probes_for(at_n.rate);
    const uint64_t hits = trial_probe(t, probes);
    const struct forecast at_fill = forecast_now(t, stats_of(t->f).fp_now);
    if (!binom_within_spread(hits, probes, at_n.rate, at_n.sigma, Z))
        fail_msg("%s, p %g, %zu keys: %zu hits of %zu, expected %.1f (rate scatters by %.2f %%)",
                 name, p, (size_t)t->keys, (size_t)hits, (size_t)probes,
                 at_n.rate * (double)probes, 100 * at_n.sigma / at_n.rate);
    if (!binom_within_spread(hits, probes, at_fill.rate, at_fill.sigma, Z))
        fail_msg("%s, p %g, %zu keys: %zu hits of %zu, fp_now says %.1f", name, p, (size_t)t->keys,
                 (size_t)hits, (size_t)probes, at_fill.rate * (double)probes);
    if (promised && (double)hits > p * (double)probes &&
        !binom_within_spread(hits, probes, p, at_n.sigma, Z))
        fail_msg("%s, p %g, %zu keys: %zu hits of %zu, promised %.1f", name, p, (size_t)t->keys,
                 (size_t)hits, (size_t)probes, p * (double)probes);
}

/* Filled to 1/4, 1/2, 1 and 3/2 of the capacity; a growing filter has no limit and keeps its rate
 * at each of them. */
static void check_cell(const struct kind *kind, uint64_t n, double p, uint64_t seed)
{
    static const double fills[] = {0.25, 0.5, 1.0, 1.5};
    const bool exact = kind->opt.kind == DEJA_EXACT || kind->opt.part_kind == DEJA_EXACT;
    struct trial t;
    if (exact && p < 0.1) /* its rate does not depend on the requested one */
        return;
    begin(&t, options(kind, n, p), seed);
    for (size_t i = 0; i < DJ_ARRAY_LEN(fills); i++) {
        const uint64_t keys = (uint64_t)(fills[i] * (double)n);
        if (!trial_fill(&t, keys)) { /* exact: 0.8 of the slots is the capacity, 0.94 the limit */
            assert_int_equal(kind->opt.kind, DEJA_EXACT);
            assert_true(fills[i] > 1.0);
            break;
        }
        check_rate(&t, kind->name, p, fills[i] <= 1.0 || kind->opt.kind == DEJA_SCALABLE);
    }
    trial_end(&t);
}

static const double some_p[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

/* Theory also holds for the kinds that neither a row nor another test names. */
static void every_other_plain_kind_has_the_rates_of_theory(void **state)
{
    const uint32_t others =
        DEJA_CAN_FORGET | DEJA_CAN_LAYER | DEJA_CAN_BUILD; /* test_forgetting.c and others */
    size_t found = 0;
    for (uint32_t number = 0; (number = deja_kind_next(number)) != 0;) {
        const struct kind kind = {deja_kind_name(number), {.kind = number}, 1};
        bool named = dj_kind_of(number)->can & others;
        for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
            named |= kinds[k].opt.kind == number;
        for (size_t i = 0; !named && i < DJ_ARRAY_LEN(some_p); i++)
            check_cell(&kind, 30000, some_p[i], 40 + i);
        found += !named;
    }
    assert_int_equal(found, 1); /* kind_probe.c */
}

static void small_filters_have_the_rates_of_theory(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            check_cell(&kinds[k], 3000, some_p[i], 10 + i);
}

static void filters_of_30000_keys_have_the_rates_of_theory(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            check_cell(&kinds[k], 30000, some_p[i], 20 + i);
}

static void filters_of_300000_keys_have_the_rates_of_theory(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            check_cell(&kinds[k], 300000, some_p[i], 30 + i);
}

/* Any k, not only the best: 20,000 keys with 12 bits each.  The rates are between 0.004 and 0.08:
 * 200,000 probes give 800 hits or more, an interval of 18% at most. */
static void every_k_has_the_rate_of_theory(void **state)
{
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++)
        for (uint32_t k = 1; k <= 16; k++) {
            struct trial t;
            const deja_options opt = {
                .kind = kind, .capacity = 20000, .memory = 30000, .hashes = k};
            begin(&t, opt, 40 + k);
            assert_true(trial_fill(&t, 20000));
            const uint64_t hits = trial_probe(&t, 200000);
            const struct forecast c = forecast_all(&t);
            if (!binom_within_spread(hits, 200000, c.rate, c.sigma, Z))
                fail_msg("%s, k %u: %zu hits, expected %.1f", deja_kind_name(kind), k,
                         (size_t)hits, c.rate * 200000);
            trial_end(&t);
        }
}

/* --- Hash families ------------------------------------------------------ */

/* 10,000 URLs at p = 0.02, 100,000 queries for others: 2,000 hits, an interval of 11%; also with
 * two filters that have different salts. */
static void every_hash_family_has_the_rate_of_theory_on_urls(void **state)
{
    enum {
        MEMBERS = 10000,
        STRANGERS = 100000
    };
    for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_MIXED; hash++)
        for (uint32_t filters = 1; filters <= 2; filters++) {
            struct trial t;
            const deja_options opt = {.kind = DEJA_CLASSIC,
                                      .hash = hash,
                                      .filters = filters,
                                      .capacity = MEMBERS,
                                      .fp_rate = 0.02};
            begin(&t, opt, 50 + hash);
            trial_urls(t.f, true, 0, MEMBERS);
            t.keys = MEMBERS;
            const uint64_t hits = trial_urls(t.f, false, MEMBERS, MEMBERS + STRANGERS);
            const struct forecast c = forecast_all(&t);
            if (!binom_within_spread(hits, STRANGERS, c.rate, c.sigma, Z))
                fail_msg("%s, F %u: %zu hits, expected %.1f", deja_hash_name(hash), filters,
                         (size_t)hits, c.rate * STRANGERS);
            if (!binom_within_spread(hits, STRANGERS, stats_of(t.f).fp_now, 0, Z))
                fail_msg("%s, F %u: %zu hits, fp_now says %.1f", deja_hash_name(hash), filters,
                         (size_t)hits, stats_of(t.f).fp_now * STRANGERS);
            trial_end(&t);
        }
}

/* The universal-hash bitmap of the lecture: k = 1, for families that come with their own
 * number. */
static void a_bitmap_of_any_family_has_the_rate_of_theory(void **state)
{
    for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_MIXED; hash++) {
        struct trial t;
        const deja_options opt = {
            .kind = DEJA_CLASSIC, .hash = hash, .capacity = 10000, .hashes = 1, .multiplier = 10};
        begin(&t, opt, 60 + hash);
        trial_urls(t.f, true, 0, 10000);
        t.keys = 10000;
        const uint64_t hits = trial_urls(t.f, false, 10000, 60000);
        const struct forecast c = forecast_all(&t);
        if (!binom_within_spread(hits, 50000, c.rate, c.sigma, Z))
            fail_msg("%s: %zu hits, expected %.1f", deja_hash_name(hash), (size_t)hits,
                     c.rate * 50000);
        trial_end(&t);
    }
}

/* --- Set bits and distinct keys ----------------------------------------- */

static const struct kind bloom_kinds[] = {
    {"classic", {.kind = DEJA_CLASSIC}, 1},
    {"classic F 2", {.kind = DEJA_CLASSIC, .filters = 2}, 1},
    {"classic F 3", {.kind = DEJA_CLASSIC, .filters = 3}, 1},
    {"blocked", {.kind = DEJA_BLOCKED}, 1},
    {"blocked F 2", {.kind = DEJA_BLOCKED, .filters = 2}, 1},
    {"blocked with two lines", {.kind = DEJA_BLOCKED, .cache_lines = 2}, 1},
    {"blocked with three lines", {.kind = DEJA_BLOCKED, .cache_lines = 3}, 1},
    {"scalable", {.kind = DEJA_SCALABLE}, 20},
    {"scalable of classic", {.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC}, 20},
};

/* The statistics of several blocked filters take tens of milliseconds: one rate is enough. */
static bool too_slow(const struct kind *kind, double p)
{
    return kind->opt.kind == DEJA_BLOCKED &&
           (kind->opt.filters > 1 || kind->opt.cache_lines > 1) && p != 1e-2;
}

/* n distinct keys set a number of bits that is normal around bits_set(n) with deviation
 * bits_sigma(n), in every part.  Here n is known, so nothing is estimated. */
static void known_keys_set_as_many_bits_as_theory_says(void **state)
{
    for (size_t k = 0; k < 7; k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            for (uint64_t keys = 5000; keys <= 30000; keys *= 6) {
                struct trial t;
                begin(&t, options(&bloom_kinds[k], 20000, some_p[i]), 70 + i);
                assert_true(trial_fill(&t, keys));
                for (uint32_t part = 0; part < t.f->n_parts; part++) {
                    const struct dj_part *p = t.f->part[part];
                    const double set = (double)p->kind->body.bits_set(p), n = (double)keys;
                    const double expected = dj_shape_bits_set(&p->shape, n);
                    const double sigma = dj_shape_bits_sigma(&p->shape, n);
                    if (!normal_within(set, expected, sigma, Z))
                        fail_msg("%s, p %g: %.0f bits, %.1f from what is expected, sigma %.1f",
                                 bloom_kinds[k].name, some_p[i], set, set - expected, sigma);
                }
                trial_end(&t);
            }
}

/* The estimate is the n whose expected number of set bits equals the actual number.  One more bit
 * changes the estimate by one over the slope of bits_set.  F filters give the mean of F estimates.
 * */
static void distinct_keys_are_estimated_within_their_error(void **state)
{
    for (size_t k = 0; k < 7; k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            for (uint64_t keys = 5000; keys <= 30000; keys *= 6) {
                struct trial t;
                begin(&t, options(&bloom_kinds[k], 20000, some_p[i]), 80 + i);
                assert_true(trial_fill(&t, keys));
                const struct dj_shape *s = &t.f->part[0]->shape;
                const double n = (double)keys;
                const double slope = dj_shape_bits_set(s, n + 0.5) - dj_shape_bits_set(s, n - 0.5);
                const double sigma =
                    dj_shape_bits_sigma(s, n) / slope / sqrt((double)t.f->n_parts);
                const double distinct = stats_of(t.f).distinct;
                if (!normal_within(distinct, n, sigma, Z))
                    fail_msg("%s, p %g: %.1f keys instead of %.0f, sigma %.1f",
                             bloom_kinds[k].name, some_p[i], distinct, n, sigma);
                trial_end(&t);
            }
}

/* --- Lost keys ---------------------------------------------------------- */

/* Different keys, one after another: those not reported as new are lost.  The x-th is lost with
 * the rate at x - 1 keys, so the number is nearly Poisson around the sum of these rates; the
 * numbers of 20 filters are added up. (The variation between bodies adds less than 3% to the
 * deviation.) */
static void as_many_keys_are_lost_as_theory_says(void **state)
{
    enum {
        FILTERS = 20,
        KEYS = 10000
    };
    static const double fills[] = {0.5, 1.0, 1.5};
    for (size_t k = 0; k < 7; k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(fills); j++) {
                uint64_t lost = 0;
                double expected = 0;
                for (uint64_t seed = 0; seed < FILTERS; seed++) {
                    struct trial t;
                    begin(&t, options(&bloom_kinds[k], KEYS, some_p[i]), 1000 + seed);
                    assert_true(trial_fill(&t, (uint64_t)(fills[j] * KEYS)));
                    lost += t.keys - t.told_new;
                    if (seed == 0)
                        for (uint64_t x = 0; x < t.keys; x += 10) /* rates are smooth */
                            expected += 10 * FILTERS *
                                        pow(dj_shape_rate(&t.f->part[0]->shape, (double)x + 4.5),
                                            t.f->n_parts);
                    trial_end(&t);
                }
                if (!poisson_within(lost, expected, Z))
                    fail_msg("%s, p %g, filled %g: %zu lost, expected %.1f", bloom_kinds[k].name,
                             some_p[i], fills[j], (size_t)lost, expected);
            }
}

/* stats.lost knows only the keys that were reported as new.  Together they must add up to the
 * keys offered: the counted losses lie around stats.lost with the same deviation, slightly more
 * if the rate r is large, since a key lost by chance is also missing from the statistics (1 / (1
 * - r)). */
static void the_account_of_lost_keys_agrees_with_the_count(void **state)
{
    enum {
        FILTERS = 20,
        KEYS = 10000
    };
    static const double fills[] = {0.5, 1.0, 1.5};
    for (size_t k = 0; k < DJ_ARRAY_LEN(bloom_kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(fills); j++) {
                uint64_t lost = 0;
                double account = 0, rate = 0;
                if (too_slow(&bloom_kinds[k], some_p[i]))
                    continue;
                for (uint64_t seed = 0; seed < FILTERS; seed++) {
                    struct trial t;
                    begin(&t, options(&bloom_kinds[k], KEYS, some_p[i]), 2000 + seed);
                    assert_true(trial_fill(&t, (uint64_t)(fills[j] * KEYS)));
                    const deja_stats s = stats_of(t.f);
                    assert_int_equal(s.keys, t.told_new);
                    lost += t.keys - t.told_new;
                    account += s.lost;
                    rate = s.fp_now;
                    trial_end(&t);
                }
                const double z = Z / (1 - rate);
                if (!poisson_within(lost, account, Z) &&
                    !normal_within((double)lost, account, sqrt(account), z))
                    fail_msg("%s, p %g, filled %g: %zu lost, the account says %.1f",
                             bloom_kinds[k].name, some_p[i], fills[j], (size_t)lost, account);
            }
}

/* --- Pollution ---------------------------------------------------------- */

/* Honest keys: (bits_set - bits_expected) / bits_sigma is at most 5 for each of 50 seeds, and the
 * mean is within 5 deviations of 0, that is 5 / sqrt(50).  If the deviation were larger than the
 * statistics say, honest filters would be reported as polluted. */
static void honest_keys_stay_within_five_sigma_for_fifty_seeds(void **state)
{
    enum {
        SEEDS = 50,
        KEYS = 20000
    };
    static const double fills[] = {0.5, 1.0, 1.5};
    for (size_t k = 0; k < DJ_ARRAY_LEN(bloom_kinds); k++)
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(fills); j++) {
                double sum = 0;
                if (too_slow(&bloom_kinds[k], some_p[i]))
                    continue;
                for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                    struct trial t;
                    begin(&t, options(&bloom_kinds[k], KEYS, some_p[i]), 3000 + seed);
                    assert_true(trial_fill(&t, (uint64_t)(fills[j] * KEYS)));
                    const deja_stats s = stats_of(t.f);
                    const double z = ((double)s.bits_set - s.bits_expected) / s.bits_sigma;
                    if (!(fabs(z) <= Z))
                        fail_msg("%s, p %g, filled %g, seed %zu: %.1f sigma", bloom_kinds[k].name,
                                 some_p[i], fills[j], (size_t)seed, z);
                    sum += z;
                    trial_end(&t);
                }
                if (!(fabs(sum / SEEDS) <= Z / sqrt(SEEDS)))
                    fail_msg("%s, p %g, filled %g: %.2f sigma on average", bloom_kinds[k].name,
                             some_p[i], fills[j], sum / SEEDS);
            }
}

static void exact_counts_its_keys_exactly(void **state)
{
    struct trial t;
    const deja_options opt = {.kind = DEJA_EXACT, .capacity = 20000};
    begin(&t, opt, 1);
    assert_true(trial_fill(&t, 20000));
    const deja_stats s = stats_of(t.f);
    assert_int_equal(s.bits_set, 20000);
    assert_true(s.distinct == 20000);
    assert_true(fabs(s.bits_expected - 20000) < 1e-6);
    assert_true(s.bits_sigma == 0);
    trial_end(&t);
}

/* An attacker who knows the key hashes URLs on a copy of the filter until one sets only clear bits. */
static bool sets_clear_bits_only(const struct dj_part *p, uint64_t hash)
{
    if (p->shape.layout == DJ_BLOCKS) {
        _Alignas(64) uint8_t wanted[DJ_BLOCK_BYTES] = {0};
        struct dj_blocks one = p->blocks;
        uint8_t is_new;
        one.body = wanted;
        one.n_blocks = 1;
        dj_block_portable.add(&one, &hash, &hash, 1, &is_new);
        const uint8_t *block = dj_block_of(&p->blocks, hash);
        for (size_t i = 0; i < DJ_BLOCK_BYTES; i++)
            if (block[i] & wanted[i])
                return false;
        return true;
    }
    for (uint64_t i = 1; i <= p->shape.k; i++) {
        const uint64_t at = dj_mulhi(dj_mix64(hash + i * DJ_GOLDEN), p->shape.bits);
        if (p->body[at / 8] >> at % 8 & 1)
            return false;
    }
    return true;
}

static deja_filter *polluted(deja_options opt, uint64_t keys)
{
    deja_filter *f;
    opt.size = sizeof opt;
    opt.seed = 99;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    for (uint64_t number = 0; keys; number++) {
        char room[64];
        uint64_t hash;
        const deja_slice key = trial_url(room, sizeof room, number);
        deja_filter_hash_batch(f, &key, 1, &hash);
        if (!sets_clear_bits_only(f->part[0], hash))
            continue;
        assert_int_equal(deja_filter_add(f, key, NULL, NULL), DEJA_OK);
        keys--;
    }
    return f;
}

static void chosen_keys_are_beyond_six_sigma(void **state)
{
    enum {
        KEYS = 10000
    };
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++)
        for (size_t i = 1; i < 3; i++)
            for (uint64_t part = 1; part <= 4; part *= 2) { /* from a quarter of the capacity on */
                const deja_options opt = {.kind = kind, .capacity = KEYS, .fp_rate = some_p[i]};
                deja_filter *f = polluted(opt, KEYS * part / 4 * 7 / 8);
                const deja_stats s = stats_of(f);
                const double z = ((double)s.bits_set - s.bits_expected) / s.bits_sigma;
                if (!(z > 6))
                    fail_msg("%s, p %g, %zu chosen keys: only %.1f sigma", deja_kind_name(kind),
                             some_p[i], (size_t)s.keys, z);
                deja_filter_free(f);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_filters_have_the_rates_of_theory),
        cmocka_unit_test(filters_of_30000_keys_have_the_rates_of_theory),
        cmocka_unit_test(filters_of_300000_keys_have_the_rates_of_theory),
        cmocka_unit_test(every_other_plain_kind_has_the_rates_of_theory),
        cmocka_unit_test(every_k_has_the_rate_of_theory),
        cmocka_unit_test(every_hash_family_has_the_rate_of_theory_on_urls),
        cmocka_unit_test(a_bitmap_of_any_family_has_the_rate_of_theory),
        cmocka_unit_test(known_keys_set_as_many_bits_as_theory_says),
        cmocka_unit_test(distinct_keys_are_estimated_within_their_error),
        cmocka_unit_test(as_many_keys_are_lost_as_theory_says),
        cmocka_unit_test(the_account_of_lost_keys_agrees_with_the_count),
        cmocka_unit_test(honest_keys_stay_within_five_sigma_for_fifty_seeds),
        cmocka_unit_test(exact_counts_its_keys_exactly),
        cmocka_unit_test(chosen_keys_are_beyond_six_sigma),
    };
    return cmocka_run_group_tests_name("stat.rates", tests, NULL, NULL);
}
