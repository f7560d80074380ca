/* lab_claim.h - a claim of a paper, and two answers: did our run reproduce the printed values, and
 * does the claim hold?
 *
 * Both answers are computed.  Each has a hypothesis, a test of it (lab_tests.h) and a text that is
 * chosen by the outcome; whatever the outcome, the report adds the measured number, its interval
 * and the p-value.  An experiment never writes a result before it is known:
 *
 *   struct lab_claim *c = lab_claim(report, "thesis, table 5.16", "Visits with different salts ...");
 *   lab_answer(&c->holds, &test, "%", "the rate of both visits is the product of their rates");
 *   lab_say(&c->holds, LAB_YES, "k = 3, M = 2: %.2f %% becomes %.2f %%.", one, both);
 *   lab_say(&c->holds, LAB_NO, "%zu of %zu cells differ: %s.", ...);
 *
 * Without a text for its outcome, an answer has a standard sentence.  A question that cannot be
 * asked (the paper prints no value) stays unanswered. */
#ifndef LAB_REPORT_LAB_CLAIM_H
#define LAB_REPORT_LAB_CLAIM_H
#include "lab/engine/lab_tests.h"
#include <stdbool.h>

#define LAB_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

struct lab_report;

struct lab_answer {
    bool given; /* false: not asked */
    struct lab_test test;
    char unit[16]; /* of the test's numbers; "%": they are fractions of 1 */
    char hypothesis[240];
    char text[900]; /* for the outcome; "": none */
};

struct lab_claim {
    char where[64];            /* "thesis, table 5.9" */
    char claim[400];           /* as the paper makes it */
    struct lab_answer printed; /* did our run reproduce the printed values? */
    struct lab_answer holds;   /* does the claim hold? */
};

/* A new claim; stays valid as long as the report. */
struct lab_claim *lab_claim(struct lab_report *r, const char *where, const char *fmt, ...)
    LAB_PRINTF(3, 4);
/* Answer a question: the test, the unit of its numbers and its hypothesis. */
void lab_answer(struct lab_answer *a, const struct lab_test *test, const char *unit,
                const char *fmt, ...) LAB_PRINTF(4, 5);
/* Add a text if this is the outcome; several texts follow each other. */
void lab_say(struct lab_answer *a, enum lab_outcome if_outcome, const char *fmt, ...)
    LAB_PRINTF(3, 4);
/* The same whatever the outcome: measured numbers, never a result. */
void lab_add_text(struct lab_answer *a, const char *fmt, ...) LAB_PRINTF(2, 3);

/* "yes", "no", "undecided"; "-" if it was not asked. */
const char *lab_outcome_name(const struct lab_answer *a);
/* "measured 0.3702 % (99.9 %: 0.3688 to 0.3716), expected 0.3704; p = 0.62", and how many runs
 * would decide an open test.  `runs`: how many there were. */
struct lab_evidence {
    char s[320];
};
struct lab_evidence lab_evidence(const struct lab_answer *a, uint32_t runs);

/* How many claims have which outcome: of the printed values, and of the claims themselves. */
struct lab_tally {
    size_t yes, no, open;
};
struct lab_tally lab_tally_printed(const struct lab_report *r);
struct lab_tally lab_tally_holds(const struct lab_report *r);

#endif
