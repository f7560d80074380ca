/* test_layered_rates.c - false positives, lost keys and prefix claims of layered filters, against
 * theory that counts which segments were known.
 *
 * Hypothesis of each trial: the claims are a sum of independent events with the probabilities of
 * layertrial.h.  They lie within five standard deviations of the mean, except in one trial in 1.7
 * million.  Seeds are fixed; too few claims fail as well.
 *
 * The paper's formula, (1 - e^(-kn/m))^(kL), is right for URLs whose segments all differ, except
 * that it omits the XOR layer: the exponent is k (L + 1).  If segments are shared, as in every
 * crawl, the layers know them, and only the XOR layer decides. */
#include "unit.h"

#include "layertrial.h"
#include "sites.h"

#define MILLION 1000000

/* Members are the first n URLs of the sites; the URLs after them were never added. */
static void run_trial(struct layertrial *t, deja_options opt, const struct sites *s, uint64_t n,
                      uint64_t probes)
{
    char text[SITES_URL];
    opt.seed = s->seed;
    layertrial_init(t, opt, n);
    for (uint64_t i = 0; i < n; i++)
        layertrial_add(t, sites_url(s, i, text));
    layertrial_ready(t);
    for (uint64_t i = 0; i < probes; i++)
        layertrial_ask(t, sites_url(s, n + i, text));
}

static void report(const char *what, const struct layertrial *t)
{
    printf("%-34s asked %llu, familiar %.4f, same XOR %llu, claimed %llu, expected %.1f (%+.2f "
           "sigma)\n",
           what, (unsigned long long)t->asked, (double)t->familiar / (double)t->asked,
           (unsigned long long)t->same_xor, (unsigned long long)t->hits, t->expected,
           layertrial_sigmas(t));
}

static void is_as_expected(const char *what, const struct layertrial *t)
{
    report(what, t);
    assert_true(t->expected > 25);
    assert_true(fabs(layertrial_sigmas(t)) < 5);
}

/* --- Different segments: the paper's case ---------------------------------- */

/* Every layer holds n segments, like the XOR layer, so all rates are p, and URLs of L segments
 * pass with p^(L + 1).  The published p^L would be more than a hundred deviations away.  Layers
 * have 2^21 bits: with powers of two, the XOR of positions is uniform. */
static void different_segments_multiply_the_rates_of_all_layers(void **state)
{
    (void)state;
    for (unsigned segments = 2; segments <= 3; segments++) {
        const struct sites s = {.seed = 40 + segments, .least = segments, .most = segments};
        const deja_options opt = {.capacity = MILLION,
                                  .memory = 5 * ((1 << 21) / 8),
                                  .hashes = 2,
                                  .flags = DEJA_LAYERED_PAPER,
                                  .layers = 4};
        struct layertrial t;
        run_trial(&t, opt, &s, MILLION, MILLION);
        const double p = t.f->plan.fp_rate;
        assert_true(p > 0.37 && p < 0.39);
        is_as_expected("paper, different segments", &t);
        const double right = pow(p, segments + 1) * MILLION,
                     published = pow(p, segments) * MILLION;
        printf("    k(L+1) %.0f, kL as published %.0f\n", right, published);
        assert_true(fabs((double)t.hits - right) < 0.05 * right);
        assert_true(fabs((double)t.hits - published) > 100 * sqrt(published));
        layertrial_fini(&t);
    }
}

/* One segment: its XOR is itself, and the XOR layer has the same bits as the first layer.  It
 * repeats the answer: p, not p^2.  In salted mode the two are different filters. */
static void a_single_segment_is_checked_once_in_mode_paper_and_twice_when_salted(void **state)
{
    (void)state;
    const double p = 0.3;
    const struct sites s = {.seed = 45, .least = 1, .most = 1};
    deja_options opt = {.capacity = MILLION, .fp_rate = p, .flags = DEJA_LAYERED_PAPER};
    struct layertrial t;
    run_trial(&t, opt, &s, MILLION, MILLION);
    const double mean = t.xor_rate * MILLION;
    printf("paper, a single segment: claimed %llu, expected %.1f\n", (unsigned long long)t.hits,
           mean);
    assert_true(fabs((double)t.hits - mean) < 5 * sqrt(mean * (1 - t.xor_rate)));
    layertrial_fini(&t);
    opt.flags = 0;
    run_trial(&t, opt, &s, MILLION, MILLION);
    is_as_expected("salted, a single segment", &t);
    layertrial_fini(&t);
}

/* --- Shared segments: every crawl ------------------------------------------ */

static void with_shared_segments_only_the_xor_layer_decides(void **state)
{
    (void)state;
    const struct sites s = {.seed = 50, .words = 400, .least = 3, .most = 5};
    const deja_options opt = {.capacity = MILLION, .fp_rate = 0.01};
    struct layertrial t;
    run_trial(&t, opt, &s, MILLION, MILLION);
    is_as_expected("salted, shared segments", &t);
    assert_true((double)t.familiar > 0.99 * (double)t.asked);
    assert_true(t.hits > t.asked / 200); /* p, not p^(L + 1) */
    layertrial_fini(&t);
}

static void partly_shared_segments_are_in_between(void **state)
{
    (void)state;
    static const uint64_t words[] = {20000, 2000000};
    for (size_t i = 0; i < 2; i++) {
        const struct sites s = {
            .seed = 60 + i, .words = words[i], .least = 1, .most = 4, .queries = true};
        const deja_options opt = {.capacity = MILLION, .fp_rate = 0.2, .layers = 3};
        struct layertrial t;
        run_trial(&t, opt, &s, MILLION, MILLION);
        is_as_expected("salted, some are shared", &t);
        assert_true(t.familiar > t.asked / 50 && t.familiar < t.asked - t.asked / 50);
        layertrial_fini(&t);
    }
}

/* The same sites in both modes.  In paper mode, all URLs with the same segments in a different
 * order are false positives too, at any size. */
static void in_mode_paper_swapped_segments_add_false_positives(void **state)
{
    (void)state;
    enum {
        N = 200000
    };
    const struct sites s = {.seed = 70, .words = 60, .least = 4, .most = 4};
    const deja_options paper = {
        .capacity = N, .fp_rate = 0.001, .flags = DEJA_LAYERED_PAPER, .layers = 4};
    const deja_options salted = {.capacity = N, .fp_rate = 0.001, .layers = 4};
    struct layertrial t;
    run_trial(&t, paper, &s, N, MILLION);
    is_as_expected("paper, shared segments", &t);
    assert_true(t.same_xor > 1000 && t.hits >= t.same_xor);
    layertrial_fini(&t);
    run_trial(&t, salted, &s, N, MILLION);
    is_as_expected("salted, the same URLs", &t);
    assert_int_equal(t.same_xor, 0);
    layertrial_fini(&t);
}

/* URLs never added whose segments are all known: the XOR layer alone decides, and keeps its
 * rate. */
static void in_mode_paper_familiar_urls_are_claimed_at_the_rate_of_the_xor_layer(void **state)
{
    (void)state;
    enum {
        N = 100000
    };
    const struct sites s = {.seed = 72, .words = 1500, .least = 2, .most = 2};
    const deja_options opt = {
        .capacity = N, .fp_rate = 0.01, .flags = DEJA_LAYERED_PAPER, .layers = 4};
    struct layertrial t;
    run_trial(&t, opt, &s, N, 400000);
    is_as_expected("paper, familiar segments", &t);
    assert_true((double)t.familiar > 0.99 * (double)t.asked);
    assert_true(t.xor_rate < 0.01);
    layertrial_fini(&t);
}

/* --- Lost keys ------------------------------------------------------------- */

/* Different keys that were not reported as new, against the filter's own estimate: within five
 * deviations of the count, plus 2% for the steps of its weights. */
static void lost_keys_agree_with_stats(void **state)
{
    (void)state;
    static const uint64_t words[] = {300, 30000};
    static const double rates[] = {0.05, 0.3};
    for (size_t i = 0; i < 4; i++) {
        const struct sites s = {.seed = 80 + i, .words = words[i / 2], .least = 2, .most = 4};
        const deja_options opt = {.capacity = 200000, .fp_rate = rates[i % 2]};
        struct layertrial t;
        deja_stats stats = DEJA_STATS_INIT;
        run_trial(&t, opt, &s, 250000, 0);
        assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &stats, NULL), DEJA_OK);
        const double lost = (double)(t.added - t.told_new);
        printf("lost %.0f, stats say %.1f, %.1f %% familiar\n", lost, stats.lost,
               100 * (double)stats.familiar / (double)stats.keys);
        assert_int_equal(stats.keys, t.told_new);
        assert_true(lost > 100);
        assert_true(fabs(lost - stats.lost) < 5 * sqrt(lost) + 0.02 * lost);
        layertrial_fini(&t);
    }
}

/* --- Prefix queries -------------------------------------------------------- */

static uint64_t claims_of(const deja_filter *f, const struct sites *s, uint64_t from, uint64_t n)
{
    uint64_t claims = 0;
    for (uint64_t i = from; i < from + n; i++) {
        char text[SITES_URL];
        uint8_t found;
        const deja_slice url = sites_url(s, i, text);
        assert_int_equal(deja_filter_prefix_batch(f, &url, 1, &found, NULL), DEJA_OK);
        claims += found;
    }
    return claims;
}

/* A site that was never added is claimed at the rate of the first layer, which stays below
 * 0.01. */
static void unseen_sites_are_claimed_at_the_rate_of_their_layer(void **state)
{
    (void)state;
    const struct sites s = {.seed = 90, .least = 1, .most = 3};
    const struct sites hosts = {.seed = 91, .least = 1, .most = 1};
    const deja_options opt = {.capacity = MILLION, .fp_rate = 1e-6};
    struct layertrial t;
    run_trial(&t, opt, &s, MILLION, 0);
    const double mean = t.rate[0] * MILLION;
    const double hits = (double)claims_of(t.f, &hosts, UINT64_C(1) << 32, MILLION);
    printf("sites claimed %.0f of 1000000, expected %.1f\n", hits, mean);
    assert_true(t.rate[0] < 0.01 && mean > 1000);
    assert_true(fabs(hits - mean) < 5 * sqrt(mean) + 0.01 * mean);
    layertrial_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_segments_multiply_the_rates_of_all_layers),
        cmocka_unit_test(a_single_segment_is_checked_once_in_mode_paper_and_twice_when_salted),
        cmocka_unit_test(with_shared_segments_only_the_xor_layer_decides),
        cmocka_unit_test(partly_shared_segments_are_in_between),
        cmocka_unit_test(in_mode_paper_swapped_segments_add_false_positives),
        cmocka_unit_test(in_mode_paper_familiar_urls_are_claimed_at_the_rate_of_the_xor_layer),
        cmocka_unit_test(lost_keys_agree_with_stats),
        cmocka_unit_test(unseen_sites_are_claimed_at_the_rate_of_their_layer),
    };
    return cmocka_run_group_tests_name("stat.layered_rates", tests, NULL, NULL);
}
