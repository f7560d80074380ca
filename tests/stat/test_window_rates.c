/* test_window_rates.c - the rate and the losses of a window whose generations are all full.
 *
 * A million distinct keys go through windows of several sizes, until there are G full
 * generations and one that is nearly full.  Hypotheses, five standard deviations, fixed seeds:
 *   hits ~ Binomial(probes, 1 - prod (1 - rate of generation i)) at the number of keys in each,
 *          with the variation between bodies; and with fp_now, from the bits really set;
 *   hits are not more than Binomial(probes, the requested p) allows;
 *   lost keys vary around stats.lost like a Poisson number. */
#include "unit.h"

#include "kinds/window.h"
#include "trial.h"
#include <stdlib.h>

#define Z    5.0
#define KEYS 1000000

/* Generation l as a filter of its own, so that its rate can be forecast. */
static struct dj_part line_of(const struct dj_part *p, uint32_t l)
{
    struct dj_part one = {.shape = dj_window_generation(&p->shape, p->lines)};
    const uint64_t blocks = one.shape.bits / DJ_BLOCK_BITS;
    one.body = malloc(blocks * DJ_BLOCK_BYTES);
    assert_non_null(one.body);
    for (uint64_t b = 0; b < blocks; b++)
        memcpy(one.body + DJ_BLOCK_BYTES * b, p->body + DJ_BLOCK_BYTES * (b * p->lines + l),
               DJ_BLOCK_BYTES);
    return one;
}

static struct forecast forecast_window(const deja_filter *f)
{
    struct forecast all = {1.0, 0.0};
    for (uint32_t l = 0; l < f->part[0]->lines; l++) {
        struct dj_part one = line_of(f->part[0], l);
        one.keys = f->window.keys[l];
        const struct forecast c = forecast_part(&one, keys_that_came(&one));
        all.rate *= 1.0 - c.rate;
        all.sigma = hypot(all.sigma, c.sigma);
        free(one.body);
    }
    all.rate = 1.0 - all.rate;
    return all;
}

static void check_window(uint32_t generations, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    struct trial t;
    deja_stats s = DEJA_STATS_INIT;
    opt.kind = DEJA_WINDOW;
    opt.generations = generations;
    opt.fp_rate = p;
    opt.capacity = KEYS * generations / (2 * (generations + 1)); /* twice around */
    assert_true(trial_begin(&t, opt, 11 + generations));
    /* One key more would turn the window again; lost keys leave a little room. */
    assert_true(trial_fill(&t, 2 * (generations + 1) * dj_generations_quota(&t.f->plan)));
    assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    assert_in_range(s.turns, 2 * generations, 2 * generations + 1);
    const struct forecast c = forecast_window(t.f);
    const uint64_t probes = (uint64_t)fmin(400 / c.rate + 100000, 4000000);
    const uint64_t hits = trial_probe(&t, probes);
    if (!binom_within_spread(hits, probes, c.rate, c.sigma, Z))
        fail_msg("G %u, p %g: %zu hits of %zu, expected %.1f", generations, p, (size_t)hits,
                 (size_t)probes, c.rate * (double)probes);
    if (!binom_within_spread(hits, probes, s.fp_now, c.sigma, Z))
        fail_msg("G %u, p %g: %zu hits of %zu, fp_now says %.1f", generations, p, (size_t)hits,
                 (size_t)probes, s.fp_now * (double)probes);
    if ((double)hits > p * (double)probes && !binom_within_spread(hits, probes, p, c.sigma, Z))
        fail_msg("G %u, p %g: %zu hits of %zu, promised %.1f", generations, p, (size_t)hits,
                 (size_t)probes, p * (double)probes);
    const double lost = (double)(t.keys - t.told_new);
    if (fabs(lost - s.lost) > Z * sqrt(s.lost + 1))
        fail_msg("G %u, p %g: %.0f keys lost, stats say %.1f", generations, p, lost, s.lost);
    const double surprise = ((double)s.bits_set - s.bits_expected) / s.bits_sigma;
    if (fabs(surprise) > Z)
        fail_msg("G %u, p %g: bits are %.1f deviations off", generations, p, surprise);
    trial_end(&t);
}

static void a_full_window_has_the_predicted_rate(void **state)
{
    static const double rates[] = {0.1, 0.01, 1e-3, 1e-4};
    for (uint32_t generations = 1; generations <= 7; generations += 2)
        for (size_t i = 0; i < DJ_ARRAY_LEN(rates); i++)
            check_window(generations, rates[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_window_has_the_predicted_rate),
    };
    return cmocka_run_group_tests_name("stat.window_rates", tests, NULL, NULL);
}
