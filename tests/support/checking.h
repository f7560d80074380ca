/* checking.h - checks of a fuzzer: a violated condition ends the process. */
#ifndef TEST_CHECKING_H
#define TEST_CHECKING_H
#include <stdbool.h>
#include <stdlib.h>

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

#endif
