/* lab_near.h - "about as much as": a number is within a stated fraction of another.
 *
 * Equality is the wrong hypothesis for times and for memory: with enough measurements, any two
 * differ.  This is "yes" if the whole interval is within the fraction, "no" if it is outside. */
#ifndef LAB_EXPERIMENTS_LAB_NEAR_H
#define LAB_EXPERIMENTS_LAB_NEAR_H
#include "lab/engine/lab_tests.h"
#include <math.h>

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

#endif
