/* test_exp_lists.c - times planted into the results of `lists`: growth and ratios are judged as
 * they are, and every answer can become the other one. */
#include "lab/experiments/lab_listed.h"
#include "planted.h"
#include "rng.h"
#include <math.h>

extern const struct lab_experiment exp_lists;

static double rows_of(const struct planted *p, uint32_t size)
{
    return (double)listed_rows(&p->lab, size);
}

/* Times c n^e of all lengths, with a scatter of 4 % between runs. */
static void grow(struct planted *p, enum lab_timed_kind which, enum lab_listed value, double c,
                 double e)
{
    struct rng rng = rng_seeded(17 * which + value + 1);
    for (uint32_t i = 0; i < LISTED_SIZES; i++)
        for (uint32_t run = 0; run < p->r.runs; run++)
            lab_values(&p->r, i * TIMED_KINDS + which, run)[value] =
                c * pow(rows_of(p, i), e) * (0.98 + 0.04 * (double)rng_below(&rng, 1000) / 1000);
}

/* A machine as expected: searches grow, filters and tables hardly do. */
static void begin(struct planted *p)
{
    planted_begin(p, &exp_lists, 1000000, 60, LISTED_RUNS);
    for (uint32_t which = 0; which < TIMED_KINDS; which++)
        for (uint32_t value = LISTED_ADD; value <= LISTED_QUERY; value++)
            grow(p, which, value, which == TIMED_LAYERED ? 100 : 20, 0.1);
    grow(p, TIMED_LINEAR, LISTED_QUERY, 1, 1);
    grow(p, TIMED_BINARY, LISTED_ADD, 0.5, 1);
    grow(p, TIMED_BINARY, LISTED_QUERY, 100, 0.3);
    for (uint32_t i = 0; i < LISTED_SIZES; i++) {
        planted_set(p, i * TIMED_KINDS + TIMED_SLOTS, LISTED_ABSENT, 100000);
        planted_set(p, i * TIMED_KINDS + TIMED_SLOTS, LISTED_HITS,
                    round(1e5 * lab_timed_slots_rate()));
    }
}

static enum lab_outcome holds(struct planted *p, const char *claim)
{
    planted_report(p);
    return planted_holds(p, claim);
}

static enum lab_outcome printed(struct planted *p, const char *claim)
{
    planted_report(p);
    return planted_printed(p, claim);
}

static void expected_times_are_believed(void **state)
{
    struct planted p;
    begin(&p);
    assert_int_equal(holds(&p, "query of the multi-layer filter takes longer"), LAB_YES);
    assert_int_equal(holds(&p, "insertion of the multi-layer filter takes longer"), LAB_YES);
    assert_int_equal(holds(&p, "same time for a query"), LAB_NO);
    assert_int_equal(holds(&p, "same time for an insertion"), LAB_NO);
    assert_int_equal(holds(&p, "linear search"), LAB_YES);
    assert_int_equal(holds(&p, "binary search takes"), LAB_YES);
    assert_int_equal(holds(&p, "Insertion is costly"), LAB_YES);
    assert_int_equal(holds(&p, "almost constant lookup"), LAB_YES);
    assert_int_equal(holds(&p, "query of a Bloom"), LAB_YES);
    assert_int_equal(holds(&p, "a linear search"), LAB_YES);
    assert_int_equal(holds(&p, "still needs to store"), LAB_NO);
    assert_int_equal(holds(&p, "k functions"), LAB_YES);
    planted_end(&p);
}

static void a_search_of_constant_time_is_noticed(void **state)
{
    struct planted p;
    begin(&p);
    grow(&p, TIMED_LINEAR, LISTED_QUERY, 5000, 0);
    assert_int_equal(holds(&p, "linear search"), LAB_NO);
    grow(&p, TIMED_BINARY, LISTED_ADD, 5000, 0.1);
    assert_int_equal(holds(&p, "Insertion is costly"), LAB_NO);
    planted_end(&p);
}

static void a_search_of_linear_time_is_noticed(void **state)
{
    struct planted p;
    begin(&p);
    grow(&p, TIMED_BINARY, LISTED_QUERY, 1, 1.2);
    assert_int_equal(holds(&p, "binary search takes"), LAB_NO);
    grow(&p, TIMED_TABLE, LISTED_QUERY, 1, 1);
    assert_int_equal(holds(&p, "almost constant lookup"), LAB_NO);
    grow(&p, TIMED_LINE, LISTED_QUERY, 1, 1);
    assert_int_equal(holds(&p, "query of a Bloom"), LAB_NO);
    planted_end(&p);
}

/* The layers are as fast as one array: the conclusion holds, the figures do not. */
static void equal_times_are_noticed(void **state)
{
    struct planted p;
    begin(&p);
    grow(&p, TIMED_LAYERED, LISTED_QUERY, 20, 0.1);
    assert_int_equal(holds(&p, "same time for a query"), LAB_YES);
    grow(&p, TIMED_LAYERED, LISTED_QUERY, 10, 0.1);
    assert_int_equal(holds(&p, "query of the multi-layer filter takes longer"), LAB_NO);
    assert_int_equal(holds(&p, "same time for a query"), LAB_NO);
    planted_end(&p);
}

/* The printed ratio is 5.3 for queries: ours is 5. */
static void the_printed_ratio_is_compared(void **state)
{
    struct planted p;
    begin(&p);
    assert_int_equal(printed(&p, "query of the multi-layer filter takes longer"), LAB_YES);
    grow(&p, TIMED_LAYERED, LISTED_QUERY, 40, 0.1);
    assert_int_equal(printed(&p, "query of the multi-layer filter takes longer"), LAB_NO);
    planted_end(&p);
}

/* Flags of another size, and a table that stores its lines. */
static void another_table_is_noticed(void **state)
{
    struct planted p;
    begin(&p);
    for (uint32_t i = 0; i < LISTED_SIZES; i++)
        planted_set(&p, i * TIMED_KINDS + TIMED_SLOTS, LISTED_HITS, 1e5 * -expm1(-1 / 5.0));
    assert_int_equal(holds(&p, "k functions"), LAB_NO);
    for (uint32_t i = 0; i < LISTED_SIZES; i++)
        planted_set(&p, i * TIMED_KINDS + TIMED_SLOTS, LISTED_HITS, 0);
    assert_int_equal(holds(&p, "still needs to store"), LAB_YES);
    planted_end(&p);
}

/* Runs that disagree, or a single one, decide nothing. */
static void noise_is_undecided(void **state)
{
    struct planted p;
    begin(&p);
    for (uint32_t run = 0; run < p.r.runs; run++)
        for (uint32_t i = 0; i < LISTED_SIZES; i++)
            lab_values(&p.r, i * TIMED_KINDS + TIMED_LAYERED, run)[LISTED_QUERY] =
                (run % 2 ? 20.0 : 200) * pow(rows_of(&p, i), 0.1);
    assert_int_equal(holds(&p, "same time for a query"), LAB_OPEN);
    planted_end(&p);
    planted_begin(&p, &exp_lists, 1000000, 60, 1);
    for (uint32_t which = 0; which < TIMED_KINDS; which++)
        grow(&p, which, LISTED_QUERY, 20, 0.1);
    assert_int_equal(holds(&p, "query of the multi-layer filter takes longer"), LAB_OPEN);
    planted_end(&p);
}

static void published_times_are_for_their_own_number_of_lines(void **state)
{
    assert_true(listed_printed(4, TIMED_LINE, LISTED_ADD).value == 3.861167);
    assert_true(listed_printed(4, TIMED_LAYERED, LISTED_QUERY).value == 8.176915);
    assert_true(listed_printed(1, TIMED_SLOTS, LISTED_QUERY).value == 0.038865);
    assert_false(listed_printed(4, TIMED_LINEAR, LISTED_QUERY).found);
    assert_true(listed_lines(4, TIMED_SLOTS, LISTED_QUERY) == 800000);
    assert_true(listed_lines(1, TIMED_SLOTS, LISTED_QUERY) == 34887);
    assert_true(listed_lines(4, TIMED_LINE, LISTED_QUERY) == 781489);
    assert_true(listed_slots(4).value == 9745518);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_times_are_believed),
        cmocka_unit_test(a_search_of_constant_time_is_noticed),
        cmocka_unit_test(a_search_of_linear_time_is_noticed),
        cmocka_unit_test(equal_times_are_noticed),
        cmocka_unit_test(the_printed_ratio_is_compared),
        cmocka_unit_test(another_table_is_noticed),
        cmocka_unit_test(noise_is_undecided),
        cmocka_unit_test(published_times_are_for_their_own_number_of_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
