/* test_attacks.c - chosen-URL attacks on a filter whose key is known and on one whose key is not.
 *
 * The attack is the one that Gerbet, Kumar and Lauradoux describe: the attacker keeps a twin of
 * the victim's filter, inspects it, and sends only URLs that have the desired effect in the twin.
 *
 *   pollution   URLs that set k bits that were clear: n of them set n k bits instead of
 *               m (1 - e^(-kn/m)), and the rate is (nk/m)^k
 *   saturation  the same until every bit is set: m / k keys, not m ln m / k
 *   forgery     URLs that were never added and whose bits are all set
 *   hiding      URLs that together set all bits of a URL that someone else will add
 *
 * If the attacker knows the filter's seed, every attack works as published.  With a secret key,
 * one of 2^256, the twin is a different filter, and the chosen URLs do no more harm than random
 * ones: set bits and false positives stay within five standard deviations of the values for honest
 * keys.  Seeds are fixed, so a correct filter never fails.
 *
 * Source: Gerbet, Kumar, Lauradoux, "The Power of Evil Choices in Bloom Filters", 2015. */
#include "attacker.h"
#include "calls.h"
#include "trial.h"
#include "unit.h"

#define KEYS   10000 /* capacity, and the number of keys that the attacker may add */
#define RATE   1e-3
#define PROBES 1000000
#define Z      5.0
enum {
    KNOWN_SEED = 5,
    OTHER_SEED = 6
};

struct attack {
    deja_filter *victim;
    struct attacker evil;
};

static deja_filter *filter_of(uint32_t kind, uint64_t seed)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.kind = kind;
    opt.capacity = KEYS;
    opt.fp_rate = RATE;
    opt.seed = seed;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

/* The victim's key: known, or a fixed one in place of a random one. */
static struct attack begin(uint32_t kind, bool known)
{
    return (struct attack){.victim = filter_of(kind, known ? KNOWN_SEED : OTHER_SEED),
                           .evil = {.twin = filter_of(kind, KNOWN_SEED)}};
}

static void end(struct attack *a)
{
    deja_filter_free(a->victim);
    deja_filter_free(a->evil.twin);
}

static void add(deja_filter *f, const struct url *u)
{
    assert_int_equal(deja_filter_add(f, url_slice(u), NULL, NULL), DEJA_OK);
}

static void offer(struct attack *a, const struct url *u)
{
    assert_true(attacker_sends(&a->evil, u));
    add(a->victim, u);
}

/* False positives of the victim, among URLs that the attacker did not choose. */
static uint64_t strangers_found(const deja_filter *f)
{
    uint64_t hits = 0;
    for (uint64_t i = 0; i < PROBES; i++) {
        const struct url u = url_number((UINT64_C(1) << 40) + i);
        hits += deja_filter_contains(f, url_slice(&u));
    }
    return hits;
}

/* --- Pollution ------------------------------------------------------------ */

/* Sends as many URLs as the capacity allows. */
static void pollute(struct attack *a)
{
    for (uint64_t n = 0; n < KEYS; n++) {
        const struct url u = attacker_pollutes(&a->evil);
        offer(a, &u);
    }
}

static void report(const char *what, const struct attack *a, uint64_t hits)
{
    const deja_stats s = stats_of(a->victim);
    print_message("    %-20s %-8s fill %.4f, honest %.4f; %7zu of %d other URLs seen, p = %g\n",
                  what, deja_kind_name(s.kind), s.fill, s.bits_expected / (double)s.bits,
                  (size_t)hits, PROBES, RATE);
}

static void pollution_works_if_the_key_is_known(void **state)
{
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++) {
        struct attack a = begin(kind, true);
        pollute(&a);
        const uint64_t hits = strangers_found(a.victim);
        const deja_stats s = stats_of(a.victim);
        report("key known", &a, hits);
        assert_true((double)s.bits_set > s.bits_expected + 50 * s.bits_sigma);
        assert_true((double)hits > 5 * RATE * PROBES);
        end(&a);
    }
}

static void pollution_gains_nothing_against_a_secret_key(void **state)
{
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++) {
        struct attack a = begin(kind, false);
        pollute(&a);
        struct trial t = {.f = a.victim, .keys = KEYS};
        const struct forecast honest = forecast_all(&t);
        const uint64_t hits = strangers_found(a.victim);
        const deja_stats s = stats_of(a.victim);
        report("key secret", &a, hits);
        assert_true(fabs((double)s.bits_set - s.bits_expected) < Z * s.bits_sigma);
        assert_true(binom_within_spread(hits, PROBES, honest.rate, honest.sigma, Z));
        end(&a);
    }
}

/* --- Saturation ------------------------------------------------------------ */

static void saturate(struct attack *a, uint64_t budget)
{
    for (uint64_t n = 0; n < budget; n++) {
        const struct url u = attacker_saturates(&a->evil);
        offer(a, &u);
    }
}

/* Three times the capacity: honest keys leave e^(-3 ln 2) = 1/8 of a classic filter clear. */
static void saturation_works_only_if_the_key_is_known(void **state)
{
    struct attack known = begin(DEJA_CLASSIC, true), secret = begin(DEJA_CLASSIC, false);
    saturate(&known, 3 * KEYS);
    saturate(&secret, 3 * KEYS);
    const deja_stats k = stats_of(known.victim), s = stats_of(secret.victim);
    print_message("    fill after 3 x capacity: %.4f known, %.4f secret, %.4f honest\n", k.fill,
                  s.fill,
                  dj_shape_bits_set(&secret.victim->part[0]->shape, 3 * KEYS) / (double)s.bits);
    assert_true(k.fill > 0.98);
    const double honest = dj_shape_bits_set(&secret.victim->part[0]->shape, 3 * KEYS);
    const double sigma = dj_shape_bits_sigma(&secret.victim->part[0]->shape, 3 * KEYS);
    assert_true(fabs((double)s.bits_set - honest) < Z * sigma);
    end(&known);
    end(&secret);
}

/* --- Forgery --------------------------------------------------------------- */

/* Both hold the same honest keys, as in a crawl of a public site. */
static void fill_honestly(struct attack *a)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        const struct url u = url_with("https://honest.example/", i);
        offer(a, &u);
    }
}

enum {
    FORGED = 2000
};

static uint64_t forged(struct attack *a)
{
    static struct url u[FORGED];
    uint64_t hits = 0;
    attacker_forges(&a->evil, u, FORGED);
    for (size_t i = 0; i < FORGED; i++)
        hits += deja_filter_contains(a->victim, url_slice(&u[i]));
    return hits;
}

/* 2,000 forged URLs.  If the key is known, all of them test positive; if not, a share p of them,
 * 2: 12 are more than five deviations. */
static void forged_urls_are_seen_only_if_the_key_is_known(void **state)
{
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++) {
        struct attack known = begin(kind, true), secret = begin(kind, false);
        fill_honestly(&known);
        fill_honestly(&secret);
        const uint64_t hits_known = forged(&known), hits = forged(&secret);
        print_message("    %-8s %zu of %d forged URLs seen with the key, %zu without\n",
                      deja_kind_name(kind), (size_t)hits_known, FORGED, (size_t)hits);
        assert_int_equal(hits_known, FORGED);
        assert_true(binom_within_spread(hits, FORGED, RATE, RATE / 10, Z));
        end(&known);
        end(&secret);
    }
}

/* --- Hiding ---------------------------------------------------------------- */

/* Covers the bits of `target` in the twin, with one URL or more per bit. */
static uint64_t hide(struct attack *a, const struct url *target)
{
    uint64_t position[16], other[16], sent = 0;
    const uint32_t k = attacker_bits(a->evil.twin, target, position);
    for (uint32_t i = 0; i < k; i++)
        while (!attacker_sees(a->evil.twin, position[i])) {
            const struct url u = url_number(a->evil.tried++);
            const uint32_t n = attacker_bits(a->evil.twin, &u, other);
            bool covers = false;
            for (uint32_t j = 0; j < n; j++)
                covers |= other[j] == position[i];
            if (!covers)
                continue;
            offer(a, &u);
            sent++;
        }
    return sent;
}

/* 20 pages of someone else, at most k URLs for each: all are hidden, or none.  The filters are
 * nearly empty, so chance hides none. */
static void pages_can_be_hidden_only_if_the_key_is_known(void **state)
{
    enum {
        PAGES = 20
    };
    for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_BLOCKED; kind++)
        for (int known = 0; known < 2; known++) {
            struct attack a = begin(kind, known);
            uint64_t hidden = 0, sent = 0;
            for (uint64_t i = 0; i < PAGES; i++) {
                const struct url page = url_with("https://victim.example/", i);
                sent += hide(&a, &page);
                hidden += deja_filter_contains(a.victim, url_slice(&page));
            }
            print_message("    %-8s key %-6s %zu of %d pages hidden by %zu URLs\n",
                          deja_kind_name(kind), known ? "known" : "secret", (size_t)hidden, PAGES,
                          (size_t)sent);
            assert_int_equal(hidden, known ? PAGES : 0);
            end(&a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pollution_works_if_the_key_is_known),
        cmocka_unit_test(pollution_gains_nothing_against_a_secret_key),
        cmocka_unit_test(saturation_works_only_if_the_key_is_known),
        cmocka_unit_test(forged_urls_are_seen_only_if_the_key_is_known),
        cmocka_unit_test(pages_can_be_hidden_only_if_the_key_is_known),
    };
    return cmocka_run_group_tests_name("stat.attacks", tests, NULL, NULL);
}
