/* popcount.h - count the set bits of a body. */
#ifndef DJ_POPCOUNT_H
#define DJ_POPCOUNT_H
#include <stdint.h>

/* body is 8-aligned, len a multiple of 8.  Writers may set bits at the same time. */
uint64_t dj_popcount(const uint8_t *body, uint64_t len);

#endif
