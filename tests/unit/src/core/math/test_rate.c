/* test_rate.c - rates, losses and set bits of a body with n keys.
 *
 * Each number is checked by something that shares no code with it: published measurements, closed
 * forms, 120-digit arithmetic (the literals), slow sums, and simulations of the bare scheme. */
#include "unit.h"

#include "near.h"
#include "rng.h"
#include "shapes.h"
#include <math.h>
#include <string.h>

/* --- The bare scheme of a blocked filter -------------------------------- */

struct block {
    uint32_t lane[DJ_BLOCK_LANES];
};

/* A key in its block: k different lanes, a bit in each. */
static struct block draw_key(struct rng *r, uint32_t k)
{
    uint32_t lanes[DJ_BLOCK_LANES];
    struct block key = {{0}};
    for (uint32_t i = 0; i < DJ_BLOCK_LANES; i++)
        lanes[i] = i;
    for (uint32_t i = 0; i < k; i++) {
        const uint32_t j = i + (uint32_t)rng_below(r, DJ_BLOCK_LANES - i);
        const uint32_t lane = lanes[j];
        lanes[j] = lanes[i];
        key.lane[lane] = UINT32_C(1) << rng_below(r, 32);
    }
    return key;
}

static void block_add(struct block *b, const struct block *key)
{
    for (uint32_t i = 0; i < DJ_BLOCK_LANES; i++)
        b->lane[i] |= key->lane[i];
}

static bool block_contains(const struct block *b, const struct block *key)
{
    for (uint32_t i = 0; i < DJ_BLOCK_LANES; i++)
        if ((b->lane[i] & key->lane[i]) != key->lane[i])
            return false;
    return true;
}

static double count_bits(const struct block *b)
{
    double bits = 0.0;
    for (uint32_t i = 0; i < DJ_BLOCK_LANES; i++)
        for (uint32_t x = b->lane[i]; x != 0; x &= x - 1)
            bits += 1.0;
    return bits;
}

/* --- Rates -------------------------------------------------------------- */

/* The master's thesis of Goeytil and Lundberg (Agder 2010) sizes by m = n k M, so the rate is (1 -
 * e^(-1/M))^k.  Measured with n = 1,000,000 and M = 2: 39.33 to 39.37, 15.46 to 15.50 and 6.09 to
 * 6.10 percent for k = 1, 2, 3 (tables 5.5 to 5.7). */
static void the_rule_of_the_thesis_gives_its_rates(void **state)
{
    (void)state;
    static const double multipliers[] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
    for (uint32_t k = 1; k <= 10; k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(multipliers); i++) {
            const struct dj_shape s = classic(k, (uint64_t)(1e6 * k * multipliers[i] + 0.5));
            assert_near(dj_shape_rate(&s, 1e6), pow(-expm1(-1.0 / multipliers[i]), k), 1e-5);
        }
    const struct dj_shape one = classic(1, 2000000), two = classic(2, 4000000);
    const struct dj_shape three = classic(3, 6000000);
    assert_between(dj_shape_rate(&one, 1e6), .3933, .3937);
    assert_between(dj_shape_rate(&two, 1e6), .1545, .1550);
    assert_between(dj_shape_rate(&three, 1e6), .06091, .06105);
}

/* The "incremental" tables 5.1 to 5.3 look each key up before adding it, which counts lost keys:
 * 21.307 to 21.332, 5.823 to 5.832 and 1.760 to 1.765 percent. */
static void losses_are_those_that_the_thesis_measured(void **state)
{
    (void)state;
    const struct dj_shape one = classic(1, 2000000), two = classic(2, 4000000);
    const struct dj_shape three = classic(3, 6000000);
    assert_between(dj_shape_lost(&one, 1e6) / 1e6, .2130, .2134);
    assert_between(dj_shape_lost(&two, 1e6) / 1e6, .0582, .0584);
    assert_between(dj_shape_lost(&three, 1e6) / 1e6, .0176, .0177);
}

/* A false positive in a filter with one key: same block, same lanes, same bits. */
static void one_key_matches_only_its_exact_pattern(void **state)
{
    (void)state;
    double subsets = 1.0; /* C(16, k) */
    for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++) {
        subsets = subsets * (17.0 - k) / k;
        for (uint64_t blocks = 1; blocks <= DJ_MAX_BITS / DJ_BLOCK_BITS; blocks *= 1024) {
            const struct dj_shape s = blocked(k, blocks);
            assert_near(dj_shape_rate(&s, 1.0), pow(32.0, -(double)k) / subsets / (double)blocks,
                        1e-13);
        }
    }
}

/* The same for counters, whose lanes have fewer places: the closed form in exact fractions. */
static void spectral_rate_agrees_with_exact_fractions(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits, k;
        uint64_t lines;
        double n, rate;
    } rows[] = {
        {4, 1, 1, 3.0, 0.023254871368408203},        {4, 6, 64, 100.0, 3.922646097002323e-06},
        {4, 8, 1000, 6700.0, 0.0009708203710818432}, {4, 16, 7, 35.0, 0.0004981079207080553},
        {8, 5, 1000, 5000.0, 0.008071842803527218},  {8, 10, 64, 20.0, 4.4221345193423484e-07},
        {16, 4, 1000, 2000.0, 0.007510168240573961}, {16, 16, 3, 9.0, 0.20306369765150936},
        {32, 4, 1000, 800.0, 0.008638328026908844},  {32, 7, 7, 3.0, 0.0026824318217969463},
        {32, 16, 50, 10.0, 0.18292719311245312},     {32, 8, 1000, 3000.0, 0.33204469181041035},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        const struct dj_shape s = {DJ_BLOCKS, rows[i].k, rows[i].lines * DJ_BLOCK_BITS,
                                   rows[i].bits};
        assert_near(dj_shape_rate(&s, rows[i].n), rows[i].rate, 1e-11);
    }
}

/* Inclusion-exclusion over the k bits in 120 decimal digits: the closed form of docs/math.md
 * without rounding errors.  From nearly empty to overfull, from 1 block to 2^44. */
static void blocked_rate_and_losses_agree_with_high_precision(void **state)
{
    (void)state;
    static const struct {
        uint32_t k;
        uint64_t blocks;
        double n, rate, lost;
    } rows[] = {
        {1, UINT64_C(1), 3.0, 0.0058479383587837219, 0.005855560302734375},
        {16, UINT64_C(1), 2.0, 4.213562934670826e-20, 8.2718061255302767e-25},
        {8, UINT64_C(1), 30.0, 0.00038845569800784185, 0.0013631017880626653},
        {6, UINT64_C(2), 5.0, 2.0474817063561544e-09, 7.9358362568537992e-10},
        {6, UINT64_C(7), 7.0, 1.4654245232085841e-10, 1.4467873646487724e-10},
        {16, UINT64_C(7), 35.0, 9.2306863560612413e-11, 2.7857596416024236e-10},
        {11, UINT64_C(64), 64.0, 1.0531571729370374e-13, 1.0661127024826335e-12},
        {16, UINT64_C(64), 320.0, 2.1435930067789499e-10, 7.2543987368373914e-09},
        {3, UINT64_C(1000), 1.0, 5.4495675223214285e-11, 0},
        {8, UINT64_C(1000), 2.0, 4.012266238417202e-19, 7.0667808995565516e-20},
        {8, UINT64_C(1000), 30000.0, 0.00061565412447274254, 2.7444980472922542},
        {12, UINT64_C(1000), 23158.0, 9.9892938312511482e-05, 0.27412908536657282},
        {16, UINT64_C(1000), 13048.0, 9.9689150450093045e-07, 0.0013206787740206499},
        {16, UINT64_C(1000000), 1000.0, 2.5497604140545112e-26, 8.314539814421168e-24},
        {5, UINT64_C(1000000), 1000000.0, 2.7332637560136375e-09, 0.00069270144341425247},
        {16, UINT64_C(1000000), 5000000.0, 2.3651242865290061e-10, 0.00012798700734976403},
        {16, UINT64_C(1000000), 2516400.0, 1.000071277924045e-12, 3.0071877913306514e-07},
        {2, UINT64_C(1000000), 700000000.0, 0.87437143133991913, 348836615.17058486},
        {16, UINT64_C(1099511627776), 1099.0, 8.2681673483267791e-34, 4.5391853224579017e-31},
        {9, UINT64_C(1099511627776), 10000000000000.0, 2.9834565986285875e-07, 410909.18158823333},
        {16, UINT64_C(17592186044416), 35184372088832.0, 1.8368824268435776e-13,
         0.80208440436224138},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        const struct dj_shape s = blocked(rows[i].k, rows[i].blocks);
        assert_near(dj_shape_rate(&s, rows[i].n), rows[i].rate, 1e-12);
        assert_near(dj_shape_lost(&s, rows[i].n), rows[i].lost, 1e-12);
    }
}

/* E q^(lanes met) over the k lanes of a key, for s given ones: the g_s of docs/math.md. */
static double spare(uint32_t s, uint32_t k)
{
    double sum = 0.0, all = 1.0;
    for (uint32_t i = 0; i < k; i++)
        all = all * (16.0 - i) / (i + 1.0);
    for (uint32_t j = s + k > 16 ? s + k - 16 : 0; j <= s && j <= k; j++) {
        double ways = 1.0;
        for (uint32_t i = 0; i < j; i++)
            ways = ways * (double)(s - i) / (i + 1.0);
        for (uint32_t i = 0; i < k - j; i++)
            ways = ways * (16.0 - s - i) / (i + 1.0);
        sum += ways / all * pow(31.0 / 32.0, j);
    }
    return sum;
}

static double closed_form(uint32_t k, double blocks, double n)
{
    double sum = 0.0, sign_choose = 1.0; /* (-1)^s C(k, s) */
    for (uint32_t s = 0; s <= k; s++) {
        sum += sign_choose * exp(n * log1p(-(1.0 - spare(s, k)) / blocks));
        sign_choose = -sign_choose * (double)(k - s) / (s + 1.0);
    }
    return sum;
}

/* In doubles, the closed form is accurate to about 1e-11, which suffices for large rates. */
static void blocked_rate_agrees_with_inclusion_exclusion(void **state)
{
    (void)state;
    static const double sizes[] = {1, 2, 3, 10, 64, 1000, 1e6};
    static const double keys_a_block[] = {1, 4, 10, 13, 25, 50, 100, 400, 1000, 30000, 40000};
    for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(sizes); i++)
            for (size_t j = 0; j < DJ_ARRAY_LEN(keys_a_block); j++) {
                const double n = sizes[i] * keys_a_block[j];
                const struct dj_shape s = blocked(k, (uint64_t)sizes[i]);
                const double want = closed_form(k, sizes[i], n);
                if (want > 1e-6)
                    assert_near(dj_shape_rate(&s, n), want, 1e-5);
            }
}

/* Hypothesis: the rate is p.  Each trial throws n keys at B blocks, keeps block 0, and looks up a
 * key that was never added.  Trials are independent, so the hits are Binomial(trials, p).  A
 * correct formula is more than 5 standard deviations off for one seed in 1.7 million, and the seed
 * is fixed. */
static void blocked_rate_agrees_with_a_simulation(void **state)
{
    (void)state;
    static const struct {
        uint32_t k, blocks, n;
    } cases[] = {{1, 3, 100}, {3, 2, 120}, {6, 4, 240}, {8, 1, 50}, {12, 3, 140}, {16, 2, 80}};
    const uint32_t trials = 40000;
    struct rng rng = rng_seeded(7);
    for (size_t i = 0; i < DJ_ARRAY_LEN(cases); i++) {
        const struct dj_shape s = blocked(cases[i].k, cases[i].blocks);
        const double p = dj_shape_rate(&s, cases[i].n);
        double hits = 0.0;
        for (uint32_t t = 0; t < trials; t++) {
            struct block b = {{0}};
            for (uint32_t j = 0; j < cases[i].n; j++) {
                if (rng_below(&rng, cases[i].blocks) != 0)
                    continue;
                const struct block key = draw_key(&rng, s.k);
                block_add(&b, &key);
            }
            const struct block stranger = draw_key(&rng, s.k);
            hits += block_contains(&b, &stranger) ? 1.0 : 0.0;
        }
        const double sigma = sqrt(trials * p * (1.0 - p));
        assert_true(trials * p > 100.0); /* enough hits to judge */
        assert_between(hits, trials * p - 5.0 * sigma, trials * p + 5.0 * sigma);
    }
}

static void rate_grows_with_the_keys_from_0_to_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++)
            for (uint64_t bits = 512; bits <= DJ_MAX_BITS; bits *= 4096) {
                const struct dj_shape s = {bloom_layouts[i], k, bits};
                double before = 0.0;
                assert_true(dj_shape_rate(&s, 0.0) == 0.0);
                for (double n = 1.0; n < 200.0 * (double)bits; n = ceil(n * 1.3)) {
                    const double rate = dj_shape_rate(&s, n);
                    assert_true(rate > before || before > 0.999999);
                    assert_true(rate <= 1.0);
                    before = rate;
                }
                assert_true(before > 0.999999);
            }
}

static void rate_falls_with_the_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++) {
            double before = 1.0;
            for (uint64_t granules = 1; granules <= 2000; granules += 1 + granules / 16) {
                const struct dj_shape s = {bloom_layouts[i], k, 512 * granules};
                const double rate = dj_shape_rate(&s, 1000.0);
                assert_true(rate < before || before > 0.999999);
                before = rate;
            }
        }
}

static void the_rate_between_two_counts_lies_between_their_rates(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(all_layouts); i++) {
        const struct dj_shape s = {all_layouts[i], 1, 4096};
        for (double n = 0.0; n < 40.0; n += 1.0) {
            const double low = dj_shape_rate(&s, n), high = dj_shape_rate(&s, n + 1.0);
            assert_between(dj_shape_rate(&s, n + 0.25), low, (low + high) / 2.0 * (1.0 + 1e-3));
            assert_between(dj_shape_lost(&s, n + 0.5), dj_shape_lost(&s, n),
                           dj_shape_lost(&s, n + 1.0));
        }
    }
}

static void exact_rate_is_one_fingerprint_in_2_to_the_64(void **state)
{
    (void)state;
    const struct dj_shape s = {DJ_TABLE, 1, 1 << 20};
    assert_near(dj_shape_rate(&s, 10000.0), 10000.0 * pow(2.0, -64.0), 1e-15);
    assert_near(dj_shape_lost(&s, 10000.0), 9999.0 * 10000.0 * pow(2.0, -65.0), 1e-15);
    assert_true(dj_shape_lost(&s, 1.0) == 0.0);
    assert_true(dj_shape_bits_set(&s, 77.0) == 77.0);
    assert_true(dj_shape_bits_sigma(&s, 77.0) == 0.0);
    assert_true(dj_shape_keys(&s, 77.0) == 77.0);
}

/* --- Losses ------------------------------------------------------------- */

static void lost_is_the_sum_of_the_rates_met(void **state)
{
    (void)state;
    static const struct dj_shape shapes[] = {
        {DJ_SPREAD, 1, 8192},  {DJ_SPREAD, 2, 1 << 20}, {DJ_SPREAD, 7, 19200},
        {DJ_SPREAD, 20, 1024}, {DJ_SPREAD, 64, 262144}, {DJ_BLOCKS, 1, 512},
        {DJ_BLOCKS, 3, 2048},  {DJ_BLOCKS, 8, 40960},   {DJ_BLOCKS, 16, 512 * 1500},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(shapes); i++) {
        double sum = 0.0;
        for (double n = 0.0; n <= 3000.0; n += 1.0) {
            if (n < 5.0 || fmod(n, 250.0) < 1.0 || fabs(n - 1024.0) < 3.0)
                assert_near(dj_shape_lost(&shapes[i], n), sum, 3e-8);
            sum += dj_shape_rate(&shapes[i], n);
        }
    }
}

/* With one position per key, the keys reported as new are those that set a bit. */
static void with_one_hash_every_new_key_sets_a_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (double n = 1.0; n < 1e9; n = ceil(n * 1.5)) {
            const struct dj_shape s = {bloom_layouts[i], 1, 1 << 20};
            assert_near(n - dj_shape_lost(&s, n), dj_shape_bits_set(&s, n), 1e-6);
        }
}

/* Too many keys to sum one by one: use the trapezoidal rule with 1024 intervals. */
static void lost_is_right_for_many_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++) {
        const struct dj_shape s = fitted(bloom_layouts[i], 0, UINT64_C(1) << 32, 1e-4);
        const double pieces = 1024.0, width = 4194304.0;
        double sum = dj_shape_rate(&s, pieces * width) / 2.0;
        for (double j = 1.0; j < pieces; j += 1.0)
            sum += dj_shape_rate(&s, j * width);
        assert_near(dj_shape_lost(&s, pieces * width), sum * width, 1e-4);
    }
}

/* --- Twins -------------------------------------------------------------- */

static struct dj_shape with_twins(struct dj_shape s)
{
    s.no_twins = false;
    return s;
}

/* If a body has room for all keys, only an equal 64-bit hash gives a false positive. */
static void with_ample_room_only_twins_are_false_positives(void **state)
{
    (void)state;
    const struct dj_shape law = classic(40, UINT64_C(1) << 45), s = with_twins(law);
    for (double n = 1e6; n < 1e11; n *= 10.0) {
        assert_true(dj_shape_rate(&law, n) < 1e-30);
        assert_near(dj_shape_rate(&s, n), n * 0x1p-64, 1e-12);
        assert_near(dj_shape_lost(&s, n), n * (n - 1.0) * 0x1p-65, 1e-12);
    }
}

static void twins_add_once_to_the_rate_of_any_number_of_filters(void **state)
{
    (void)state;
    const double n = 1e10, twins = 1e10 * 0x1p-64; /* 5.4e-10 */
    for (uint32_t k = 4; k <= 16; k += 4) {
        const struct dj_shape law = blocked(k, 2500000000), s = with_twins(law);
        const double body = dj_shape_rate(&law, n), lost = dj_shape_lost(&law, n);
        assert_near(dj_shape_rate(&s, n), 1.0 - (1.0 - body) * (1.0 - twins), 1e-6);
        assert_near(dj_shape_lost(&s, n), lost + n * n * 0x1p-65, 1e-3);
        /* A key with the same hash as an added one is a false positive in both filters. */
        assert_near(dj_shape_rate_of(&law, 2, n), body * body, 1e-12);
        assert_near(dj_shape_rate_of(&s, 2, n), body * body + twins, 1e-6);
        assert_near(dj_shape_lost_of(&s, 2, n) - dj_shape_lost_of(&law, 2, n), n * n * 0x1p-65,
                    1e-3);
    }
}

/* Files record the rates of small filters with few digits, without twins. */
static void twins_beyond_the_ninth_digit_are_neglected(void **state)
{
    (void)state;
    const struct dj_shape law = classic(7, 9600), s = with_twins(law);
    const double same = dj_shape_rate(&s, 1000.0) - dj_shape_rate(&law, 1000.0);
    assert_true(same >= 0.0 && same <= 0.0);
}

static void beyond_full_every_further_key_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (uint32_t k = 1; k <= 16; k += 5) {
            const struct dj_shape s = {bloom_layouts[i], k, 51200};
            const double found = 3e6 - dj_shape_lost(&s, 3e6); /* 30,000 keys for 512 bits */
            assert_true(found > 0.0 && found < 51200.0 * (1.0 + 1e-9)); /* each set a bit */
            for (double n = 3.1e6; n < 1e12; n *= 1.7)
                assert_near(n - dj_shape_lost(&s, n), found, 1e-3);
        }
}

/* --- Fill --------------------------------------------------------------- */

static void the_number_of_keys_follows_from_the_set_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom_layouts); i++)
        for (uint32_t k = 1; k <= 16; k++)
            for (uint64_t bits = 512; bits <= DJ_MAX_BITS; bits *= 32768)
                for (double load = 1e-3; load < 8.0; load *= 3.0) {
                    const struct dj_shape s = {bloom_layouts[i], k, bits};
                    const double n = fmax(load * (double)bits / k, 1.0);
                    const double set = dj_shape_bits_set(&s, n);
                    assert_true(set > 0.0 && set < (double)bits && set < n * k * (1.0 + 1e-12));
                    assert_near(dj_shape_keys(&s, set), n, 1e-9);
                }
}

static void a_full_filter_may_hold_any_number_of_keys(void **state)
{
    (void)state;
    const struct dj_shape c = classic(7, 6400), b = blocked(7, 10);
    assert_true(isinf(dj_shape_keys(&c, 6400.0)));
    assert_true(isinf(dj_shape_keys(&b, 5120.0)));
    assert_true(isinf(dj_shape_keys(&b, 6000.0)));
    assert_true(dj_shape_keys(&b, 0.0) == 0.0);
    assert_true(dj_shape_keys(&c, -1.0) == 0.0);
}

static void sigma_of_classic_is_the_occupancy_law(void **state)
{
    (void)state;
    for (uint64_t bits = 1 << 20; bits <= DJ_MAX_BITS; bits *= 64)
        for (double x = 1e-2; x < 8.0; x *= 2.0) { /* bits thrown, per bit of the body */
            const struct dj_shape s = classic(4, bits);
            const double law = exp(-x) * (1.0 - (1.0 + x) * exp(-x));
            const double n = x * (double)bits / 4.0;
            assert_near(dj_shape_bits_sigma(&s, n), sqrt((double)bits * law), 1e-4);
        }
}

/* Two keys in one block set 2k bits minus those they share: j lanes are common (hypergeometric),
 * and in each the bits agree once in 32 times. */
static void sigma_of_two_keys_follows_from_their_shared_bits(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++) {
        const struct dj_shape s = blocked(k, 1);
        const double common = k * k / 16.0;
        const double spread = common * (16.0 - k) * (16.0 - k) / (16.0 * 15.0);
        const double variance = common * 31.0 / 1024.0 + spread / 1024.0;
        assert_near(dj_shape_bits_set(&s, 2.0), 2.0 * k - common / 32.0, 1e-12);
        assert_near(dj_shape_bits_sigma(&s, 2.0), sqrt(variance), 1e-9);
    }
}

static void one_key_sets_its_k_bits_for_certain(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= DJ_BLOCK_LANES; k++) {
        const struct dj_shape s = blocked(k, 5);
        assert_near(dj_shape_bits_set(&s, 1.0), k, 1e-12);
        assert_true(dj_shape_bits_sigma(&s, 1.0) < 1e-6);
    }
}

/* Hypothesis: mean mu and variance v as computed.  Over T filters, the average of the set bits is
 * within 5 sqrt(v / T) of mu and, the bits being nearly normal, their sample variance within 5
 * sqrt(2 / T) v of v.  The seed is fixed. */
static void set_bits_of_blocked_agree_with_a_simulation(void **state)
{
    (void)state;
    static const struct {
        uint32_t k, n;
    } cases[] = {{1, 600}, {4, 400}, {8, 250}, {8, 60}, {16, 300}};
    const uint32_t filters = 2000;
    struct rng rng = rng_seeded(11);
    for (size_t i = 0; i < DJ_ARRAY_LEN(cases); i++) {
        const struct dj_shape s = blocked(cases[i].k, 6);
        const double mu = dj_shape_bits_set(&s, cases[i].n);
        const double v = pow(dj_shape_bits_sigma(&s, cases[i].n), 2.0);
        double sum = 0.0, squares = 0.0;
        for (uint32_t t = 0; t < filters; t++) {
            struct block b[6];
            double off = -mu;
            memset(b, 0, sizeof b);
            for (uint32_t j = 0; j < cases[i].n; j++) {
                const struct block key = draw_key(&rng, s.k);
                block_add(&b[rng_below(&rng, 6)], &key);
            }
            for (size_t j = 0; j < 6; j++)
                off += count_bits(&b[j]);
            sum += off;
            squares += off * off;
        }
        assert_between(sum / filters, -5.0 * sqrt(v / filters), 5.0 * sqrt(v / filters));
        assert_near(squares / filters, v, 5.0 * sqrt(2.0 / filters));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_of_the_thesis_gives_its_rates),
        cmocka_unit_test(losses_are_those_that_the_thesis_measured),
        cmocka_unit_test(spectral_rate_agrees_with_exact_fractions),
        cmocka_unit_test(one_key_matches_only_its_exact_pattern),
        cmocka_unit_test(blocked_rate_and_losses_agree_with_high_precision),
        cmocka_unit_test(blocked_rate_agrees_with_inclusion_exclusion),
        cmocka_unit_test(blocked_rate_agrees_with_a_simulation),
        cmocka_unit_test(rate_grows_with_the_keys_from_0_to_1),
        cmocka_unit_test(rate_falls_with_the_bits),
        cmocka_unit_test(the_rate_between_two_counts_lies_between_their_rates),
        cmocka_unit_test(exact_rate_is_one_fingerprint_in_2_to_the_64),
        cmocka_unit_test(lost_is_the_sum_of_the_rates_met),
        cmocka_unit_test(with_one_hash_every_new_key_sets_a_bit),
        cmocka_unit_test(lost_is_right_for_many_keys),
        cmocka_unit_test(with_ample_room_only_twins_are_false_positives),
        cmocka_unit_test(twins_add_once_to_the_rate_of_any_number_of_filters),
        cmocka_unit_test(twins_beyond_the_ninth_digit_are_neglected),
        cmocka_unit_test(beyond_full_every_further_key_is_lost),
        cmocka_unit_test(the_number_of_keys_follows_from_the_set_bits),
        cmocka_unit_test(a_full_filter_may_hold_any_number_of_keys),
        cmocka_unit_test(sigma_of_classic_is_the_occupancy_law),
        cmocka_unit_test(sigma_of_two_keys_follows_from_their_shared_bits),
        cmocka_unit_test(one_key_sets_its_k_bits_for_certain),
        cmocka_unit_test(set_bits_of_blocked_agree_with_a_simulation),
    };
    return cmocka_run_group_tests_name("unit.rate", tests, NULL, NULL);
}
