/* test_lab_ideal.c - what exact sets of segments report, and how well the model predicts the
 * filters with bit arrays: their mean and their scatter over many seeds. */
#include "lab/engine/lab_ideal.h"
#include "rng.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static struct lab_ideal a_model(enum lab_mlbf_rule rule, const char *const *line, size_t n)
{
    struct lab_ideal d;
    const struct lab_mlbf_how how = {rule, '/', 0};
    assert_int_equal(lab_ideal_init(&d, 1000003, 4, &how), DEJA_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(lab_ideal_add(&d, text(line[i])), DEJA_OK);
    assert_int_equal(lab_ideal_ready(&d), DEJA_OK);
    return d;
}

static double sure(enum lab_mlbf_rule rule, const char *const *line, size_t n, const char *asked)
{
    struct lab_ideal d = a_model(rule, line, n);
    assert_int_equal(lab_ideal_ask(&d, text(asked)), DEJA_OK);
    const double found = lab_ideal_expected(&d).sure;
    lab_ideal_fini(&d);
    return found;
}

static void structural_false_positives_follow_the_rule(void **state)
{
    static const char *const line[] = {"http://a/x", "http://b/y", "http://c/p/p"};
    assert_true(sure(LAB_MLBF_ONE, line, 3, "http://a/y") == 1);
    assert_true(sure(LAB_MLBF_ONE, line, 3, "y/a") == 1);
    assert_true(sure(LAB_MLBF_ONE, line, 3, "http://a/z") == 0);
    /* The layers know all segments, but the XOR is new. */
    assert_true(sure(LAB_MLBF_LAYERED, line, 3, "http://a/y") == 0);
    assert_true(sure(LAB_MLBF_LAYERED, line, 3, "https://b/y") == 1);
    assert_true(sure(LAB_MLBF_LINE, line, 3, "https://b/y") == 0);
    assert_true(sure(LAB_MLBF_LINE, line, 3, "http://b/y") == 1);
}

static void equal_segments_cancel_out_in_the_model(void **state)
{
    static const char *const line[] = {"a/p/p", "b/q/r", "b/r/q"};
    assert_true(sure(LAB_MLBF_LAYERED, line, 3, "a/q/q") == 1);
    assert_true(sure(LAB_MLBF_LAYERED, line, 3, "b/q/q") == 0);
}

/* --- Compared with the filters --------------------------------------------------------- */

#define LINES 2000u
#define SEEDS 300u
#define ROOM  64u /* for a line */

/* Lines as on the web: few hosts, some folders, names that repeat in part. */
static deja_slice a_line(struct rng *rng, char *line)
{
    const uint64_t host = rng_below(rng, 1 + rng_below(rng, 400));
    int len = snprintf(line, ROOM, "http://h%u", (unsigned)host);
    for (uint64_t depth = rng_below(rng, 3); depth > 0; depth--)
        len += snprintf(line + len, ROOM - (size_t)len, "/f%u", (unsigned)rng_below(rng, 60));
    len += snprintf(line + len, ROOM - (size_t)len, "/n%u", (unsigned)rng_below(rng, 3000));
    return (deja_slice){line, (size_t)len};
}

static char buffer[2 * LINES][ROOM];
static deja_slice line[2 * LINES];

static void make_lines(void)
{
    struct rng rng = {11};
    for (size_t i = 0; i < 2 * LINES; i++)
        line[i] = a_line(&rng, buffer[i]);
}

/* As the paper's list of film pages. */
static void make_pages_of_one_folder(void)
{
    for (size_t i = 0; i < 2 * LINES; i++) {
        const int len = snprintf(buffer[i], ROOM, "https://h/wiki/film%u", (unsigned)i);
        line[i] = (deja_slice){buffer[i], (size_t)len};
    }
}

/* The hits of one filter among the second half of the lines. */
static double measure(const struct lab_mlbf_how *how, uint64_t m, uint32_t k, uint64_t seed)
{
    struct lab_mlbf f;
    deja_error err;
    double hits = 0;
    assert_int_equal(lab_mlbf_init(&f, m, k, 1 + seed * 64, how, &err), DEJA_OK);
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(lab_mlbf_add(&f, line[i]), DEJA_OK);
    for (size_t i = LINES; i < 2 * LINES; i++)
        hits += lab_mlbf_has(&f, line[i]);
    lab_mlbf_fini(&f);
    return hits;
}

static struct lab_expected predict(const struct lab_mlbf_how *how, uint64_t m, uint32_t k)
{
    struct lab_ideal d;
    assert_int_equal(lab_ideal_init(&d, m, k, how), DEJA_OK);
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(lab_ideal_add(&d, line[i]), DEJA_OK);
    assert_int_equal(lab_ideal_ready(&d), DEJA_OK);
    for (size_t i = LINES; i < 2 * LINES; i++)
        assert_int_equal(lab_ideal_ask(&d, line[i]), DEJA_OK);
    const struct lab_expected e = lab_ideal_expected(&d);
    lab_ideal_fini(&d);
    return e;
}

/* The mean of SEEDS filters is within 5 standard deviations of the model, and their variance within
 * a factor of 1.6 of the model's: for 300 seeds, the variance of a normal sample varies by 8 %, so
 * 1.6 is more than five deviations; the model may ignore a few percent. */
static void agrees(const struct lab_mlbf_how *how, uint64_t m, uint32_t k)
{
    const struct lab_expected e = predict(how, m, k);
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const double hits = measure(how, m, k, seed);
        assert_true(hits >= e.sure);
        sum += hits - e.sure;
        squares += (hits - e.sure) * (hits - e.sure);
    }
    const double mean = sum / SEEDS, variance = squares / SEEDS - mean * mean;
    if (fabs(mean - e.chance) > 5 * sqrt(e.variance / SEEDS) || variance > 1.6 * e.variance ||
        variance < e.variance / 1.6)
        fail_msg("rule %d, m %u: mean %.3f, model %.3f; variance %.3f, model %.3f; sure %.0f",
                 (int)how->rule, (unsigned)m, mean, e.chance, variance, e.variance, e.sure);
}

static void filters_agree_with_the_model(void **state)
{
    static const struct lab_mlbf_how how[] = {{LAB_MLBF_LINE, '/', 0},
                                              {LAB_MLBF_ONE, '/', 0},
                                              {LAB_MLBF_LAYERED, '/', 0},
                                              {LAB_MLBF_LAYERED, '/', 2}};
    make_lines();
    for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
        agrees(&how[i], 12470, 4);
        agrees(&how[i], 9000, 2);
    }
}

/* The XOR array repeats what the layer says: it errs for the same pages. */
static void filters_of_one_folder_agree_with_the_model(void **state)
{
    static const struct lab_mlbf_how how = {LAB_MLBF_LAYERED, '/', 0};
    make_pages_of_one_folder();
    agrees(&how, 12470, 4);
    agrees(&how, 16384, 4);
    agrees(&how, 9000, 2);
}

/* --- The XOR array ----------------------------------------------------------------------- */

/* If m is a power of two, an XOR of positions is uniform at every depth. */
static void the_xor_is_uniform_for_powers_of_two(void **state)
{
    static const double of_depth[LAB_IDEAL_DEPTHS] = {100, 2000, 3000, 500};
    double rate[LAB_IDEAL_DEPTHS];
    assert_int_equal(lab_ideal_joint(32768, 4, of_depth, rate), DEJA_OK);
    for (uint32_t i = 0; i < LAB_IDEAL_DEPTHS; i++)
        assert_true(fabs(rate[i] / pow(1 - exp(-4 * 5600 / 32768.0), 4) - 1) < 1e-3);
}

/* Otherwise positions from the XOR crowd together, and it errs more often than a uniform one. */
static void the_xor_is_worse_for_other_sizes(void **state)
{
    static const double of_depth[LAB_IDEAL_DEPTHS] = {0, 6000};
    double rate[LAB_IDEAL_DEPTHS];
    assert_int_equal(lab_ideal_joint(40000, 4, of_depth, rate), DEJA_OK);
    assert_true(rate[1] > 1.05 * pow(1 - exp(-4 * 6000 / 40000.0), 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structural_false_positives_follow_the_rule),
        cmocka_unit_test(equal_segments_cancel_out_in_the_model),
        cmocka_unit_test(filters_agree_with_the_model),
        cmocka_unit_test(filters_of_one_folder_agree_with_the_model),
        cmocka_unit_test(the_xor_is_uniform_for_powers_of_two),
        cmocka_unit_test(the_xor_is_worse_for_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
