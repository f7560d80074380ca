/* lab_near.h - tests made of others: "about as much as", and claims with several parts. */
#ifndef LAB_EXPERIMENTS_LAB_NEAR_H
#define LAB_EXPERIMENTS_LAB_NEAR_H
#include "lab/engine/lab_tests.h"
#include <math.h>

/* A number is within a stated fraction of another.  Equality is the wrong hypothesis for times and
 * for memory: with enough measurements, any two differ.  This is "yes" if the whole interval is
 * within the fraction, "no" if it is outside. */
static inline struct lab_test lab_test_near(struct lab_estimate e, double expected, double share)
{
    const struct lab_test least = lab_test_more(e, expected * (1 - share)),
                          most = lab_test_less(e, expected * (1 + share));
    struct lab_test t = least.p < most.p ? least : most;
    t.expected = expected;
    if (least.outcome == LAB_YES && most.outcome != LAB_YES)
        t.outcome = most.outcome;
    else if (most.outcome == LAB_YES && least.outcome != LAB_YES)
        t.outcome = least.outcome;
    return t;
}

/* A claim of few parts, such as "smaller, and misses nothing": "yes" only if each part is. */
static inline struct lab_test lab_test_all(const struct lab_test *test, size_t n)
{
    struct lab_test t = lab_test_family(test, n);
    if (t.outcome == LAB_YES && t.decided < n)
        t.outcome = LAB_OPEN;
    return t;
}

#endif
