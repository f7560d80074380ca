/* test_exp_evolved.c - the claims about evolved functions: each answer follows from the counts, and
 * a bad function, planted among the published ones, is found. */
#include "lab/engine/lab_evolve.h"
#include "lab/engine/lab_runner.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct lab_experiment exp_evolved;

/* The values of a unit: the number of URLs, programs tried, then three counts for each function:
 * first visit, new URLs, new after first. */
#define N       4096.0
#define RUNS    10u
#define LISTS   3u
#define COUNTS  3u
#define COUNTED 2u
enum {
    EVOLVED,
    LOOKUP2,
    MURMUR2,
    XXH3,
    FUNCTIONS
};

static struct lab lab;
static struct lab_results results;

static double expected(uint32_t which)
{
    const double one = lab_random_function(N, 2 * N).collisions;
    return which < 2 ? one : lab_random_function(2 * N, 2 * N).collisions - one;
}

static void plant(uint32_t list, uint32_t function, uint32_t which, double collisions)
{
    for (uint32_t run = 0; run < RUNS; run++)
        lab_values(&results, list, run)[COUNTED + function * COUNTS + which] = collisions;
}

/* Every function is a random one, the evolved one as well. */
static int all_random(void **state)
{
    deja_error err;
    lab = (struct lab){.keys = {.n = (uint64_t)N}, .runs = RUNS, .seed = 1};
    assert_int_equal(lab_results_init(&results, &lab, &exp_evolved, &err), DEJA_OK);
    for (uint32_t list = 0; list < LISTS; list++) {
        for (uint32_t run = 0; run < RUNS; run++) {
            lab_values(&results, list, run)[0] = N;
            lab_values(&results, list, run)[1] = 20000;
        }
        for (uint32_t i = 0; i < FUNCTIONS * COUNTS; i++)
            plant(list, i / COUNTS, i % COUNTS, expected(i % COUNTS));
    }
    return 0;
}

static int discard(void **state)
{
    lab_results_fini(&results);
    return 0;
}

/* The answer to the only claim with these words about this list. */
static enum lab_outcome answer(const char *words, const char *list)
{
    struct lab_report r;
    enum lab_outcome outcome = LAB_OPEN;
    unsigned found = 0;
    lab_report_init(&r, &exp_evolved);
    exp_evolved.report(&results, &r);
    assert_false(r.failed);
    for (size_t i = 0; i < r.n_claims; i++)
        if (strstr(r.claim[i]->claim, words) && strstr(r.claim[i]->claim, list)) {
            found++;
            outcome = r.claim[i]->holds.test.outcome;
        }
    lab_report_fini(&r);
    assert_int_equal(found, 1);
    return outcome;
}

#define FIRST  "fewer collisions on them"
#define FRESH  "fewer on the new URLs"
#define AMONG  "close to zero"
#define OTHERS "as often as a random function"
#define PAGES  "numbered pages of one site"

static void a_random_function_is_not_better_than_random(void **state)
{
    assert_int_equal(answer(FIRST, PAGES), LAB_NO);
    assert_int_equal(answer(FRESH, PAGES), LAB_NO);
    assert_int_equal(answer(AMONG, PAGES), LAB_NO);
    assert_int_equal(answer(OTHERS, ""), LAB_YES);
}

static void each_answer_follows_from_its_own_count(void **state)
{
    plant(1, EVOLVED, 0, 0);
    assert_int_equal(answer(FIRST, PAGES), LAB_YES);
    assert_int_equal(answer(FRESH, PAGES), LAB_NO);
    assert_int_equal(answer(FIRST, "URLs of the lab"), LAB_NO);
    plant(1, EVOLVED, 1, 0.8 * expected(1));
    assert_int_equal(answer(FRESH, PAGES), LAB_YES);
    assert_int_equal(answer(AMONG, PAGES), LAB_NO);
    plant(1, EVOLVED, 2, 3);
    assert_int_equal(answer(AMONG, PAGES), LAB_YES);
    plant(1, EVOLVED, 0, 0.95 * expected(0) + 1);
    assert_int_equal(answer(FIRST, PAGES), LAB_OPEN);
}

/* The collisions of the sum of the bytes, as the published function of one list. */
static void a_bad_published_function_is_found(void **state)
{
    char url[64];
    uint8_t taken[(size_t)N * 2] = {0};
    uint32_t hash[(size_t)N];
    for (uint32_t i = 0; i < (uint32_t)N; i++) {
        const int len = snprintf(url, sizeof url, "https://www.example.org/news/%u.html", i);
        hash[i] = 0;
        for (int j = 0; j < len; j++)
            hash[i] += (uint8_t)url[j];
        hash[i] <<= 19; /* into the bits that select a bucket */
    }
    plant(2, MURMUR2, 0, lab_collisions(hash, (uint32_t)N, (uint64_t)N * 2, taken));
    assert_int_equal(answer(OTHERS, ""), LAB_NO);
}

/* Too many collisions, or too few: both are mistakes. */
static void a_slight_mistake_of_one_function_is_found(void **state)
{
    plant(0, XXH3, 1, 1.05 * expected(1));
    assert_int_equal(answer(OTHERS, ""), LAB_NO);
    plant(0, XXH3, 1, expected(1));
    plant(0, LOOKUP2, 2, 0.95 * expected(2));
    assert_int_equal(answer(OTHERS, ""), LAB_NO);
}

/* --- A real run -------------------------------------------------------------------- */

static char page[2000][32];
static deja_slice key[2000];

static void run(uint32_t unit, uint32_t number, double *value)
{
    deja_error err = {0};
    struct lab_task t = {
        .lab = &lab, .unit = unit, .run = number, .seed = 7, .value = value, .err = &err};
    exp_evolved.run(&t);
    assert_int_equal(t.rc, DEJA_OK);
    lab_release(&t);
}

static void a_run_counts_what_its_program_gives(void **state)
{
    static double value[LAB_VALUES], again[LAB_VALUES];
    for (unsigned i = 0; i < 2000; i++)
        key[i] = (deja_slice){page[i],
                              (size_t)snprintf(page[i], sizeof page[i], "http://a.example/%u", i)};
    lab.keys = (struct lab_keys){.added = key, .asked = key + 1000, .n = 1000};
    lab.quick = true;
    for (uint32_t unit = 0; unit < LISTS; unit++) {
        memset(value, 0, sizeof value);
        memset(again, 0, sizeof again);
        run(unit, 0, value);
        run(unit, 0, again);
        assert_memory_equal(value, again, sizeof value);
        const struct lab_random_function f = lab_random_function(1000, 2000);
        assert_true(value[0] == 1000 && value[1] > 1000);
        assert_true(value[COUNTED] < f.collisions - 2 * f.sigma);
        for (uint32_t i = 1; i < FUNCTIONS; i++)
            assert_true(fabs(value[COUNTED + i * COUNTS] - f.collisions) < 5 * f.sigma);
    }
}

/* A list of lines so long that fewer keys than usual are taken. */
static void long_lines_make_a_smaller_sample(void **state)
{
    static double value[LAB_VALUES];
    char *line = calloc(2000, 4000);
    assert_non_null(line);
    for (size_t i = 0; i < 2000; i++) {
        char *at = line + i * 4000;
        memset(at, 'a' + (int)(i % 26), 4000);
        snprintf(at, 20, "%zu", i);
        key[i] = (deja_slice){at, 4000};
    }
    lab.keys = (struct lab_keys){.added = key, .asked = key + 1000, .n = 1000};
    lab.quick = true;
    run(0, 3, value);
    assert_true(value[0] > 100 && value[0] < 1000);
    free(line);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, all_random, discard)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_random_function_is_not_better_than_random),
        TEST(each_answer_follows_from_its_own_count),
        TEST(a_bad_published_function_is_found),
        TEST(a_slight_mistake_of_one_function_is_found),
        TEST(a_run_counts_what_its_program_gives),
        TEST(long_lines_make_a_smaller_sample),
    };
    return cmocka_run_group_tests_name("unit.exp_evolved", tests, NULL, NULL);
}
