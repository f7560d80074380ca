/* test_lab_claim.c - claims: the outcome chooses the text, and the evidence is always there. */
#include "lab/report/lab_claim.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <string.h>

static struct lab_answer answer_to(struct lab_rate rate, double expected)
{
    struct lab_answer a;
    const struct lab_test test = lab_test_rate(rate, expected, LAB_TOLERANCE);
    lab_answer(&a, &test, "%", "the rate is %g", expected);
    lab_say(&a, LAB_YES, "It is.");
    lab_say(&a, LAB_NO, "It is not: %d.", 7);
    lab_say(&a, LAB_OPEN, "Too few.");
    lab_add_text(&a, "So much for that.");
    return a;
}

static void the_outcome_chooses_the_text(void **state)
{
    const struct lab_answer yes = answer_to((struct lab_rate){10000, 1e6, 0}, 0.01),
                            no = answer_to((struct lab_rate){20000, 1e6, 0}, 0.01),
                            open = answer_to((struct lab_rate){2, 200, 0}, 0.01);
    assert_string_equal(yes.text, "It is. So much for that.");
    assert_string_equal(no.text, "It is not: 7. So much for that.");
    assert_string_equal(open.text, "Too few. So much for that.");
    assert_string_equal(yes.hypothesis, "the rate is 0.01");
    assert_string_equal(lab_outcome_name(&yes), "yes");
    assert_string_equal(lab_outcome_name(&no), "no");
    assert_string_equal(lab_outcome_name(&open), "undecided");
}

static void every_answer_shows_its_numbers(void **state)
{
    const struct lab_answer yes = answer_to((struct lab_rate){10000, 1e6, 0}, 0.01);
    assert_string_equal(lab_evidence(&yes, 10).s,
                        "measured 1 % (99.9 %: 0.9673 to 1.033), expected 1 %; p = 1");
    const struct lab_answer open = answer_to((struct lab_rate){2, 200, 0}, 0.01);
    assert_non_null(strstr(lab_evidence(&open, 3).s, "too few runs (3): about 402 would decide"));
}

static void a_question_that_was_not_asked_has_no_answer(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_claim *c = lab_claim(&r, "thesis, table %", "claim %d", 1);
    assert_string_equal(lab_outcome_name(&c->printed), "-");
    assert_string_equal(lab_evidence(&c->printed, 10).s, "");
    lab_say(&c->printed, LAB_OPEN, "never shown");
    lab_add_text(&c->printed, "never shown");
    assert_string_equal(c->printed.text, "");
    assert_string_equal(c->where, "thesis, table %");
    assert_string_equal(c->claim, "claim 1");
    assert_true(lab_tally_printed(&r).open == 0 && lab_tally_holds(&r).open == 0);
    lab_report_fini(&r);
}

static void answers_are_counted_for_each_question(void **state)
{
    struct lab_report r;
    lab_report_init(&r, NULL);
    struct lab_claim *first = lab_claim(&r, "a", "b");
    for (int i = 0; i < 100; i++) {
        struct lab_claim *c = lab_claim(&r, "a", "b");
        c->holds = answer_to((struct lab_rate){10000, 1e6, 0}, i < 90 ? 0.01 : 0.02);
    }
    first->printed = answer_to((struct lab_rate){2, 200, 0}, 0.01); /* still valid */
    const struct lab_tally holds = lab_tally_holds(&r), printed = lab_tally_printed(&r);
    assert_true(holds.yes == 90 && holds.no == 10 && holds.open == 0);
    assert_true(printed.yes == 0 && printed.no == 0 && printed.open == 1);
    lab_report_fini(&r);
}

static void a_long_text_is_cut(void **state)
{
    struct lab_answer a = answer_to((struct lab_rate){10000, 1e6, 0}, 0.01);
    for (int i = 0; i < 100; i++)
        lab_add_text(&a, "%s", "twenty characters...");
    assert_int_equal(strlen(a.text), sizeof a.text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outcome_chooses_the_text),
        cmocka_unit_test(every_answer_shows_its_numbers),
        cmocka_unit_test(a_question_that_was_not_asked_has_no_answer),
        cmocka_unit_test(answers_are_counted_for_each_question),
        cmocka_unit_test(a_long_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
