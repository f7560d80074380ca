/* test_forgetting.c - both rates of a paired filter, false positives and false negatives, inside
 * the intervals that theory allows.
 *
 * Hypotheses, for n keys in the entries and d in the deletions, where A and D are the rates of the
 * two blocked filters with that many keys:
 *
 *   missed members      binomial with probability D
 *   false positives     binomial with probability A (1 - D)
 *   refused removals    members that already test positive in the deletions: as many as a blocked
 *                       filter loses while d keys are added to it
 *
 * Each bound is five standard deviations, including the variation of rates between filters
 * (trial.h).  There are a million keys and a million queries of each kind. */
#include "unit.h"

#include "trial.h"

#define Z       5.0
#define MILLION 1000000

static uint64_t sum_of(const uint8_t *answer, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

/* Keys 0 .. d-1 of the sequence are removed; returns how many were refused. */
static uint64_t remove_first(deja_filter *f, uint64_t seed, uint64_t d)
{
    uint64_t hash[TRIAL_CHUNK];
    uint8_t removed[TRIAL_CHUNK];
    struct rng members = rng_seeded(seed);
    uint64_t refused = 0;
    for (size_t n; d; d -= n) {
        n = d < TRIAL_CHUNK ? (size_t)d : TRIAL_CHUNK;
        rng_fill(&members, hash, n);
        assert_int_equal(deja_filter_remove_hashed(f, hash, n, removed, NULL, NULL), DEJA_OK);
        refused += n - sum_of(removed, n);
    }
    return refused;
}

/* How many of the members after the first d are missed. */
static uint64_t count_missed(const deja_filter *f, uint64_t seed, uint64_t d, uint64_t n)
{
    uint64_t hash[TRIAL_CHUNK];
    uint8_t found[TRIAL_CHUNK];
    struct rng members = rng_seeded(seed);
    uint64_t missed = 0;
    for (uint64_t i = 0; i < d; i++)
        rng_next(&members);
    for (size_t piece; n; n -= piece) {
        piece = n < TRIAL_CHUNK ? (size_t)n : TRIAL_CHUNK;
        rng_fill(&members, hash, piece);
        deja_filter_contains_hashed(f, hash, piece, found);
        missed += piece - sum_of(found, piece);
    }
    return missed;
}

static void within(const char *what, uint64_t hits, uint64_t n, struct forecast c)
{
    print_message("%s: %zu of %zu, expected %.1f\n", what, (size_t)hits, (size_t)n,
                  c.rate * (double)n);
    if (!binom_within_spread(hits, n, c.rate, c.sigma, Z))
        fail_msg("%s: %zu of %zu, expected %.1f", what, (size_t)hits, (size_t)n,
                 c.rate * (double)n);
}

/* n members stay, d others were added and removed; the filter is sized for all of them, or for a
 * share. */
static void check_rates(double p, uint64_t n, uint64_t d, double overload, uint64_t seed)
{
    struct trial t;
    const deja_options opt = {.kind = DEJA_PAIRED,
                              .capacity = (uint64_t)((double)(n + d) / overload),
                              .deletions = (uint64_t)((double)d / overload),
                              .fp_rate = p};
    assert_true(trial_begin(&t, opt, seed));
    assert_true(trial_fill(&t, n + d));
    const uint64_t refused = remove_first(t.f, seed, d);
    const struct dj_part *entries = t.f->part[0], *deletions = t.f->part[1];
    const struct forecast a = forecast_part(entries, (double)(n + d));
    const struct forecast b = forecast_part(deletions, (double)d);
    const struct forecast found = {a.rate * (1 - b.rate),
                                   hypot(a.sigma * (1 - b.rate), a.rate * b.sigma)};
    print_message("p %g, %zu stay, %zu removed, %g times as many as planned\n", p, (size_t)n,
                  (size_t)d, overload);
    within("members missed", count_missed(t.f, seed, d, n), n, b);
    within("false positives", trial_probe(&t, MILLION), MILLION, found);
    const struct forecast lost = {dj_shape_lost(&deletions->shape, (double)d) / (double)d, 0};
    within("removals refused", refused, d, lost);
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    const double off = fabs(s.fn_now - b.rate);
    if (off > 5 * b.sigma + 1e-3 * b.rate)
        fail_msg("fn_now is %g, theory says %g +- %g", s.fn_now, b.rate, b.sigma);
    trial_end(&t);
}

static void rates_hold_at_one_in_a_hundred(void **state)
{
    check_rates(0.01, MILLION, MILLION, 1, 1);
}

static void rates_hold_at_one_in_a_thousand_with_few_removals(void **state)
{
    check_rates(0.001, MILLION, MILLION / 10, 1, 2);
}

static void rates_hold_at_one_in_ten_thousand(void **state)
{
    check_rates(1e-4, MILLION, MILLION, 1, 3);
}

static void rates_hold_beyond_capacity(void **state)
{
    check_rates(0.01, MILLION, MILLION, 2, 4);
}

/* The purpose of the second filter: the false-positive rate is lower than that of the entries. */
static void the_deletions_lower_the_false_positive_rate(void **state)
{
    struct trial t;
    const deja_options opt = {
        .kind = DEJA_PAIRED, .capacity = MILLION, .deletions = MILLION / 2, .fp_rate = 0.2};
    assert_true(trial_begin(&t, opt, 5));
    assert_true(trial_fill(&t, MILLION));
    const struct rng strangers = t.strangers;
    const uint64_t alone = trial_probe(&t, MILLION); /* nothing has been removed yet */
    remove_first(t.f, 5, MILLION / 2);
    t.strangers = strangers;
    const uint64_t both = trial_probe(&t, MILLION);
    const struct forecast b = forecast_part(t.f->part[1], MILLION / 2.0);
    within("of these, now hidden by the deletions", alone - both, alone, b);
    trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_hold_at_one_in_a_hundred),
        cmocka_unit_test(rates_hold_at_one_in_a_thousand_with_few_removals),
        cmocka_unit_test(rates_hold_at_one_in_ten_thousand),
        cmocka_unit_test(rates_hold_beyond_capacity),
        cmocka_unit_test(the_deletions_lower_the_false_positive_rate),
    };
    return cmocka_run_group_tests_name("stat.forgetting", tests, NULL, NULL);
}
