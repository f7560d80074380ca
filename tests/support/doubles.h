/* doubles.h - doubles in the bytes of a file, for tests that read or change them. */
#ifndef TEST_DOUBLES_H
#define TEST_DOUBLES_H
#include "core/base/bytes.h"

static inline double dj_load_double(const void *p)
{
    uint64_t v = dj_load64(p);
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}

static inline void dj_store_double(void *p, double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    dj_store64(p, v);
}

#endif
