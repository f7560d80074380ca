/* test_exp_hashes.c - the claims about hash functions: results that follow the theory confirm them,
 * and a planted mistake contradicts the one that it concerns. */
#include "lab/engine/lab_runner.h"
#include "lab/experiments/lab_aligned.h"
#include "lab/experiments/lab_thesis.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct lab_experiment exp_hashes;

#define N       1000000.0
#define RUNS    10u
#define SETUPS  5u /* units before those of the families */
#define FULL    3u /* values of a setup: incremental for k = 1, 2, 3, then full */
#define SHA1    3u
#define MIXED   4u
#define ALIGNED 100000.0
#define JENKINS 2u /* families */
#define LOOKUP2 8u

static struct lab lab;
static struct lab_results results;

static double expected(uint32_t unit, uint32_t value)
{
    const bool aligned = unit >= SETUPS, filling = aligned || value < FULL;
    const struct lab_bloom b = {aligned ? ALIGNED : N, aligned ? 3 : value % FULL + 1, 1, 2,
                                filling};
    return aligned && value == ALIGNED_ALIGNMENTS ? ALIGNED : b.n * lab_bloom_rate(&b);
}

/* Results without any deviation. */
static int perfect(void **state)
{
    deja_error err;
    lab = (struct lab){.keys = {.n = (uint64_t)N}, .runs = RUNS, .seed = 1};
    assert_int_equal(lab_results_init(&results, &lab, &exp_hashes, &err), DEJA_OK);
    for (uint32_t run = 0; run < RUNS; run++)
        for (uint32_t unit = 0; unit < results.units; unit++)
            for (uint32_t i = 0; i < (unit < SETUPS ? 2 * FULL : ALIGNED_VALUES); i++)
                if (unit != MIXED || i % FULL != 0) /* k = 1 has nothing to mix */
                    lab_values(&results, unit, run)[i] = expected(unit, i);
    return 0;
}

static int discard(void **state)
{
    lab_results_fini(&results);
    return 0;
}

static void plant(uint32_t unit, uint32_t value, double factor)
{
    for (uint32_t run = 0; run < RUNS; run++)
        lab_values(&results, unit, run)[value] *= factor;
}

/* The only claim with these words, made from the present results. */
static struct lab_claim claim(const char *words)
{
    struct lab_report r;
    struct lab_claim c = {.where = ""};
    unsigned found = 0;
    lab_report_init(&r, &exp_hashes);
    exp_hashes.report(&results, &r);
    assert_false(r.failed);
    for (size_t i = 0; i < r.n_claims; i++)
        if (strstr(r.claim[i]->claim, words)) {
            found++;
            c = *r.claim[i];
        }
    lab_report_fini(&r);
    assert_int_equal(found, 1);
    return c;
}

/* Does it hold, and does its text say this? */
static enum lab_outcome answer(const char *words, const char *text)
{
    const struct lab_claim c = claim(words);
    if (text && !strstr(c.holds.text, text))
        fail_msg("'%s' does not say '%s'", c.holds.text, text);
    return c.holds.test.outcome;
}

#define EQUAL    "equally good"
#define SALTS    "with k salts"
#define ALIGN    "every alignment"
#define AS_FIRST "lookup2 as published"

static void results_that_follow_the_theory_confirm_every_claim(void **state)
{
    assert_int_equal(answer(EQUAL, NULL), LAB_YES);
    assert_int_equal(answer(SALTS, NULL), LAB_YES);
    assert_int_equal(answer(ALIGN, NULL), LAB_YES);
    assert_int_equal(answer(AS_FIRST, NULL), LAB_YES);
}

static void a_worse_function_is_found(void **state)
{
    plant(SHA1, FULL + 1, 1.01);
    assert_int_equal(answer(EQUAL, "SHA-1, k = 2, full"), LAB_NO);
    assert_int_equal(answer(ALIGN, NULL), LAB_YES);
}

static void worse_mixed_functions_are_found(void **state)
{
    plant(MIXED, 2, 0.98);
    assert_int_equal(answer(SALTS, NULL), LAB_NO);
    assert_int_equal(answer(EQUAL, NULL), LAB_YES);
}

static void one_bad_alignment_of_one_function_is_found(void **state)
{
    plant(SETUPS + JENKINS, 13, 1.05);
    assert_int_equal(answer(ALIGN, "jenkins with a prefix of 13 bytes"), LAB_NO);
    assert_int_equal(answer(AS_FIRST, NULL), LAB_YES);
    plant(SETUPS + LOOKUP2, 15, 3);
    assert_int_equal(answer(AS_FIRST, "lookup2 with a prefix of 15 bytes. Use"), LAB_NO);
}

static void a_wrong_rate_contradicts_its_table(void **state)
{
    const char *const table = "k = 2, full: every hash function";
    struct lab_claim c = claim("k = 1, full: every hash function");
    assert_int_equal(c.printed.test.outcome, LAB_YES);
    c = claim(table);
    assert_true(c.printed.test.outcome == LAB_YES && c.holds.test.outcome == LAB_YES);
    for (uint32_t unit = 0; unit < SETUPS; unit++)
        plant(unit, FULL + 1, 0.99); /* as if m were 1 % larger */
    c = claim(table);
    assert_true(c.printed.test.outcome == LAB_NO && c.holds.test.outcome == LAB_NO);
    assert_int_equal(answer(EQUAL, NULL), LAB_YES); /* all are equally wrong */
}

/* A filter of the wrong size loses fewer URLs, which is a mistake as well. */
static void a_filter_of_the_wrong_size_is_found(void **state)
{
    for (uint32_t i = 0; i < ALIGNED_ALIGNMENTS; i++)
        plant(SETUPS, i, 0.9);
    assert_int_equal(answer(ALIGN, "xxh3"), LAB_NO);
}

static void few_runs_leave_it_open(void **state)
{
    for (uint32_t unit = 0; unit < results.units; unit++)
        for (uint32_t i = 0; i < ALIGNED_VALUES; i++)
            plant(unit, i, 2e-4);
    lab.keys.n = 200;
    assert_int_equal(answer(EQUAL, NULL), LAB_OPEN);
    assert_int_equal(answer(ALIGN, NULL), LAB_OPEN);
}

/* --- A real run --------------------------------------------------------------------- */

#define PAGES 40000u

static char url[PAGES][64];
static deja_slice key[PAGES];

static void run_family(uint32_t family)
{
    deja_error err = {0};
    struct lab_task t = {.lab = &lab, .unit = SETUPS + family, .seed = 5, .err = &err};
    t.value = lab_values(&results, t.unit, 0);
    exp_hashes.run(&t);
    assert_int_equal(t.rc, DEJA_OK);
    lab_release(&t);
    assert_true(t.value[ALIGNED_ALIGNMENTS] == PAGES);
    for (uint32_t run = 1; run < RUNS; run++)
        memcpy(lab_values(&results, t.unit, run), t.value, ALIGNED_VALUES * sizeof *t.value);
}

/* URLs with two numbers, like those of tests/stat/test_structured.c. */
static void lookup2_as_published_fails_on_numbered_pages(void **state)
{
    for (unsigned i = 0; i < PAGES; i++)
        key[i] = (deja_slice){
            url[i], (size_t)snprintf(url[i], sizeof url[i],
                                     "https://www.news.example.org/news/%02u_%02u_%02u.html",
                                     i / 10000, i / 100 % 100, i % 100)};
    lab.keys = (struct lab_keys){.added = key, .asked = key + PAGES / 2, .n = PAGES / 2};
    run_family(LOOKUP2);
    run_family(JENKINS);
    assert_int_equal(answer(AS_FIRST, "lookup2"), LAB_NO);
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < ALIGNED_ALIGNMENTS; i++) {
        const double lost = lab_value(&results, SETUPS + JENKINS, 0, i);
        least = lost < least ? lost : least;
        most = lost > most ? lost : most;
    }
    const struct lab_bloom b = {PAGES, 3, 1, 2, true};
    const double mean = PAGES * lab_bloom_rate(&b), sigma = PAGES * lab_bloom_sigma(&b);
    assert_true(least > mean - 5 * sigma && most < mean + 5 * sigma);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, perfect, discard)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_that_follow_the_theory_confirm_every_claim),
        TEST(a_worse_function_is_found),
        TEST(worse_mixed_functions_are_found),
        TEST(one_bad_alignment_of_one_function_is_found),
        TEST(a_wrong_rate_contradicts_its_table),
        TEST(a_filter_of_the_wrong_size_is_found),
        TEST(few_runs_leave_it_open),
        TEST(lookup2_as_published_fails_on_numbered_pages),
    };
    return cmocka_run_group_tests_name("unit.exp_hashes", tests, NULL, NULL);
}
