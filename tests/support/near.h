/* near.h - compares results of floating-point arithmetic with a tolerance. */
#ifndef TEST_NEAR_H
#define TEST_NEAR_H
#include "unit.h"
#include <math.h>

static inline void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g is not within %g of %.17g", got, relative, want);
}

static inline void assert_between(double got, double low, double high)
{
    if (!(got >= low && got <= high))
        fail_msg("%.17g is not between %.17g and %.17g", got, low, high);
}

#endif
